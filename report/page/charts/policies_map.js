// SPDX-License-Identifier: Apache-2.0
// A ratio for each use case and number of threads as a heat map. The scale diverges around 1 from
// orange to blue, which colour-blind readers tell apart, in steps that a legend can name; the ratio
// stands in each cell.

import { unique } from "../model/panels.js";
import { gainsAbove, losesBelow } from "../model/verdict.js";
import { bareRatio, plural, quantity, range, verdictMarks } from "../format.js";

const rowHeight = 22;
const stepLimits = [0.7, 0.9, losesBelow, gainsAbove, 1.2, 2];

// [{name, color}] of the steps, from the largest loss up.
export const steps = [...stepLimits, Infinity].map((high, i) => {
  const low = stepLimits[i - 1];
  const name =
    low === undefined ? `below ${high}` : high === Infinity ? `${low} and more` : `${low}–${high}`;
  return { name, color: `var(--ratio-${i})` };
});

const mark = (verdict) => (verdict === "loses" ? verdictMarks.loses : "");

// `of` is what is drawn: {ratio, verdict, over, limits} of a cell.
const valueOf = (cell, of) => {
  const { ratio, verdict, over, limits } = of(cell);
  const text = bareRatio(ratio.median, limits);
  return {
    useCase: cell.useCase,
    threads: cell.threads,
    ratio: ratio.median,
    ratioText: mark(verdict) + text,
    threadsText: plural(cell.threads, "thread"),
    overText: `${text}× ${over}, ${verdict}`,
    rangeText: `${range(ratio)} in ${plural(ratio.count, "repeat")}`,
    throughputText: `${quantity(cell.throughput.median)}op/s${cell.simulated ? ", simulated" : ""}`,
  };
};

// The specification, or null where no cell has such a ratio.
export const policiesMap = (cells, of, description) => {
  const values = cells.filter((cell) => of(cell).ratio !== null).map((cell) => valueOf(cell, of));
  if (values.length === 0) return null;
  const useCases = unique(values.map(({ useCase }) => useCase)).sort((a, b) => a.localeCompare(b));
  return {
    description,
    height: rowHeight * useCases.length,
    data: { values },
    encoding: {
      x: {
        field: "threads",
        type: "ordinal",
        scale: { padding: 0.04 },
        axis: { title: "threads", domain: false, ticks: false },
      },
      y: {
        field: "useCase",
        type: "nominal",
        sort: useCases,
        scale: { padding: 0.08 },
        axis: { title: null, labelLimit: 130 },
      },
      tooltip: [
        { field: "useCase", title: "use case" },
        { field: "threadsText", title: "at" },
        { field: "overText", title: "adaptive" },
        { field: "rangeText", title: "range" },
        { field: "throughputText", title: "it does" },
      ],
    },
    layer: [
      {
        mark: { type: "rect", cornerRadius: 2 },
        encoding: {
          color: {
            field: "ratio",
            type: "quantitative",
            legend: null,
            scale: {
              type: "threshold",
              domain: stepLimits,
              range: steps.map(({ color }) => color),
            },
          },
        },
      },
      {
        mark: { type: "text", fontSize: 11, color: "var(--text)" },
        encoding: { text: { field: "ratioText" } },
      },
    ],
  };
};
