// SPDX-License-Identifier: Apache-2.0
// Figures and words as the page prints them.

import { usualLimits } from "./model/verdict.js";

const prefixes = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

const threeDigits = (value) => {
  const magnitude = Math.abs(value);
  return value.toFixed(magnitude >= 100 || magnitude === 0 ? 0 : magnitude >= 10 ? 1 : 2);
};

// 584795 -> "585 k"; below a thousand three digits.
export const quantity = (value) => {
  for (const [unit, prefix] of prefixes) {
    if (Math.abs(value) >= unit) return `${threeDigits(value / unit)} ${prefix}`;
  }
  return Math.abs(value) < 0.01 && value !== 0 ? value.toPrecision(1) : threeDigits(value);
};

const twoDigits = (value) => value.toFixed(value < 9.995 ? 2 : 1);
export const range = ({ min, max }) => `${twoDigits(min)}–${twoDigits(max)}`;

// A ratio so near a verdict's limit that two digits would hide the side it lies on gets three.
export const bareRatio = (value, limits = usualLimits) => {
  const close = Object.values(limits).some((limit) => Math.abs(value - limit) < 0.005);
  return close ? value.toFixed(3) : twoDigits(value);
};
export const ratio = (value, limits) => `${bareRatio(value, limits)}×`;
export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

export const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

// What a verdict looks like without colour.
export const verdictMarks = { gains: "▲", equal: "=", loses: "▼", unpaired: "?" };
