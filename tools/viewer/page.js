'use strict';
// Draws what the program computed; every text goes in as text, never as HTML.

const DATA = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
// One hue a device; the first eight are dot_text.cc's.
const COLORS = [['#dfe9f7', '#3f6fb0'], ['#fae6d4', '#c0702a'], ['#dbf0e3', '#35895a'], ['#f6deea', '#b04a80'],
                ['#e8e2f7', '#7457b8'], ['#d9eff1', '#2c8590'], ['#f3edcf', '#93801f'], ['#f8dedd', '#b84a45']];
const NEUTRAL = ['#f1f3f5', '#8a94a3'];
const MIXED = ['#f4f5f7', '#8a94a3'];

const state = { entry: 0, trace: -1, box: -1, command: -1, open: new Set(), hits: new Set(), tab: 'node',
                from: 0, to: 1, view: { x: 0, y: 0, k: 1 } };

const $ = (id) => document.getElementById(id);
const entry = () => DATA.entries[state.entry];
const trace = () => state.trace < 0 ? null : DATA.traces[state.trace];
const colors = (devices) =>
    devices.length === 0 ? NEUTRAL : devices.length > 1 ? MIXED : COLORS[devices[0] % COLORS.length];

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
function cut(text, length) { return text.length <= length ? text : text.slice(0, Math.max(1, length - 1)) + '…'; }

function bytesText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let u = 0;
  while (bytes >= 1024 && u < 4) { bytes /= 1024; ++u; }
  return (u === 0 ? bytes : bytes.toFixed(1)) + ' ' + units[u];
}

function secondsText(seconds) {
  if (!entry().timed) return seconds.toFixed(0);
  if (seconds >= 1) return seconds.toFixed(3) + ' s';
  if (seconds >= 1e-3) return (seconds * 1e3).toFixed(2) + ' ms';
  if (seconds === 0) return '0';
  return (seconds * 1e6).toFixed(seconds < 1e-5 ? 2 : 1) + ' µs';
}
function measuredText(seconds) {
  if (seconds >= 1) return seconds.toFixed(3) + ' s';
  return seconds >= 1e-3 ? (seconds * 1e3).toFixed(2) + ' ms' : (seconds * 1e6).toFixed(1) + ' µs';
}

// ---- graph: sizes and places for the groups as they are folded now ----

let groupOf = [];   // by box
let itemOf = [];    // by box: item in its group
let groupItem = []; // by group: item in its parent
let lanesOf = [];   // by group: lanes of "from>to"

function indexGroups() {
  groupOf = []; itemOf = []; groupItem = [];
  lanesOf = entry().groups.map((group) => new Map(group.routes.map(([from, to, lanes]) => [from + '>' + to, lanes])));
  entry().groups.forEach((group, g) => group.items.forEach(([kind, index], i) => {
    if (kind === 'box') { groupOf[index] = g; itemOf[index] = i; }
    if (kind === 'group') groupItem[index] = i;
  }));
}

const pen = document.createElement('canvas').getContext('2d');
function textWidth(text, size, weight) {
  pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}
// The longest beginning that is no wider.
function cutTo(text, width, size, weight) {
  text = cut(text, 60);
  if (textWidth(text, size, weight) <= width) return text;
  let low = 1, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(text.slice(0, middle) + '…', size, weight) <= width) low = middle; else high = middle - 1;
  }
  return text.slice(0, low) + '…';
}

const sizes = new Map();  // texts are measured once
function sizeOf(key, least, most, height, texts) {
  if (!sizes.has(key)) {
    sizes.set(key, { w: Math.min(most, Math.max(least, ...texts.map((t) => textWidth(...t) + 22))), h: height });
  }
  return sizes.get(key);
}
function boxSize(b) {
  const box = entry().boxes[b];
  return sizeOf(`${state.entry}b${b}`, 84, 190, 38, [[cut(box.op, 60), 11.5, 600], [cut(box.name, 60), 10, 400]]);
}
function groupNote(group) {
  return group.boxes + ' nodes · ' + group.devices.map((d) => DATA.devices[d].name).join(', ');
}
function groupSize(g) {
  const group = entry().groups[g];
  return sizeOf(`${state.entry}g${g}`, 120, 250, 42, [['▸ ' + cut(group.name, 60), 11.5, 600], [groupNote(group), 10, 400]]);
}

// Places of least squared distance from the wishes that keep the order and the
// widths: neighbours that would overlap move as one block.
function spread(items, wish, width, gap) {
  let offset = 0;
  const blocks = [];
  items.forEach((item, i) => {
    if (i > 0) offset += (width[items[i - 1]] + width[item]) / 2 + gap;
    blocks.push({ sum: wish[item] - offset, count: 1, members: [[item, offset]] });
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1], before = blocks[blocks.length - 2];
      if (before.sum / before.count <= last.sum / last.count) break;
      before.sum += last.sum; before.count += last.count;
      for (const member of last.members) before.members.push(member);
      blocks.pop();
    }
  });
  const place = {};
  for (const block of blocks) {
    for (const [item, by] of block.members) place[item] = block.sum / block.count + by;
  }
  return place;
}

function neighbours(group) {
  const above = group.items.map(() => []), below = group.items.map(() => []);
  for (const [from, to, lanes] of group.routes) {
    const path = [from, ...lanes, to];
    for (let i = 1; i < path.length; ++i) { below[path[i - 1]].push(path[i]); above[path[i]].push(path[i - 1]); }
  }
  return [above, below];
}

// The size of an open group and where its items stand in it.
function arrange(g) {
  const group = entry().groups[g];
  const inner = {};
  const size = group.items.map(([kind, index]) => {
    if (kind === 'box') return boxSize(index);
    if (kind === 'lane') return { w: 8, h: 0 };
    if (!state.open.has(index)) return groupSize(index);
    inner[index] = arrange(index);
    return inner[index];
  });
  const width = size.map((s) => s.w);
  const center = group.items.map(() => 0);
  const [above, below] = neighbours(group);
  const place = (layer, near) => {
    const wish = {};
    for (const item of layer) {
      wish[item] = near[item].length ? near[item].reduce((sum, n) => sum + center[n], 0) / near[item].length : center[item];
    }
    Object.entries(spread(layer, wish, width, 18)).forEach(([item, x]) => { center[item] = x; });
  };
  const none = group.items.map(() => []);
  for (const layer of group.layers) place(layer, none);
  for (let sweep = 0; sweep < 6; ++sweep) {
    for (const layer of group.layers) place(layer, above);
    for (let l = group.layers.length; l-- > 0;) place(group.layers[l], below);
  }
  for (const layer of group.layers) place(layer, above);
  const pad = 14, top = g === 0 ? 14 : 30;
  const left = Math.min(...center.map((x, i) => x - width[i] / 2), 0);
  const at = [];
  let y = top;
  for (const layer of group.layers) {
    const height = Math.max(...layer.map((item) => size[item].h));
    for (const item of layer) {
      at[item] = { x: center[item] - width[item] / 2 - left + pad, y: y + (height - size[item].h) / 2,
                   w: width[item], h: size[item].h, top: y, bottom: y + height };
    }
    y += height + 30;
  }
  const right = Math.max(...at.map((p) => p.x + p.w), 100);
  return { w: right + pad, h: y - 30 + 14, at, inner };
}

let placed = { boxes: {}, groups: {} };  // absolute
let laneAt = {};                         // "group:item"

function flatten(g, arranged, x, y) {
  entry().groups[g].items.forEach(([kind, index], i) => {
    const p = arranged.at[i];
    const here = { x: x + p.x, y: y + p.y, w: p.w, h: p.h };
    if (kind === 'box') placed.boxes[index] = here;
    else if (kind === 'lane') laneAt[g + ':' + i] = { x: here.x + 4, top: y + p.top, bottom: y + p.bottom };
    else {
      placed.groups[index] = here;
      if (arranged.inner[index]) flatten(index, arranged.inner[index], here.x, here.y);
    }
  });
}

// The groups around a box from the root to where it shows, and what shows.
function shownPath(box) {
  const path = [];
  for (let g = groupOf[box]; g >= 0; g = entry().groups[g].parent) path.unshift(g);
  let n = 1;
  while (n < path.length && state.open.has(path[n])) ++n;
  return n < path.length ? { path: path.slice(0, n), key: 'g' + path[n], rect: placed.groups[path[n]], group: path[n] }
                         : { path, key: 'b' + box, rect: placed.boxes[box], box };
}

function drawEdges(world) {
  const shown = new Map();
  for (const edge of entry().edges) {
    const a = shownPath(edge.from), b = shownPath(edge.to);
    if (a.key === b.key) continue;
    const key = a.key + '>' + b.key;
    const known = shown.get(key);
    if (known) { known.cut = known.cut || edge.cut; known.edges.push(edge); continue; }
    shown.set(key, { a, b, cut: edge.cut, edges: [edge] });
  }
  for (const line of shown.values()) {
    const points = edgePoints(line.a, line.b);
    let d = '';
    points.forEach(([x, y], i) => {
      if (i === 0) { d = `M${x} ${y}`; return; }
      const [px, py] = points[i - 1];
      if (Math.abs(px - x) < 0.5) { d += `L${x} ${y}`; return; }
      const bend = Math.max(12, (y - py) / 2);
      d += `C${px} ${py + bend} ${x} ${y - bend} ${x} ${y}`;
    });
    const on = line.edges.some((e) => e.from === state.box || e.to === state.box);
    const path = shape('path', { d, class: 'edge' + (line.cut ? ' cut' : '') + (on ? ' on' : ''), 'marker-end': line.cut ? 'url(#arrow-cut)' : 'url(#arrow)' });
    path.append(shape('title', {}, line.edges.slice(0, 6).map((e) => e.value + '  ' + bytesText(e.bytes)).join('\n')));
    world.append(path);
  }
}

function edgePoints(a, b) {
  let n = 0;
  while (n < a.path.length && n < b.path.length && a.path[n] === b.path[n]) ++n;
  const g = a.path[n - 1];
  const end = (side) => n < side.path.length ? groupItem[side.path[n]] : side.box !== undefined ? itemOf[side.box] : groupItem[side.group];
  const points = [[a.rect.x + a.rect.w / 2, a.rect.y + a.rect.h]];
  for (const lane of lanesOf[g].get(end(a) + '>' + end(b)) || []) {
    const p = laneAt[g + ':' + lane];
    points.push([p.x, p.top], [p.x, p.bottom]);
  }
  // Past what stands above its end in an open group, along the group's side.
  if (b.path.length > n) {
    const inner = b.path[b.path.length - 1], around = placed.groups[inner];
    const item = b.box !== undefined ? itemOf[b.box] : groupItem[b.group];
    if (!entry().groups[inner].layers[0].includes(item)) {
      const side = around.x + around.w - 7;
      points.push([side, around.y], [side, b.rect.y - 22]);
    }
  }
  points.push([b.rect.x + b.rect.w / 2, b.rect.y - 2]);
  return points;
}

function drawGroup(world, g, rect) {
  const group = entry().groups[g];
  const open = state.open.has(g);
  const [light, line] = colors(group.devices);
  const node = shape('g', { class: 'fold' + (open ? ' open' : ''), 'data-group': g, transform: `translate(${rect.x},${rect.y})` });
  if (!open) node.append(shape('rect', { x: 4, y: 4, width: rect.w, height: rect.h, rx: 7, fill: light, stroke: line, opacity: 0.6 }));
  node.append(shape('rect', { width: rect.w, height: rect.h, rx: 7, fill: light, stroke: line }));
  if (open) {
    // Its title is drawn over the edges.
  } else {
    node.append(shape('text', { x: 10, y: 18, class: 'op' }, cutTo('▸ ' + group.name, rect.w - 18, 11.5, 600)));
    node.append(shape('text', { x: 10, y: 33, class: 'name' }, cutTo(groupNote(group), rect.w - 18, 10, 400)));
  }
  node.append(shape('title', {}, group.name));
  world.append(node);
}

function drawTitle(world, g, rect) {
  const title = shape('g', { class: 'fold open title', 'data-group': g, transform: `translate(${rect.x},${rect.y})` });
  title.append(shape('text', { x: 10, y: 19, class: 'op' }, cutTo('▾ ' + entry().groups[g].name, rect.w - 20, 11, 600)));
  world.append(title);
}

function drawBox(world, b, rect) {
  const box = entry().boxes[b];
  const [light, line] = colors(box.devices);
  const node = shape('g', { class: 'box' + (state.box === b ? ' on' : '') + (state.hits.has(b) ? ' hit' : ''), 'data-box': b,
                            transform: `translate(${rect.x},${rect.y})` });
  const end = box.kind !== 'node';
  node.append(shape('rect', { width: rect.w, height: rect.h, rx: end ? 19 : 6, fill: end ? '#fff' : light, stroke: line }));
  node.append(shape('text', { x: rect.w / 2, y: 16, class: 'op', 'text-anchor': 'middle' }, cutTo(box.op, rect.w - 16, 11.5, 600)));
  node.append(shape('text', { x: rect.w / 2, y: 30, class: 'name', 'text-anchor': 'middle' }, cutTo(box.name, rect.w - 16, 10, 400)));
  node.append(shape('title', {}, box.op + ' ' + box.name + (box.reason ? '\n' + box.reason : '')));
  world.append(node);
}

let worldSize = { w: 1, h: 1 };

function drawGraph() {
  const svg = $('graph');
  const defs = shape('defs', {});
  for (const [id, color, size] of [['arrow', '#9aa4b1', 7], ['arrow-cut', '#39434f', 10]]) {
    const marker = shape('marker', { id, viewBox: '0 0 8 8', refX: 6, refY: 4, markerWidth: size, markerHeight: size, orient: 'auto', markerUnits: 'userSpaceOnUse' });
    marker.append(shape('path', { d: 'M0 0.5L7 4L0 7.5z', fill: color }));
    defs.append(marker);
  }
  const world = shape('g', { id: 'world' });
  placed = { boxes: {}, groups: {} };
  laneAt = {};
  const arranged = arrange(0);
  worldSize = arranged;
  flatten(0, arranged, 0, 0);
  for (const [g, rect] of Object.entries(placed.groups)) drawGroup(world, +g, rect);
  drawEdges(world);
  for (const [b, rect] of Object.entries(placed.boxes)) drawBox(world, +b, rect);
  for (const [g, rect] of Object.entries(placed.groups)) if (state.open.has(+g)) drawTitle(world, +g, rect);
  fill(svg, defs, world);
  moveGraph();
  const cuts = entry().edges.filter((e) => e.cut).length;
  $('graph-hint').textContent = `${entry().boxes.length} nodes` + (cuts ? ` · ${cuts} cut edge${cuts > 1 ? 's' : ''} (heavy)` : '') + ' · click a group to fold';
}

function moveGraph() {
  const { x, y, k } = state.view;
  $('world').setAttribute('transform', `translate(${x},${y}) scale(${k})`);
}

function paneSize() { const r = $('graph').getBoundingClientRect(); return { w: r.width || 560, h: r.height || 700 }; }

// Whole if it stays legible, else the top of it.
function fitGraph(all) {
  const pane = paneSize();
  const whole = Math.min((pane.w - 20) / worldSize.w, (pane.h - 20) / worldSize.h, 1.25);
  const k = all || whole >= 0.65 ? whole : Math.max(Math.min(0.9, (pane.w - 20) / worldSize.w), 0.75);
  const first = placed.boxes[0];
  const tall = worldSize.h * k > pane.h, wide = worldSize.w * k > pane.w;
  const middle = wide && first ? first.x + first.w / 2 : worldSize.w / 2;
  state.view = { k, x: pane.w / 2 - middle * k, y: tall ? 6 : (pane.h - worldSize.h * k) / 2 };
  moveGraph();
}

function centerBox(b) {
  const shown = shownPath(b), pane = paneSize();
  const k = Math.max(state.view.k, 0.8);
  state.view = { k, x: pane.w / 2 - (shown.rect.x + shown.rect.w / 2) * k, y: pane.h / 2 - (shown.rect.y + shown.rect.h / 2) * k };
  moveGraph();
}

// ---- timeline and memory ----

const LEFT = 132, RIGHT = 16;

function timeScale() {
  const width = Math.max(320, ($('time-scroll').clientWidth || 760));
  const inner = width - LEFT - RIGHT;
  return { width, inner, x: (t) => LEFT + (t - state.from) / (state.to - state.from) * inner };
}

// What measured seconds are multiplied by to lie on the predicted axis.
function stretch() {
  const t = trace();
  if (!t || $('scale').checked || !t.end) return 1;
  return entry().end / t.end;
}
// One scale if both can be read on it.
function chooseScale() {
  const t = trace();
  $('scale').checked = t !== null && entry().end > t.end / 3 && entry().end < t.end * 3;
}
function axisEnd() {
  const t = trace();
  return Math.max(entry().end, t ? t.end * stretch() : 0) || 1;
}

function ticks(from, to) {
  const raw = (to - from) / 7, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const list = [];
  for (let i = Math.ceil(from / step); i * step <= to && list.length < 50; ++i) list.push(i * step);
  return list;
}

function drawTime() {
  const e = entry(), t = trace(), s = timeScale(), by = stretch();
  const svg = $('time');
  const parts = [], rowHeight = 20;
  let y = 22;
  const commands = shape('g', { id: 'commands', class: state.box >= 0 || state.command >= 0 ? 'selecting' : '' });
  const byStream = e.streams.map(() => []);
  e.commands.forEach((c, i) => byStream[c.stream].push(i));
  e.streams.forEach((stream, index) => {
    const [light, line] = colors([stream.device]);
    const name = DATA.devices[stream.device].name + ' / ' + stream.name;
    const label = shape('text', { x: 12, y: y + 14, class: 'track' }, cut(name, 21));
    label.append(shape('title', {}, name));
    parts.push(label);
    drawRow(commands, byStream[index], (i) => [e.commands[i].start, e.commands[i].end], y, rowHeight, s, light, line, false);
    y += rowHeight + 4;
    if (t) {
      parts.push(shape('text', { x: 22, y: y + 10, class: 'tick' }, 'measured'));
      drawRow(commands, byStream[index], (i) => t.commands[i].map((v) => v * by), y, 14, s, line, line, true);
      y += 18;
    }
    y += 5;
  });
  const memoryTop = y + 8;
  y = drawMemory(parts, memoryTop, s);
  for (const at of ticks(state.from, state.to)) {
    parts.unshift(shape('line', { x1: s.x(at), x2: s.x(at), y1: 18, y2: y, class: 'rule' }));
    parts.push(shape('text', { x: s.x(at), y: 12, class: 'tick', 'text-anchor': 'middle' }, secondsText(at)));
  }
  svg.setAttribute('width', s.width);
  svg.setAttribute('height', y + 6);
  const clip = shape('clipPath', { id: 'clip' });
  clip.append(shape('rect', { x: LEFT, y: 0, width: s.inner + 1, height: y + 6 }));
  commands.setAttribute('clip-path', 'url(#clip)');
  fill(svg, clip, ...parts, commands);
  $('time-hint').textContent = !e.timed ? 'no prediction in this plan: commands by order of launch'
      : t && by !== 1 ? `predicted above, measured below (${measuredText(t.end)} drawn at ${by < 1 ? '1/' + (1 / by).toPrecision(3) : by.toPrecision(3) + ' times'} its length)`
      : t ? 'predicted above, measured below' : 'predicted · wheel zooms, drag pans';
}

function drawRow(into, indices, times, y, height, s, light, line, measured) {
  let lastRight = -1;
  for (const i of indices) {
    const c = entry().commands[i], [start, end] = times(i);
    if (end < state.from || start > state.to) continue;
    const on = state.command === i || (c.box >= 0 && c.box === state.box);
    const x = s.x(start), width = Math.max(s.x(end) - x, 1);
    // What would hide behind the one before it is left out.
    if (!on && x + width <= lastRight + 0.4) continue;
    lastRight = x + width;
    const signal = c.kind === 'record' || c.kind === 'wait';
    const node = shape('g', { class: 'command' + (on ? ' on' : ''), 'data-command': i });
    const transfer = !signal && c.kind !== 'kernel';
    node.append(shape('rect', { x, y: signal ? y + height - 5 : y, width, height: signal ? 5 : height, rx: width > 6 ? 2.5 : 0,
      fill: signal ? '#c9cfd7' : transfer && !measured ? '#fff' : light, stroke: signal ? '#aab2bd' : line, 'stroke-width': width < 4 ? 0.5 : 1, 'fill-opacity': measured ? 0.55 : 1 }));
    if (!measured && !signal && width > 34) {
      const shownX = Math.max(x, LEFT);
      node.append(shape('text', { x: shownX + 5, y: y + 14, class: 'label' }, cutTo(c.title, x + width - shownX - 9, 10, 400)));
    }
    into.append(node);
  }
}

function drawMemory(parts, top, s) {
  // As high as the pane has room for.
  const room = ($('time-scroll').clientHeight - top - 30) / entry().memory.length - 12;
  const height = Math.min(120, Math.max(54, room));
  let y = top;
  parts.push(shape('text', { x: 12, y: y + 6, class: 'track', 'font-weight': 650 }, 'Memory'));
  y += 16;
  for (const memory of entry().memory) {
    const [light, line] = colors([memory.device]);
    const onScale = memory.limit <= 6 * Math.max(memory.arena, 1);
    const topBytes = (onScale ? memory.limit : memory.arena * 1.25) || 1;
    const at = (bytes) => y + height - bytes / topBytes * (height - 8);
    parts.push(shape('text', { x: 12, y: y + 18, class: 'track' }, DATA.devices[memory.device].name));
    parts.push(shape('text', { x: 12, y: y + 33, class: 'tick' }, 'peak ' + bytesText(memory.peak)));
    parts.push(shape('text', { x: 12, y: y + 46, class: 'tick' }, 'arena ' + bytesText(memory.arena)));
    const x = (t) => Math.min(Math.max(s.x(t), LEFT), LEFT + s.inner);
    let d = '', last = null;
    for (const [time, bytes] of memory.points) {
      d += last === null ? `M${x(time)} ${at(bytes)}` : `L${x(time)} ${at(last)}L${x(time)} ${at(bytes)}`;
      last = bytes;
    }
    const end = x(entry().end), start = x(memory.points.length ? memory.points[0][0] : 0);
    d += `L${end} ${at(last || 0)}`;
    parts.push(shape('path', { d: d + `L${end} ${at(0)}L${start} ${at(0)}Z`, fill: light }));
    parts.push(shape('path', { d, fill: 'none', stroke: line, 'stroke-width': 1.4 }));
    parts.push(shape('line', { x1: LEFT, x2: LEFT + s.inner, y1: at(0), y2: at(0), class: 'rule' }));
    if (onScale) {
      parts.push(shape('line', { x1: LEFT, x2: LEFT + s.inner, y1: at(memory.limit), y2: at(memory.limit), class: 'limit' }));
      parts.push(shape('text', { x: LEFT + s.inner - 4, y: at(memory.limit) + 12, class: 'limit-text', 'text-anchor': 'end' }, 'limit ' + bytesText(memory.limit)));
    } else {
      parts.push(shape('text', { x: LEFT + s.inner - 4, y: y + 10, class: 'limit-text', 'text-anchor': 'end' }, 'limit ' + bytesText(memory.limit) + ', far above'));
    }
    y += height + 12;
  }
  return y;
}

// ---- panels ----

function rows(pairs) {
  const list = element('dl');
  for (const [key, value] of pairs) {
    if (value === '' || value === null || value === undefined || value.length === 0) continue;
    list.append(element('dt', {}, key), element('dd', {}, ...(Array.isArray(value) ? value.map((v) => element('div', {}, v)) : [value])));
  }
  return list;
}

function valueLine(operand) {
  const [name, type, box] = operand;
  const line = element('span');
  line.append(box >= 0 ? element('a', { onclick: () => select(box) }, name) : name, '  ', element('code', {}, type), box >= 0 ? '' : '  constant');
  return line;
}

function commandLine(i) {
  const c = entry().commands[i], t = trace(), s = entry().streams[c.stream];
  let text = `${DATA.devices[s.device].name} / ${s.name}`;
  if (entry().timed) text += `, at ${secondsText(c.start)}, takes ${secondsText(c.end - c.start)}`;
  if (t) text += `; measured ${measuredText(t.commands[i][1] - t.commands[i][0])}`;
  return element('span', {}, element('a', { onclick: () => selectCommand(i) }, `${i} ${c.kind}`), '  ', text);
}

function measuredSeconds(box) {
  const t = trace();
  return t ? box.commands.reduce((sum, i) => sum + t.commands[i][1] - t.commands[i][0], 0) : null;
}

function nodePanel(b) {
  const box = entry().boxes[b];
  const readers = [...new Set(entry().edges.filter((e) => e.from === b).map((e) => e.to))];
  const measured = measuredSeconds(box);
  const predicted = box.commands.reduce((sum, i) => sum + entry().commands[i].end - entry().commands[i].start, 0);
  const panel = element('div', { 'data-selected': box.name },
    element('div', { class: 'head' }, element('b', {}, box.name), element('span', {}, box.op)),
    rows([
      ['Device', box.devices.map((d) => DATA.devices[d].name).join(', ')],
      ['Reason', box.reason],
      ['Seconds', entry().timed || measured !== null ?
        (entry().timed ? secondsText(predicted) + ' predicted' : '') + (measured === null ? '' : (entry().timed ? ', ' : '') + measuredText(measured) + ' measured') : ''],
      ['Kernel', box.kernel],
      ['Workspace', box.workspace ? bytesText(box.workspace) : ''],
      ['Operands', box.operands.map(valueLine)],
      ['Results', box.results.map(([name, type]) => element('span', {}, name, '  ', element('code', {}, type)))],
      ['Read by', readers.slice(0, 12).map((r) => element('a', { onclick: () => select(r) }, entry().boxes[r].op + ' ' + entry().boxes[r].name))],
      ['Attributes', box.attributes.map(([key, value]) => element('code', {}, key + ' = ' + value))],
      ['Scope', box.scope],
      ['From', box.location],
      ['Commands', box.commands.map(commandLine)],
      ['Arithmetic', box.arithmetic ? element('code', {}, box.arithmetic) : ''],
    ]));
  if (box.text) panel.append(element('pre', {}, box.text));
  return panel;
}

function commandPanel(i) {
  const c = entry().commands[i];
  const partners = entry().commands.map((_, k) => k).filter((k) => k !== i && c.event >= 0 && entry().commands[k].event === c.event);
  return element('div', { 'data-selected': c.title },
    element('div', { class: 'head' }, element('b', {}, c.title), element('span', {}, 'command ' + i)),
    rows([['Command', [commandLine(i)]], [c.kind === 'wait' ? 'Recorded by' : 'Waited for by', partners.map(commandLine)]]));
}

function drawNodeTab() {
  if (state.box >= 0) fill($('tab-node'), nodePanel(state.box));
  else if (state.command >= 0) fill($('tab-node'), commandPanel(state.command));
  else fill($('tab-node'), element('p', { class: 'note' }, 'Click a node or a command to see what it is, where it runs and why.'), ...overview());
}

function overview() {
  const table = element('table', {}, element('tr', {}, element('th', {}, 'Device'), element('th', { class: 'n' }, 'Nodes'), element('th', { class: 'n' }, 'Computes'),
    element('th', { class: 'n' }, 'Of the step'), element('th', { class: 'n' }, 'Peak'), element('th', { class: 'n' }, 'Limit')));
  const e = entry();
  DATA.devices.forEach((device, d) => {
    const nodes = e.boxes.filter((b) => b.kind === 'node' && b.devices.includes(d)).length;
    const busy = e.commands.filter((c) => c.kind === 'kernel' && e.streams[c.stream].device === d).reduce((sum, c) => sum + c.end - c.start, 0);
    table.append(element('tr', {}, element('td', {}, device.name), element('td', { class: 'n' }, String(nodes)),
      element('td', { class: 'n' }, secondsText(busy)), element('td', { class: 'n' }, e.end ? (100 * busy / e.end).toFixed(0) + ' %' : ''),
      element('td', { class: 'n' }, bytesText(e.memory[d].peak)), element('td', { class: 'n' }, bytesText(e.memory[d].limit))));
  });
  const parts = [table];
  if (DATA.summary) parts.push(element('pre', {}, DATA.summary));
  return parts;
}

function drawTransfers() {
  const list = entry().transfers;
  const between = list.filter((t) => t.from !== 'caller' && t.to !== 'caller');
  const hidden = between.filter((t) => t.hidden).length;
  const table = element('table', {}, element('tr', {}, element('th', {}, 'From'), element('th', {}, 'To'), element('th', {}, 'Value'), element('th', { class: 'n' }, 'Bytes'),
    element('th', { class: 'n' }, 'Time'), element('th', {}, 'Hidden'), element('th', {}, 'Reason')));
  for (const t of list) {
    const share = t.seconds > 0 ? Math.round(100 * t.hiddenSeconds / t.seconds) : 100;
    table.append(element('tr', { class: 'row' + (t.command === state.command ? ' on' : ''), onclick: () => selectCommand(t.command) },
      element('td', { class: 'w' }, t.from), element('td', { class: 'w' }, t.to), element('td', { class: 'name' }, t.value), element('td', { class: 'n' }, bytesText(t.bytes)),
      element('td', { class: 'n' }, secondsText(t.seconds)), element('td', { class: 'w' }, t.seconds === 0 ? 'no time' : t.hidden ? 'yes' : share ? share + ' %' : 'no'),
      element('td', { class: 'name' }, t.reason)));
  }
  fill($('tab-transfers'), element('p', { class: 'note' }, between.length === 0 ? 'Nothing moves between devices.'
      : `${between.length} transfers between devices, ${bytesText(between.reduce((s, t) => s + t.bytes, 0))}; ${hidden} hidden behind what the receiving device computes meanwhile.`), table);
}

function drawCertificate() {
  const c = DATA.certificate;
  const list = (items) => element('ul', { class: 'plain' }, ...items.map((item) => element('li', {}, item)));
  fill($('tab-certificate'),
    element('p', { class: 'note' }, 'Proved when this page was made' + (c.carried ? '; the plan also carries a certificate.' : '.')),
    rows([['Checker', c.checker], ['Plan hash', element('code', {}, c.hash)]]),
    element('h2', { style: 'margin-top:12px' }, 'Proved'), list(c.proved),
    ...(c.assumed.length ? [element('h2', {}, 'Assumed'), list(c.assumed)] : []));
}

function showTab(name) {
  state.tab = name;
  for (const button of document.querySelectorAll('[role=tab]')) {
    const on = button.dataset.tab === name;
    button.setAttribute('aria-selected', on);
    $('tab-' + button.dataset.tab).hidden = !on;
  }
}

// ---- selection and search ----

function unfoldTo(b) {
  let changed = false;
  for (let g = groupOf[b]; g > 0; g = entry().groups[g].parent) {
    if (!state.open.has(g)) { state.open.add(g); changed = true; }
  }
  return changed;
}

function select(b, keepCommand) {
  state.box = b;
  if (!keepCommand) state.command = -1;
  closeHits();
  if (b >= 0) { unfoldTo(b); showTab('node'); }
  drawGraph();
  if (b >= 0) centerBox(b);
  drawTime(); drawNodeTab(); drawTransfers();
  if (b >= 0) remember(entry().boxes[b].name);
}

function selectCommand(i) {
  state.command = i;
  const box = entry().commands[i].box;
  select(box, true);
  if (box < 0) showTab('node');
}

function remember(name) {
  try { history.replaceState(null, '', '#select=' + encodeURIComponent(name)); } catch (ignored) { /* a page without a history */ }
}

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

// ---- the page as a whole ----

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

function listenToGraph() {
  const svg = $('graph');
  let drag = null;
  svg.addEventListener('wheel', (event) => {
    event.preventDefault();
    const r = svg.getBoundingClientRect(), v = state.view;
    const k = Math.min(4, Math.max(0.04, v.k * Math.exp(-event.deltaY * 0.0015)));
    const x = event.clientX - r.left, y = event.clientY - r.top;
    state.view = { k, x: x - (x - v.x) * k / v.k, y: y - (y - v.y) * k / v.k };
    moveGraph();
  }, { passive: false });
  svg.addEventListener('pointerdown', (event) => { drag = { x: event.clientX, y: event.clientY, view: { ...state.view }, moved: false }; });
  window.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
    if (!drag.moved) return;
    svg.classList.add('drag');
    state.view = { ...drag.view, x: drag.view.x + dx, y: drag.view.y + dy };
    moveGraph();
  });
  window.addEventListener('pointerup', (event) => {
    const click = drag && !drag.moved ? event.target : null;
    drag = null;
    svg.classList.remove('drag');
    if (!click || !svg.contains(click)) return;
    const box = click.closest('.box'), group = click.closest('.fold');
    if (box) select(+box.dataset.box);
    else if (group) toggle(+group.dataset.group);
    else if (state.box >= 0 || state.command >= 0) { state.command = -1; select(-1); }
  });
}

// Keeps the group's corner where it is on the screen.
function toggle(g) {
  const before = placed.groups[g], v = state.view;
  if (state.open.has(g)) state.open.delete(g); else state.open.add(g);
  drawGraph();
  const after = placed.groups[g];
  const middle = (r) => r.x + r.w / 2;
  state.view = { k: v.k, x: v.x + (middle(before) - middle(after)) * v.k, y: v.y + (before.y - after.y) * v.k };
  moveGraph();
}

function listenToTime() {
  const svg = $('time');
  let drag = null;
  const zoom = (from, to) => {
    const end = axisEnd(), least = end * 1e-5;
    const length = Math.min(end, Math.max(least, to - from));
    state.from = Math.min(Math.max(0, from), end - length);
    state.to = state.from + length;
    drawTime();
  };
  svg.addEventListener('wheel', (event) => {
    if (event.shiftKey) return;
    event.preventDefault();
    const s = timeScale(), r = svg.getBoundingClientRect();
    const at = state.from + (event.clientX - r.left - LEFT) / s.inner * (state.to - state.from);
    const by = Math.exp(event.deltaY * 0.0015);
    zoom(at - (at - state.from) * by, at + (state.to - at) * by);
  }, { passive: false });
  svg.addEventListener('pointerdown', (event) => { drag = { x: event.clientX, from: state.from, to: state.to, moved: false, target: event.target }; });
  window.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const by = event.clientX - drag.x;
    if (Math.abs(by) > 4) drag.moved = true;
    if (drag.moved) { const shift = -by / timeScale().inner * (drag.to - drag.from); zoom(drag.from + shift, drag.to + shift); }
  });
  window.addEventListener('pointerup', () => {
    const click = drag && !drag.moved ? drag.target.closest('.command') : null;
    drag = null;
    if (click) selectCommand(+click.dataset.command);
  });
  svg.addEventListener('mousemove', (event) => {
    const node = event.target.closest('.command');
    $('tip').hidden = !node;
    if (!node) return;
    const i = +node.dataset.command, c = entry().commands[i], t = trace();
    $('tip').textContent = `${i} ${c.kind}: ${c.title}` + (entry().timed ? `\n${secondsText(c.start)} to ${secondsText(c.end)}, ${secondsText(c.end - c.start)}` : '') +
        (t ? `\nmeasured ${measuredText(t.commands[i][1] - t.commands[i][0])}` : '');
    $('tip').style.left = Math.min(event.clientX + 12, innerWidth - 300) + 'px';
    $('tip').style.top = event.clientY + 16 + 'px';
  });
  svg.addEventListener('mouseleave', () => { $('tip').hidden = true; });
  $('whole').addEventListener('click', () => zoom(0, axisEnd()));
  $('scale').addEventListener('change', () => zoom(0, axisEnd()));
}

function listen() {
  listenToGraph();
  listenToTime();
  $('fit').addEventListener('click', () => fitGraph(true));
  $('fold').addEventListener('click', () => { state.open = new Set([0]); drawGraph(); fitGraph(false); });
  $('unfold').addEventListener('click', () => { state.open = new Set(entry().groups.keys()); drawGraph(); fitGraph(false); });
  $('search').addEventListener('input', () => search($('search').value));
  $('search').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') closeHits();
    if (event.key !== 'Enter') return;
    const found = find($('search').value);
    closeHits();
    if (found.length) select(found[0]);
  });
  document.addEventListener('pointerdown', (event) => { if (!event.target.closest('.search')) closeHits(); });
  for (const button of document.querySelectorAll('[role=tab]')) button.addEventListener('click', () => showTab(button.dataset.tab));
  $('entry').addEventListener('change', () => showEntry(+$('entry').value));
  $('trace').addEventListener('change', () => { state.trace = +$('trace').value; chooseScale(); state.from = 0; state.to = axisEnd(); drawAll(); });
  window.addEventListener('resize', drawTime);
  window.addEventListener('hashchange', followFragment);
}

if (DATA.entries.length > 0) {
  fill($('entry'), ...DATA.entries.map((e, i) => element('option', { value: i }, e.name)));
  $('entry').hidden = DATA.entries.length < 2;
  showTab('node');
  listen();
  showEntry(0);
  followFragment();
}
document.body.dataset.ready = 'yes';
