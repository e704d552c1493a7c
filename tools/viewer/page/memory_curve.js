// Draws how full each device's memory is over the step, with its limit.
// SPDX-License-Identifier: Apache-2.0

function drawMemory(parts, top, s) {
  // As high as the pane has room for.
  const room = ($('time-scroll').clientHeight - top - 30) / entry().memory.length - 12;
  const height = Math.min(120, Math.max(48, room));
  let y = top;
  parts.push(shape('text', { x: 12, y: y + 6, class: 'track', 'font-weight': 650 }, 'Memory'));
  y += 16;
  for (const memory of entry().memory) {
    drawMemoryOf(memory, parts, y, height, s);
    y += height + 12;
  }
  return y;
}

function drawMemoryOf(memory, parts, y, height, s) {
  const [light, line] = colors([memory.device]);
  const onScale = memory.limit <= 6 * Math.max(memory.arena, 1);
  const topBytes = (onScale ? memory.limit : memory.arena * 1.25) || 1;
  const at = (bytes) => y + height - bytes / topBytes * (height - 8);
  parts.push(shape('text', { x: 12, y: y + 18, class: 'track' }, DATA.devices[memory.device].name));
  parts.push(shape('text', { x: 12, y: y + 33, class: 'tick' }, 'peak ' + bytesText(memory.peak)));
  parts.push(shape('text', { x: 12, y: y + 46, class: 'tick' }, 'arena ' + bytesText(memory.arena)));
  const { curve, area } = memoryPaths(memory.points, at, s);
  parts.push(shape('path', { d: area, fill: light }));
  parts.push(shape('path', { d: curve, fill: 'none', stroke: line, 'stroke-width': 1.4, 'data-memory': DATA.devices[memory.device].name }));
  parts.push(shape('line', { x1: LEFT, x2: LEFT + s.inner, y1: at(0), y2: at(0), class: 'rule' }));
  if (onScale) parts.push(shape('line', { x1: LEFT, x2: LEFT + s.inner, y1: at(memory.limit), y2: at(memory.limit), class: 'limit' }));
  parts.push(shape('text', { x: LEFT + s.inner - 4, y: onScale ? at(memory.limit) + 12 : y + 10, class: 'limit-text', 'text-anchor': 'end' },
    'limit ' + bytesText(memory.limit) + (onScale ? '' : ', far above')));
}

// Steps of [time, bytes], and the area under them.
function memoryPaths(points, at, s) {
  const x = (t) => Math.min(Math.max(s.x(t), LEFT), LEFT + s.inner);
  let d = '', last = null;
  for (const [time, bytes] of points) {
    d += last === null ? `M${x(time)} ${at(bytes)}` : `L${x(time)} ${at(last)}L${x(time)} ${at(bytes)}`;
    last = bytes;
  }
  const end = x(entry().end), start = x(points.length ? points[0][0] : 0);
  d += `L${end} ${at(last || 0)}`;
  return { curve: d, area: d + `L${end} ${at(0)}L${start} ${at(0)}Z` };
}
