// The edges between the visible parts of the graph.
// SPDX-License-Identifier: Apache-2.0

// The groups around a box from the root to its visible part, and that part.
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
  // Past the items above its end in an open group, along the group's side.
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
