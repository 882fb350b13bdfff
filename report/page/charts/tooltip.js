// SPDX-License-Identifier: Apache-2.0
// The box beside the pointer that names what a mark stands for.

import { h } from "../dom.js";

const gap = 14;
let box = null;

const place = (event) => {
  const { width, height } = box.getBoundingClientRect();
  const right = event.clientX + gap + width < window.innerWidth;
  const below = event.clientY + gap + height < window.innerHeight;
  const left = right ? event.clientX + gap : Math.max(4, event.clientX - gap - width);
  const top = below ? event.clientY + gap : Math.max(4, event.clientY - gap - height);
  box.style.transform = `translate(${left}px, ${top}px)`;
};

// Vega's tooltip handler: `value` maps names to formatted figures; null hides the box.
export const showTooltip = (_handler, event, _item, value) => {
  if (box === null) document.body.append((box = h("div", { class: "tooltip", role: "status" })));
  box.hidden = value === null || value === undefined || value === "";
  if (box.hidden) return;
  const [[, title], ...rows] = Object.entries(value);
  box.replaceChildren(
    h("strong", {}, title),
    h(
      "dl",
      {},
      rows.map(([name, figure]) => [h("dt", {}, name), h("dd", {}, figure)]),
    ),
  );
  place(event);
};
