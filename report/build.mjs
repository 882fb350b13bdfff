// SPDX-License-Identifier: Apache-2.0
// Bundles the page into one HTML file that lacks only title and data: node build.mjs [OUTPUT]

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const output = process.argv[2] ?? "template.html";
const folder = fileURLToPath(new URL(".", import.meta.url));
const page = (name) => join(folder, "page", name);

const bundle = async (entry) => {
  const result = await build({
    absWorkingDir: folder,
    entryPoints: [page(entry)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    platform: "browser",
    target: ["chrome105", "firefox121", "safari15.4"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  return { text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs) };
};

// A package's license; where it has no file of that name, what its description says.
const licenseOf = async (name) => {
  const root = join(folder, "node_modules", name);
  const file = (await readdir(root)).find((entry) => /^licen[sc]e/i.test(entry));
  if (file) return (await readFile(join(root, file), "utf8")).trim();
  const { license, author } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  if (!license) throw new Error(`the package ${name} does not name its license`);
  return `License: ${license}. Author: ${author?.name ?? author ?? "not named"}.`;
};

// The licenses of the packages that a bundle holds a part of, each text once.
const licenses = async (inputs) => {
  const names = inputs.map((input) => input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  const packagesByText = new Map();
  for (const name of [...new Set(names)].filter(Boolean).sort()) {
    const text = await licenseOf(name);
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), name]);
  }
  const entries = [...packagesByText].map(([text, names]) => `${names.join(", ")}\n\n${text}`);
  return entries.join("\n\n----\n\n").replaceAll("-->", "-- >");
};

// Replaces by position: a bundle may hold "$&", which String.replace would expand.
const insert = (text, placeholder, content) => {
  const parts = text.split(placeholder);
  if (parts.length !== 2) throw new Error(`page/index.html must hold ${placeholder} once`);
  return parts.join(content);
};

const style = await bundle("style/page.css");
const script = await bundle("main.js");
let text = await readFile(page("index.html"), "utf8");
text = insert(text, "<!--unlatch:style-->", style.text);
text = insert(text, "<!--unlatch:script-->", script.text);
text = insert(text, "<!--unlatch:licenses-->", `<!--\n${await licenses(script.inputs)}\n-->`);
await writeFile(output, text);
