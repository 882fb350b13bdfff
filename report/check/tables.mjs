// SPDX-License-Identifier: Apache-2.0
// What the tables of causes and of policies must show. Each function adds to `problems` what is
// wrong, in words.

const units = { "": 1, k: 1e3, M: 1e6, G: 1e9 };

// "1.23 k", "62 %" and "7e-5" as numbers; of several lines the first.
export const figureOf = (text) => {
  const [, digits, unit] = text.match(/^[^\d-]*([\d.]+(?:e-\d+)?)\s*([kMG]?)/) ?? [];
  return digits === undefined ? NaN : Number.parseFloat(digits) * units[unit];
};

const isOrdered = (figures, sign) =>
  figures.every((figure, i) => i === 0 || sign * figures[i - 1] <= sign * figure);

// The text of a column's cells, without what the style sheet adds, in the order of the rows.
const columnTexts = (table, index) =>
  table.evaluate(
    (element, column) =>
      [...element.tBodies[0].rows].map((row) => {
        const [first] = row.cells[column].childNodes;
        return row.cells[column].children.length > 1
          ? row.cells[column].textContent
          : first.textContent;
      }),
    index,
  );

const rowSet = (table) =>
  table.evaluate((element) =>
    [...element.tBodies[0].rows]
      .map((row) => row.textContent)
      .sort()
      .join("\n"),
  );

// Every heading that promises to sort does so, by pointer and by keyboard, and says how; it loses no
// row. Columns of figures come out ordered.
export const checkSortableTables = async (page, problems) => {
  for (const table of await page.locator("table.sortable").all()) {
    const name = await table.getAttribute("class");
    const rows = await rowSet(table);
    const headings = table.locator("thead th");
    for (let i = 0; i < (await headings.count()); i += 1) {
      const heading = headings.nth(i);
      const button = heading.locator("button");
      if ((await button.count()) === 0 || !(await button.isVisible())) continue;
      const what = `${name}, column "${await button.innerText()}"`;
      const presses = [() => button.click(), () => button.press("Enter")];
      const seen = [];
      for (const press of presses) {
        await press();
        const state = await heading.getAttribute("aria-sort");
        seen.push(state);
        const figures = (await columnTexts(table, i)).map(figureOf).filter(Number.isFinite);
        const numeric = /\b(number|verdict)\b/.test(await heading.getAttribute("class"));
        if (numeric && !isOrdered(figures, state === "ascending" ? 1 : -1)) {
          problems.push(`${what}: rows are not ${state}: ${figures.slice(0, 5)}`);
        }
      }
      if (seen.sort().join() !== "ascending,descending") {
        problems.push(`${what}: pressing twice does not sort both ways but ${seen}`);
      }
      if ((await table.locator("[aria-sort]").count()) !== 1) {
        problems.push(`${what}: not exactly one column says that the rows are sorted by it`);
      }
    }
    if ((await rowSet(table)) !== rows) problems.push(`${name}: sorting changes the rows`);
  }
};

// Tables that a phone stacks fit its width there, in letters that can be read.
export const checkReadable = async (page, problems) => {
  const faults = await page.evaluate(() => {
    const smallest = 11;
    const found = [];
    for (const table of document.querySelectorAll("table.stacked")) {
      const box = table.closest(".scroll");
      const phone = window.innerWidth < 576;
      if (phone && table.scrollWidth > box.clientWidth) {
        found.push(`${table.className} is ${table.scrollWidth - box.clientWidth} px too wide`);
      }
      const cells = [...table.querySelectorAll("td, th, td *, th *")];
      const tiny = cells.filter(
        (cell) =>
          cell.tagName !== "WBR" &&
          !cell.classList.contains("mark") &&
          Number.parseFloat(getComputedStyle(cell).fontSize) < smallest,
      );
      const ownText = (cell) =>
        [...cell.childNodes]
          .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
          .map((n) => n.data);
      const broken = cells.find(
        (cell) =>
          cell.tagName !== "CODE" && /NaN|undefined|Infinity|\[object/.test(ownText(cell).join()),
      );
      if (broken) found.push(`${table.className}: "${broken.textContent}" is none`);
      if (tiny.length > 0) found.push(`${table.className}: ${tiny[0].textContent} is too small`);
      const cut = phone
        ? cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1 && cell.matches("td, th"))
        : [];
      if (cut.length > 0) found.push(`${table.className}: ${cut[0].textContent} is cut off`);
    }
    return found;
  });
  problems.push(...faults);
};

const readRecords = (page) =>
  page.evaluate(() => JSON.parse(document.getElementById("data").textContent).records);

const distinct = (values) => new Set(values).size;

// A study whose records say why transactions aborted has a table of it, the costliest cause first,
// and all of a long one when asked for.
export const checkBlame = async (page, problems) => {
  const explained = (await readRecords(page)).filter(({ blame }) => blame);
  const studies = distinct(explained.map(({ study, where }) => `${study}\0${where}`));
  const sections = await page.locator("section.blame").all();
  if (sections.length !== studies) {
    problems.push(`${studies} studies say why transactions aborted, ${sections.length} are shown`);
  }
  for (const section of sections) {
    const simulated = (await section.locator("h3 .badge").count()) === 1;
    const native = (await section.evaluate((e) => e.closest(".study").id)).startsWith("native");
    if (simulated === native) problems.push("a table of causes does not say what is simulated");
    const table = section.locator("table.blamed");
    if ((await table.count()) === 0) {
      if (!(await section.innerText()).includes("No transaction aborted")) {
        problems.push("a section of causes is empty");
      }
      continue;
    }
    const wasted = (await columnTexts(table, 0)).map(figureOf);
    if (wasted.length === 0) problems.push("a table of causes has no rows");
    if (!isOrdered(wasted, -1)) problems.push("the costliest cause does not come first");
    await checkMore(section, table, problems);
    await checkMenus(section, problems);
  }
};

const checkMore = async (section, table, problems) => {
  const all = await table.locator("tbody tr").count();
  const visible = () => table.locator("tbody tr:visible").count();
  const button = section.locator("button.more");
  if ((await button.count()) === 0) {
    if ((await visible()) !== all) problems.push("rows are hidden and no button shows them");
    return;
  }
  if ((await visible()) >= all) problems.push("a long table is not cut short");
  if (!(await button.innerText()).includes(String(all))) problems.push("it is not said how many");
  await button.click();
  if ((await visible()) !== all) problems.push('"show all" does not show all rows');
  await button.click();
  if ((await visible()) >= all) problems.push("a long table cannot be cut short again");
};

// Choosing one value leaves rows that occurred there.
const checkMenus = async (section, problems) => {
  for (const menu of await section.locator(".menus select").all()) {
    const values = await menu.locator("option").evaluateAll((all) => all.map((o) => o.value));
    await menu.selectOption(values.at(-1));
    const cells = await section.locator("tbody tr td:last-child").allTextContents();
    if (cells.some((cell) => !cell.includes(values.at(-1)))) {
      problems.push(`choosing ${values.at(-1)} leaves rows from elsewhere`);
    }
    await menu.selectOption("");
  }
};

// Each cell of the study of policies in which ours ran is a row and a mark on the heat maps; those
// that lose come first and say so in words.
export const checkPolicies = async (page, problems) => {
  const ours = (await readRecords(page)).filter(
    ({ study, policy }) => study === "policies" && policy === "adaptive",
  );
  const cells = distinct(ours.map((r) => `${r.case}\0${r.where}\0${r.threads}`));
  const table = page.locator("table.policies");
  const rows = await table
    .locator("tbody tr")
    .evaluateAll((all) =>
      all.map((row) => ({ verdict: row.dataset.verdict, text: row.innerText })),
    );
  if (rows.length !== cells) problems.push(`${cells} cells of policies, ${rows.length} rows`);
  if (cells === 0) return;
  const losing = rows.filter(({ verdict }) => verdict === "loses");
  if (rows.slice(0, losing.length).some(({ verdict }) => verdict !== "loses")) {
    problems.push("a cell that loses does not come first");
  }
  if (losing.some(({ text }) => !text.includes("loses"))) {
    problems.push("a cell that loses does not say so");
  }
  const marks = await page.locator(".maps .mark-rect path").count();
  if (marks < cells) problems.push(`the heat maps show ${marks} of ${cells} cells`);
  const said = await page.locator('[id$="-policies"]').first().innerText();
  const simulated = ours.every(({ where }) => where !== "native");
  if (simulated && !said.includes("SIMULATED")) problems.push("policies are not called simulated");
};
