// SPDX-License-Identifier: Apache-2.0
// Where the figures come from: the machine as the records describe it, the build, the date.

import { h } from "../dom.js";
import { groupBy, unique } from "../model/panels.js";
import { listed } from "../format.js";

const names = { cpu: "processor", cpus: "CPUs", load: "load", kernel: "kernel", memory: "memory" };

const loadText = (loads, cpus) => {
  const [low, high] = [Math.min(...loads), Math.max(...loads)];
  const text = low === high ? String(low) : `${low}–${high}`;
  return high > cpus / 2 ? `${text}: the machine was busy, read small differences as noise` : text;
};

const hostFact = (samples, name) => {
  const values = unique(
    samples.map((sample) => sample.host[name]).filter((value) => value !== undefined),
  );
  if (values.length === 0) return null;
  const text =
    name === "load" && values.every(Number.isFinite)
      ? loadText(values, samples[0].host.cpus ?? Infinity)
      : listed(
          values.map((value) =>
            typeof value === "object" ? JSON.stringify(value) : String(value),
          ),
        );
  return [names[name] ?? name, text];
};

const fact = ([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text));

const machineFacts = (samples) => {
  const [{ simulated, machine }] = samples;
  if (simulated) return [["simulated machine", machine]];
  const known = Object.keys(names);
  const others = unique(samples.flatMap((sample) => Object.keys(sample.host))).filter(
    (n) => !known.includes(n),
  );
  const facts = [...known, ...others].map((name) => hostFact(samples, name)).filter(Boolean);
  return facts.length > 0 ? facts : [["processor", "not in the records"]];
};

// One list of facts a machine, then what holds for the whole report.
export const machineSection = (samples, generated) => {
  const builds = unique(samples.map((sample) => sample.build).filter(Boolean));
  const machines = groupBy(samples, (sample) => sample.machine).map((ofMachine) =>
    h("dl", { class: "facts" }, machineFacts(ofMachine).map(fact)),
  );
  const report = [
    builds.length > 0 && [builds.length > 1 ? "builds" : "build", listed(builds)],
    ["records", String(samples.length)],
    generated && ["report made", generated],
  ];
  return h(
    "section",
    { class: "machine", id: "machine" },
    h("h2", {}, "The machine"),
    machines,
    h("dl", { class: "facts" }, report.filter(Boolean).map(fact)),
  );
};
