// SPDX-License-Identifier: Apache-2.0
// How transactions ended: committed or aborted by cause, as shares of those started. Hardware
// transactions and software speculation are counted apart and drawn apart.

import { groupBy, unique } from "../model/panels.js";
import { outcomeColor } from "../palette.js";
import { plural, quantity } from "../format.js";

const rowHeight = 20;
const knownCauses = ["aborted", "conflict", "capacity", "explicit", "other"];

const addCell = (rows, cell, kind) => {
  const totals = new Map();
  let started = 0;
  const add = (outcome, count) => totals.set(outcome, (totals.get(outcome) ?? 0) + count);
  for (const sample of cell) {
    const counts = sample[kind];
    started += counts.started;
    add("committed", counts.committed);
    let ended = counts.committed;
    for (const [cause, count] of Object.entries(counts.aborted)) {
      add(cause, count);
      ended += count;
    }
    add("unaccounted", Math.max(0, counts.started - ended));
  }
  const [{ label, threads }] = cell;
  for (const [outcome, count] of totals) {
    if (count === 0) continue;
    rows.push({
      row: `${label}, ${threads}`,
      outcome,
      share: count / started,
      rowText: `${label}, ${plural(threads, "thread")}`,
      countText: `${quantity(count)} of ${quantity(started)} started`,
      shareText: `${((100 * count) / started).toFixed(2)} %`,
    });
  }
};

// Rows of one panel for `kind` ("hardware" or "software") and the outcomes that occur, in the
// order in which they are stacked.
export const outcomesOf = (panel, kind) => {
  const rows = [];
  const counted = panel.samples.filter((sample) => sample[kind] !== null);
  const cells = groupBy(counted, (sample) => JSON.stringify([sample.label, sample.threads]));
  for (const cell of cells) addCell(rows, cell, kind);
  const present = unique(rows.map((row) => row.outcome));
  const order = ["committed", ...knownCauses];
  const extra = present.filter((outcome) => !order.includes(outcome) && outcome !== "unaccounted");
  const outcomes = [...order, ...extra, "unaccounted"].filter((name) => present.includes(name));
  return {
    rows: rows.map((row) => ({ ...row, order: outcomes.indexOf(row.outcome) })),
    outcomes: outcomes.map((name, position) => ({ name, color: outcomeColor(name, position) })),
  };
};

export const outcomesChart = (panel, kind, { rows, outcomes }) => ({
  description: `How the ${kind} transactions of ${panel.study}, ${panel.title}, ended`,
  height: rowHeight * unique(rows.map((row) => row.row)).length,
  data: { values: rows },
  mark: { type: "bar", stroke: "var(--card)", strokeWidth: 0.5 },
  encoding: {
    y: {
      field: "row",
      type: "nominal",
      sort: unique(rows.map((row) => row.row)),
      scale: { padding: 0.2 },
      axis: { title: null, labelLimit: 140 },
    },
    x: {
      field: "share",
      type: "quantitative",
      scale: { domain: [0, 1] },
      axis: { title: "share of those started", format: "%", values: [0, 0.25, 0.5, 0.75, 1] },
    },
    order: { field: "order" },
    color: {
      field: "outcome",
      type: "nominal",
      legend: null,
      scale: { domain: outcomes.map((o) => o.name), range: outcomes.map((o) => o.color) },
    },
    tooltip: [
      { field: "rowText", title: "row" },
      { field: "outcome", title: "outcome" },
      { field: "shareText", title: "share" },
      { field: "countText", title: "count" },
    ],
  },
});
