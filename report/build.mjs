// SPDX-License-Identifier: Apache-2.0
// Bundles the page into one HTML file that lacks only title and data: node build.mjs [OUTPUT]

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const output = process.argv[2] ?? "template.html";
const path = (name) => fileURLToPath(new URL(`page/${name}`, import.meta.url));

const bundle = async (entry) => {
  const result = await build({
    entryPoints: [path(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: ["chrome100", "firefox100", "safari15"],
    charset: "utf8",
    legalComments: "inline",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
};

// Replaces by position: a bundle may hold "$&", which String.replace would expand.
const insert = (text, placeholder, content) => {
  const parts = text.split(placeholder);
  if (parts.length !== 2) throw new Error(`page/index.html must hold ${placeholder} once`);
  return parts.join(content);
};

let page = await readFile(path("index.html"), "utf8");
page = insert(page, "<!--unlatch:style-->", await bundle("style/page.css"));
page = insert(page, "<!--unlatch:script-->", await bundle("main.js"));
await writeFile(output, page);
