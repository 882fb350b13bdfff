// SPDX-License-Identifier: Apache-2.0
// Context switches an operation costs, over threads: what a lock that parks does to a program.

import { isControl } from "../model/record.js";
import { groupBy } from "../model/panels.js";
import { spread } from "../model/comparisons.js";
import { plural, quantity } from "../format.js";
import { flatTitle } from "./draw.js";

const summarise = (panel) =>
  groupBy(
    panel.samples.filter((sample) => !isControl(sample.mode)),
    (sample) => JSON.stringify([sample.label, sample.threads]),
  )
    .map((cell) => [cell[0], spread(cell.map((sample) => sample.switchesPerOperation))])
    .filter(([, figures]) => figures !== null)
    .map(([sample, figures]) => ({
      label: sample.label,
      threads: sample.threads,
      median: figures.median,
      threadsText: plural(sample.threads, "thread"),
      medianText: `${quantity(figures.median)} an operation`,
    }));

// The specification, or null where no record of the panel counts context switches.
export const switchesChart = (panel, styles) => {
  const values = summarise(panel);
  if (values.length === 0) return null;
  const color = {
    field: "label",
    type: "nominal",
    legend: null,
    scale: { domain: panel.labels, range: panel.labels.map((label) => styles.get(label).color) },
  };
  return {
    description: `Context switches an operation of ${panel.study}, ${panel.title}, over threads`,
    height: 84,
    data: { values },
    mark: { type: "bar", cornerRadiusEnd: 2, minBandSize: 2 },
    encoding: {
      x: {
        field: "threads",
        type: "ordinal",
        sort: panel.threads,
        scale: { paddingInner: 0.35, paddingOuter: 0.2 },
        axis: { title: "threads" },
      },
      xOffset: { field: "label", sort: panel.labels },
      y: {
        field: "median",
        type: "quantitative",
        scale: { zero: true, nice: true },
        axis: { title: "context switches/operation", format: "~g", tickCount: 3, ...flatTitle },
      },
      color,
      tooltip: [
        { field: "label", title: "mode" },
        { field: "threadsText", title: "at" },
        { field: "medianText", title: "median" },
      ],
    },
  };
};
