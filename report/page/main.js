// SPDX-License-Identifier: Apache-2.0
// Reads the records that stand in the page and builds the page from them. Start here.

import { h } from "./dom.js";
import { draw } from "./charts/draw.js";
import { comparePanel } from "./model/comparisons.js";
import { makeStudies } from "./model/panels.js";
import { readRecord } from "./model/record.js";
import { assignStyles } from "./palette.js";
import { machineSection } from "./parts/machine.js";
import { speedupTable } from "./parts/speedup_table.js";
import { studySection } from "./parts/study.js";
import { summary } from "./parts/summary.js";

const { title, generated, records } = JSON.parse(document.getElementById("data").textContent);

// Summary and table of the native or the simulated comparisons; the two never share one.
const makeOverview = (comparisons, simulated) => {
  const table = speedupTable(comparisons);
  const heading = simulated ? [h("span", { class: "badge" }, "SIMULATED"), "Every cell"] : "Every cell";
  const section = h("section", { class: "cells", id: simulated ? "simulated-cells" : "cells" }, h("h2", {}, heading), table.element);
  const show = (verdict) => {
    table.show(verdict);
    section.scrollIntoView({ behavior: "smooth" });
  };
  return { summary: summary(comparisons, simulated, show), cells: comparisons.length > 0 ? section : null, id: section.id };
};

const navigation = (sections) =>
  h("nav", { "aria-label": "sections" }, sections.map(({ name, id }) => h("a", { href: `#${id}` }, name)));

const buildPage = (pending) => {
  const samples = records.map(readRecord);
  const studies = makeStudies(samples);
  const panels = studies.flatMap((study) => study.panels);
  const comparisonsOf = new Map(panels.map((panel) => [panel, comparePanel(panel)]));
  const styles = assignStyles(panels);
  const overviews = [false, true]
    .filter((simulated) => panels.some((panel) => panel.simulated === simulated))
    .map((simulated) =>
      makeOverview(panels.filter((p) => p.simulated === simulated).flatMap((p) => comparisonsOf.get(p)), simulated),
    );
  const sections = studies.map((study, position) => ({
    name: study.simulated ? `${study.name} (simulated)` : study.name,
    id: `study-${position}`,
    element: studySection(study, `study-${position}`, comparisonsOf, styles, pending),
  }));
  const links = [
    ...sections,
    ...overviews.filter((o) => o.cells).map((o) => ({ name: o.id === "cells" ? "every cell" : "every cell (simulated)", id: o.id })),
    { name: "machine", id: "machine" },
  ];
  document.querySelector("main").append(
    h("header", {}, h("p", { class: "brand" }, "unlatch"), h("h1", {}, title), navigation(links)),
    ...overviews.map((overview) => overview.summary),
    ...sections.map((section) => section.element),
    ...overviews.map((overview) => overview.cells).filter(Boolean),
    machineSection(samples, generated),
  );
};

// Draws one chart after the other and gives the page room to react between them.
const drawAll = async (pending) => {
  for (const { element, specification } of pending) {
    try {
      await draw(element, specification);
    } catch (error) {
      element.replaceChildren(h("p", { class: "failed" }, `This chart could not be drawn: ${error.message}`));
      console.error(error);
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
};

const pending = [];
buildPage(pending);
drawAll(pending).then(() => (document.documentElement.dataset.ready = ""));
