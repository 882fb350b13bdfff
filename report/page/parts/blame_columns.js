// SPDX-License-Identifier: Apache-2.0
// The columns of the table of why transactions aborted (sortable_table.js says what a column has).

import { breakable, h } from "../dom.js";
import { plural, quantity } from "../format.js";

const small = (...children) => h("small", {}, ...children);
const whole = (value) => (value < 1000 ? String(Math.round(value)) : quantity(value));
export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

// A line of source: its text, where the records have it, above where it stands.
const source = (place, ...before) => [
  before.length > 0 && small(...before),
  place.text !== "" && h("code", {}, place.text),
  h(place.text === "" ? "span" : "small", { class: "line" }, breakable(place.line || "unknown")),
  place.function !== "" && small(`in ${place.function}`),
];

const sharing = ({ trueSharing, aborts }) => {
  const share = aborts > 0 ? trueSharing / aborts : 0;
  if (share === 0) return "false sharing: one cache line, no byte in common";
  return share === 1 ? "true sharing" : `true sharing in ${percent(share)}, else false`;
};

const causeCell = (row) => {
  if (row.kind === "conflict") return ["conflict", small(sharing(row))];
  if (row.kind !== "capacity") return row.cause;
  const { linesInSet, set, trackedLines } = row;
  return [row.cause, small(`${plural(linesInSet, "line")} in set ${set}, ${trackedLines} in all`)];
};

const takenCell = ({ kind, taken, filledBy }) => {
  if (kind === "conflict") return source(taken, `the ${taken.access} of another thread`);
  if (kind !== "capacity" || filledBy.length === 0) return "–";
  return filledBy.map((one) =>
    h("div", {}, source(one, `first touched ${plural(one.lines, "line")} of the set`)),
  );
};

const bytes = (ranges) =>
  ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");

const bytesLine = ({ lost, taken }) => {
  if (!taken || lost.bytes.length === 0 || taken.bytes.length === 0) return null;
  const [ours, theirs] = [bytes(lost.bytes), bytes(taken.bytes)];
  if (ours === theirs) return small(`bytes ${ours} of the cache line`);
  return small(`bytes ${ours} of the cache line, taken: ${theirs}`);
};

// An allocation is named by its line, which then need not stand in the object's name too.
const objectCell = (row) => {
  const { object, allocation } = row;
  if (!object) return "–";
  if (allocation === null) return [breakable(object), bytesLine(row)];
  return [object.replace(` at ${allocation.line}`, " at"), source(allocation), bytesLine(row)];
};

const cellName = ({ title, label, threads }) => `${title}, ${label}, ${plural(threads, "thread")}`;
const cellsCell = ({ cells }) =>
  cells.length === 1
    ? cellName(cells[0])
    : [plural(cells.length, "cell"), small("most in ", cellName(cells[0]))];

// `wasted` is what all rows wasted together.
export const blameColumns = (wasted) => [
  {
    heading: "cycles wasted",
    kind: "number brief",
    descends: true,
    value: (row) => row.wasted,
    cell: (row) => [whole(row.wasted), wasted > 0 && small(percent(row.wasted / wasted))],
  },
  {
    heading: "aborts",
    kind: "number brief",
    descends: true,
    value: (row) => row.aborts,
    cell: (row) => whole(row.aborts),
  },
  { heading: "cause", kind: "cause", value: (row) => row.cause, cell: causeCell },
  {
    heading: "line that aborted",
    kind: "source",
    value: (row) => row.lost.line,
    cell: ({ lost }) => source(lost, ...(lost.access ? [`its ${lost.access}`] : [])),
  },
  {
    heading: "line that took it",
    kind: "source",
    value: (row) => row.taken?.line ?? row.filledBy?.[0]?.line,
    cell: takenCell,
  },
  { heading: "object", kind: "object", value: (row) => row.object, cell: objectCell },
  { heading: "where", kind: "spots", value: (row) => cellName(row.cells[0]), cell: cellsCell },
];
