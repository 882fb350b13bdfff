// SPDX-License-Identifier: Apache-2.0
// One result record as the page needs it. Every key that a record may lack gets its stand-in here,
// so that no other module has to ask. docs/records.md describes the keys.

import { plural } from "../format.js";
import { readBlame } from "./blame.js";

const controlSuffix = "-control";

// The A/A control of a baseline is recorded under the baseline's name with this suffix.
export const isControl = (mode) => mode.endsWith(controlSuffix);
export const controlOf = (baseline) => baseline + controlSuffix;
export const controlled = (mode) => mode.slice(0, -controlSuffix.length);

const finite = (value) => (Number.isFinite(value) ? value : null);

// Transaction counts with at least one start, or null.
const counts = (value) => {
  if (!(value?.started > 0)) return null;
  const aborted = value.aborted ?? {};
  return {
    started: value.started,
    committed: value.committed ?? 0,
    aborted: typeof aborted === "number" ? { aborted } : aborted,
  };
};

const machineOf = (record) => {
  const host = record.host ?? {};
  if (record.where !== "native") return record.where;
  if (!host.cpu) return "a machine that the records do not describe";
  return host.cpus ? `${host.cpu}, ${plural(host.cpus, "CPU")}` : host.cpu;
};

const perOperation = (total, operations) =>
  Number.isFinite(total) && operations > 0 ? total / operations : null;

// The record as a sample: flat, complete, with units in the names.
export const readRecord = (record) => ({
  study: String(record.study),
  case: String(record.case),
  params: record.params ?? {},
  simulated: record.where !== "native",
  machine: machineOf(record),
  mode: String(record.mode),
  policy: record.policy && record.policy !== "none" ? String(record.policy) : null,
  threads: Number(record.threads),
  repeat: record.repeat ?? 0,
  seed: record.seed ?? 0,
  operationsPerSecond: finite(record.throughput),
  switchesPerOperation: perOperation(record.context_switches, record.ops),
  p99Microseconds: finite(record.latency_us?.p99),
  hardware: counts(record.transactions),
  software: counts(record.software),
  blame: readBlame(record.blame),
  baseline: record.baseline ? String(record.baseline) : null,
  command: record.command ? String(record.command) : null,
  build: record.build ? String(record.build) : null,
  host: record.host ?? {},
});
