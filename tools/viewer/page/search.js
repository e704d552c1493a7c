// Finds nodes by name, op, scope, location or kernel.
// SPDX-License-Identifier: Apache-2.0

function find(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const found = [];
  entry().boxes.forEach((box, b) => {
    const place = [box.name, box.op, box.scope, box.location, box.kernel].findIndex((part) => part.toLowerCase().includes(wanted));
    if (place >= 0) found.push([box.name.toLowerCase().replace(/^%/, '') === wanted.replace(/^%/, '') ? -1 : place, b]);
  });
  return found.sort((x, y) => x[0] - y[0] || x[1] - y[1]).map(([, b]) => b);
}

function search(text) {
  const found = find(text);
  state.hits = new Set(found);
  fill($('hits'), ...found.slice(0, 30).map((b) => {
    const box = entry().boxes[b];
    return element('li', { 'data-hit': box.name, onclick: () => { closeHits(); select(b); } }, box.name + '  ', element('small', {}, box.op + (box.scope ? ' · ' + box.scope : '')));
  }));
  if (text.trim() && found.length === 0) fill($('hits'), element('li', {}, element('small', {}, 'no node of that name, op, scope or kernel')));
  $('hits').hidden = !text.trim();
  for (const node of document.querySelectorAll('.box')) node.classList.toggle('hit', state.hits.has(+node.dataset.box));
  return found;
}
function closeHits() { $('hits').hidden = true; }
