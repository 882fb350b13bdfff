// SPDX-License-Identifier: Apache-2.0
// Our policy in every cell of the study of policies: in words, as heat maps and as one table, the
// losing cells first.

import { h } from "../dom.js";
import { policiesMap, steps } from "../charts/policies_map.js";
import { groupBy } from "../model/panels.js";
import { losesBelow, policyLimits, usualLimits } from "../model/verdict.js";
import { listed, plural, quantity, range, ratio, verdictMarks } from "../format.js";
import { outcomeLegend } from "./legend.js";
import { scrollBox, sortableTable } from "./sortable_table.js";
import { verdictFilters } from "./verdict_filters.js";

const small = (...children) => h("small", {}, ...children);
const badge = (simulated) => simulated && h("span", { class: "badge" }, "SIMULATED");

const ratioCell = (figures, verdict, limits, over) =>
  figures === null
    ? "–"
    : [
        h("span", { class: "mark", "aria-hidden": "true" }, verdictMarks[verdict]),
        ` ${ratio(figures.median, limits)} ${verdict}`,
        small([over, figures.count > 1 && range(figures)].filter(Boolean).join(", ")),
      ];

const columns = [
  {
    heading: "use case",
    kind: "row",
    value: (c) => c.useCase,
    cell: (c) => [c.useCase, c.simulated && small("simulated")],
  },
  { heading: "model", kind: "brief", value: (c) => c.machine, cell: (c) => c.machine },
  { heading: "threads", kind: "number brief", value: (c) => c.threads, cell: (c) => c.threads },
  {
    heading: "× plain lock",
    headingClass: "verdict",
    kind: (c) => `brief verdict ${c.plainVerdict}`,
    value: (c) => c.overPlain?.median,
    cell: (c) => ratioCell(c.overPlain, c.plainVerdict, usualLimits),
  },
  {
    heading: "× best published",
    headingClass: "verdict",
    kind: (c) => `brief verdict ${c.bestVerdict}`,
    value: (c) => c.overBest?.median,
    cell: (c) =>
      ratioCell(c.overBest, c.bestVerdict, policyLimits, c.bestPolicy && `over ${c.bestPolicy}`),
  },
  {
    heading: "operations/s",
    kind: "number",
    descends: true,
    value: (c) => c.throughput?.median,
    cell: (c) => (c.throughput ? quantity(c.throughput.median) : "–"),
  },
];
// What the rows are in order of until a heading is pressed.
const margin = { value: (c) => c.margin };

const count = (cells, key, verdict) => cells.filter((cell) => cell[key] === verdict).length;

const sentence = (cells, simulated) => {
  const lost = count(cells, "verdict", "loses");
  const kind = simulated ? "simulated cell" : "measured cell";
  return [
    `Of ${plural(cells.length, kind)}, `,
    h(
      "strong",
      {},
      listed([
        `${lost === 0 ? "none" : lost} ${lost === 1 ? "loses" : "lose"}`,
        `${count(cells, "verdict", "gains")} gain`,
        `${count(cells, "verdict", "equal")} are equal`,
      ]),
    ),
    `. ${count(cells, "plainVerdict", "loses")} lose to the plain lock (below ${losesBelow}×), ` +
      `${count(cells, "bestVerdict", "loses")} to the published policy that is best in the cell ` +
      `(below ${policyLimits.losesBelow}×). Losing to either is losing.`,
  ];
};

const drawn = [
  {
    heading: "over the plain lock",
    of: (c) => ({
      ratio: c.overPlain,
      verdict: c.plainVerdict,
      over: "the plain lock",
      limits: usualLimits,
    }),
  },
  {
    heading: "over the best published policy",
    of: (c) => ({
      ratio: c.overBest,
      verdict: c.bestVerdict,
      over: c.bestPolicy,
      limits: policyLimits,
    }),
  },
];

// The two heat maps of a machine.
const maps = (cells, pending) => {
  const [{ machine, simulated }] = cells;
  const figures = drawn.map(({ heading, of }) => {
    const words = `Throughput of adaptive ${heading} on ${machine}, by use case and threads`;
    const specification = policiesMap(cells, of, words);
    if (specification === null) return null;
    const element = h("div", { class: "chart" });
    pending.push({ element, specification });
    return h("div", {}, h("h4", {}, `adaptive ${heading}`), element);
  });
  return h(
    "article",
    { class: "card" },
    h("h3", {}, badge(simulated), machine),
    h("div", { class: "maps" }, figures),
    outcomeLegend(steps),
  );
};

const table = (cells) => {
  const { table, rows, sort } = sortableTable(cells, columns, {
    name: "speedups policies stacked",
    attributes: ({ verdict }) => ({ class: verdict, "data-verdict": verdict }),
  });
  const onclick = () => sort(margin, "ascending");
  const filters = verdictFilters(rows, h("button", { type: "button", onclick }, "losing first"));
  return [filters.element, scrollBox(plural(cells.length, "cell"), table)];
};

// The section; `cells` are those of policyCells(), all measured or all simulated.
export const policiesSection = (cells, id, pending) => {
  const [{ simulated }] = cells;
  return h(
    "section",
    { class: "cells", id },
    h("h2", {}, badge(simulated), "adaptive in every use case"),
    h("p", { class: "lead" }, sentence(cells, simulated)),
    h(
      "div",
      { class: "cards" },
      groupBy(cells, ({ machine }) => machine).map((ofMachine) => maps(ofMachine, pending)),
    ),
    table(cells),
  );
};
