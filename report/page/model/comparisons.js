// SPDX-License-Identifier: Apache-2.0
// Speed-up of every mode over its baseline. The ratio is taken inside each repeat, where the modes
// ran interleaved, and only then summarised; noise that hits a whole repeat cancels out.

import { controlOf } from "./record.js";
import { unique } from "./panels.js";
import { verdictOf } from "./verdict.js";

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

// {median, min, max, count} of the finite values, or null where there are none.
export const spread = (values) => {
  const known = values.filter(Number.isFinite);
  if (known.length === 0) return null;
  return {
    median: median(known),
    min: Math.min(...known),
    max: Math.max(...known),
    count: known.length,
  };
};

// The spread of throughput over that of the baseline's run of the same repeat and seed.
export const pairedRatio = (samples, baselineSamples) => {
  const ratios = [];
  for (const { repeat, seed, operationsPerSecond } of samples) {
    const partner = baselineSamples.find((other) => other.repeat === repeat && other.seed === seed);
    if (operationsPerSecond !== null && partner?.operationsPerSecond > 0) {
      ratios.push(operationsPerSecond / partner.operationsPerSecond);
    }
  }
  return spread(ratios);
};

const compareCell = (panel, label, baseline, threads) => {
  const cell = panel.samples.filter((sample) => sample.threads === threads);
  const ours = cell.filter((sample) => sample.label === label);
  const theirs = cell.filter((sample) => sample.mode === baseline);
  const control = cell.filter((sample) => sample.mode === controlOf(baseline));
  const ratio = pairedRatio(ours, theirs);
  return {
    panel,
    label,
    baseline,
    threads,
    ratio,
    control: pairedRatio(control, theirs),
    verdict: verdictOf(ratio),
    switches: spread(ours.map((sample) => sample.switchesPerOperation)),
    baselineSwitches: spread(theirs.map((sample) => sample.switchesPerOperation)),
    p99: spread(ours.map((sample) => sample.p99Microseconds)),
    baselineP99: spread(theirs.map((sample) => sample.p99Microseconds)),
  };
};

const compareMode = (panel, label) => {
  const samples = panel.samples.filter((sample) => sample.label === label);
  const baseline = samples[0].baseline ?? panel.baselines[0];
  if (baseline === undefined || baseline === samples[0].mode) return [];
  const threads = unique(samples.map((sample) => sample.threads)).sort((a, b) => a - b);
  return threads.map((count) => compareCell(panel, label, baseline, count));
};

// Every mode of the panel over its baseline, in the panel's order of modes.
export const comparePanel = (panel) => panel.labels.flatMap((label) => compareMode(panel, label));
