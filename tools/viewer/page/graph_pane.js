// The graph: pan by drag, zoom by wheel, open groups and select nodes by clicks
// and keys.
// SPDX-License-Identifier: Apache-2.0

const LEAST_ZOOM = 0.002, MOST_ZOOM = 4;

class GraphPane {
  constructor(section, shown, title = 'Graph') {
    this.shown = shown;
    this.view = { x: 0, y: 0, k: 1 };
    this.drawn = 0;  // shapes of the last frame
    this.hint = element('span', { class: 'hint' });
    const button = (text, act, tip) => element('button', { type: 'button', onclick: act, title: tip }, text);
    const frame = element('div', { class: 'frame' });
    section.append(element('div', { class: 'bar' }, element('h2', {}, title), this.hint,
      this.pathButton = button('Critical path', () => shown.togglePath(), 'show or hide it on graph and timeline'),
      button('Fold all', () => this.foldAll()), button('Unfold all', () => this.unfoldAll()), button('Fit', () => this.fit(true))), frame);
    this.canvas = new Canvas(frame, `${title}: arrows move from node to node, Enter opens and folds groups`, (pen, w, h) => {
      this.drawn = new GraphDrawing(pen, this, w, h).draw();
    });
    this.listen();
    shown.on('entry', () => this.showEntry());
    shown.on('groups', () => this.place());
    shown.on('selection', () => { this.center(); this.canvas.redraw(); });
    shown.on('filter hits path devices', () => { this.describe(); this.canvas.redraw(); });
    this.showEntry();
  }

  showEntry() { this.place(); this.fit(false); this.describe(); }

  describe() {
    const { entry } = this.shown, crossing = entry.edges.cut.reduce((sum, c) => sum + c, 0);
    this.hint.textContent = countText(entry.numBoxes, 'node', 'nodes') + (crossing ? ' · ' + countText(crossing, 'edge crosses devices', 'edges cross devices') : '') + ' · click a group';
    this.pathButton.hidden = entry.path.length === 0;
    this.pathButton.setAttribute('aria-pressed', this.shown.pathShown);
  }

  place() {
    this.places = new GraphPlaces(this.shown);
    this.lines = new GraphLines(this.places);
    this.canvas.redraw();
  }

  foldAll() { this.shown.open = new Set([0]); this.place(); this.fit(false); }
  unfoldAll() { this.shown.open = new Set(this.shown.entry.groups.keys()); this.place(); this.fit(false); }

  // Keeps the group's corner where it is on the screen.
  toggle(g) {
    const before = this.places.groups.get(g), v = this.view, { open } = this.shown;
    if (open.has(g)) open.delete(g); else open.add(g);
    this.place();
    const after = this.places.groups.get(g), middle = (r) => r.x + r.w / 2;
    this.view = { k: v.k, x: v.x + (middle(before) - middle(after)) * v.k, y: v.y + (before.y - after.y) * v.k };
    say(`${this.shown.entry.groups[g].name} ${open.has(g) ? 'open' : 'folded'}`);
  }

  // Whole if it stays legible, else the top of it.
  fit(all) {
    const w = this.canvas.width, h = this.canvas.height, { size } = this.places;
    const whole = Math.min((w - 20) / size.w, (h - 20) / size.h, 1.25);
    const k = all || whole >= 0.65 ? whole : Math.max(Math.min(0.9, (w - 20) / size.w), 0.75);
    const first = this.places.boxes.get(0);
    const middle = size.w * k > w && first ? first.x + first.w / 2 : size.w / 2;
    this.view = { k, x: w / 2 - middle * k, y: size.h * k > h ? 6 : (h - size.h * k) / 2 };
    this.canvas.redraw();
  }

  // Moves the selected node into view, at a legible scale.
  center() {
    const { box } = this.shown, { x, y } = this.view, w = this.canvas.width, h = this.canvas.height;
    if (box < 0) return;
    const { rect } = this.places.shownPath(box), k = Math.max(this.view.k, 0.6);
    const left = x + rect.x * k, top = y + rect.y * k;
    if (k === this.view.k && left > 0 && top > 0 && left + rect.w * k < w && top + rect.h * k < h) return;
    this.view = { k, x: w / 2 - (rect.x + rect.w / 2) * k, y: h / 2 - (rect.y + rect.h / 2) * k };
  }

  zoom(by, at = { x: this.canvas.width / 2, y: this.canvas.height / 2 }) {
    const v = this.view, k = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, v.k * by));
    this.view = { k, x: at.x - (at.x - v.x) * k / v.k, y: at.y - (at.y - v.y) * k / v.k };
    this.canvas.redraw();
  }
  pan(dx, dy) { this.view = { k: this.view.k, x: this.view.x + dx, y: this.view.y + dy }; this.canvas.redraw(); }

  // What is drawn at a position of the pane: { box } or { group }, or nothing.
  hit(at) {
    const { x, y, k } = this.view, p = { x: (at.x - x) / k, y: (at.y - y) / k };
    const inside = (r) => r && p.x >= r.x && p.x <= r.x + r.w && p.y >= r.y && p.y <= r.y + r.h;
    const look = (g) => {
      const { items } = this.shown.entry.groups[g];
      for (let i = 0; i < items.length; i += 2) {
        const index = items[i + 1];
        if (items[i] === BOX && inside(this.places.boxes.get(index))) return { box: index };
        const rect = items[i] === GROUP ? this.places.groups.get(index) : null;
        if (!inside(rect)) continue;
        if (!this.shown.open.has(index) || rect.h * k < PLAIN_BELOW) return { group: index };
        return p.y < rect.y + 26 ? { group: index } : look(index);
      }
      return null;
    };
    return look(0);
  }

  // The middle of a visible box or group's title on the pane, for tests.
  placeOf(key, index) {
    const rect = this.places[key].get(index), { x, y, k } = this.view;
    const title = key === 'groups' && this.shown.open.has(index);
    return { x: x + (rect.x + (title ? 30 : rect.w / 2)) * k, y: y + (rect.y + (title ? 14 : rect.h / 2)) * k };
  }

  listen() {
    const { canvas, shown } = this;
    canvas.node.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0015), canvas.at(event));
    }, { passive: false });
    canvas.onDrag(() => ({ ...this.view }), (dx, dy, from) => {
      this.view = { ...from, x: from.x + dx, y: from.y + dy };
      canvas.redraw();
    }, (at) => {
      const hit = this.hit(at);
      if (hit && hit.box !== undefined) shown.select(hit.box);
      else if (hit) this.toggle(hit.group);
      else if (shown.box >= 0 || shown.command >= 0) shown.select(-1);
    });
    canvas.node.addEventListener('mousemove', (event) => showTip(event, event.buttons ? '' : this.tip(this.hit(canvas.at(event)))));
    canvas.node.addEventListener('mouseleave', (event) => showTip(event, ''));
    canvas.node.addEventListener('keydown', (event) => this.onKey(event));
  }

  tip(hit) {
    const { entry, plan } = this.shown;
    if (!hit) return '';
    if (hit.group !== undefined) return `${entry.groups[hit.group].name}\n${groupNote(plan, entry.groups[hit.group])}`;
    const path = entry.pathBoxes.get(hit.box);
    return `${entry.op(hit.box)} ${entry.name(hit.box)}\n${entry.devices(hit.box).slice(0, 8).map((d) => plan.deviceName(d)).join(', ')}` +
      (entry.reason(hit.box) ? '\n' + entry.reason(hit.box) : '') + (path ? `\n${secondsText(path)} of the critical path` : '');
  }

  onKey(event) {
    const { shown } = this, { entry, box } = shown, step = 60;
    const to = (b) => { if (b !== undefined && b >= 0 && b < entry.numBoxes) shown.select(b); };
    const keys = {
      '+': () => this.zoom(1.25), '=': () => this.zoom(1.25), '-': () => this.zoom(0.8), '0': () => this.fit(true),
      'Home': () => to(0), 'End': () => to(entry.numBoxes - 1),
      'ArrowDown': () => box < 0 || event.shiftKey ? this.pan(0, -step) : to(entry.edges.to[entry.edgesFrom(box)[0]]),
      'ArrowUp': () => box < 0 || event.shiftKey ? this.pan(0, step) : to(entry.edges.from[entry.edgesTo(box)[0]]),
      'ArrowRight': () => box < 0 || event.shiftKey ? this.pan(-step, 0) : to(box + 1),
      'ArrowLeft': () => box < 0 || event.shiftKey ? this.pan(step, 0) : to(box - 1),
      'Enter': () => {
        if (box < 0) { to(0); return; }
        const g = entry.groupOf[box];
        if (g > 0) this.toggle(this.places.shownPath(box).group ?? g);
      },
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }
}
