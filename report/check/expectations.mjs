// SPDX-License-Identifier: Apache-2.0
// What a report must show. Each function adds to `problems` what is wrong, in words.

import { figureOf } from "./tables.mjs";

// Every chart holds marks with an extent and says so itself. Returns the number of charts.
export const checkCharts = async (page, problems) => {
  const charts = await page.evaluate(() =>
    [...document.querySelectorAll(".chart")].map((chart) => ({
      name: chart.closest("article").querySelector("h3").textContent,
      drawn: "drawn" in chart.dataset,
      marks: [...chart.querySelectorAll("svg .mark-symbol path, svg .mark-rect path")].filter(
        (mark) => mark.getBoundingClientRect().width > 0,
      ).length,
      broken: /NaN|undefined|Infinity/.test(chart.innerHTML),
    })),
  );
  if (charts.length === 0) problems.push("the page has no chart");
  for (const { name, drawn, marks, broken } of charts) {
    if (!drawn || marks === 0) problems.push(`a chart of "${name}" drew nothing`);
    if (broken) problems.push(`a chart of "${name}" holds a figure that is none`);
  }
  return charts.length;
};

// The document never scrolls sideways; what is wider than the page scrolls in a box of its own.
export const checkLayout = async (page, problems) => {
  const { overflow, culprits } = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const contained = (element) => element.closest(".scroll, pre, .chart") !== null;
    const wide = [...document.querySelectorAll("main *")].filter(
      (element) => element.getBoundingClientRect().right > width + 1 && !contained(element),
    );
    return {
      overflow: document.documentElement.scrollWidth - width,
      culprits: wide.slice(0, 3).map((element) => `${element.tagName}.${element.className}`),
    };
  });
  if (overflow > 0 || culprits.length > 0) {
    problems.push(`the page is ${overflow} px too wide: ${culprits.join(", ")}`);
  }
  const cut = await page.evaluate(
    () =>
      [...document.querySelectorAll(".chart")].filter((chart) => {
        const box = chart.getBoundingClientRect();
        const drawing = chart.querySelector("svg")?.getBoundingClientRect();
        return drawing && drawing.right > box.right + 1;
      }).length,
  );
  if (cut > 0) problems.push(`${cut} charts are wider than their cards`);
};

// The pointer on a point of the first chart of throughput brings up the point's figures, off it
// hides them.
export const checkTooltip = async (page, problems) => {
  const chart = page.locator(".study .chart").first();
  await chart.locator(".mark-symbol path").last().hover({ force: true });
  const text = await page.locator(".tooltip:not([hidden])").allInnerTexts();
  if (!text.join().includes("op/s")) problems.push("a point shows no figures under the pointer");
  await page.mouse.move(0, 0);
  if (await page.locator(".tooltip").isVisible()) problems.push("the figures of a point stay open");
};

// The commands open, and the button says that it copied them.
export const checkRerun = async (page, problems) => {
  const details = page.locator("details.rerun").first();
  if ((await details.count()) === 0) return;
  await details.locator("summary").click();
  const text = await details.locator("code").innerText();
  if (text.trim() === "") problems.push("the commands to rerun a chart are empty");
  await details.locator("button.copy").click();
  try {
    await details.locator("button.copy", { hasText: "copied" }).waitFor({ timeout: 5000 });
  } catch {
    problems.push("the copy button does not say that it copied");
  }
};

const columnValues = (table, column) =>
  table.evaluate(
    (element, index) => [...element.tBodies[0].rows].map((row) => row.cells[index].innerText),
    column,
  );

const ascends = (figures) => figures.every((figure, i) => i === 0 || figures[i - 1] <= figure);

// Pressing the heading of the speed-up column orders the rows by speed-up; again reverses them.
export const checkSorting = async (page, problems) => {
  for (const table of await page.locator("table.speedups:not(.policies)").all()) {
    const headings = await table.locator("thead th").allInnerTexts();
    const column = headings.findIndex((heading) => heading.includes("speed-up"));
    const button = table.locator("thead th").nth(column).locator("button");
    const figures = async () =>
      (await columnValues(table, column)).map(figureOf).filter(Number.isFinite);
    await button.click();
    if (!ascends(await figures())) problems.push("sorting by speed-up does not order the rows");
    await button.click();
    if (!ascends((await figures()).reverse()))
      problems.push("sorting twice does not reverse the rows");
    const state = await table.locator("thead th").nth(column).getAttribute("aria-sort");
    if (state !== "descending") problems.push("the sorted column does not say how it is sorted");
    await table
      .locator("xpath=ancestor::section")
      .getByRole("button", { name: "losing first" })
      .click();
    if (!ascends(await figures()))
      problems.push('"losing first" does not put the losing rows first');
  }
};

// A verdict's button leaves the rows of that verdict, as many as it promises.
export const checkFilters = async (page, problems) => {
  for (const section of await page.locator("section.cells").all()) {
    for (const filter of await section.locator(".filters [data-show]").all()) {
      const verdict = await filter.getAttribute("data-show");
      const promised = Number.parseInt((await filter.innerText()).match(/\d+$/)[0], 10);
      await filter.click();
      const verdicts = await section
        .locator("tbody tr:visible")
        .evaluateAll((rows) => rows.map((row) => row.dataset.verdict));
      if (verdicts.length !== promised)
        problems.push(`"${verdict}" shows ${verdicts.length} rows, not ${promised}`);
      if (verdict !== "all" && verdicts.some((other) => other !== verdict)) {
        problems.push(`"${verdict}" shows rows of another verdict`);
      }
    }
    await section.locator('.filters [data-show="all"]').click();
  }
};
