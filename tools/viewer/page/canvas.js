// A canvas as large as its frame, at the screen's resolution, drawn at most once
// a frame.
// SPDX-License-Identifier: Apache-2.0

class Canvas {
  constructor(frame, label, draw) {
    this.frame = frame;
    this.node = element('canvas', { tabindex: 0, role: 'application', 'aria-label': label });
    this.pen = this.node.getContext('2d');
    this.draw = draw;
    this.waits = false;
    this.frames = 0;
    frame.append(this.node);
    new ResizeObserver(() => this.redraw()).observe(frame);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readTheme(); this.redraw(); });
  }
  get width() { return this.frame.clientWidth || 560; }
  get height() { return this.frame.clientHeight || 400; }
  redraw() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => this.drawNow());
  }
  drawNow() {
    this.waits = false;
    ++this.frames;
    const scale = window.devicePixelRatio || 1, w = this.width, h = this.height;
    if (this.node.width !== Math.round(w * scale) || this.node.height !== Math.round(h * scale)) {
      this.node.width = Math.round(w * scale);
      this.node.height = Math.round(h * scale);
      this.node.style.width = w + 'px';
      this.node.style.height = h + 'px';
    }
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.clearRect(0, 0, w, h);
    this.draw(this.pen, w, h);
  }
  // The position of an event on the canvas.
  at(event) {
    const r = this.node.getBoundingClientRect();
    return { x: event.clientX - r.left, y: event.clientY - r.top };
  }
  // Calls move(dx, dy, drag) while dragged, with what start(at) returned, or
  // click(at) if the pointer stays.
  onDrag(start, move, click) {
    let drag = null;
    this.node.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      drag = { x: event.clientX, y: event.clientY, moved: false, state: start(this.at(event)) };
    });
    window.addEventListener('pointermove', (event) => {
      if (!drag) return;
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
      if (drag.moved) move(dx, dy, drag.state);
    });
    window.addEventListener('pointerup', (event) => {
      if (drag && !drag.moved) click(this.at(event));
      drag = null;
    });
  }
}

function roundedRect(pen, x, y, w, h, r) {
  pen.beginPath();
  pen.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
}

function showTip(event, text) {
  const tip = $('tip');
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.min(event.clientX + 12, innerWidth - 300) + 'px';
  tip.style.top = event.clientY + 16 + 'px';
}
