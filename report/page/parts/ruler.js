// SPDX-License-Identifier: Apache-2.0
// A ratio drawn on a logarithmic ruler that all rows of a table share: range as a line, median as a
// dot, the A/A control's range as a grey block, 1 as an upright.

import { svg } from "../dom.js";

const width = 180;
const height = 22;
const margin = 6;

// A function from comparison to its drawing.
export const makeRuler = (comparisons) => {
  const ends = comparisons.flatMap(({ ratio, control }) =>
    [ratio, control].filter(Boolean).flatMap(({ min, max }) => [min, max]),
  );
  const positive = ends.filter((value) => value > 0);
  const low = Math.log(Math.min(0.8, ...positive));
  const high = Math.log(Math.max(1.25, ...positive));
  const x = (value) =>
    margin + ((Math.max(Math.log(value), low) - low) / (high - low)) * (width - 2 * margin);
  const middle = height / 2;

  return ({ ratio, control, verdict }) => {
    const marks = [svg("line", { class: "one", x1: x(1), x2: x(1), y1: 0, y2: height })];
    if (control) {
      const left = x(control.min);
      const span = Math.max(2, x(control.max) - left);
      marks.unshift(svg("rect", { class: "control", x: left, y: 3, width: span, height: height - 6 }));
    }
    if (ratio) {
      marks.push(
        svg("line", { class: "range", x1: x(ratio.min), x2: x(ratio.max), y1: middle, y2: middle }),
        svg("circle", { class: "median", cx: x(ratio.median), cy: middle, r: 4 }),
      );
    }
    const box = { class: `ruler ${verdict}`, viewBox: `0 0 ${width} ${height}`, width, height };
    return svg("svg", { ...box, "aria-hidden": "true" }, marks);
  };
};
