// SPDX-License-Identifier: Apache-2.0
// Speed-up of every mode over its baseline. The ratio is taken inside each repeat, where the modes
// ran interleaved, and only then summarised; noise that hits a whole repeat cancels out.

import { controlOf, isControl } from "./record.js";
import { unique } from "./panels.js";

export const losesBelow = 0.97;
export const gainsAbove = 1.03;

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

// "loses" | "equal" | "gains"; "unpaired" where no repeat has both sides.
export const verdictOf = (ratio) => {
  if (ratio === null) return "unpaired";
  if (ratio.median < losesBelow) return "loses";
  return ratio.median > gainsAbove ? "gains" : "equal";
};

// Throughput by repeat; a repeat that occurs twice (two seeds, say) is told apart by its position.
const byRepeat = (samples) => {
  const occurrences = new Map();
  const throughput = new Map();
  for (const { repeat, operationsPerSecond } of samples) {
    const occurrence = occurrences.get(repeat) ?? 0;
    occurrences.set(repeat, occurrence + 1);
    throughput.set(`${repeat}/${occurrence}`, operationsPerSecond);
  }
  return throughput;
};

const pairedRatio = (samples, baselineSamples) => {
  const baseline = byRepeat(baselineSamples);
  const ratios = [];
  for (const [repeat, throughput] of byRepeat(samples)) {
    if (throughput !== null && baseline.get(repeat) > 0) {
      ratios.push(throughput / baseline.get(repeat));
    }
  }
  return spread(ratios);
};

// The samples that stand for a mode: all of its policies are one mode only if there is one policy,
// so a baseline that was run with several is matched by the sample's own policy first.
const samplesOf = (samples, mode, policy) => {
  const ofMode = samples.filter((sample) => sample.mode === mode);
  if (unique(ofMode.map((sample) => sample.label)).length < 2) return ofMode;
  const samePolicy = ofMode.filter((sample) => sample.policy === policy);
  return samePolicy.length > 0
    ? samePolicy
    : ofMode.filter((sample) => sample.label === ofMode[0].label);
};

// Every mode of the panel against each of its baselines, in the panel's order of modes.
export const comparePanel = (panel) => {
  const comparisons = [];
  for (const label of panel.labels) {
    const ofLabel = panel.samples.filter((s) => s.label === label && !isControl(s.mode));
    const [{ mode, policy }] = ofLabel;
    const named = unique(ofLabel.flatMap((sample) => sample.baselines));
    const own = named.length > 0 ? named : panel.baselines.slice(0, 1);
    for (const baseline of own.filter((name) => name !== mode)) {
      for (const threads of unique(ofLabel.map((s) => s.threads)).sort((a, b) => a - b)) {
        const cell = panel.samples.filter((sample) => sample.threads === threads);
        const samples = cell.filter((sample) => sample.label === label);
        const reference = samplesOf(cell, baseline, policy);
        const ratio = pairedRatio(samples, reference);
        comparisons.push({
          panel,
          label,
          baseline,
          threads,
          ratio,
          control: pairedRatio(samplesOf(cell, controlOf(baseline), policy), reference),
          verdict: verdictOf(ratio),
          switches: spread(samples.map((sample) => sample.switchesPerOperation)),
          baselineSwitches: spread(reference.map((sample) => sample.switchesPerOperation)),
          p99: spread(samples.map((sample) => sample.p99Microseconds)),
          baselineP99: spread(reference.map((sample) => sample.p99Microseconds)),
        });
      }
    }
  }
  return comparisons;
};
