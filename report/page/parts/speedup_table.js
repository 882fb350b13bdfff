// SPDX-License-Identifier: Apache-2.0
// Every comparison as a row: filtered by verdict, sorted by any column.

import { h } from "../dom.js";
import { plural, quantity, range, ratio, verdictMarks } from "../format.js";
import { makeRuler } from "./ruler.js";

const verdicts = ["loses", "equal", "gains", "unpaired"];
const noisyControl = 0.03;

const pair = (ours, theirs) => `${quantity(ours.median)} / ${theirs ? quantity(theirs.median) : "–"}`;

const verdictCell = (c) => [
  h("span", { class: "mark", "aria-hidden": "true" }, verdictMarks[c.verdict]),
  c.ratio ? ` ${ratio(c.ratio.median)} ` : " ",
  h("span", { class: "word" }, c.verdict),
];

const controlCell = ({ control }) => {
  if (control === null) return "–";
  const noisy = Math.abs(control.median - 1) > noisyControl;
  return [ratio(control.median), h("small", {}, ` ${range(control)}${noisy ? " noisy" : ""}`)];
};

// A column: heading, what a row is sorted by, what its cell shows, and whether any row has it.
const columns = (ruler) => [
  {
    name: "case",
    value: (c) => `${c.panel.study} ${c.panel.title} ${c.panel.machine}`,
    cell: (c) => [h("small", {}, c.panel.study), c.panel.title],
    head: true,
  },
  { name: "threads", value: (c) => c.threads, cell: (c) => c.threads, number: true },
  { name: "mode", value: (c) => c.label, cell: (c) => [c.label, h("small", {}, `over ${c.baseline}`)] },
  { name: "speed-up", value: (c) => c.ratio?.median, cell: verdictCell, verdict: true },
  { name: "range", value: (c) => c.ratio?.min, cell: (c) => (c.ratio ? range(c.ratio) : "–"), number: true },
  { name: "range and control, log scale", cell: (c) => ruler(c), plot: true },
  { name: "A/A control", value: (c) => c.control?.median, cell: controlCell, number: true },
  {
    name: "switches/op",
    value: (c) => c.switches?.median,
    cell: (c) => (c.switches ? pair(c.switches, c.baselineSwitches) : "–"),
    number: true,
    present: (c) => c.switches !== null,
  },
  {
    name: "p99, µs",
    value: (c) => c.p99?.median,
    cell: (c) => (c.p99 ? pair(c.p99, c.baselineP99) : "–"),
    number: true,
    present: (c) => c.p99 !== null,
  },
  { name: "repeats", value: (c) => c.ratio?.count, cell: (c) => c.ratio?.count ?? "–", number: true },
];

// Rows without a value come last, whichever way the table is sorted.
const compareBy = (value, sign) => (a, b) => {
  const [x, y] = [value(a), value(b)];
  if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
  return sign * (typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y);
};

const cellClass = (column, comparison) =>
  [column.number && "number", column.plot && "plot", column.verdict && `verdict ${comparison.verdict}`]
    .filter(Boolean)
    .join(" ") || null;

const tableRow = (comparison, shown) =>
  h(
    "tr",
    { class: comparison.verdict, "data-verdict": comparison.verdict },
    shown.map((column) =>
      h(
        column.head ? "th" : "td",
        { scope: column.head ? "row" : null, class: cellClass(column, comparison) },
        column.cell(comparison),
      ),
    ),
  );

// {element, show}: show(verdict) leaves the rows of one verdict, or all for "all".
export const speedupTable = (comparisons) => {
  const shown = columns(makeRuler(comparisons)).filter(
    (column) => !column.present || comparisons.some(column.present),
  );
  const rows = new Map(comparisons.map((comparison) => [comparison, tableRow(comparison, shown)]));
  const body = h("tbody", {}, [...rows.values()]);
  const headings = new Map();

  const sort = (column, direction) => {
    const ordered = [...comparisons].sort(compareBy(column.value, direction === "ascending" ? 1 : -1));
    body.replaceChildren(...ordered.map((comparison) => rows.get(comparison)));
    for (const [other, heading] of headings) {
      if (other === column) heading.setAttribute("aria-sort", direction);
      else heading.removeAttribute("aria-sort");
    }
  };

  for (const column of shown) {
    const heading = h("th", { scope: "col", class: cellClass({ ...column, verdict: false }) }, column.value ? null : column.name);
    if (column.value) {
      const flip = () => sort(column, heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending");
      heading.append(h("button", { type: "button", onclick: flip }, column.name));
    }
    headings.set(column, heading);
  }

  const filters = ["all", ...verdicts.filter((v) => comparisons.some((c) => c.verdict === v))].map((verdict) => {
    const number = verdict === "all" ? comparisons.length : comparisons.filter((c) => c.verdict === verdict).length;
    return h("button", { type: "button", class: verdict, "data-show": verdict, onclick: () => show(verdict) }, `${verdictMarks[verdict] ?? ""} ${verdict} ${number}`);
  });

  const show = (verdict) => {
    for (const [comparison, row] of rows) row.hidden = verdict !== "all" && comparison.verdict !== verdict;
    for (const filter of filters) filter.setAttribute("aria-pressed", filter.dataset.show === verdict);
  };

  const speedup = shown.find((column) => column.verdict);
  const losingFirst = h("button", { type: "button", onclick: () => sort(speedup, "ascending") }, "losing first");
  show("all");
  return {
    show,
    element: h(
      "div",
      {},
      h("div", { class: "filters", role: "group", "aria-label": "rows to show" }, filters, losingFirst),
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": plural(comparisons.length, "comparison") },
        h("table", { class: "speedups" }, h("thead", {}, h("tr", {}, [...headings.values()])), body),
      ),
    ),
  };
};
