// SPDX-License-Identifier: Apache-2.0
// Why transactions aborted, summed over repeats and cells, without a page.

import assert from "node:assert/strict";
import test from "node:test";
import {
  choicesOf,
  explainedSamples,
  joinRanges,
  sumBlame,
} from "../../report/page/model/blame.js";
import { makeStudies } from "../../report/page/model/panels.js";
import { readRecord } from "../../report/page/model/record.js";

const side = (line, access = "write", more = {}) => ({ line, function: "f", access, ...more });
const conflict = (count, wasted_cycles, more = {}) => ({
  owner: side("a.cpp:1"),
  requester: side("b.cpp:2"),
  object: "counter",
  sharing: "true",
  count,
  wasted_cycles,
  ...more,
});
const blameOf = (conflicts, capacities = [], others = []) => ({ conflicts, capacities, others });
const record = (blame, more = {}) => ({
  study: "s",
  case: "c",
  mode: "elided",
  where: "i7-4770",
  threads: 4,
  throughput: 1,
  blame,
  ...more,
});
const explained = (records) => makeStudies(records.map(readRecord)).flatMap(explainedSamples);
const rowsOf = (records) => sumBlame(explained(records));

test("a cell counts with the mean over its repeats, one that was not blamed for anything too", () => {
  const [row] = rowsOf([
    record(blameOf([conflict(10, 900)]), { repeat: 1 }),
    record(blameOf([]), { repeat: 2 }),
    record(blameOf([conflict(20, 600)]), { repeat: 3 }),
  ]);
  assert.deepEqual([row.aborts, row.wasted], [10, 500]);
  assert.deepEqual(row.cells, [{ title: "c", label: "elided", threads: 4 }]);
});

test("cells are summed and named, the costliest first", () => {
  const [row] = rowsOf([
    record(blameOf([conflict(1, 100)]), { threads: 2 }),
    record(blameOf([conflict(3, 400)]), { threads: 4 }),
  ]);
  assert.deepEqual([row.aborts, row.wasted], [4, 500]);
  assert.deepEqual(
    row.cells.map(({ threads }) => threads),
    [4, 2],
  );
});

test("rows come with the most cycles wasted first, whatever their kind", () => {
  const capacity = {
    ...side("c.cpp:3"),
    set: 5,
    lines_in_set: 9,
    tracked_lines: 40,
    filled_by: [{ line: "c.cpp:3", lines: 8 }],
    count: 2,
    wasted_cycles: 700,
  };
  const other = { ...side("d.cpp:4"), reason: "system call", count: 1, wasted_cycles: 800 };
  const rows = rowsOf([record(blameOf([conflict(9, 600)], [capacity], [other]))]);
  assert.deepEqual(
    rows.map(({ cause }) => cause),
    ["system call", "write capacity", "conflict"],
  );
  assert.deepEqual([rows[1].set, rows[1].filledBy[0].lines], [5, 8]);
});

test("a lock that was held is the object of its row", () => {
  const held = (object) => ({
    ...side("e.cpp:5"),
    reason: "lock held",
    object,
    allocation: { line: "f.cpp:6", text: "new latch" },
    count: 1,
    wasted_cycles: 10,
  });
  const rows = rowsOf([record(blameOf([], [], [held("one"), held("another")]))]);
  assert.deepEqual(
    rows.map(({ cause, object, allocation }) => [cause, object, allocation.text]),
    [
      ["lock held", "one", "new latch"],
      ["lock held", "another", "new latch"],
    ],
  );
});

test("other lines, accesses or objects make other rows", () => {
  const rows = rowsOf([
    record(
      blameOf([
        conflict(1, 5),
        conflict(1, 4, { owner: side("a.cpp:7") }),
        conflict(1, 3, { requester: side("b.cpp:2", "read") }),
        conflict(1, 2, { object: "another" }),
      ]),
    ),
  ]);
  assert.equal(rows.length, 4);
});

test("bytes of several occurrences are joined", () => {
  assert.deepEqual(
    joinRanges([
      [8, 15],
      [32, 39],
      [0, 7],
      [34, 35],
    ]),
    [
      [0, 15],
      [32, 39],
    ],
  );
  const [row] = rowsOf([
    record(blameOf([conflict(1, 1, { owner: side("a.cpp:1", "write", { bytes: [[0, 7]] }) })])),
    record(blameOf([conflict(1, 1, { owner: side("a.cpp:1", "write", { bytes: [[8, 15]] }) })]), {
      repeat: 2,
    }),
  ]);
  assert.deepEqual(row.lost.bytes, [[0, 15]]);
});

test("sharing is counted where the records count it, else taken from the majority", () => {
  const [counted] = rowsOf([record(blameOf([conflict(4, 1, { true_sharing: 1 })]))]);
  assert.equal(counted.trueSharing, 1);
  const [majority] = rowsOf([record(blameOf([conflict(4, 1)]))]);
  assert.equal(majority.trueSharing, 4);
});

test("a line number that the compiler did not give is replaced by the function", () => {
  const [row] = rowsOf([record(blameOf([conflict(1, 1, { owner: side("a.cpp:0") })]))]);
  assert.deepEqual([row.lost.line, row.lost.function], ["a.cpp", "f"]);
});

test("records without blame, and blame of other shapes, give no rows", () => {
  for (const blame of [undefined, null, 7, "x", [], {}, { conflicts: 3, capacities: [4, null] }]) {
    assert.deepEqual(rowsOf([record(blame)]), []);
  }
  assert.equal(explained([record(undefined)]).length, 0);
  assert.equal(explained([record(blameOf([]))]).length, 1);
});

test("only what differs can be chosen", () => {
  const samples = explained([
    record(blameOf([]), { threads: 2 }),
    record(blameOf([]), { threads: 4 }),
  ]);
  const [{ name, values }, ...more] = choicesOf(samples);
  assert.deepEqual([name, values, more], ["threads", ["2", "4"], []]);
});
