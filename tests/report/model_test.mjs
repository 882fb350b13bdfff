// SPDX-License-Identifier: Apache-2.0
// The page's arithmetic, without a page.

import assert from "node:assert/strict";
import test from "node:test";
import { comparePanel, median, spread } from "../../report/page/model/comparisons.js";
import { makeStudies } from "../../report/page/model/panels.js";
import { readRecord } from "../../report/page/model/record.js";
import { assignStyles } from "../../report/page/palette.js";
import { outcomesOf } from "../../report/page/charts/outcomes.js";
import { quantity, range, ratio } from "../../report/page/format.js";

const record = (mode, throughput, more = {}) => ({
  study: "s",
  case: "c",
  mode,
  where: "native",
  threads: 2,
  throughput,
  ...more,
});
const studiesOf = (records) => makeStudies(records.map(readRecord));
const panelsOf = (records) => studiesOf(records).flatMap((study) => study.panels);
const compare = (records) => panelsOf(records).flatMap(comparePanel);

test("the median of an even number of values is the mean of the middle two", () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([10, 9, 1]), 9);
});

test("a spread leaves out values that are not there", () => {
  assert.deepEqual(spread([2, null, 4]), { median: 3, min: 2, max: 4, count: 2 });
  assert.equal(spread([null]), null);
});

test("speed-up is the median of the ratios inside the repeats, not the ratio of medians", () => {
  const pairs = [
    [100, 200],
    [10, 30],
    [1000, 1000],
  ];
  const records = pairs.flatMap(([stock, ours], repeat) => [
    record("stock", stock, { repeat }),
    record("unlatch", ours, { repeat, baseline: "stock" }),
  ]);
  const [{ ratio, verdict }] = compare(records);
  assert.deepEqual(ratio, { median: 2, min: 1, max: 3, count: 3 });
  assert.equal(verdict, "gains");
});

test("repeats without a partner are left out of the ratio", () => {
  const [{ ratio }] = compare([
    record("stock", 10, { repeat: 1 }),
    record("unlatch", 20, { repeat: 1 }),
    record("unlatch", 90, { repeat: 2 }),
  ]);
  assert.equal(ratio.count, 1);
});

test("a mode whose baseline did not run is unpaired", () => {
  const [{ ratio, verdict, baseline }] = compare([record("unlatch", 20, { baseline: "stock" })]);
  assert.equal(ratio, null);
  assert.equal(verdict, "unpaired");
  assert.equal(baseline, "stock");
});

test("a ratio loses below 0.97 and gains above 1.03", () => {
  const verdict = (ours) => compare([record("stock", 100), record("unlatch", ours)])[0].verdict;
  assert.equal(verdict(96.9), "loses");
  assert.equal(verdict(97), "equal");
  assert.equal(verdict(103), "equal");
  assert.equal(verdict(103.1), "gains");
});

test("the control is compared with its own baseline and is no mode of its own", () => {
  const comparisons = compare([
    record("lock", 100),
    record("lock-control", 98),
    record("unlatch", 150),
  ]);
  assert.equal(comparisons.length, 1);
  assert.equal(comparisons[0].baseline, "lock");
  assert.equal(comparisons[0].control.median, 0.98);
});

test("each mode is compared with the baseline that its records name", () => {
  const comparisons = compare([
    record("mutex", 100),
    record("ttas", 200),
    record("section", 300, { baseline: "mutex" }),
    record("closure", 300, { baseline: "ttas" }),
  ]);
  assert.deepEqual(
    comparisons.map((c) => [c.label, c.baseline, c.ratio.median]).filter(([l]) => l !== "ttas"),
    [
      ["section", "mutex", 3],
      ["closure", "ttas", 1.5],
    ],
  );
});

test("runs of one repeat with other seeds are not paired", () => {
  const [{ ratio }] = compare([
    record("stock", 10, { repeat: 1, seed: 1 }),
    record("unlatch", 20, { repeat: 1, seed: 1 }),
    record("unlatch", 90, { repeat: 1, seed: 2 }),
  ]);
  assert.deepEqual([ratio.median, ratio.count], [2, 1]);
});

test("native and simulated records never share a panel or a study", () => {
  const studies = studiesOf([
    record("stock", 1),
    record("unlatch", 2),
    record("unlatch", 3, { where: "skylake-8" }),
  ]);
  assert.deepEqual(
    studies.map((s) => s.simulated),
    [false, true],
  );
  for (const { simulated, panels } of studies) {
    for (const panel of panels) {
      assert.ok(panel.samples.every((sample) => sample.simulated === simulated));
    }
  }
});

test("records of two machines never share a panel", () => {
  const host = (cpu) => ({ host: { cpu, cpus: 2 } });
  assert.equal(
    panelsOf([record("stock", 1, host("A")), record("unlatch", 2, host("B"))]).length,
    2,
  );
});

test("records with other parameters stand in a panel of their own that names them", () => {
  const params = (size) => ({ params: { value_size: size, entries: 10 } });
  const panels = panelsOf([record("stock", 1, params(50)), record("stock", 1, params(100))]);
  assert.deepEqual(
    panels.map((p) => p.title),
    ["c, value_size 50", "c, value_size 100"],
  );
  assert.deepEqual(
    panels.map((p) => p.subtitle),
    ["entries 10", "entries 10"],
  );
});

test("a mode carries its policy in its name where it ran with several", () => {
  const [panel] = panelsOf([
    record("elided", 1, { policy: "hle" }),
    record("elided", 1, { policy: "tbb" }),
    record("single", 1, { policy: "hle" }),
  ]);
  assert.deepEqual(panel.labels, ["elided · hle", "elided · tbb", "single"]);
});

test("no two modes of a page look the same", () => {
  const modes = Array.from({ length: 30 }, (_, i) =>
    record(`mode ${i}`, 1, { baseline: "mode 3" }),
  );
  const styles = [...assignStyles(panelsOf(modes)).values()];
  assert.equal(new Set(styles.map(({ color, shape }) => color + shape)).size, 30);
});

test("outcomes are shares of the transactions started, causes kept apart", () => {
  const transactions = { started: 10, committed: 6, aborted: { conflict: 2, capacity: 1 } };
  const [panel] = panelsOf([
    record("elided", 1, { transactions }),
    record("elided", 1, { transactions }),
  ]);
  const { rows, outcomes } = outcomesOf(panel, "hardware");
  assert.deepEqual(
    outcomes.map((o) => o.name),
    ["committed", "conflict", "capacity", "unaccounted"],
  );
  assert.deepEqual(
    rows.map((row) => row.share),
    [0.6, 0.2, 0.1, 0.1],
  );
  assert.equal(outcomesOf(panel, "software").rows.length, 0);
});

test("context switches are counted for each operation, and unknown without operations", () => {
  assert.equal(
    readRecord(record("m", 1, { context_switches: 5, ops: 10 })).switchesPerOperation,
    0.5,
  );
  assert.equal(readRecord(record("m", 1, { context_switches: 5 })).switchesPerOperation, null);
});

test("quantities keep three digits", () => {
  assert.deepEqual([584795, 1234, 999, 12.34, 0.0012].map(quantity), [
    "585 k",
    "1.23 k",
    "999",
    "12.3",
    "0.001",
  ]);
});

test("a ratio shows on which side of a limit it lies", () => {
  assert.deepEqual(
    [0.968, 0.972, 1.034].map((value) => ratio(value)),
    ["0.968×", "0.972×", "1.034×"],
  );
  assert.deepEqual(
    [0.96, 1, 1.5, 12.34].map((value) => ratio(value)),
    ["0.96×", "1.00×", "1.50×", "12.3×"],
  );
  assert.equal(range({ min: 0.968, max: 10 }), "0.97–10.0");
});
