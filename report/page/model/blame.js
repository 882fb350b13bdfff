// SPDX-License-Identifier: Apache-2.0
// Why transactions aborted: the entries of a record's `blame`, complete, and their sums over
// repeats and cells. docs/records.md describes the entries as they are recorded.

import { groupBy, unique } from "./panels.js";

const text = (value) => (value === undefined || value === null ? "" : String(value));
const whole = (value) => (Number.isFinite(value) ? value : 0);
const list = (value) =>
  Array.isArray(value) ? value.filter((v) => v && typeof v === "object") : [];

// A line of source: {line, text, function}; the function only where there is no line: its number
// is 0 where the compiler gave the code none, and an address stands for it where nothing is known.
const place = (of) => {
  const line = text(of?.line);
  const numbered = !line.endsWith(":0");
  return {
    line: numbered ? line : line.slice(0, -2),
    text: numbered ? text(of?.text) : "",
    function: numbered && !line.startsWith("0x") ? "" : text(of?.function),
  };
};

const side = (of) => ({
  ...place(of),
  access: text(of?.access),
  bytes: Array.isArray(of?.bytes) ? of.bytes.filter(Array.isArray) : [],
});

const objectOf = (of) => ({
  object: text(of.object),
  allocation: of.allocation ? place(of.allocation) : null,
});

const counts = (of) => ({ aborts: whole(of.count), wasted: whole(of.wasted_cycles) });

const conflict = (of) => ({
  kind: "conflict",
  cause: "conflict",
  lost: side(of.owner),
  taken: side(of.requester),
  ...objectOf(of),
  // Where records only say which was the more frequent, all count as that.
  trueSharing: Number.isFinite(of.true_sharing)
    ? of.true_sharing
    : of.sharing === "true"
      ? whole(of.count)
      : 0,
  ...counts(of),
});

const capacity = (of) => ({
  kind: "capacity",
  cause: `${text(of.access)} capacity`,
  lost: side(of),
  set: whole(of.set),
  linesInSet: whole(of.lines_in_set),
  trackedLines: whole(of.tracked_lines),
  filledBy: list(of.filled_by).map((one) => ({ ...place(one), lines: whole(one.lines) })),
  ...counts(of),
});

// Where a lock was held, the object is that lock.
const other = (of) => ({
  kind: "other",
  cause: text(of.reason),
  lost: side(of),
  ...objectOf(of),
  ...counts(of),
});

// The entries of a record's `blame`, or null where it has none to show.
export const readBlame = (blame) =>
  blame && typeof blame === "object"
    ? [
        ...list(blame.conflicts).map(conflict),
        ...list(blame.capacities).map(capacity),
        ...list(blame.others).map(other),
      ]
    : null;

const spot = ({ line, access, function: name }) => [line, access, name];
const keyOf = ({ cause, lost, taken, object }) =>
  JSON.stringify([cause, spot(lost), taken ? spot(taken) : null, object ?? null]);

const total = (items, of) => items.reduce((sum, item) => sum + of(item), 0);

// Ranges of bytes that cover the same bytes, in order, each once.
export const joinRanges = (ranges) => {
  const joined = [];
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const previous = joined.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else joined.push([first, last]);
  }
  return joined;
};

const joinSides = (sides) => ({ ...sides[0], bytes: joinRanges(sides.flatMap((s) => s.bytes)) });

// One row of what a cell's repeats have in common, or what cells have: see sumBlame().
const sumEntries = (occurrences) => {
  const costliest = occurrences.reduce((a, b) => (b.entry.wasted > a.entry.wasted ? b : a));
  const mean = (of) => total(occurrences, ({ entry, runs }) => of(entry) / runs);
  const cells = groupBy(occurrences, ({ cell }) => cell).map((ofCell) => ({
    cell: ofCell[0].cell,
    wasted: total(ofCell, ({ entry, runs }) => entry.wasted / runs),
  }));
  return {
    ...costliest.entry,
    lost: joinSides(occurrences.map(({ entry }) => entry.lost)),
    taken: costliest.entry.taken ? joinSides(occurrences.map(({ entry }) => entry.taken)) : null,
    aborts: mean((entry) => entry.aborts),
    wasted: mean((entry) => entry.wasted),
    trueSharing: mean((entry) => entry.trueSharing ?? 0),
    cells: cells.sort((a, b) => b.wasted - a.wasted).map(({ cell }) => cell),
  };
};

export const cellOf = ({ title, label, threads }) => ({ title, label, threads });
const cellKey = (sample) => JSON.stringify([sample.title, sample.label, sample.threads]);

// Rows, the most cycles wasted first: the mean over the repeats of each cell, summed over the cells
// of `samples`. A row stands for the same cause at the same lines of source, on the same object;
// what cannot be summed (the set of a capacity abort) is that of its costliest occurrence. `cells`
// are where it occurred, the costliest first: {title, label, threads}.
export const sumBlame = (samples) => {
  const explained = samples.filter(({ blame }) => blame !== null);
  const occurrences = groupBy(explained, cellKey).flatMap((ofCell) => {
    const cell = cellOf(ofCell[0]);
    const entries = ofCell.flatMap(({ blame }) => blame);
    return entries.map((entry) => ({ entry, cell, runs: ofCell.length }));
  });
  return groupBy(occurrences, ({ entry }) => keyOf(entry))
    .map(sumEntries)
    .sort((a, b) => b.wasted - a.wasted);
};

// The samples of a study that say why transactions aborted, each with its panel's title.
export const explainedSamples = (study) =>
  study.panels.flatMap((panel) =>
    panel.samples
      .filter(({ blame }) => blame !== null)
      .map((sample) => ({ ...sample, title: panel.title })),
  );

// What of `explained` a reader may choose: cases, modes and threads, where there are several.
export const choicesOf = (explained) =>
  [
    { name: "case", of: ({ title }) => title },
    { name: "mode", of: ({ label }) => label },
    { name: "threads", of: ({ threads }) => String(threads) },
  ]
    .map((choice) => ({ ...choice, values: unique(explained.map(choice.of)) }))
    .filter(({ values }) => values.length > 1);
