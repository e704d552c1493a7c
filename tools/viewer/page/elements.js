// Creates elements; texts are inserted as text, never as HTML.
// SPDX-License-Identifier: Apache-2.0

const SVG = 'http://www.w3.org/2000/svg';
const $ = (id) => document.getElementById(id);

function setAttributes(made, attributes) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  return made;
}

function element(tag, attributes, ...children) {
  const made = setAttributes(document.createElement(tag), attributes);
  made.append(...children);
  return made;
}

function shape(tag, attributes, ...children) {
  const made = setAttributes(document.createElementNS(SVG, tag), attributes);
  made.append(...children);
  return made;
}

// Whoever uses the keyboard stays where they are: on the control of the same text,
// or on the first one if there is none.
function fill(node, ...children) {
  const controls = () => [...node.querySelectorAll('button, select, input, [tabindex="0"]')], nameOf = (control) => control.getAttribute('aria-label') || control.textContent;
  const before = document.activeElement, at = controls().indexOf(before);
  node.replaceChildren(...children);
  if (at < 0) return;
  const after = controls(), same = after.filter((control) => nameOf(control) === nameOf(before));
  const next = same.includes(after[at]) ? after[at] : same[0] || after[0];
  if (next) next.focus({ preventScroll: true });
}

// A link inside the page, which the keyboard reaches.
function go(text, onclick) { return element('button', { class: 'link', type: 'button', onclick }, text); }

function table(heads, rows) {
  return element('table', {}, element('thead', {}, element('tr', {}, ...heads.map(([text, kind]) => element('th', { class: kind, scope: 'col' }, text)))),
    element('tbody', {}, ...rows));
}
// Presses what is no button of HTML's.
function onPress(act) {
  return (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act();
  };
}
// A row that selects something.
function pickRow(on, onclick, ...cells) {
  return element('tr', { class: 'row' + (on ? ' on' : ''), tabindex: 0, onclick, onkeydown: onPress(onclick) },
    ...cells.map(([text, kind]) => element('td', { class: kind }, text)));
}

function definitions(pairs) {
  const list = element('dl');
  for (const [key, value] of pairs) {
    if (value === '' || value === null || value === undefined || value.length === 0) continue;
    list.append(element('dt', {}, key), element('dd', {}, ...(Array.isArray(value) ? value.map((v) => element('div', {}, v)) : [value])));
  }
  return list;
}
function note(text) { return element('p', { class: 'note' }, text); }
function say(text) { $('say').textContent = text; }
