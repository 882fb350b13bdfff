// SPDX-License-Identifier: Apache-2.0
// The columns of the table of every comparison (sortable_table.js says what a column has). `present`
// says whether a row needs it. On a phone "wide" columns give way to a "narrow" line in the first.

import { breakable, h } from "../dom.js";
import { plural, quantity, range, ratio, verdictMarks } from "../format.js";
import { makeRuler } from "./ruler.js";

const noisyControl = 0.03;

const small = (...children) => h("small", {}, ...children);

const verdictCell = (comparison) => {
  const mark = h(
    "span",
    { class: "mark", "aria-hidden": "true" },
    verdictMarks[comparison.verdict],
  );
  if (comparison.ratio === null) return [mark, " unpaired"];
  return [
    mark,
    ` ${ratio(comparison.ratio.median)} ${comparison.verdict}`,
    small(`${range(comparison.ratio)} in ${plural(comparison.ratio.count, "repeat")}`),
  ];
};

const controlCell = ({ control }) => {
  if (control === null) return "–";
  const noisy = Math.abs(control.median - 1) > noisyControl;
  return [ratio(control.median), small(`${range(control)}${noisy ? ", noisy" : ""}`)];
};

// A column of a figure that comes with the baseline's beside it.
const pairColumn = (heading, ours, theirs) => ({
  heading,
  kind: "number",
  value: (comparison) => comparison[ours]?.median,
  present: (comparison) => comparison[ours] !== null,
  cell: (comparison) => {
    if (comparison[ours] === null) return "–";
    const reference = comparison[theirs];
    return [
      quantity(comparison[ours].median),
      small(reference ? `baseline ${quantity(reference.median)}` : "baseline unknown"),
    ];
  },
});

export const makeColumns = (comparisons) => {
  const ruler = makeRuler(comparisons);
  const columns = [
    {
      heading: "case",
      kind: "row",
      value: ({ panel }) => `${panel.study} ${panel.title} ${panel.machine}`,
      cell: ({ panel, label, baseline, threads }) => [
        small(panel.study),
        panel.title,
        h("small", { class: "narrow" }, `${label} over ${baseline}, ${plural(threads, "thread")}`),
      ],
    },
    { heading: "threads", kind: "number wide", value: (c) => c.threads, cell: (c) => c.threads },
    {
      heading: "mode",
      kind: "wide",
      value: (c) => c.label,
      cell: (c) => [breakable(c.label), small(`over ${c.baseline}`)],
    },
    {
      heading: "speed-up",
      headingClass: "verdict",
      kind: ({ verdict }) => `verdict ${verdict}`,
      value: (c) => c.ratio?.median,
      cell: verdictCell,
    },
    { heading: ruler.axis, kind: "plot", cell: ruler.draw },
    { heading: "A/A control", kind: "number", value: (c) => c.control?.median, cell: controlCell },
    pairColumn("switches/op", "switches", "baselineSwitches"),
    pairColumn("p99, µs", "p99", "baselineP99"),
  ];
  return columns.filter(({ present }) => !present || comparisons.some(present));
};
