// SPDX-License-Identifier: Apache-2.0
// Throughput over threads: a line of medians a mode with its range over the repeats, and the A/A
// control of the baseline as a grey band behind them. What stays inside the band is noise.

import { controlOf, isControl } from "../model/record.js";
import { groupBy } from "../model/panels.js";
import { spread } from "../model/comparisons.js";
import { plural, quantity } from "../format.js";
import { flatTitle, siLabel } from "./draw.js";

const bandedModes = 4;

// A mode that has a control gets no band of its own: the control's is where it may lie.
const summarise = (panel) => {
  const modes = new Set(panel.samples.map((sample) => sample.mode));
  return groupBy(panel.samples, (sample) => JSON.stringify([sample.label, sample.threads]))
    .map((cell) => [cell[0], spread(cell.map((sample) => sample.operationsPerSecond))])
    .filter(([, figures]) => figures !== null)
    .map(([sample, figures]) => ({
      label: sample.label,
      control: isControl(sample.mode),
      controlled: modes.has(controlOf(sample.mode)),
      threads: sample.threads,
      median: figures.median,
      min: figures.min,
      max: figures.max,
      medianText: `${quantity(figures.median)}op/s`,
      rangeText: `${quantity(figures.min)}–${quantity(figures.max)}op/s`,
      repeatsText: plural(figures.count, "repeat"),
      threadsText: plural(sample.threads, "thread"),
    }));
};

const tooltip = [
  { field: "label", title: "mode" },
  { field: "threadsText", title: "at" },
  { field: "medianText", title: "median" },
  { field: "rangeText", title: "range" },
  { field: "repeatsText", title: "over" },
];

const rangeY = { y: { field: "min", type: "quantitative" }, y2: { field: "max" } };
const only = (control) => [{ filter: `datum.control === ${control}` }];

const controlLayers = (connected) => [
  {
    transform: only(true),
    mark: connected
      ? { type: "area", color: "var(--control)", opacity: 0.55 }
      : { type: "rule", color: "var(--control)", opacity: 0.55, strokeWidth: 48 },
    encoding: { ...rangeY, detail: { field: "label" }, tooltip },
  },
  {
    transform: only(true),
    mark: connected
      ? { type: "line", color: "var(--muted)", strokeWidth: 1, strokeDash: [3, 3] }
      : { type: "tick", color: "var(--muted)", thickness: 1, width: 48 },
    encoding: { y: { field: "median", type: "quantitative" }, detail: { field: "label" } },
  },
];

const modeLayers = (color, shape, connected, banded) => {
  const y = { field: "median", type: "quantitative" };
  const layers = [
    { mark: { type: "rule", strokeWidth: 1.5, opacity: 0.75 }, encoding: { ...rangeY, color } },
    { mark: { type: "line", strokeWidth: 2.25 }, encoding: { y, color } },
    {
      mark: {
        type: "point",
        filled: true,
        size: 52,
        opacity: 1,
        stroke: "var(--card)",
        strokeWidth: 1,
      },
      encoding: { y, color, shape },
    },
    {
      mark: { type: "point", filled: true, size: 500, opacity: 0 },
      encoding: { y, detail: { field: "label" }, tooltip },
    },
  ];
  const drawn = layers.map((layer) => ({ transform: only(false), ...layer }));
  if (!connected || !banded) return drawn;
  const band = {
    transform: [{ filter: "!datum.control && !datum.controlled" }],
    mark: { type: "area", opacity: 0.14 },
    encoding: { ...rangeY, color },
  };
  return [band, ...drawn];
};

export const throughputChart = (panel, styles) => {
  const scale = (property) => ({
    field: "label",
    type: "nominal",
    legend: null,
    scale: {
      domain: panel.labels,
      range: panel.labels.map((label) => styles.get(label)[property]),
    },
  });
  const connected = panel.threads.length > 1;
  const banded = panel.labels.length <= bandedModes;
  return {
    description: `Throughput of ${panel.study}, ${panel.title}, over threads`,
    height: 200,
    data: { values: summarise(panel) },
    encoding: {
      x: {
        field: "threads",
        type: "ordinal",
        sort: panel.threads,
        scale: { type: "point", padding: 0.35 },
        axis: { title: "threads" },
      },
      y: {
        type: "quantitative",
        scale: { zero: true, nice: true },
        axis: { title: "operations/s", labelExpr: siLabel, tickCount: 5, ...flatTitle },
      },
    },
    layer: [
      ...controlLayers(connected),
      ...modeLayers(scale("color"), scale("shape"), connected, banded),
    ],
  };
};
