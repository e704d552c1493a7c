// Draws the lanes: predicted commands, the measured ones below, memory curves.
// SPDX-License-Identifier: Apache-2.0

class TimeDrawing {
  constructor(pen, pane, w, h) {
    this.pen = pen;
    this.shown = pane.shown;
    this.entry = pane.shown.entry;
    this.pane = pane;
    this.w = w;
    this.h = h;
    this.scale = pane.scale();
    this.offset = pane.scroll.scrollTop;
    this.count = 0;
    const { box, command } = this.shown;
    this.selected = box >= 0 ? [...this.entry.commandsOf(box)] : command >= 0 ? [command] : [];
    this.isSelected = new Set(this.selected);
  }

  draw() {
    const { pen, shown, entry, scale } = this;
    pen.textBaseline = 'alphabetic';
    const at = ticks(shown.from, shown.to);
    pen.fillStyle = THEME.line;
    for (const t of at) pen.fillRect(Math.round(scale.x(t)), 18, 1, this.h);
    for (const lane of this.pane.lanes) {
      const y = lane.y - this.offset;
      if (y + lane.h < TOP - 4 || y > this.h) continue;
      if (lane.kind === 'memory') this.drawMemory(lane, y); else this.drawLane(lane, y);
    }
    this.drawMoment();
    // The axis stays in view.
    pen.fillStyle = THEME.paper;
    pen.fillRect(0, 0, this.w, 17);
    for (const t of at) if (scale.x(t) < this.w - 24) this.text(tickText(entry, t), scale.x(t), 12, 80, '10px', THEME.faint, 'center');
    return this.count;
  }

  text(text, x, y, width, font, color, align = 'left') {
    ++this.count;
    this.pen.font = `${font} ${THEME.font}`;
    this.pen.textAlign = align;
    this.pen.fillStyle = color;
    this.pen.fillText(cutTo(this.pen, text, width), x, y);
  }

  clipped(y, h, draw) {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(LEFT, y, this.scale.inner, h);
    this.pen.clip();
    draw();
    this.pen.restore();
  }

  drawLane(lane, y) {
    const measured = lane.kind === 'measured', [fill, line] = deviceColors(this.shown.plan, [lane.device]);
    if (measured) this.text('measured', 24, y + 9, LEFT - 30, '10px', THEME.faint);
    else this.text(lane.label, 12, y + 13, LEFT - 20, '11px', THEME.ink);
    this.clipped(y - 2, lane.h + 4, () => {
      eachShown(this.shown, this.scale, lane.stream, measured, this.selected, (c, x, width) => this.drawCommand(c, x, width, y, lane, fill, line));
    });
  }

  drawCommand(c, x, width, y, lane, fill, line) {
    ++this.count;
    const { pen, entry, shown } = this, measured = lane.kind === 'measured', kind = entry.kind(c);
    const signal = kind === 'record' || kind === 'wait', transfer = !signal && kind !== 'kernel';
    const on = this.isSelected.has(c), path = shown.pathShown && entry.pathSeconds.has(c);
    pen.globalAlpha = !shown.passesCommand(c) ? 0.15 : this.selected.length > 0 && !on ? 0.4 : 1;
    const top = signal ? y + lane.h - 5 : y, height = signal ? 5 : lane.h;
    pen.fillStyle = signal ? THEME.wait : transfer ? THEME.paper : measured && !THEME.dark ? line : fill;
    if (measured && !signal) pen.globalAlpha *= 0.75;
    pen.fillRect(x, top, width, height);
    if (width > 3) {
      pen.strokeStyle = on ? THEME.mark : signal ? THEME.wait : line;
      pen.lineWidth = on ? 2 : 1;
      if (transfer) pen.setLineDash([3, 2]);
      pen.strokeRect(x + 0.5, top + 0.5, width - 1, height - 1);
      pen.setLineDash([]);
    } else if (on || transfer) {
      pen.fillStyle = on ? THEME.mark : line;
      pen.fillRect(x, top, Math.max(width, on ? 2 : 1), height);
    }
    if (path && !measured) {
      pen.fillStyle = THEME.path;
      pen.fillRect(x, y + lane.h - 3, width, 3);
    }
    if (!measured && !signal && width > 34) {
      const from = Math.max(x, LEFT);
      if (x + width - from > 30) this.text(entry.title(c), from + 5, y + 12, x + width - from - 9, '10px', THEME.ink);
    }
    pen.globalAlpha = 1;
  }

  drawMemory(lane, y) {
    const { pen, scale, shown } = this, { memory, h } = lane, [fill, line] = deviceColors(this.shown.plan, [lane.device]);
    const onScale = memory.limit <= 6 * Math.max(memory.arena, 1);
    const topBytes = (onScale ? memory.limit : memory.arena * 1.25) || 1;
    const at = (bytes) => y + h - bytes / topBytes * (h - 8);
    this.text(lane.label + ' memory', 12, y + 16, LEFT - 20, '11px', THEME.ink);
    this.text('peak ' + bytesText(memory.peak), 12, y + 30, LEFT - 20, '10px', THEME.faint);
    if (h > 50) this.text('arena ' + bytesText(memory.arena), 12, y + 43, LEFT - 20, '10px', THEME.faint);
    this.clipped(y, h + 2, () => {
      const corners = this.memoryCorners(memory);
      const trace = (close) => {
        pen.beginPath();
        corners.forEach(([x, bytes], i) => {
          if (i > 0) pen.lineTo(x, at(corners[i - 1][1]));
          if (i === 0) pen.moveTo(x, at(bytes)); else pen.lineTo(x, at(bytes));
        });
        if (close && corners.length) { pen.lineTo(corners[corners.length - 1][0], at(0)); pen.lineTo(corners[0][0], at(0)); pen.closePath(); }
      };
      pen.fillStyle = fill;
      trace(true);
      pen.fill();
      pen.strokeStyle = line;
      pen.lineWidth = 1.4;
      trace(false);
      pen.stroke();
    });
    pen.fillStyle = THEME.line;
    pen.fillRect(LEFT, at(0), scale.inner, 1);
    if (onScale) {
      pen.strokeStyle = THEME.limit;
      pen.lineWidth = 1.2;
      pen.setLineDash([5, 3]);
      pen.beginPath();
      pen.moveTo(LEFT, at(memory.limit));
      pen.lineTo(LEFT + scale.inner, at(memory.limit));
      pen.stroke();
      pen.setLineDash([]);
    }
    this.text('limit ' + bytesText(memory.limit) + (onScale ? '' : ', far above'), LEFT + scale.inner - 4, onScale ? at(memory.limit) + 12 : y + 10, 200, '10px', THEME.limit, 'right');
  }

  // [x, bytes] where the curve changes, the highest of each pixel.
  memoryCorners(memory) {
    const { scale, shown, entry } = this, { points } = memory, corners = [];
    let low = 0, high = points.length / 2;
    while (low < high) { const m = (low + high) >> 1; if (points[2 * m] * entry.tick <= shown.from) low = m + 1; else high = m; }
    for (let i = Math.max(0, low - 1); i < points.length / 2; ++i) {
      const time = points[2 * i] * entry.tick, bytes = points[2 * i + 1];
      if (time > shown.to) break;
      const x = Math.max(scale.x(time), LEFT), last = corners[corners.length - 1];
      if (last && x - last[0] < 0.7) { last[1] = Math.max(last[1], bytes); last[2] = bytes; } else corners.push([x, bytes, bytes]);
    }
    const last = corners[corners.length - 1];
    if (last) corners.push([Math.min(scale.x(entry.end), LEFT + scale.inner), last[2]]);
    this.count += corners.length;
    return corners;
  }

  drawMoment() {
    const { moment } = this.shown;
    if (!moment) return;
    const lane = this.pane.lanes.find((l) => l.kind === 'memory' && l.device === moment.device), x = this.scale.x(moment.time);
    if (!lane || x < LEFT || x > this.w - RIGHT) return;
    this.pen.fillStyle = THEME.mark;
    this.pen.fillRect(x - 0.75, lane.y - this.offset, 1.5, lane.h);
    this.pen.beginPath();
    this.pen.arc(x, lane.y - this.offset + 4, 4, 0, 7);
    this.pen.fill();
  }
}
