// SPDX-License-Identifier: Apache-2.0
// Draws a Vega-Lite specification into an element. Expressions are interpreted, not compiled, so
// the page runs under a content policy that forbids eval and every network request.

import { parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";
import { showTooltip } from "./tooltip.js";

const fonts = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

const theme = {
  background: null,
  font: fonts,
  padding: { left: 2, right: 8, top: 4, bottom: 2 },
  view: { stroke: null },
  axis: {
    labelColor: "var(--muted)",
    titleColor: "var(--muted)",
    gridColor: "var(--grid)",
    domainColor: "var(--axis)",
    tickColor: "var(--axis)",
    labelFontSize: 11,
    titleFontSize: 11,
    titleFontWeight: 500,
    labelPadding: 6,
  },
  axisX: { grid: false, labelAngle: 0, titlePadding: 4 },
  axisY: { domain: false, ticks: false },
};

// Lays a y axis' title flat above the axis, where it costs no width.
export const flatTitle = {
  titleAngle: 0,
  titleAlign: "left",
  titleBaseline: "bottom",
  titleX: 0,
  titleY: -8,
};

// Labels of a y axis of large quantities: 600k, and a plain 0.
export const siLabel = "datum.value === 0 ? '0' : format(datum.value, '~s')";

// Resolves when the chart is on the page; follows the width of `element` from then on.
export const draw = async (element, specification) => {
  const { spec } = compile({
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: "container",
    autosize: { type: "fit-x", contains: "padding" },
    config: theme,
    ...specification,
  });
  const view = new View(parse(spec, null, { ast: true }), {
    expr: expressionInterpreter,
    renderer: "svg",
    container: element,
    hover: true,
    tooltip: showTooltip,
  });
  await view.runAsync();
  element.dataset.drawn = "";
};
