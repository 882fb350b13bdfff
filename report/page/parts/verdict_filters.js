// SPDX-License-Identifier: Apache-2.0
// Buttons that leave the rows of one verdict in a table.

import { h } from "../dom.js";
import { verdictMarks } from "../format.js";

const verdicts = ["loses", "equal", "gains", "unpaired"];

// {element, show}: show(verdict) leaves the rows of one verdict, or all for "all". `rows` maps items
// with a verdict to rows; `more` are further buttons.
export const verdictFilters = (rows, ...more) => {
  const items = [...rows.keys()];
  const count = (verdict) => items.filter((item) => item.verdict === verdict).length;
  const choices = [
    ["all", "all", items.length],
    ...verdicts.map((verdict) => [verdict, `${verdictMarks[verdict]} ${verdict}`, count(verdict)]),
  ];
  const show = (verdict) => {
    for (const [{ verdict: own }, row] of rows) row.hidden = verdict !== "all" && own !== verdict;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", button.dataset.show === verdict);
    }
  };
  const buttons = choices
    .filter(([, , number]) => number > 0)
    .map(([verdict, name, number]) =>
      h(
        "button",
        { type: "button", "data-show": verdict, onclick: () => show(verdict) },
        `${name} ${number}`,
      ),
    );
  show("all");
  const group = { class: "filters", role: "group", "aria-label": "rows to show" };
  return { element: h("div", group, buttons, more), show };
};
