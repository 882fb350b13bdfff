#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Opens a report in headless Chromium, at a desktop's and a phone's width, in light and dark, and
// fails unless it is as a reader needs it. Start here.
//
//   node check.mjs FILE.html [--screenshot OUT.png] [--screenshots FOLDER]
//
// --screenshot saves the top of the page at 1280 pixels, --screenshots whole pages of every setting.

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { startChromium } from "./chromium.mjs";
import {
  checkCharts,
  checkFilters,
  checkLayout,
  checkRerun,
  checkSorting,
  checkTooltip,
} from "./expectations.mjs";
import { checkBlame, checkPolicies, checkReadable, checkSortableTables } from "./tables.mjs";

const settings = [
  { name: "desktop-light", width: 1280, height: 900, colorScheme: "light" },
  { name: "desktop-dark", width: 1280, height: 900, colorScheme: "dark" },
  { name: "phone-light", width: 390, height: 844, colorScheme: "light" },
  { name: "phone-dark", width: 390, height: 844, colorScheme: "dark" },
  { name: "phone-narrow", width: 360, height: 740, colorScheme: "light" },
];

const pictureHeight = 1120;

// On a busy machine Chromium takes its time.
const patience = 120000;

const readArguments = () => {
  const options = { screenshot: { type: "string" }, screenshots: { type: "string" } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== 1) {
    throw new Error("usage: check.mjs FILE.html [--screenshot OUT.png] [--screenshots FOLDER]");
  }
  return { file: positionals[0], ...values };
};

// Notes what a page must not do: complain, throw, or ask for anything but itself.
const watch = (page, address, problems) => {
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`));
  page.on("request", (request) => {
    if (request.url() !== address) problems.push(`request to ${request.url()}`);
  });
};

const checkSetting = async (browser, address, setting, { screenshot, screenshots }) => {
  const problems = [];
  const { width, height, colorScheme, name } = setting;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  watch(page, address, problems);
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { state: "attached" });

  if (screenshot && setting === settings[0]) {
    const clip = { x: 0, y: 0, width, height: pictureHeight };
    await page.screenshot({ path: screenshot, fullPage: true, clip });
  }
  if (screenshots)
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });

  const charts = await checkCharts(page, problems);
  await checkLayout(page, problems);
  await checkBlame(page, problems);
  await checkPolicies(page, problems);
  await checkReadable(page, problems);
  await checkTooltip(page, problems);
  await checkRerun(page, problems);
  await checkSorting(page, problems);
  await checkSortableTables(page, problems);
  await checkFilters(page, problems);
  await checkLayout(page, problems);
  await context.close();
  console.log(`${name}, ${width} px: ${charts} charts, ${problems.length} problems`);
  return problems.map((problem) => `${name}: ${problem}`);
};

const main = async () => {
  const options = readArguments();
  if (options.screenshots) await mkdir(options.screenshots, { recursive: true });
  const address = pathToFileURL(resolve(options.file)).href;
  const browser = await startChromium();
  try {
    const problems = [];
    for (const setting of settings) {
      problems.push(...(await checkSetting(browser, address, setting, options)));
    }
    return problems;
  } finally {
    await browser.close();
  }
};

try {
  const problems = await main();
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} catch (error) {
  console.error(`check.mjs: ${error.message}`);
  process.exitCode = 1;
}
