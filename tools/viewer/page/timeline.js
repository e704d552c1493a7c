// Draws a lane for each stream: predicted commands, and the measured ones below.
// SPDX-License-Identifier: Apache-2.0

function drawTime() {
  const s = timeScale(), svg = $('time'), parts = [];
  const commands = shape('g', { id: 'commands', class: state.box >= 0 || state.command >= 0 ? 'selecting' : '' });
  const y = drawMemory(parts, drawLanes(parts, commands, s) + 8, s);
  for (const at of ticks(state.from, state.to)) {
    parts.unshift(shape('line', { x1: s.x(at), x2: s.x(at), y1: 18, y2: y, class: 'rule' }));
    if (s.x(at) < s.width - 24) parts.push(shape('text', { x: s.x(at), y: 12, class: 'tick', 'text-anchor': 'middle' }, tickText(at)));
  }
  svg.setAttribute('width', s.width);
  svg.setAttribute('height', y + 6);
  const clip = shape('clipPath', { id: 'clip' });
  clip.append(shape('rect', { x: LEFT, y: 0, width: s.inner + 1, height: y + 6 }));
  commands.setAttribute('clip-path', 'url(#clip)');
  fill(svg, clip, ...parts, commands);
  $('time-hint').textContent = timeHint();
}

// A lane for each stream, and below it the measured one; returns their end.
function drawLanes(parts, commands, s) {
  const e = entry(), t = trace(), by = stretch();
  const byStream = e.streams.map(() => []);
  e.commands.forEach((c, i) => byStream[c.stream].push(i));
  let y = 22;
  e.streams.forEach((stream, index) => {
    const [light, line] = colors([stream.device]);
    const name = DATA.devices[stream.device].name + ' / ' + stream.name;
    const label = shape('text', { x: 12, y: y + 14, class: 'track' }, cut(name, 21));
    label.append(shape('title', {}, name));
    parts.push(label);
    drawRow(commands, byStream[index], (i) => [e.commands[i].start, e.commands[i].end], y, 18, s, light, line, false);
    y += 20;
    if (t) {
      parts.push(shape('text', { x: 22, y: y + 9, class: 'tick' }, 'measured'));
      drawRow(commands, byStream[index], (i) => t.commands[i].map((v) => v * by), y, 11, s, line, line, true);
      y += 13;
    }
    y += 6;
  });
  return y;
}

function timeHint() {
  const t = trace(), by = stretch();
  if (!entry().timed) return 'no prediction in this plan: commands by order of launch';
  if (!t) return 'predicted · wheel zooms, drag pans';
  if (by === 1) return 'predicted above, measured below';
  const times = by < 1 ? '1/' + (1 / by).toPrecision(3) : by.toPrecision(3) + ' times';
  return `predicted above, measured below (${measuredText(t.end)} drawn at ${times} its length)`;
}

function drawRow(into, indices, times, y, height, s, light, line, measured) {
  let lastRight = -1;
  for (const i of indices) {
    const c = entry().commands[i], [start, end] = times(i);
    if (end < state.from || start > state.to) continue;
    const on = state.command === i || (c.box >= 0 && c.box === state.box);
    const x = s.x(start), width = Math.max(s.x(end) - x, 1);
    // Commands that the previous one would cover are skipped.
    if (!on && x + width <= lastRight + 0.4) continue;
    lastRight = x + width;
    const signal = c.kind === 'record' || c.kind === 'wait';
    const node = shape('g', { class: 'command' + (measured ? ' measured' : '') + (on ? ' on' : ''), 'data-command': i });
    const transfer = !signal && c.kind !== 'kernel';
    node.append(shape('rect', { x, y: signal ? y + height - 5 : y, width, height: signal ? 5 : height, rx: width > 6 ? 2.5 : 0,
      fill: signal ? '#c9cfd7' : transfer && !measured ? '#fff' : light, stroke: signal ? '#aab2bd' : line, 'stroke-width': width < 4 ? 0.5 : 1, 'fill-opacity': measured ? 0.55 : 1 }));
    if (!measured && !signal && width > 34) {
      const shownX = Math.max(x, LEFT);
      node.append(shape('text', { x: shownX + 5, y: y + 13, class: 'label' }, cutTo(c.title, x + width - shownX - 9, 10, 400)));
    }
    into.append(node);
  }
}
