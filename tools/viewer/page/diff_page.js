// The page of two plans side by side: the same node is selected in both, and
// both timelines have one scale.
// SPDX-License-Identifier: Apache-2.0

class DiffPage {
  constructor(plans, diff) {
    this.diff = diff;
    this.sides = plans.map((plan) => new Shown(plan));
    const hues = new Map();
    for (const plan of plans) plan.nameHues(hues);
    this.busy = false;  // while one side follows the other
    const names = ['First plan', 'Second plan'];
    this.tabs = new Tabs([['figures', 'Figures', () => this.figuresTab()], ['moved', 'Moved nodes', () => this.changesTab('moved')],
      ['arithmetic', 'Other arithmetic', () => this.changesTab('computed')], ['only', 'Only in one', () => this.onlyTab()],
      ['first', 'Node of the first', () => nodeTab(this.sides[0])], ['second', 'Node of the second', () => nodeTab(this.sides[1])]]);
    this.showPair(0);
    this.graphs = this.sides.map((shown, s) => new GraphPane($(s ? 'graph-b' : 'graph-a'), shown, names[s]));
    this.times = this.sides.map((shown, s) => new TimePane($(s ? 'time-b' : 'time-a'), shown, names[s]));
    this.sides.forEach((shown, s) => this.listen(shown, s));
    fill($('entry'), ...diff.entries.map((pair, i) => element('option', { value: i }, plans[0].entries[pair.entries[0]].entryName)));
    $('entry').hidden = diff.entries.length < 2;
    $('entry').addEventListener('change', () => { this.showPair(+$('entry').value); this.sides.forEach((shown) => shown.emit('entry')); this.shareTime(); this.tabs.redraw(); });
    listenToKeys(this.sides);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readTheme(); this.drawHeader(); });
    this.drawHeader();
    this.shareTime();
    this.tabs.show('figures');
  }

  showPair(index) {
    this.pair = this.diff.entries[index];
    if (!this.pair) return;
    this.sides.forEach((shown, s) => shown.reset(this.pair.entries[s]));
    this.partner = [new Map(), new Map()];
    for (let i = 0; i < this.pair.pairs.length; i += 2) {
      this.partner[0].set(this.pair.pairs[i], this.pair.pairs[i + 1]);
      this.partner[1].set(this.pair.pairs[i + 1], this.pair.pairs[i]);
    }
  }

  // One scale, so that lengths compare.
  shareTime() {
    const end = Math.max(...this.sides.map((shown) => shown.axisEnd()));
    for (const shown of this.sides) { shown.timeEnd = end; shown.showTime(0, end); }
  }

  listen(shown, s) {
    const other = this.sides[1 - s], follow = (act) => () => {
      if (this.busy) return;
      this.busy = true;
      act();
      this.busy = false;
    };
    shown.on('devices', () => this.drawHeader());
    shown.on('time', follow(() => other.showTime(shown.from, shown.to)));
    shown.on('filter', follow(() => {
      const { filter } = shown, device = filter && filter.device !== undefined ? other.plan.devices.findIndex((d) => d.name === shown.plan.deviceName(filter.device)) : -1;
      other.filter = device >= 0 ? { device } : null;
      other.emit('filter');
    }));
    shown.on('selection', follow(() => {
      const b = this.partner[s].get(shown.box);
      other.select(b === undefined ? -1 : b);
      this.tabs.redraw();
      if (shown.box >= 0) say(b === undefined ? 'only in this plan' : 'selected in both plans');
    }));
  }

  drawHeader() {
    const { names, machines, equal } = this.diff, both = ([a, b]) => a === b ? a : `${a} → ${b}`;
    $('plan-name').textContent = both(names.map((n) => '@' + n));
    document.title = both(names) + ' · Partita';
    $('figures').textContent = `machine ${both(machines)}` + (equal ? ' · no difference' : '');
    fill($('legend'), ...legend(this.sides[0]), ...legend(this.sides[1]).filter((chip, i) =>
      !this.sides[0].plan.devices.some((d) => d.name === this.sides[1].plan.devices[+chip.dataset.chip].name)));
  }

  figuresTab() {
    if (!this.pair) return [note('The plans have no entry in common.')];
    const [a, b] = this.pair.figures, seconds = [['Step', 'step'], ['Latency of a step alone', 'latency'], ['Critical path: kernels', 'kernels'],
      ['Critical path: transfers', 'transfers'], ['Critical path: feeds and fetches', 'ports']], rows = [];
    const add = (name, from, to, change) => rows.push(element('tr', { class: from === to ? '' : 'changed' }, ...[[name], [from, 'n'], [to, 'n'], [change, 'n']].map(([text, kind]) => element('td', { class: kind }, text))));
    const by = (from, to) => Math.abs(to - from) < 5e-4 * from || from === to ? '' : from > 0 ? `${to > from ? '+' : '−'}${(100 * Math.abs(to - from) / from).toFixed(1)} %` : '';
    for (const [name, key] of seconds) add(name, secondsText(a[key]), secondsText(b[key]), by(a[key], b[key]));
    add('Copies', `${a.copies}, ${bytesText(a.copiedBytes)}`, `${b.copies}, ${bytesText(b.copiedBytes)}`, by(a.copiedBytes, b.copiedBytes));
    add('Collectives', `${a.collectives}, ${bytesText(a.collectiveBytes)}`, `${b.collectives}, ${bytesText(b.collectiveBytes)}`, by(a.collectiveBytes, b.collectiveBytes));
    for (const { name, sides: [x, y] } of this.diff.devices) {
      const [from, to] = x && y ? bytesTexts(x.arena, y.arena) : [x, y].map((side) => side ? bytesText(side.arena) : 'not used');
      add(`Memory of ${name}`, from, to, x && y ? by(x.arena, y.arena) : '');
    }
    const { moved, computed, paired, only } = this.pair;
    return [note(`${paired} nodes of both plans: ${moved.length} on other devices, ${computed.length} with another arithmetic; ${only[0].length} only in the first plan, ${only[1].length} only in the second.`),
      table([[''], ['First', 'n'], ['Second', 'n'], ['Change', 'n']], rows)];
  }

  changesTab(which) {
    const list = this.pair ? this.pair[which] : [], arithmetic = which === 'computed';
    if (list.length === 0) return [note(arithmetic ? 'No node has another arithmetic.' : 'No node is on another device.')];
    const both = (a, b) => a === b ? a : `${a} → ${b}`;
    return [table(arithmetic ? [['Node'], ['Differs in'], ['Kernel'], ['Arithmetic']] : [['Node'], ['Placement'], ['Seconds', 'n'], ['Because']], list.slice(0, MOST_ROWS).map(({ op, sides: [a, b], arithmetic: parts }) =>
      pickRow(a.box >= 0 && a.box === this.sides[0].box, () => this.select(a.box, b.box), [`${op} ${both(a.name, b.name)}`, 'name'],
        ...(arithmetic ? [[parts.join(', ')], [both(a.kernel, b.kernel)], [both(a.arithmetic, b.arithmetic), 'name']]
          : [[both(a.placement, b.placement)], [changeText(a.seconds, b.seconds, secondsText), 'n'], [both(a.reason, b.reason), 'name']])))),
      ...(list.length > MOST_ROWS ? [note(`The first ${MOST_ROWS} of ${list.length}; partita diff --json lists all.`)] : [])];
  }

  select(a, b) {
    if (a >= 0) this.sides[0].select(a);
    else if (b >= 0) this.sides[1].select(b);
  }

  onlyTab() {
    const { onlyEntries } = this.diff, only = this.pair ? this.pair.only : [[], []], parts = [];
    ['first', 'second'].forEach((name, s) => {
      if (onlyEntries[s].length) parts.push(element('h2', { class: 'above' }, `Entries only in the ${name} plan`), note(onlyEntries[s].join(', ')));
      if (only[s].length) parts.push(element('h2', { class: 'above' }, `Nodes only in the ${name} plan`), element('ul', { class: 'plain' }, ...only[s].slice(0, MOST_ROWS).map((n) => element('li', {}, n))));
    });
    return parts.length ? parts : [note('Both plans have the same entries and nodes.')];
  }
}
