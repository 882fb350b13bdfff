// SPDX-License-Identifier: Apache-2.0
// Our policy beside the plain lock and the published policies, without a page.

import assert from "node:assert/strict";
import test from "node:test";
import { makeStudies } from "../../report/page/model/panels.js";
import { policyCells } from "../../report/page/model/policies.js";
import { readRecord } from "../../report/page/model/record.js";

const record = (policy, throughput, more = {}) => ({
  study: "policies",
  case: "bank",
  mode: policy === "none" ? "plain" : "elided",
  policy,
  baseline: "plain",
  where: "i7-4770",
  threads: 4,
  throughput,
  ...more,
});
const cellsOf = (records) => policyCells(makeStudies(records.map(readRecord)));
const cellOf = (plain, adaptive, published) =>
  cellsOf([
    record("none", plain),
    record("adaptive", adaptive),
    ...Object.entries(published).map(([policy, throughput]) => record(policy, throughput)),
  ])[0];

test("a cell is compared with the plain lock and with the best published policy", () => {
  const cell = cellOf(100, 150, { hle: 120, glibc: 200, tbb: 90 });
  assert.equal(cell.overPlain.median, 1.5);
  assert.equal(cell.bestPolicy, "glibc");
  assert.equal(cell.overBest.median, 0.75);
  assert.deepEqual([cell.useCase, cell.machine, cell.threads], ["bank", "i7-4770", 4]);
});

test("a cell loses below 0.97 of the plain lock or 0.95 of the best policy, gains above neither", () => {
  const verdict = (...figures) => cellOf(...figures).verdict;
  assert.equal(verdict(100, 96.9, { hle: 50 }), "loses");
  assert.equal(verdict(100, 97, { hle: 97 }), "equal");
  assert.equal(verdict(100, 200, { hle: 211 }), "loses");
  assert.equal(verdict(100, 200, { hle: 210 }), "gains");
  assert.equal(verdict(100, 100, { hle: 90 }), "gains");
});

test("the cell that loses most comes first", () => {
  const records = [
    [1, 130],
    [2, 60],
    [4, 100],
  ].flatMap(([threads, adaptive]) => [
    record("none", 100, { threads }),
    record("hle", 100, { threads }),
    record("adaptive", adaptive, { threads }),
  ]);
  assert.deepEqual(
    cellsOf(records).map(({ threads }) => threads),
    [2, 4, 1],
  );
});

test("all models stand in one list, each compared with its own figures", () => {
  const on = (where, adaptive) => [
    record("none", 100, { where }),
    record("adaptive", adaptive, { where }),
  ];
  const cells = cellsOf([...on("a", 50), ...on("b", 200)]);
  assert.deepEqual(
    cells.map(({ machine, overPlain }) => [machine, overPlain.median]),
    [
      ["a", 0.5],
      ["b", 2],
    ],
  );
});

test("what did not run is not compared with", () => {
  const [cell] = cellsOf([record("adaptive", 100)]);
  assert.deepEqual([cell.overPlain, cell.overBest, cell.verdict], [null, null, "unpaired"]);
  assert.deepEqual(cellsOf([record("none", 100), record("hle", 90)]), []);
  assert.deepEqual(cellsOf([record("adaptive", 100, { study: "bank" })]), []);
});
