// SPDX-License-Identifier: Apache-2.0
// Sorts samples into studies and panels. A panel is one case of one study on one machine with one
// set of parameters: what may stand in one chart. Native and simulated samples never share one.

import { isControl, controlled } from "./record.js";

// Groups in order of first appearance.
export const groupBy = (items, keyOf) => {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups.values()];
};

export const unique = (values) => [...new Set(values)];

const key = (...parts) => JSON.stringify(parts);
const canonical = (params) =>
  key(
    ...Object.keys(params)
      .sort()
      .map((name) => [name, params[name]]),
  );

const show = (value) => {
  if (typeof value === "number") return value.toLocaleString("en");
  return typeof value === "string" ? value : JSON.stringify(value);
};
const describe = (params, names) => names.map((name) => `${name} ${show(params[name])}`).join(", ");

// Sets `label` on each sample: the mode, with its policy where one mode was run with several.
const labelModes = (samples) => {
  for (const sameMode of groupBy(samples, (sample) => sample.mode)) {
    const several = unique(sameMode.map((sample) => sample.policy)).length > 1;
    for (const sample of sameMode) {
      sample.label = several && sample.policy ? `${sample.mode} · ${sample.policy}` : sample.mode;
    }
  }
};

// The baselines a panel's samples name; where none do, those that a control was run for; where
// there is no control either, a mode called "stock".
const findBaselines = (samples) => {
  const modes = unique(samples.map((sample) => sample.mode));
  const named = unique(samples.map((sample) => sample.baseline).filter(Boolean));
  if (named.length > 0) return named;
  const implied = modes.filter(isControl).map(controlled);
  if (implied.length > 0) return implied;
  return modes.filter((mode) => mode === "stock");
};

const makePanel = (samples, constant, varying) => {
  const [first] = samples;
  const baselines = findBaselines(samples);
  const labels = unique(samples.filter((s) => !isControl(s.mode)).map((s) => s.label));
  const isBaseline = (label) => baselines.includes(label);
  return {
    study: first.study,
    case: first.case,
    title: varying.length > 0 ? `${first.case}, ${describe(first.params, varying)}` : first.case,
    subtitle: describe(first.params, constant),
    machine: first.machine,
    simulated: first.simulated,
    samples,
    baselines,
    labels: [...labels.filter(isBaseline), ...labels.filter((label) => !isBaseline(label))],
    threads: unique(samples.map((sample) => sample.threads)).sort((a, b) => a - b),
    commands: unique(samples.map((sample) => sample.command).filter(Boolean)),
  };
};

const makePanels = (sameCase) => {
  const names = unique(sameCase.flatMap((sample) => Object.keys(sample.params)));
  const varies = (name) => unique(sameCase.map((s) => show(s.params[name]) ?? "")).length > 1;
  const varying = names.filter(varies);
  const constant = names.filter((name) => !varies(name));
  return groupBy(sameCase, (sample) => canonical(sample.params)).map((samples) =>
    makePanel(samples, constant, varying),
  );
};

// [{name, machine, simulated, panels}], native studies first.
export const makeStudies = (samples) => {
  const studies = groupBy(samples, (s) => key(s.study, s.simulated, s.machine)).map((ofStudy) => {
    labelModes(ofStudy);
    const [{ study, machine, simulated }] = ofStudy;
    const panels = groupBy(ofStudy, (sample) => sample.case).flatMap(makePanels);
    return { name: study, machine, simulated, panels };
  });
  return [...studies.filter((s) => !s.simulated), ...studies.filter((s) => s.simulated)];
};
