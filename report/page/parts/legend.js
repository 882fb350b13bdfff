// SPDX-License-Identifier: Apache-2.0
// The table under a throughput chart that is legend and figures in one: a row a mode, a column a
// thread count, the speed-up over the baseline in the cells.

import { breakable, h, svg } from "../dom.js";
import { shapePaths } from "../palette.js";
import { bareRatio, range, verdictMarks } from "../format.js";

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
        comparison.verdict !== "equal" &&
          h(
            "span",
            { class: "mark", "aria-label": comparison.verdict },
            verdictMarks[comparison.verdict],
          ),
        bareRatio(comparison.ratio.median),
      )
    : h("td", { class: "unpaired" }, "–");

const controlCell = (comparison) =>
  h("td", { class: "control" }, comparison?.control ? bareRatio(comparison.control.median) : "–");

const row = (mark, name, cells) => h("tr", {}, h("th", { scope: "row" }, mark, name), cells);

// A mode that is compared with another baseline than the panel's first says so in its name.
const modeRow = (panel, label, ofLabel, style) => {
  const [first] = panel.baselines;
  const over = ofLabel[0]?.baseline ?? first;
  const cells = panel.threads.map((threads) => {
    if (label === first) return h("td", { class: "baseline" }, "1");
    return ratioCell(ofLabel.find((comparison) => comparison.threads === threads));
  });
  const aside = over !== first && h("small", {}, ` over ${over}`);
  return row(swatch(style), [breakable(label), aside], cells);
};

const controlRow = (panel, baseline, comparisons) => {
  const cells = panel.threads.map((threads) =>
    controlCell(comparisons.find((comparison) => comparison.threads === threads)),
  );
  return row(controlSwatch(), ["A/A control", h("small", {}, ` ${baseline} again`)], cells);
};

const headRow = (panel, corner) =>
  h(
    "tr",
    {},
    [corner, ...panel.threads].map((heading) => h("th", { scope: "col" }, heading)),
  );

export const legend = (panel, comparisons, styles) => {
  const [baseline] = panel.baselines;
  const rows = panel.labels.map((label) => {
    const ofLabel = comparisons.filter((comparison) => comparison.label === label);
    return modeRow(panel, label, ofLabel, styles.get(label));
  });
  const controlled = comparisons.filter((c) => c.baseline === baseline && c.control !== null);
  if (controlled.length > 0) rows.push(controlRow(panel, baseline, controlled));
  const corner = comparisons.length > 0 ? `× ${baseline}, at threads` : "mode, at threads";
  const head = h("thead", {}, headRow(panel, corner));
  return h("div", { class: "scroll" }, h("table", { class: "legend" }, head, h("tbody", {}, rows)));
};

// The legend of a chart of outcomes.
export const outcomeLegend = (outcomes) =>
  h(
    "ul",
    { class: "outcomes" },
    outcomes.map(({ name, color }) =>
      h("li", {}, h("span", { style: `background: ${color}` }), name),
    ),
  );
