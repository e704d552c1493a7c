// The lanes of the timeline from top to bottom, and the commands of a lane that
// can be seen.
// SPDX-License-Identifier: Apache-2.0

const LEFT = 148, RIGHT = 16, TOP = 22;

// { kind: 'stream' | 'measured' | 'memory', device, stream, y, h, label }
function timeLanes(shown, room) {
  const { entry, trace } = shown, lanes = [];
  let y = TOP;
  entry.streams.forEach((stream, index) => {
    if (!shown.deviceShown(stream.device) || !shown.passesDevice(stream.device)) return;
    lanes.push({ kind: 'stream', device: stream.device, stream: index, y, h: 18, label: shown.deviceLabel(stream.device) + ' / ' + stream.name });
    y += 20;
    if (trace) {
      lanes.push({ kind: 'measured', device: stream.device, stream: index, y, h: 11, label: 'measured' });
      y += 13;
    }
    y += 6;
  });
  const memory = entry.memory.filter((m) => shown.deviceShown(m.device) && shown.passesDevice(m.device));
  // As high as the pane has room for.
  const height = Math.min(150, Math.max(48, (room - y - 30) / Math.max(1, memory.length) - 12));
  y += 18;
  for (const of of memory) {
    lanes.push({ kind: 'memory', device: of.device, memory: of, y, h: height, label: shown.deviceLabel(of.device) });
    y += height + 12;
  }
  return { lanes, height: y };
}

// Calls visit(command, x, width) for the commands of a stream in the range.
// Of those that would cover each other within half a pixel, the first is shown,
// and those that `mustShow` names.
function eachShown(shown, scale, stream, measured, mustShow, visit) {
  const { entry, trace } = shown, ids = entry.commandsOn(stream), by = measured ? shown.stretch() : 1;
  const start = measured ? (c) => trace.startOf(c) * by : (c) => entry.start(c);
  const length = measured ? (c) => trace.lengthOf(c) * by : (c) => entry.length(c);
  const end = (c) => start(c) + length(c);
  // Commands of a stream are in sequence, so their ends ascend.
  const firstAfter = (time, low) => {
    let high = ids.length;
    while (low < high) { const m = (low + high) >> 1; if (end(ids[m]) < time) low = m + 1; else high = m; }
    return low;
  };
  let i = firstAfter(shown.from, 0), right = -1;
  while (i < ids.length) {
    const c = ids[i], at = start(c);
    if (at > shown.to) break;
    const x = scale.x(at), width = Math.max(scale.x(end(c)) - x, 1);
    if (x + width > right + 0.4) { visit(c, x, width); right = x + width; }
    // Past all that ends within the pixel.
    i = width > 1 ? i + 1 : Math.max(i + 1, firstAfter(scale.time(right + 0.4), i + 1));
  }
  for (const c of mustShow) {
    if (entry.commands.stream[c] !== stream || end(c) < shown.from || start(c) > shown.to) continue;
    const x = scale.x(start(c));
    visit(c, x, Math.max(scale.x(end(c)) - x, 1));
  }
}

function ticks(from, to) {
  const raw = (to - from) / 10, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const list = [];
  for (let i = Math.ceil(from / step); i * step <= to && list.length < 50; ++i) list.push(i * step);
  return list;
}
