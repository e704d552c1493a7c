// The timeline: zoom by wheel, pan by drag, select commands, and look at the
// memory of a device at a moment.
// SPDX-License-Identifier: Apache-2.0

class TimePane {
  constructor(section, shown, title = 'Timeline') {
    this.shown = shown;
    this.lanes = [];
    this.drawn = 0;
    this.hint = element('span', { class: 'hint' });
    this.scaleBox = element('input', { type: 'checkbox', onchange: () => { shown.oneScale = this.scaleBox.checked; shown.showTime(0, shown.axisEnd()); } });
    this.scaleLabel = element('label', {}, this.scaleBox, ' one time scale');
    this.foldBox = element('input', { type: 'checkbox', onchange: () => this.foldDevices(this.foldBox.checked) });
    this.foldLabel = element('label', {}, this.foldBox, ' fold equal devices');
    const frame = element('div', { class: 'frame' });
    this.scroll = element('div', { class: 'scroll time' }, element('div', { class: 'sticky' }, frame), this.spacer = element('div', { class: 'spacer' }));
    section.append(element('div', { class: 'bar' }, element('h2', {}, title), this.hint, this.foldLabel, this.scaleLabel,
      element('button', { type: 'button', onclick: () => this.whole() }, 'Whole step')), this.scroll);
    this.canvas = new Canvas(frame, `${title}: left and right pan, plus and minus zoom, shift with arrows moves from command to command`, (pen, w, h) => {
      this.place();
      this.drawn = new TimeDrawing(pen, this, w, h).draw();
    });
    this.listen();
    this.scroll.addEventListener('scroll', () => this.canvas.redraw());
    shown.on('entry trace time selection filter devices moment path', () => { this.describe(); this.canvas.redraw(); });
    this.describe();
    this.canvas.redraw();
  }

  scale() {
    const { from, to } = this.shown, inner = Math.max(120, this.canvas.width - LEFT - RIGHT);
    return { inner, x: (t) => LEFT + (t - from) / (to - from) * inner, time: (x) => from + (x - LEFT) / inner * (to - from) };
  }

  place() {
    const { lanes, height } = timeLanes(this.shown, this.scroll.clientHeight);
    this.lanes = lanes;
    this.spacer.style.height = Math.max(0, height + 6 - this.scroll.clientHeight) + 'px';
  }

  describe() {
    const { shown } = this, t = shown.trace, by = shown.stretch();
    const measured = t && t.emulated.length > 0 ? 'measured on emulated devices' : 'measured';
    this.scaleLabel.hidden = !t;
    this.scaleBox.checked = shown.oneScale;
    this.foldLabel.hidden = !shown.hasFolds();
    this.foldBox.checked = shown.unfolded.size < shown.plan.equalDevices.length;
    this.hint.textContent = !shown.entry.timed ? 'no prediction in this plan: commands by order of launch'
      : !t ? 'predicted · wheel zooms, drag pans'
      : by === 1 ? `predicted above, ${measured} below`
      : `predicted above, ${measured} below (${secondsText(t.end)} drawn at ${by < 1 ? '1/' + +(1 / by).toPrecision(3) : +by.toPrecision(3) + ' times'} its length)`;
  }

  foldDevices(folded) {
    this.shown.unfolded = new Set(folded ? [] : this.shown.plan.equalDevices.keys());
    this.shown.emit('devices');
  }

  whole() { this.shown.showTime(0, this.shown.timeEnd || this.shown.axisEnd()); }
  zoom(by, at = (this.shown.from + this.shown.to) / 2) {
    const { from, to } = this.shown;
    this.shown.showTime(at - (at - from) * by, at + (to - at) * by);
  }

  laneAt(at) {
    const y = at.y + this.scroll.scrollTop;
    return this.lanes.find((lane) => y >= lane.y - 2 && y < lane.y + lane.h + 2);
  }
  // { command }, { moment } or { device } at a position; nothing elsewhere.
  hit(at) {
    const lane = this.laneAt(at), scale = this.scale();
    if (!lane) return null;
    if (at.x < LEFT) return { device: lane.device };
    if (lane.kind === 'memory') return { moment: { device: lane.device, time: Math.min(Math.max(0, scale.time(at.x)), this.shown.entry.end) } };
    let found = null;
    eachShown(this.shown, scale, lane.stream, lane.kind === 'measured', [], (c, x, width) => {
      if (at.x >= x - 1 && at.x <= x + Math.max(width, 3)) found = { command: c };
    });
    return found;
  }
  // The middle of a command in its lane, for tests.
  placeOf(command, kind = 'stream') {
    const { entry, trace } = this.shown, by = this.shown.stretch(), stream = entry.commands.stream[command];
    const lane = this.lanes.find((l) => l.kind === kind && l.stream === stream);
    const time = kind === 'stream' ? entry.start(command) + entry.length(command) / 2 : (trace.startOf(command) + trace.lengthOf(command) / 2) * by;
    return { x: this.scale().x(time), y: lane.y + lane.h / 2 - this.scroll.scrollTop };
  }

  listen() {
    const { canvas, shown } = this;
    canvas.node.addEventListener('wheel', (event) => {
      if (event.shiftKey) return;
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.0015), this.scale().time(canvas.at(event).x));
    }, { passive: false });
    canvas.onDrag(() => [shown.from, shown.to], (dx, dy, [from, to]) => {
      const shift = -dx / this.scale().inner * (to - from);
      shown.showTime(from + shift, to + shift);
    }, (at) => this.click(this.hit(at)));
    canvas.node.addEventListener('mousemove', (event) => showTip(event, event.buttons ? '' : this.tip(this.hit(canvas.at(event)))));
    canvas.node.addEventListener('mouseleave', (event) => showTip(event, ''));
    canvas.node.addEventListener('keydown', (event) => this.onKey(event));
  }

  click(hit) {
    const { shown } = this;
    if (!hit) { if (shown.box >= 0 || shown.command >= 0) shown.select(-1); return; }
    if (hit.command !== undefined) shown.selectCommand(hit.command);
    else if (hit.moment) shown.showMoment(hit.moment.device, hit.moment.time);
    else if (shown.plan.equalDevices[shown.plan.classOf[hit.device]].length > 1) shown.toggleClass(shown.plan.classOf[hit.device]);
    else shown.setFilter({ device: hit.device });
  }

  tip(hit) {
    const { entry, trace, plan } = this.shown;
    if (!hit) return '';
    if (hit.moment) return `${plan.deviceName(hit.moment.device)} at ${axisText(entry, hit.moment.time)}\nclick: what fills its memory then`;
    if (hit.device !== undefined) {
      const equal = plan.equalDevices[plan.classOf[hit.device]];
      return equal.length > 1 ? `${equal.map((d) => plan.deviceName(d)).join(', ')} do the same\nclick: fold or unfold` : `click: only ${plan.deviceName(hit.device)}`;
    }
    const c = hit.command;
    return `${c} ${entry.kind(c)}: ${entry.title(c)}` + (entry.timed ? `\n${secondsText(entry.start(c))} to ${secondsText(entry.start(c) + entry.length(c))}, ${secondsText(entry.length(c))}` : '') +
      (entry.pathSeconds.has(c) ? `\n${secondsText(entry.pathSeconds.get(c))} of the critical path` : '') + (trace ? `\nmeasured ${secondsText(trace.lengthOf(c))}` : '');
  }

  onKey(event) {
    const { shown } = this, width = shown.to - shown.from, next = (by) => {
      const lane = this.lanes.find((l) => l.kind === 'stream');
      if (shown.command < 0 && !lane) return;
      // With nothing selected, the first command of the first row.
      const ids = shown.entry.commandsOn(shown.command < 0 ? lane.stream : shown.entry.commands.stream[shown.command]), at = shown.command < 0 ? 0 : ids.indexOf(shown.command) + by;
      if (at >= 0 && at < ids.length) shown.selectCommand(ids[at]);
    };
    const keys = {
      'ArrowRight': () => event.shiftKey ? next(1) : shown.showTime(shown.from + width / 8, shown.to + width / 8),
      'ArrowLeft': () => event.shiftKey ? next(-1) : shown.showTime(shown.from - width / 8, shown.to - width / 8),
      'ArrowDown': () => { this.scroll.scrollTop += 40; }, 'ArrowUp': () => { this.scroll.scrollTop -= 40; },
      '+': () => this.zoom(0.8), '=': () => this.zoom(0.8), '-': () => this.zoom(1.25), '0': () => this.whole(),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }
}
