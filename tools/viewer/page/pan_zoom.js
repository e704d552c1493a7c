// Moves and scales the graph by wheel and drag, and selects what a click hits.
// SPDX-License-Identifier: Apache-2.0

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
