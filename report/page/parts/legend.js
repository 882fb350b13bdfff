// SPDX-License-Identifier: Apache-2.0
// The table under a throughput chart that is legend and figures in one: a row a mode, a column a
// thread count, the speed-up over the baseline in the cells.

import { h, svg } from "../dom.js";
import { shapePaths } from "../palette.js";
import { range, ratio, verdictMarks } from "../format.js";

const swatch = ({ color, shape }) =>
  svg(
    "svg",
    { class: "swatch", viewBox: "-12 -6 24 12", "aria-hidden": "true" },
    svg("line", { x1: -12, x2: 12, y1: 0, y2: 0, style: `stroke: ${color}; stroke-width: 2` }),
    svg("path", { d: shapePaths[shape], transform: "scale(4)", style: `fill: ${color}` }),
  );

const controlSwatch = () => h("span", { class: "swatch control", "aria-hidden": "true" });

const ratioCell = (comparison) =>
  comparison?.ratio
    ? h(
        "td",
        {
          class: comparison.verdict,
          title: `${comparison.verdict}: ${range(comparison.ratio)} over ${comparison.ratio.count} repeats`,
        },
        h("span", { class: "mark", "aria-label": comparison.verdict }, verdictMarks[comparison.verdict]),
        ratio(comparison.ratio.median),
      )
    : h("td", { class: "unpaired" }, "–");

const controlCell = (comparison) =>
  h("td", { class: "control" }, comparison?.control ? ratio(comparison.control.median) : "–");

// Rows follow the panel's modes; a mode that is compared with a baseline other than the panel's
// first says so in its name.
export const legend = (panel, comparisons, styles) => {
  const [baseline] = panel.baselines;
  const at = (rows, threads) => rows.find((comparison) => comparison.threads === threads);
  const row = (mark, name, cells) => h("tr", {}, h("th", { scope: "row" }, mark, name), cells);
  const rows = panel.labels.map((label) => {
    const ofLabel = comparisons.filter((comparison) => comparison.label === label);
    const over = ofLabel[0]?.baseline;
    const shown = ofLabel.filter((comparison) => comparison.baseline === over);
    const name = over && over !== baseline ? [label, h("small", {}, ` over ${over}`)] : label;
    const cells = over
      ? panel.threads.map((threads) => ratioCell(at(shown, threads)))
      : panel.threads.map(() => h("td", { class: "baseline" }, label === baseline ? "1" : ""));
    return row(swatch(styles.get(label)), name, cells);
  });
  const withControl = comparisons.filter((c) => c.baseline === baseline && c.control !== null);
  if (withControl.length > 0) {
    const cells = panel.threads.map((threads) => controlCell(at(withControl, threads)));
    rows.push(row(controlSwatch(), `${baseline} again (A/A control)`, cells));
  }
  const corner = comparisons.length > 0 ? `speed-up over ${baseline}, at threads` : "mode, at threads";
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "legend" },
      h(
        "thead",
        {},
        h("tr", {}, h("th", { scope: "col" }, corner), panel.threads.map((n) => h("th", { scope: "col" }, n))),
      ),
      h("tbody", {}, rows),
    ),
  );
};

// The legend of a chart of outcomes.
export const outcomeLegend = (outcomes) =>
  h(
    "ul",
    { class: "outcomes" },
    outcomes.map(({ name, color }) => h("li", {}, h("span", { style: `background: ${color}` }), name)),
  );
