// SPDX-License-Identifier: Apache-2.0
// Every comparison as a row: filtered by verdict, sorted by any column.

import { h } from "../dom.js";
import { plural } from "../format.js";
import { scrollBox, sortableTable } from "./sortable_table.js";
import { makeColumns } from "./speedup_columns.js";
import { verdictFilters } from "./verdict_filters.js";

// {element, show}: show(verdict) leaves the rows of one verdict, or all for "all".
export const speedupTable = (comparisons) => {
  const columns = makeColumns(comparisons);
  const { table, rows, sort } = sortableTable(comparisons, columns, {
    name: "speedups",
    attributes: ({ verdict }) => ({ class: verdict, "data-verdict": verdict }),
  });
  const speedup = columns.find(({ heading }) => heading === "speed-up");
  const losingFirst = h(
    "button",
    { type: "button", onclick: () => sort(speedup, "ascending") },
    "losing first",
  );
  const filters = verdictFilters(rows, losingFirst);
  const box = scrollBox(plural(comparisons.length, "comparison"), table);
  return { element: h("div", {}, filters.element, box), show: filters.show };
};
