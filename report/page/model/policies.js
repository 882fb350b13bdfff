// SPDX-License-Identifier: Apache-2.0
// The study of every elision policy on every use case: how ours does in each cell beside the plain
// lock and beside the best of the published ones.

import { pairedRatio, spread } from "./comparisons.js";
import { groupBy } from "./panels.js";
import { losesBelow, policyLimits, verdictOf } from "./verdict.js";

const studyName = "policies";
const ours = "adaptive";

const throughput = (samples) => spread(samples.map((sample) => sample.operationsPerSecond));

// The samples of the published policy with the highest median, or null.
const bestPublished = (samples) => {
  const published = samples.filter(({ policy }) => policy !== null && policy !== ours);
  const ranked = groupBy(published, ({ policy }) => policy)
    .map((ofPolicy) => ({ ofPolicy, figures: throughput(ofPolicy) }))
    .filter(({ figures }) => figures !== null)
    .sort((a, b) => b.figures.median - a.figures.median);
  return ranked.length > 0 ? ranked[0].ofPolicy : null;
};

// A cell loses if it loses to either, and gains if it gains over one and loses to neither.
const overall = (verdicts) =>
  ["loses", "gains", "equal"].find((verdict) => verdicts.includes(verdict)) ?? "unpaired";

// How near a cell is to losing: its smaller ratio, each over its limit.
const marginOf = (overPlain, overBest) => {
  const margins = [
    overPlain && overPlain.median / losesBelow,
    overBest && overBest.median / policyLimits.losesBelow,
  ].filter((margin) => margin !== null);
  return margins.length > 0 ? Math.min(...margins) : undefined;
};

const makeCell = (panel, samples, adaptive) => {
  const plain = samples.filter(({ mode }) => mode === panel.baselines[0]);
  const best = bestPublished(samples);
  const overPlain = pairedRatio(adaptive, plain);
  const overBest = best && pairedRatio(adaptive, best);
  const plainVerdict = verdictOf(overPlain);
  const bestVerdict = verdictOf(overBest, policyLimits);
  return {
    useCase: panel.title,
    machine: panel.machine,
    simulated: panel.simulated,
    threads: samples[0].threads,
    throughput: throughput(adaptive),
    overPlain,
    overBest,
    bestPolicy: best && best[0].policy,
    plainVerdict,
    bestVerdict,
    verdict: overall([plainVerdict, bestVerdict]),
    margin: marginOf(overPlain, overBest),
  };
};

const cellsOf = (panel) =>
  groupBy(panel.samples, ({ threads }) => threads).flatMap((samples) => {
    const adaptive = samples.filter(({ policy }) => policy === ours);
    return adaptive.length > 0 ? [makeCell(panel, samples, adaptive)] : [];
  });

// Every cell of the study in which our policy ran, the one that loses most first: {useCase,
// machine, threads, throughput, overPlain, overBest, bestPolicy, the three verdicts, margin}.
export const policyCells = (studies) =>
  studies
    .filter(({ name }) => name === studyName)
    .flatMap(({ panels }) => panels.flatMap(cellsOf))
    .sort((a, b) => (a.margin ?? Infinity) - (b.margin ?? Infinity));
