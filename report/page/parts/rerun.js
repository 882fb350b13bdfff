// SPDX-License-Identifier: Apache-2.0
// The commands that make a chart's figures again, folded away, with a button that copies them.

import { h } from "../dom.js";

// Copies without the clipboard interface, which pages opened from a file may not have.
const copyBySelection = (source) => {
  const selection = window.getSelection();
  selection.selectAllChildren(source);
  document.execCommand("copy");
  selection.removeAllRanges();
};

export const rerun = (commands) => {
  if (commands.length === 0) return null;
  const code = h("code", {}, commands.join("\n"));
  const button = h("button", { type: "button", class: "copy" }, "copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      copyBySelection(code);
    }
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
  return h(
    "details",
    { class: "rerun" },
    h("summary", {}, "how to rerun"),
    button,
    h("pre", {}, code),
  );
};
