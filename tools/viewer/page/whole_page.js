// The page as a whole: header, tabs, entries and the address's fragment.
// SPDX-License-Identifier: Apache-2.0

function showTab(name) {
  state.tab = name;
  for (const button of document.querySelectorAll('[role=tab]')) {
    const on = button.dataset.tab === name;
    button.setAttribute('aria-selected', on);
    $('tab-' + button.dataset.tab).hidden = !on;
  }
}

function drawHeader() {
  const e = entry();
  $('plan-name').textContent = DATA.name || 'plan';
  document.title = (DATA.name || 'plan') + ' · Partita';
  const between = e.transfers.filter((t) => t.from !== 'caller' && t.to !== 'caller');
  const figures = [];
  if (e.timed) figures.push(`predicted step ${secondsText(e.step)}`);
  if (e.timed && e.bound) figures.push(`bound ${secondsText(e.bound)}`);
  if (trace()) figures.push(`measured ${measuredText(trace().end)}`);
  figures.push(between.length === 1 ? '1 transfer' : between.length + ' transfers');
  $('figures').textContent = figures.join(' · ');
  fill($('legend'), ...DATA.devices.map((device, d) => {
    const [light, line] = colors([d]);
    const swatch = element('i', {});
    swatch.style.background = light;
    swatch.style.borderColor = line;
    return element('div', { class: 'chip' }, swatch, element('b', {}, device.name),
      element('span', {}, `${bytesText(e.memory[d].arena)} of ${bytesText(device.memory)}`));
  }));
}

function fillTraces() {
  const own = DATA.traces.map((t, i) => i).filter((i) => DATA.traces[i].entry === state.entry);
  state.trace = own.length ? own[0] : -1;
  fill($('trace'), element('option', { value: -1 }, 'prediction only'),
    ...own.map((i) => element('option', { value: i }, 'measured: ' + cut(DATA.traces[i].source.split('/').pop(), 28))));
  $('trace').value = state.trace;
  chooseScale();
  $('trace').hidden = own.length === 0;
  $('scale-label').hidden = own.length === 0;
}

function showEntry(index) {
  state.entry = index;
  state.box = state.command = -1;
  state.hits = new Set();
  indexGroups();
  const groups = entry().groups;
  state.open = new Set([0, ...(entry().boxes.length <= 60 ? groups.keys() : [])]);
  fillTraces();
  state.from = 0;
  state.to = axisEnd();
  drawAll();
  fitGraph(false);
}

function drawAll() { drawHeader(); drawGraph(); drawTime(); drawNodeTab(); drawTransfers(); drawCertificate(); }

// #search=TEXT&select=NAME&entry=NAME&tab=NAME
function followFragment() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (wanted.has('entry')) {
    const index = DATA.entries.findIndex((e) => e.name === wanted.get('entry'));
    if (index >= 0 && index !== state.entry) { $('entry').value = index; showEntry(index); }
  }
  if (wanted.has('search')) { $('search').value = wanted.get('search'); search(wanted.get('search')); }
  if (wanted.has('select')) {
    const b = entry().boxes.findIndex((box) => box.name === wanted.get('select') || box.name === '%' + wanted.get('select'));
    if (b >= 0 && b !== state.box) select(b);
  }
  if (wanted.has('tab') && $('tab-' + wanted.get('tab'))) showTab(wanted.get('tab'));
}
