// The machine: its devices and links, with their load in the step. A click shows
// only what is about one of them.
// SPDX-License-Identifier: Apache-2.0

const MOST_LINKS = 200;  // listed

class MachinePane {
  constructor(section, shown) {
    this.shown = shown;
    this.body = element('div', { class: 'scroll machine' });
    section.hidden = shown.plan.machine.devices.length === 0;
    section.append(element('div', { class: 'bar' }, element('h2', {}, 'Machine'), this.hint = element('span', { class: 'hint' }),
      this.all = element('button', { type: 'button', onclick: () => shown.setFilter(null) }, 'Show all')), this.body);
    if (section.hidden) return;
    shown.on('entry filter devices', () => this.draw());
    this.draw();
  }

  // The devices as nodes: one for each list of equal devices that is folded, and
  // those that the plan does not use.
  nodes() {
    const { plan } = this.shown, nodes = [], nodeOf = [];
    const byClass = new Map();
    plan.machine.devices.forEach((device, m) => {
      const k = device.device < 0 ? -1 : plan.classOf[device.device], folded = k >= 0 && !this.shown.unfolded.has(k);
      if (folded && byClass.has(k)) { nodeOf[m] = byClass.get(k); ++nodes[nodeOf[m]].count; return; }
      if (folded) byClass.set(k, nodes.length);
      nodeOf[m] = nodes.length;
      nodes.push({ machine: m, device: device.device, kind: device.kind, name: device.name, count: 1 });
    });
    return { nodes, nodeOf };
  }

  // The links between the same two nodes as one, with the load of the busiest.
  wires(nodeOf) {
    const { plan, entry } = this.shown, wires = new Map();
    plan.machine.links.forEach((link, l) => {
      const ends = [nodeOf[link.from], nodeOf[link.to]].sort((a, b) => a - b), key = ends.join('-');
      const load = entry.linkLoads[l] || [{ transfers: 0, bytes: 0, seconds: 0 }, { transfers: 0, bytes: 0, seconds: 0 }];
      // Without duplex one direction waits for the other.
      const seconds = link.duplex ? Math.max(load[0].seconds, load[1].seconds) : load[0].seconds + load[1].seconds, known = wires.get(key);
      if (known && known.seconds >= seconds) { ++known.count; return; }
      wires.set(key, { ends, link: l, seconds, bytes: load[0].bytes + load[1].bytes, count: known ? known.count + 1 : 1 });
    });
    return [...wires.values()].sort((a, b) => b.seconds - a.seconds);
  }

  draw() {
    const { shown } = this, { nodes, nodeOf } = this.nodes(), wires = this.wires(nodeOf);
    const { plan, filter } = shown;
    this.hint.textContent = plan.machine.name + ' · click filters';
    this.all.hidden = !filter;
    fill(this.body, this.map(nodes, wires), this.list(nodes, wires));
  }

  nodeName(node) { return node.name + (node.count > 1 ? ` × ${node.count}` : ''); }

  // Both ends of a wire.
  wireName(nodes, wire) {
    return `${this.nodeName(nodes[wire.ends[0]])} – ${this.nodeName(nodes[wire.ends[1]])}` + (wire.count > 1 ? `, the busiest of ${wire.count}` : '');
  }

  pick(node) {
    if (node.device >= 0) this.shown.setFilter({ device: node.device });
  }

  // Hosts in the first row, other devices in rows of eight below.
  map(nodes, wires) {
    const { shown } = this, { entry, filter } = shown, busy = entry.busySeconds(shown.plan.devices.length), w = 84, h = 40, gap = 18;
    const rows = [[], []];
    nodes.forEach((node, n) => {
      if (node.kind === 'cpu' && nodes.some((other) => other.kind !== 'cpu')) { rows[0].push(n); return; }
      if (rows[rows.length - 1].length === 8) rows.push([]);
      rows[rows.length - 1].push(n);
    });
    const used = rows.filter((row) => row.length), columns = Math.max(...used.map((row) => row.length));
    const width = columns * (w + gap) + gap, height = used.length * (h + 46) + 6, at = [];
    used.forEach((row, r) => row.forEach((n, c) => { at[n] = { x: (width - row.length * (w + gap) - gap) / 2 + gap + c * (w + gap), y: 36 + r * (h + 46) }; }));
    const map = shape('svg', { viewBox: `0 0 ${width} ${height}`, class: 'topology', role: 'group', 'aria-label': 'Devices and links' });
    map.style.maxWidth = Math.max(220, 1.5 * width) + 'px';
    const drawn = wires.filter((wire) => wire.ends[0] !== wire.ends[1] && (wire.seconds > 0 || wires.length <= 36));
    for (const wire of drawn) {
      const [a, b] = wire.ends.map((n) => at[n]).sort((p, q) => p.y - q.y), share = entry.end > 0 ? wire.seconds / entry.end : 0;
      const same = a.y === b.y, x1 = a.x + w / 2, x2 = b.x + w / 2, y1 = same ? a.y : a.y + h, y2 = b.y;
      const path = same ? `M${x1} ${y1}Q${(x1 + x2) / 2} ${y1 - 14 - Math.abs(x2 - x1) / 12} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}`;
      const on = filter && filter.link === wire.link, pickLink = () => shown.setFilter({ link: wire.link });
      const group = shape('g', { class: 'wire' + (on ? ' on' : ''), 'data-link': wire.link, tabindex: 0, role: 'button',
        'aria-label': `link ${this.wireName(nodes, wire)}, busy ${shareText(share, 1)} of the step`, onclick: pickLink, onkeydown: onPress(pickLink) });
      group.append(shape('path', { d: path, class: 'grip' }), shape('path', { d: path, class: 'wire-line' + (share === 0 ? ' idle' : ''), 'stroke-width': 1.2 + 7 * share }));
      if (share >= 0.005) group.append(shape('text', { x: (x1 + x2) / 2, y: same ? y1 - 4 - Math.abs(x2 - x1) / 24 : (y1 + y2) / 2 + 3, 'text-anchor': 'middle' }, shareText(wire.seconds, entry.end)));
      map.append(group);
    }
    nodes.forEach((node, n) => {
      const { x, y } = at[n], [fill, line] = deviceColors(shown.plan, [node.device]);
      const share = node.device >= 0 && entry.end > 0 ? busy[node.device] / entry.end : 0, on = filter && filter.device === node.device && node.device >= 0;
      const group = shape('g', { class: 'device' + (on ? ' on' : '') + (node.device < 0 ? ' unused' : ''), 'data-device': node.device, tabindex: node.device < 0 ? null : 0, role: 'button',
        'aria-label': `${this.nodeName(node)}, computes ${shareText(share, 1)} of the step`, onclick: () => this.pick(node), onkeydown: onPress(() => this.pick(node)) });
      if (node.count > 1) group.append(shape('rect', { x: x + 4, y: y + 4, width: w, height: h, rx: 6, fill, stroke: line }));
      group.append(shape('rect', { x, y, width: w, height: h, rx: 6, fill, stroke: line, class: 'box' }), shape('rect', { x: x + 6, y: y + h - 9, width: (w - 12) * Math.min(1, share), height: 4, fill: line }),
        shape('text', { x: x + w / 2, y: y + 15, 'text-anchor': 'middle', class: 'op' }, cut(this.nodeName(node), 14)),
        shape('text', { x: x + w / 2, y: y + 27, 'text-anchor': 'middle', class: 'size' }, node.device < 0 ? 'not used' : shareText(share, 1) + ' busy'));
      map.append(group);
    });
    return map;
  }

  list(nodes, wires) {
    const { shown } = this, { plan, entry, filter } = shown, used = wires.filter((wire) => wire.seconds > 0);
    if (used.length === 0) return note('No link carries anything in the step.');
    return table([['Link'], ['Busy', 'n'], ['Bytes', 'n'], ['Bandwidth', 'n']], used.slice(0, MOST_LINKS).map((wire) => {
      const link = plan.machine.links[wire.link];
      return pickRow(filter && filter.link === wire.link, () => shown.setFilter({ link: wire.link }), [this.wireName(nodes, wire)],
        [shareText(wire.seconds, entry.end), 'n'], [bytesText(wire.bytes), 'n'], [bytesText(link.bandwidth) + '/s', 'n']);
    }));
  }
}
