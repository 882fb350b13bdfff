// SPDX-License-Identifier: Apache-2.0
// Reads the records that stand in the page and builds the page from them. Start here.

import { h } from "./dom.js";
import { draw } from "./charts/draw.js";
import { comparePanel } from "./model/comparisons.js";
import { makeStudies } from "./model/panels.js";
import { policyCells } from "./model/policies.js";
import { readRecord } from "./model/record.js";
import { assignStyles } from "./palette.js";
import { machineSection } from "./parts/machine.js";
import { policiesSection } from "./parts/policies.js";
import { speedupTable } from "./parts/speedup_table.js";
import { studySection } from "./parts/study.js";
import { summary } from "./parts/summary.js";

const cellsSection = (table, id, simulated) =>
  h(
    "section",
    { class: "cells", id },
    h("h2", {}, simulated && h("span", { class: "badge" }, "SIMULATED"), "Every cell"),
    table.element,
  );

// The native or the simulated half of the page: {elements, links}. The two share nothing but the
// colours of their modes, so no chart, table or count mixes them.
const makeHalf = (studies, simulated, styles, pending) => {
  if (studies.length === 0) return { elements: [], links: [] };
  const suffix = simulated ? " (simulated)" : "";
  const prefix = simulated ? "simulated" : "native";
  const panels = studies.flatMap((study) => study.panels);
  const comparisonsOf = new Map(panels.map((panel) => [panel, comparePanel(panel)]));
  const comparisons = [...comparisonsOf.values()].flat();

  const table = speedupTable(comparisons);
  const cells = cellsSection(table, `${prefix}-cells`, simulated);
  const show = (verdict) => {
    table.show(verdict);
    cells.scrollIntoView({ behavior: "smooth" });
  };
  const sections = studies.map((study, position) =>
    studySection(study, `${prefix}-${position}`, comparisonsOf, styles, pending),
  );
  const links = studies.map((study, i) => ({ name: study.name + suffix, id: sections[i].id }));
  const policies = policyCells(studies);
  if (policies.length > 0) {
    const section = policiesSection(policies, `${prefix}-policies`, pending);
    sections.unshift(section);
    links.unshift({ name: `every use case${suffix}`, id: section.id });
  }
  const elements = [summary(comparisons, simulated, show), ...sections];
  if (comparisons.length === 0) return { elements, links };
  return {
    elements: [...elements, cells],
    links: [...links, { name: `every cell${suffix}`, id: cells.id }],
  };
};

const header = (title, links) =>
  h(
    "header",
    {},
    h("p", { class: "brand" }, "unlatch"),
    h("h1", {}, title),
    h(
      "nav",
      {},
      links.map(({ name, id }) => h("a", { href: `#${id}` }, name)),
    ),
  );

// Builds everything but the charts, which it adds to `pending`.
const buildPage = ({ title, generated, records }, pending) => {
  const samples = records.map(readRecord);
  const studies = makeStudies(samples);
  const styles = assignStyles(studies.flatMap((study) => study.panels));
  const halves = [false, true].map((simulated) =>
    makeHalf(
      studies.filter((s) => s.simulated === simulated),
      simulated,
      styles,
      pending,
    ),
  );
  const links = [...halves.flatMap((half) => half.links), { name: "machine", id: "machine" }];
  document
    .querySelector("main")
    .append(
      header(title, links),
      ...halves.flatMap((half) => half.elements),
      machineSection(samples, generated),
    );
};

// Draws one chart after the other and gives the page room to react between them.
const drawAll = async (pending) => {
  for (const { element, specification } of pending) {
    try {
      await draw(element, specification);
    } catch (error) {
      const text = `This chart could not be drawn: ${error.message}`;
      element.replaceChildren(h("p", { class: "failed" }, text));
      console.error(error);
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
};

const pending = [];
buildPage(JSON.parse(document.getElementById("data").textContent), pending);
drawAll(pending).then(() => (document.documentElement.dataset.ready = ""));
