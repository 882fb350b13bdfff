// SPDX-License-Identifier: Apache-2.0
// Starts the Chromium of this machine without a window and with everything off that would speak to
// the network by itself.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const findChromium = () => {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(existsSync);
  if (found) return found;
  throw new Error(
    `no Chromium on the PATH (looked for ${names.join(", ")}). ` +
      "Install it (Debian: apt-get install chromium) or set CHROMIUM to its path.",
  );
};

// A browser with a fresh profile, which it removes when it is closed.
export const startChromium = () => chromium.launch({ executablePath: findChromium(), args: flags });
