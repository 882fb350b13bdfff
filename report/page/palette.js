// SPDX-License-Identifier: Apache-2.0
// Which mode has which colour and point shape, the same on the whole page. The colours themselves
// are CSS variables (style/base.css), so that light and dark are the style sheet's business.

const hues = 7;
const shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"];

// Path data of the shapes in a box of [-1, 1].
export const shapePaths = {
  circle: "M.9 0A.9.9 0 1 1-.9 0 .9.9 0 1 1 .9 0Z",
  square: "M-.8-.8H.8V.8H-.8Z",
  "triangle-up": "M0-1L1 .8H-1Z",
  diamond: "M0-1L.8 0 0 1-.8 0Z",
  "triangle-down": "M0 1L1-.8H-1Z",
  cross: "M-1-.35H-.35V-1H.35V-.35H1V.35H.35V1H-.35V.35H-1Z",
};

// Map from mode label to {color, shape, baseline}. A panel's first baseline is drawn in the colour
// of text, every other mode in a hue; shapes repeat later than hues, so no two modes look the same
// before 42 of them.
export const assignStyles = (panels) => {
  const styles = new Map();
  let next = 0;
  const hue = () => {
    const style = { color: `var(--mode-${next % hues})`, shape: shapes[next % shapes.length] };
    next += 1;
    return style;
  };
  for (const panel of panels) {
    const baseline = panel.baselines[0];
    const taken = panel.labels.some((label) => styles.get(label)?.baseline && label !== baseline);
    if (panel.labels.includes(baseline) && !styles.has(baseline) && !taken) {
      styles.set(baseline, { color: "var(--baseline)", shape: "circle", baseline: true });
    }
  }
  for (const label of panels.flatMap((panel) => panel.labels)) {
    if (!styles.has(label)) styles.set(label, { ...hue(), baseline: false });
  }
  return styles;
};

const causeColors = {
  committed: "var(--committed)",
  aborted: "var(--conflict)",
  conflict: "var(--conflict)",
  capacity: "var(--capacity)",
  explicit: "var(--explicit)",
  other: "var(--other)",
  unaccounted: "var(--unaccounted)",
};

// The colour of each outcome of a transaction; causes without one of their own get a mode's hue.
export const outcomeColor = (outcome, position) =>
  causeColors[outcome] ?? `var(--mode-${position % hues})`;
