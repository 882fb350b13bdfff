// SPDX-License-Identifier: Apache-2.0
// Makes elements. Text from records only ever becomes text nodes and attributes, never markup.

const make = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
  return element;
};

// h("p", {class: "lead"}, "text", h("b", {}, "more")); attributes named on… are listeners.
export const h = (tag, attributes = {}, ...children) =>
  make(document.createElement(tag), attributes, children);

// A name that may be broken across lines where its parts meet: std::, spin_, a/b.
export const breakable = (name) =>
  (name.match(/.+?(?:::|[_/.-]|$)/gs) ?? []).flatMap((part, i) =>
    i > 0 ? [h("wbr"), part] : [part],
  );

export const svg = (tag, attributes = {}, ...children) =>
  make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
