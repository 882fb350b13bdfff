// SPDX-License-Identifier: Apache-2.0
// A ratio drawn on a logarithmic ruler that all rows of a table share: range as a line, median as a
// dot, the A/A control's range as a grey block, 1 as an upright.

import { svg } from "../dom.js";

const width = 200;
const height = 24;
const margin = 16;
const mostTicks = 5;

const extent = (comparisons) => {
  const ends = comparisons.flatMap(({ ratio, control }) =>
    [ratio, control].filter(Boolean).flatMap(({ min, max }) => [min, max]),
  );
  const positive = ends.filter((value) => value > 0);
  return [Math.min(0.8, ...positive), Math.max(1.25, ...positive)];
};

// Powers of two between low and high, 1 among them; farther apart where they would crowd.
const ticksBetween = (low, high) => {
  const doublings = Math.log2(high / low);
  if (doublings < 1.5) return [0.8, 0.9, 1, 1.1, 1.25];
  const stride = Math.ceil(doublings / mostTicks);
  const ticks = [];
  for (let power = -60; power <= 60; power += 1) {
    const value = 2 ** (power * stride);
    if (value >= low && value <= high) ticks.push(value);
  }
  return ticks;
};

// 0.25 and 4 in full; 2^-8 and 2^20 as powers of ten.
const tickText = (value) =>
  value < 0.1 || value > 999 ? value.toExponential(0) : String(Number(value.toPrecision(3)));

const box = (name) => ({ class: name, viewBox: `0 0 ${width} ${height}`, width, height });

// {axis, draw}: the ruler's scale for the head of the table, and comparison -> drawing.
export const makeRuler = (comparisons) => {
  const [low, high] = extent(comparisons);
  const x = (value) => {
    const share = Math.log(Math.max(value, low) / low) / Math.log(high / low);
    return margin + share * (width - 2 * margin);
  };

  const axis = svg(
    "svg",
    { ...box("ruler axis"), role: "img", "aria-label": "speed-up, logarithmic scale" },
    ticksBetween(low, high).map((value) =>
      svg("text", { x: x(value), y: height - 7, "text-anchor": "middle" }, tickText(value)),
    ),
  );

  const draw = ({ ratio, control, verdict }) => {
    const marks = [];
    if (control) {
      const left = x(control.min);
      const span = Math.max(2, x(control.max) - left);
      marks.push(svg("rect", { class: "control", x: left, y: 3, width: span, height: height - 6 }));
    }
    marks.push(svg("line", { class: "one", x1: x(1), x2: x(1), y1: 0, y2: height }));
    if (ratio) {
      const y = height / 2;
      marks.push(
        svg("line", { class: "range", x1: x(ratio.min), x2: x(ratio.max), y1: y, y2: y }),
        svg("circle", { class: "median", cx: x(ratio.median), cy: y, r: 4 }),
      );
    }
    return svg("svg", { ...box(`ruler ${verdict}`), "aria-hidden": "true" }, marks);
  };
  return { axis, draw };
};
