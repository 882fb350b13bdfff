// SPDX-License-Identifier: Apache-2.0
// Why transactions aborted, for a study: a row a cause, the costliest first.

import { h } from "../dom.js";
import { choicesOf, explainedSamples, sumBlame } from "../model/blame.js";
import { groupBy } from "../model/panels.js";
import { listed, plural, quantity } from "../format.js";
import { blameColumns, percent } from "./blame_columns.js";
import { scrollBox, sortableTable } from "./sortable_table.js";

const shownAtFirst = 12;

const wastedBy = (rows) => rows.reduce((sum, row) => sum + row.wasted, 0);

const kindNames = { conflict: "conflicts", capacity: "capacity", other: "other causes" };

const sentence = (rows, simulated) => {
  const wasted = wastedBy(rows);
  const aborts = rows.reduce((sum, row) => sum + row.aborts, 0);
  const kinds = groupBy(rows, ({ kind }) => kind)
    .sort((a, b) => wastedBy(b) - wastedBy(a))
    .map(
      (ofKind) => `${percent(wastedBy(ofKind) / (wasted || 1))} by ${kindNames[ofKind[0].kind]}`,
    );
  return (
    `${quantity(aborts)} aborts wasted ${quantity(wasted)} ${simulated ? "simulated " : ""}` +
    `cycles: ${listed(kinds)}. Figures are means over the repeats, summed over the cells.`
  );
};

// A table of `rows` in its box, with a button for the rest of a long one.
const blameTable = (rows) => {
  const columns = blameColumns(wastedBy(rows));
  const { table, sort } = sortableTable(rows, columns, {
    name: "blamed stacked",
    limit: shownAtFirst,
  });
  sort(columns[0], "descending");
  const box = scrollBox(plural(rows.length, "cause"), table);
  if (rows.length <= shownAtFirst) return [box];

  const label = (all) => (all ? `show ${shownAtFirst} only` : `show all ${rows.length}`);
  const flip = ({ currentTarget: button }) => {
    const all = box.classList.toggle("unlimited");
    button.setAttribute("aria-expanded", all);
    button.textContent = label(all);
  };
  const more = { type: "button", class: "more", "aria-expanded": "false", onclick: flip };
  return [box, h("button", more, label(false))];
};

const result = (samples) => {
  const rows = sumBlame(samples);
  if (rows.length === 0) return [h("p", { class: "lead" }, "No transaction aborted.")];
  return [h("p", { class: "lead" }, sentence(rows, samples[0].simulated)), ...blameTable(rows)];
};

// A menu of the values of a choice; `choose` is called with one of them, or "" for all.
const menu = ({ name, values }, choose) =>
  h(
    "label",
    {},
    name,
    h(
      "select",
      { onchange: ({ currentTarget }) => choose(currentTarget.value) },
      h("option", { value: "" }, "all"),
      values.map((value) => h("option", { value }, value)),
    ),
  );

// The section, or null where no record of the study says why its transactions aborted.
export const blameSection = (study) => {
  const explained = explainedSamples(study);
  if (explained.length === 0) return null;
  const place = h("div");
  const chosen = new Map();
  const show = () => {
    const fits = (sample) => [...chosen].every(([{ of }, value]) => !value || of(sample) === value);
    place.replaceChildren(...result(explained.filter(fits)));
  };
  const menus = choicesOf(explained).map((choice) =>
    menu(choice, (value) => {
      chosen.set(choice, value);
      show();
    }),
  );
  show();
  return h(
    "section",
    { class: "blame" },
    h(
      "h3",
      {},
      study.simulated && h("span", { class: "badge" }, "SIMULATED"),
      "Why transactions aborted",
    ),
    menus.length > 0 && h("div", { class: "menus" }, menus),
    place,
  );
};
