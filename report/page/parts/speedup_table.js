// SPDX-License-Identifier: Apache-2.0
// Every comparison as a row: filtered by verdict, sorted by any column.

import { h } from "../dom.js";
import { plural, verdictMarks } from "../format.js";
import { makeColumns } from "./speedup_columns.js";

const verdicts = ["loses", "equal", "gains", "unpaired"];

// Rows without a value come last, whichever way the table is sorted.
const compareBy = (value, direction) => {
  const sign = direction === "ascending" ? 1 : -1;
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    const order = typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y;
    return sign * order;
  };
};

const makeCell = (column, comparison) => {
  const content = column.cell(comparison);
  if (column.kind === "row") return h("th", { scope: "row" }, content);
  const verdict = column.kind === "verdict" ? ` ${comparison.verdict}` : "";
  return h("td", { class: column.kind && column.kind + verdict }, content);
};

const makeRow = (columns, comparison) =>
  h(
    "tr",
    { class: comparison.verdict, "data-verdict": comparison.verdict },
    columns.map((column) => makeCell(column, comparison)),
  );

// The headings and body of the table; `sort(column, direction)` orders the rows.
const makeTable = (comparisons, columns, rows) => {
  const body = h("tbody", {}, [...rows.values()]);
  const headings = new Map();
  const sort = (column, direction) => {
    const ordered = [...comparisons].sort(compareBy(column.value, direction));
    body.replaceChildren(...ordered.map((comparison) => rows.get(comparison)));
    for (const [other, heading] of headings) {
      if (other === column) heading.setAttribute("aria-sort", direction);
      else heading.removeAttribute("aria-sort");
    }
  };
  for (const column of columns) {
    const heading = h("th", { scope: "col", class: column.kind });
    const flip = () => {
      const ascends = heading.getAttribute("aria-sort") === "ascending";
      sort(column, ascends ? "descending" : "ascending");
    };
    const button = column.value && h("button", { type: "button", onclick: flip }, column.heading);
    heading.append(button ?? column.heading);
    headings.set(column, heading);
  }
  const head = h("thead", {}, h("tr", {}, [...headings.values()]));
  return { table: h("table", { class: "speedups" }, head, body), sort };
};

const makeFilters = (comparisons, show) => {
  const count = (verdict) => comparisons.filter((c) => c.verdict === verdict).length;
  const choices = [
    ["all", "all", comparisons.length],
    ...verdicts.map((verdict) => [verdict, `${verdictMarks[verdict]} ${verdict}`, count(verdict)]),
  ];
  return choices
    .filter(([, , number]) => number > 0)
    .map(([verdict, name, number]) =>
      h(
        "button",
        { type: "button", "data-show": verdict, onclick: () => show(verdict) },
        `${name} ${number}`,
      ),
    );
};

// {element, show}: show(verdict) leaves the rows of one verdict, or all for "all".
export const speedupTable = (comparisons) => {
  const columns = makeColumns(comparisons);
  const rows = new Map(comparisons.map((c) => [c, makeRow(columns, c)]));
  const { table, sort } = makeTable(comparisons, columns, rows);
  const show = (verdict) => {
    for (const [{ verdict: own }, row] of rows) row.hidden = verdict !== "all" && own !== verdict;
    for (const filter of filters) {
      filter.setAttribute("aria-pressed", filter.dataset.show === verdict);
    }
  };
  const filters = makeFilters(comparisons, show);
  const speedup = columns.find((column) => column.kind === "verdict");
  const losingFirst = () => sort(speedup, "ascending");
  show("all");

  const element = h(
    "div",
    {},
    h(
      "div",
      { class: "filters", role: "group", "aria-label": "rows to show" },
      filters,
      h("button", { type: "button", onclick: losingFirst }, "losing first"),
    ),
    h(
      "div",
      {
        class: "scroll",
        tabindex: "0",
        role: "region",
        "aria-label": plural(comparisons.length, "comparison"),
      },
      table,
    ),
  );
  return { element, show };
};
