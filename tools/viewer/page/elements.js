// Creates elements; texts are inserted as text, never as HTML.
// SPDX-License-Identifier: Apache-2.0

const SVG = 'http://www.w3.org/2000/svg';

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'onclick') made.addEventListener('click', value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function fill(node, ...children) { node.replaceChildren(...children); }
