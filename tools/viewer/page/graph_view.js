// Draws the graph: groups, edges, boxes, and the titles of open groups over them.
// SPDX-License-Identifier: Apache-2.0

function drawGroup(world, g, rect) {
  const group = entry().groups[g];
  const open = state.open.has(g);
  const [light, line] = colors(group.devices);
  const node = shape('g', { class: 'fold' + (open ? ' open' : ''), 'data-group': g, transform: `translate(${rect.x},${rect.y})` });
  if (!open) node.append(shape('rect', { x: 4, y: 4, width: rect.w, height: rect.h, rx: 7, fill: light, stroke: line, opacity: 0.6 }));
  node.append(shape('rect', { width: rect.w, height: rect.h, rx: 7, fill: light, stroke: line }));
  if (!open) {  // An open one's title is drawn over the edges.
    node.append(shape('text', { x: 10, y: 18, class: 'op' }, cutTo('▸ ' + group.name, rect.w - 18, 11.5, 600)));
    node.append(shape('text', { x: 10, y: 33, class: 'name' }, cutTo(groupNote(group), rect.w - 18, 10, 400)));
    if (group.devices.length > 1) drawShares(node, g, rect);
  }
  node.append(shape('title', {}, group.name));
  world.append(node);
}

// Below a group of several devices: each device's share of its nodes.
function drawShares(node, g, rect) {
  const all = loadOf[g].reduce((sum, n) => sum + n, 0);
  let x = 10;
  loadOf[g].forEach((count, d) => {
    const width = count / all * (rect.w - 20);
    node.append(shape('rect', { x, y: rect.h - 6, width, height: 3, class: 'share', fill: COLORS[d % COLORS.length][1] }));
    x += width;
  });
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
  $('graph-hint').textContent = `${entry().boxes.length} nodes` + (cuts ? ` · ${cuts} cut edge${cuts > 1 ? 's' : ''}` : '') + ' · click a group';
}
