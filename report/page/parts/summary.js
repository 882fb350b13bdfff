// SPDX-License-Identifier: Apache-2.0
// What the records say in one paragraph, and a score for each mode. Losses are counted, named and
// linked like gains.

import { breakable, h } from "../dom.js";
import { groupBy } from "../model/panels.js";
import { listed, plural, ratio, verdictMarks } from "../format.js";

const verdicts = ["gains", "equal", "loses"];
const count = (comparisons, verdict) => comparisons.filter((c) => c.verdict === verdict).length;

const place = ({ panel, threads, label, baseline }) =>
  `${label} over ${baseline} in ${panel.study} ${panel.title} at ${plural(threads, "thread")}`;

const extreme = (comparisons, better) =>
  comparisons.reduce((best, c) => (better(c.ratio.median, best.ratio.median) ? c : best));

const verbs = {
  gains: ["gains", "gain"],
  equal: ["is equal", "are equal"],
  loses: ["loses", "lose"],
};
const clause = (comparisons, verdict) => {
  const n = count(comparisons, verdict);
  return `${n === 0 ? "none" : n} ${verbs[verdict][n > 1 || n === 0 ? 1 : 0]}`;
};

const controlSentence = (comparisons, simulated) => {
  if (simulated) return "Simulated figures are exact for their seed; the range is that over seeds.";
  const medians = comparisons.filter((c) => c.control).map((c) => c.control.median);
  if (medians.length === 0)
    return "No A/A control was run, so how much of this is noise is unknown.";
  const [low, high] = [Math.min(...medians), Math.max(...medians)];
  return (
    `The baselines run against themselves (A/A control) came out between ${ratio(low)} and ` +
    `${ratio(high)}: differences of that size are noise.`
  );
};

const paragraph = (compared, unpaired, simulated) => {
  const best = extreme(compared, (a, b) => a > b);
  const worst = extreme(compared, (a, b) => a < b);
  const worstWords = worst.verdict === "loses" ? "The largest loss is" : "The lowest is";
  return [
    `Of ${plural(compared.length, "comparison")} with a baseline, `,
    h("strong", {}, listed(verdicts.map((verdict) => clause(compared, verdict)))),
    `. The best is ${ratio(best.ratio.median)} (${place(best)}). `,
    `${worstWords} ${ratio(worst.ratio.median)} (${place(worst)}). `,
    controlSentence(compared, simulated),
    unpaired > 0 && ` ${plural(unpaired, "cell")} could not be paired with a baseline.`,
  ];
};

const tile = (comparisons, verdict, show) =>
  h(
    "button",
    { type: "button", class: `tile ${verdict}`, onclick: () => show(verdict) },
    h("span", { class: "figure" }, count(comparisons, verdict)),
    h(
      "span",
      { class: "word" },
      h("span", { class: "mark", "aria-hidden": "true" }, verdictMarks[verdict]),
      ` ${verdict}`,
    ),
  );

const scoreRow = (comparisons) => {
  const [{ label, baseline }] = comparisons;
  const medians = comparisons.map((c) => c.ratio.median);
  const parts = verdicts
    .map((verdict) => [verdict, count(comparisons, verdict)])
    .filter(([, n]) => n > 0);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, breakable(label), h("small", {}, ` over ${baseline}`)),
    h(
      "td",
      { class: "bar" },
      h(
        "div",
        {},
        parts.map(([verdict, n]) =>
          h(
            "span",
            { class: verdict, style: `flex-grow: ${n}`, title: `${n} ${verdict}` },
            `${verdictMarks[verdict]} ${n}`,
          ),
        ),
      ),
    ),
    h("td", { class: "extent" }, `${ratio(Math.min(...medians))} … ${ratio(Math.max(...medians))}`),
  );
};

const scores = (compared) =>
  h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "scores" },
      h("tbody", {}, groupBy(compared, (c) => JSON.stringify([c.label, c.baseline])).map(scoreRow)),
    ),
  );

// `show` is called with a verdict when its tile is pressed.
export const summary = (comparisons, simulated, show) => {
  const compared = comparisons.filter((comparison) => comparison.ratio !== null);
  const badge = h("span", { class: "badge" }, "SIMULATED");
  const heading = simulated ? h("h2", {}, badge, "On machines that were modelled") : null;
  if (compared.length === 0) {
    const text =
      "The records name no baseline that ran in the same repeats, so there is no speed-up to " +
      "report; the charts show throughput.";
    return h("section", { class: "summary" }, heading, h("p", { class: "lead" }, text));
  }
  return h(
    "section",
    { class: "summary" },
    heading,
    h(
      "div",
      { class: "short" },
      h(
        "div",
        {},
        h(
          "p",
          { class: "lead" },
          paragraph(compared, comparisons.length - compared.length, simulated),
        ),
        h(
          "div",
          { class: "tiles" },
          verdicts.map((verdict) => tile(compared, verdict, show)),
        ),
      ),
      scores(compared),
    ),
  );
};
