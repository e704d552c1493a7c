// The edges between the visible parts of the graph. Those between the same two
// parts are one line. A line is drawn with the innermost group around both ends.
// SPDX-License-Identifier: Apache-2.0

class GraphLines {
  constructor(places) {
    this.places = places;
    this.entry = places.entry;
    this.byGroup = new Map();
    const shown = new Map(), { from, to, cut } = this.entry.edges, paths = new Map(), { pathBoxes } = this.entry;
    this.ofEdge = new Array(from.length);  // undefined: within one part
    const pathOf = (b) => { if (!paths.has(b)) paths.set(b, places.shownPath(b)); return paths.get(b); };
    for (let e = 0; e < from.length; ++e) {
      const a = pathOf(from[e]), b = pathOf(to[e]);
      if (a.rect === b.rect) continue;
      const key = this.keyOf(a) * 4e6 + this.keyOf(b);
      let line = shown.get(key);
      if (!line) shown.set(key, line = { a, b, cut: false, path: false });
      line.cut ||= cut[e] === 1;
      line.path ||= pathBoxes.has(from[e]) && pathBoxes.has(to[e]);
      this.ofEdge[e] = line;
    }
    for (const line of shown.values()) this.add(line);
    // Those between devices are seen even where not all are.
    for (const lines of this.byGroup.values()) lines.sort((x, y) => y.cut - x.cut);
  }

  // Of all edges of a box.
  of(box) {
    return new Set(box < 0 ? [] : [...this.entry.edgesFrom(box), ...this.entry.edgesTo(box)].map((e) => this.ofEdge[e]));
  }

  keyOf(end) { return end.box !== undefined ? 2 * end.box : 2 * end.group + 1; }

  add(line) {
    const { a, b } = line;
    let n = 0;
    while (n < a.path.length && n < b.path.length && a.path[n] === b.path[n]) ++n;
    line.points = this.points(a, b, n);
    line.top = Math.min(...line.points.map((p) => p[1]));
    line.bottom = Math.max(...line.points.map((p) => p[1]));
    const g = a.path[n - 1];
    if (!this.byGroup.has(g)) this.byGroup.set(g, []);
    this.byGroup.get(g).push(line);
  }

  points(a, b, n) {
    const { groups, groupItem, itemOf } = this.entry, g = a.path[n - 1];
    const end = (side) => n < side.path.length ? groupItem[side.path[n]] : side.box !== undefined ? itemOf[side.box] : groupItem[side.group];
    const points = [[a.rect.x + a.rect.w / 2, a.rect.y + a.rect.h]];
    for (const lane of groups[g].lanes.get(end(a) + '>' + end(b)) || []) {
      const p = this.places.lanes.get(g + ':' + lane);
      points.push([p.x, p.top], [p.x, p.bottom]);
    }
    // Past the items above its end in an open group, along the group's side.
    if (b.path.length > n) {
      const inner = b.path[b.path.length - 1], around = this.places.groups.get(inner);
      const item = b.box !== undefined ? itemOf[b.box] : groupItem[b.group];
      if (!groups[inner].layers[0].includes(item)) {
        const side = around.x + around.w - 7;
        points.push([side, around.y], [side, b.rect.y - 22]);
      }
    }
    points.push([b.rect.x + b.rect.w / 2, b.rect.y - 2]);
    return points;
  }
}

function traceLine(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], i) => {
    if (i === 0) { pen.moveTo(x, y); return; }
    const [px, py] = points[i - 1];
    if (Math.abs(px - x) < 0.5) { pen.lineTo(x, y); return; }
    const bend = Math.max(12, (y - py) / 2);
    pen.bezierCurveTo(px, py + bend, x, y - bend, x, y);
  });
}
