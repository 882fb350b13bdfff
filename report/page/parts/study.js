// SPDX-License-Identifier: Apache-2.0
// A study's section: a card a case with its charts, its figures and how to make them again.

import { h } from "../dom.js";
import { throughputChart } from "../charts/throughput.js";
import { switchesChart } from "../charts/switches.js";
import { outcomesChart, outcomesOf } from "../charts/outcomes.js";
import { blameSection } from "./blame.js";
import { legend, outcomeLegend } from "./legend.js";
import { rerun } from "./rerun.js";

const badge = (simulated) => simulated && h("span", { class: "badge" }, "SIMULATED");

// An empty chart element; `pending` collects what is still to be drawn once it is on the page.
const chart = (pending, specification) => {
  const element = h("div", { class: "chart" });
  pending.push({ element, specification });
  return element;
};

const outcomes = (panel, pending) =>
  ["hardware", "software"].map((kind) => {
    const counted = outcomesOf(panel, kind);
    if (counted.rows.length === 0) return null;
    const title = kind === "hardware" ? "hardware transactions" : "software speculation";
    return h(
      "section",
      { class: "aborts" },
      h("h4", {}, `How ${title} ended`, h("small", {}, " by mode, threads")),
      chart(pending, outcomesChart(panel, kind, counted)),
      outcomeLegend(counted.outcomes),
    );
  });

const card = (panel, comparisons, styles, pending) => {
  const switches = switchesChart(panel, styles);
  return h(
    "article",
    { class: "card" },
    h("h3", {}, badge(panel.simulated), panel.title),
    panel.subtitle && h("p", { class: "subtitle" }, panel.subtitle),
    chart(pending, throughputChart(panel, styles)),
    legend(panel, comparisons, styles),
    switches && chart(pending, switches),
    outcomes(panel, pending),
    rerun(panel.commands),
  );
};

// `comparisonsOf` maps a panel to its comparisons.
export const studySection = (study, id, comparisonsOf, styles, pending) =>
  h(
    "section",
    { class: "study", id },
    h("h2", {}, badge(study.simulated), study.name),
    h("p", { class: "where" }, `${study.simulated ? "simulated" : "measured"} on ${study.machine}`),
    h(
      "div",
      { class: "cards" },
      study.panels.map((panel) => card(panel, comparisonsOf.get(panel), styles, pending)),
    ),
    blameSection(study),
  );
