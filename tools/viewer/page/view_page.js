// The page of one plan.
// SPDX-License-Identifier: Apache-2.0

class ViewPage {
  constructor(plan) {
    const shown = this.shown = new Shown(plan);
    this.search = new Search(shown);
    this.tabs = new Tabs([
      ['findings', 'Findings', () => findingsTab(shown)], ['node', 'Node', () => nodeTab(shown)], ['transfers', 'Transfers', () => transfersTab(shown)],
      ['memory', 'Memory', () => memoryTab(shown)], ['measured', 'Predicted and measured', () => residualsTab(shown)], ['certificate', 'Certificate', () => certificateTab(shown)]]);
    this.machine = new MachinePane($('machine-pane'), shown);
    document.querySelector('main').classList.toggle('no-machine', $('machine-pane').hidden);
    this.graph = new GraphPane($('graph-pane'), shown);
    this.time = new TimePane($('time-pane'), shown);
    this.listen();
    this.showEntry();
    this.tabs.show('findings');
  }

  listen() {
    const { shown, tabs } = this;
    fill($('entry'), ...shown.plan.entries.map((e, i) => element('option', { value: i }, e.entryName)));
    $('entry').hidden = shown.plan.entries.length < 2;
    $('entry').addEventListener('change', () => shown.showEntry(+$('entry').value));
    $('trace').addEventListener('change', () => {
      shown.trace = shown.plan.traces[+$('trace').value] || null;
      shown.chooseScale();
      shown.from = 0;
      shown.to = shown.axisEnd();
      shown.emit('trace');
    });
    $('filter').addEventListener('click', () => shown.setFilter(null));
    shown.on('entry', () => this.showEntry());
    shown.on('trace', () => { this.drawHeader(); tabs.redraw(); });
    shown.on('devices filter', () => { this.drawHeader(); tabs.redraw(); });
    shown.on('moment', () => tabs.show('memory'));
    shown.on('blocks', () => tabs.redraw());
    shown.on('selection', () => this.showSelection());
    window.addEventListener('hashchange', () => this.followFragment());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readTheme(); this.drawHeader(); this.tabs.redraw(); if (!$('machine-pane').hidden) this.machine.draw(); });
    listenToKeys([shown]);
  }

  showEntry() {
    const { shown } = this, { traces } = shown.plan, own = traces.map((_, i) => i).filter((i) => traces[i].entry === shown.entry.index);
    $('entry').value = shown.entry.index;
    fill($('trace'), element('option', { value: -1 }, 'prediction only'), ...own.map((i) => element('option', { value: i }, 'measured: ' + cut(traces[i].source.split('/').pop(), 28))));
    $('trace').value = traces.indexOf(shown.trace);
    $('trace').hidden = own.length === 0;
    this.drawHeader();
    if (this.tabs.shown) this.tabs.redraw();
  }

  // The tabs where a click selected something stay.
  showSelection() {
    const { shown, tabs } = this, stays = ['findings', 'transfers', 'measured', 'memory'].includes(tabs.shown) && $('tab-body').contains(document.activeElement);
    if (shown.box < 0 && shown.command < 0 || stays) tabs.redraw(); else tabs.show('node');
    const name = shown.box >= 0 ? shown.entry.name(shown.box) : shown.command >= 0 ? shown.entry.title(shown.command) : '';
    if (name) say('selected ' + (shown.box >= 0 ? shown.entry.op(shown.box) + ' ' : '') + name);
    if (shown.box >= 0) remember(name);
  }

  drawHeader() {
    const { shown } = this, { plan, entry } = shown, figures = [];
    $('plan-name').textContent = plan.name || 'plan';
    document.title = (plan.name || 'plan') + ' · Partita';
    if (entry.timed) figures.push(`predicted step ${secondsText(entry.step)}`);
    if (entry.timed && entry.bound) figures.push(`bound ${secondsText(entry.bound)}`);
    if (shown.trace) figures.push(`measured ${secondsText(shown.trace.end)}`);
    figures.push(countText(entry.transferTotals.count, 'transfer', 'transfers'));
    $('figures').textContent = figures.join(' · ');
    fill($('legend'), ...legend(shown));
    $('filter').hidden = !shown.filter;
    $('filter').textContent = `only ${filterName(shown)} ✕`;
  }

  // #search=TEXT&select=NAME&entry=NAME&tab=NAME
  followFragment() {
    const wanted = new URLSearchParams(location.hash.slice(1)), { shown } = this;
    if (wanted.has('entry')) {
      const index = shown.plan.entries.findIndex((e) => e.entryName === wanted.get('entry'));
      if (index >= 0 && index !== shown.entry.index) shown.showEntry(index);
    }
    if (wanted.has('search')) { $('search').value = wanted.get('search'); this.search.show(wanted.get('search')); }
    if (wanted.has('select')) {
      const b = shown.entry.find(wanted.get('select'));
      if (b >= 0 && b !== shown.box) shown.select(b);
    }
    if (wanted.has('tab') && this.tabs.has(wanted.get('tab'))) this.tabs.show(wanted.get('tab'));
  }
}

function filterName(shown) {
  const { filter, plan } = shown;
  if (!filter) return '';
  if (filter.device !== undefined) return shown.deviceLabel(filter.device);
  const link = plan.machine.links[filter.link];
  return plan.machine.devices[link.from].name + ' – ' + plan.machine.devices[link.to].name;
}

// A chip for each device, or for each list of equal ones.
function legend(shown) {
  const { plan, entry } = shown, k = (d) => plan.classOf[d];
  return plan.devices.map((_, d) => d).filter((d) => shown.deviceShown(d)).map((d) => {
    const swatch = element('i', {}), [fill, line] = deviceColors(plan, [d]), equal = plan.equalDevices[k(d)];
    swatch.style.background = fill;
    swatch.style.borderColor = line;
    const act = equal.length > 1 ? () => shown.toggleClass(k(d)) : () => shown.setFilter({ device: d });
    return element('button', { class: 'chip', type: 'button', 'data-chip': d, onclick: act, title: equal.length > 1 ? 'fold or unfold equal devices' : 'show only this device' }, swatch,
      element('b', {}, shown.deviceLabel(d)), element('span', {}, `${bytesText(entry.memory[d].arena)} of ${bytesText(plan.devices[d].memory)}`));
  });
}

function remember(name) {
  try { history.replaceState(null, '', '#select=' + encodeURIComponent(name)); } catch (ignored) { /* a page without a history */ }
}
