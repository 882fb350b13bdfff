// SPDX-License-Identifier: Apache-2.0
// A table whose rows are ordered by pressing a column's heading, again to reverse them. A column has
// a heading; `cell`, what it shows of an item; where rows can be sorted by it `value`, what they are
// sorted by; `descends`, whether the largest come first when it is pressed first; and `kind`, its
// classes ("row" is the heading of a row).

import { h } from "../dom.js";

// Rows without a value come last, whichever way the table is sorted.
const compareBy = (value, direction) => {
  const sign = direction === "ascending" ? 1 : -1;
  const known = (v) => v !== undefined && v !== null;
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (!known(x) || !known(y)) return known(y) - known(x);
    const order = typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y;
    return sign * order;
  };
};

const makeCell = (column, item) => {
  const content = column.cell(item);
  const label = typeof column.heading === "string" ? column.heading : null;
  if (column.kind === "row") return h("th", { scope: "row", "data-label": label }, content);
  const kind = typeof column.kind === "function" ? column.kind(item) : column.kind;
  return h("td", { class: kind, "data-label": label }, content);
};

const headingKind = ({ kind, headingClass }) => (typeof kind === "string" ? kind : headingClass);

// {table, rows, sort}: `rows` maps items to their rows; sort(column, direction) orders them and
// gives those beyond the first `limit` the class "beyond". `attributes(item)` are a row's.
export const sortableTable = (items, columns, { name, attributes = () => ({}), limit }) => {
  const makeRow = (item) =>
    h(
      "tr",
      attributes(item),
      columns.map((column) => makeCell(column, item)),
    );
  const rows = new Map(items.map((item) => [item, makeRow(item)]));
  const body = h("tbody");
  const headings = new Map();

  const arrange = (ordered) => {
    const arranged = ordered.map((item) => rows.get(item));
    arranged.forEach((row, i) => row.classList.toggle("beyond", i >= (limit ?? Infinity)));
    body.replaceChildren(...arranged);
  };
  const sort = (column, direction) => {
    arrange([...items].sort(compareBy(column.value, direction)));
    for (const [other, heading] of headings) {
      if (other === column) heading.setAttribute("aria-sort", direction);
      else heading.removeAttribute("aria-sort");
    }
  };
  const flip = (column) => {
    const [first, second] = column.descends
      ? ["descending", "ascending"]
      : ["ascending", "descending"];
    const now = headings.get(column).getAttribute("aria-sort");
    sort(column, now === first ? second : first);
  };

  for (const column of columns) {
    const onclick = () => flip(column);
    const button = column.value && h("button", { type: "button", onclick }, column.heading);
    const attributes = { scope: "col", class: headingKind(column) };
    headings.set(column, h("th", attributes, button ?? column.heading));
  }
  arrange(items);
  const head = h("thead", {}, h("tr", {}, [...headings.values()]));
  return { table: h("table", { class: `sortable ${name}` }, head, body), rows, sort };
};

// The box in which a wide table scrolls.
export const scrollBox = (label, table) =>
  h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
