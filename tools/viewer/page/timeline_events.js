// Wheel, drag, click and tip on the timeline.
// SPDX-License-Identifier: Apache-2.0

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
