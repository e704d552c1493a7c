// Draws the graph, from groups down to boxes, in as much detail as can be seen:
// a group of a few pixels is a plain rectangle, and what is outside is skipped.
// SPDX-License-Identifier: Apache-2.0

const PLAIN_BELOW = 26;    // pixels: the height of an open group
const TEXT_FROM = 0.5;     // scale
const MOST_LINES = 4000;   // a frame

class GraphDrawing {
  constructor(pen, pane, w, h) {
    this.pen = pen;
    this.shown = pane.shown;
    this.entry = pane.shown.entry;
    this.places = pane.places;
    this.lines = pane.lines;
    this.view = pane.view;
    this.count = 0;      // of shapes
    this.lineCount = 0;
    const { x, y, k } = pane.view;
    this.seen = { left: -x / k, top: -y / k, right: (w - x) / k, bottom: (h - y) / k };
    this.titles = [];
    this.linesOn = pane.lines.of(this.shown.box);
    this.onPath = this.shown.pathShown ? this.entry.pathBoxes : new Map();
  }

  draw() {
    const { x, y, k } = this.view;
    this.pen.save();
    this.pen.translate(x, y);
    this.pen.scale(k, k);
    this.drawItems(0);
    for (const [g, rect] of this.titles) this.drawTitle(g, rect);
    this.pen.restore();
    return this.count;
  }

  isSeen(rect) {
    const s = this.seen;
    return rect.x < s.right && rect.x + rect.w > s.left && rect.y < s.bottom && rect.y + rect.h > s.top;
  }

  drawItems(g) {
    const { items } = this.entry.groups[g];
    for (let i = 0; i < items.length; i += 2) if (items[i] === GROUP) this.drawGroup(items[i + 1]);
    for (const line of this.lines.byGroup.get(g) || []) this.drawLine(line);
    for (let i = 0; i < items.length; i += 2) if (items[i] === BOX) this.drawBox(items[i + 1]);
  }

  frame(rect, fill, line, width, radius, alpha = 1) {
    ++this.count;
    const pen = this.pen;
    roundedRect(pen, rect.x, rect.y, rect.w, rect.h, radius);
    pen.globalAlpha = alpha;
    pen.fillStyle = fill;
    pen.fill();
    pen.globalAlpha = 1;
    if (rect.h * this.view.k < 4) return;
    pen.strokeStyle = line;
    pen.lineWidth = width;
    pen.stroke();
  }

  drawGroup(g) {
    const rect = this.places.groups.get(g), group = this.entry.groups[g];
    if (!rect || !this.isSeen(rect)) return;
    const open = this.shown.open.has(g), [fill, line] = deviceColors(this.shown.plan, group.devices), { k } = this.view;
    if (open && rect.h * k < PLAIN_BELOW) { this.frame(rect, fill, line, 1.2, 7); return; }
    if (open) {
      this.frame(rect, THEME.ground, THEME.line, 1.2, 7, 0.6);
      this.drawItems(g);
      this.titles.push([g, rect]);
      return;
    }
    const path = this.groupPath(g), alpha = group.devices.some((d) => this.shown.passesDevice(d)) ? 1 : 0.25;
    this.frame({ x: rect.x + 4, y: rect.y + 4, w: rect.w, h: rect.h }, fill, line, 1.2, 7, 0.6 * alpha);
    this.frame(rect, fill, path && alpha === 1 ? THEME.path : line, path && alpha === 1 ? 2.6 : 1.2, 7, alpha);
    if (k < TEXT_FROM) return;
    this.text('▸ ' + group.name, rect.x + 10, rect.y + 18, rect.w - 18, '600 11.5px', THEME.ink);
    this.text(groupNote(this.shown.plan, group), rect.x + 10, rect.y + 33, rect.w - 18, '10px', THEME.soft);
  }

  // Whether a node of the group is on the critical path.
  groupPath(g) {
    if (this.onPath.size === 0) return false;
    if (!this.entry.pathGroups) {
      this.entry.pathGroups = new Set();
      for (const b of this.entry.pathBoxes.keys()) {
        for (let up = this.entry.groupOf[b]; up >= 0; up = this.entry.groups[up].parent) this.entry.pathGroups.add(up);
      }
    }
    return this.entry.pathGroups.has(g);
  }

  drawTitle(g, rect) {
    if (this.view.k < TEXT_FROM) return;
    this.text('▾ ' + this.entry.groups[g].name, rect.x + 10, rect.y + 19, rect.w - 20, '600 11px', THEME.soft, THEME.paper);
  }

  text(text, x, y, width, font, color, halo, align = 'left') {
    ++this.count;
    const pen = this.pen;
    pen.font = `${font} ${THEME.font}`;
    pen.textAlign = align;
    text = cutTo(pen, text, width);
    if (halo) {
      pen.lineWidth = 4;
      pen.strokeStyle = halo;
      pen.lineJoin = 'round';
      pen.strokeText(text, x, y);
    }
    pen.fillStyle = color;
    pen.fillText(text, x, y);
  }

  drawLine(line) {
    const { pen, seen, view: { k } } = this, [x0, y0] = line.points[0], [x1, y1] = line.points[line.points.length - 1];
    if (line.bottom < seen.top || line.top > seen.bottom) return;
    if ((Math.abs(x1 - x0) + Math.abs(y1 - y0)) * k < 6 || this.lineCount > MOST_LINES) return;
    ++this.count;
    ++this.lineCount;
    const on = this.linesOn.has(line), path = this.shown.pathShown && line.path;
    pen.strokeStyle = on ? THEME.mark : path ? THEME.path : line.cut ? THEME.edge_cut : THEME.edge;
    pen.lineWidth = on || path ? 2.4 : line.cut ? 2.4 : 1.2;
    if (line.cut) pen.setLineDash([7, 3]);
    traceLine(pen, line.points);
    pen.stroke();
    pen.setLineDash([]);
    if (k < 0.25) return;
    const size = line.cut || path ? 9 : 6;
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath();
    pen.moveTo(x1 - size / 2, y1 - size + 2);
    pen.lineTo(x1 + size / 2, y1 - size + 2);
    pen.lineTo(x1, y1 + 2);
    pen.fill();
  }

  drawBox(b) {
    const rect = this.places.boxes.get(b), { shown, entry, pen, view: { k } } = this;
    if (!rect || !this.isSeen(rect)) return;
    const devices = entry.devices(b), [fill, line] = deviceColors(shown.plan, devices);
    const end = entry.boxKind(b) !== NODE, on = shown.box === b, path = this.onPath.has(b);
    if (!shown.passesBox(b)) pen.globalAlpha = 0.25;
    const alpha = pen.globalAlpha;
    if (rect.h * k < 5) {
      ++this.count;
      pen.fillStyle = on ? THEME.mark : path ? THEME.path : line;
      pen.fillRect(rect.x, rect.y, rect.w, rect.h);
      pen.globalAlpha = 1;
      return;
    }
    this.frame(rect, end ? THEME.paper : fill, on ? THEME.mark : path ? THEME.path : line,
      on ? 3.4 : path || shown.hits.has(b) ? 2.6 : 1.2, end ? 19 : 6, alpha);
    pen.globalAlpha = alpha;
    if (k >= TEXT_FROM) {
      const middle = rect.x + rect.w / 2;
      this.text((path ? '◆ ' : '') + entry.op(b), middle, rect.y + 16, rect.w - 12, '600 11.5px', THEME.ink, null, 'center');
      this.text(boxNote(shown.plan, entry, b), middle, rect.y + 30, rect.w - 16, '10px', THEME.soft, null, 'center');
    }
    pen.globalAlpha = 1;
  }
}
