// The time axis: its range and scale.
// SPDX-License-Identifier: Apache-2.0

const LEFT = 132, RIGHT = 16;

function timeScale() {
  const width = Math.max(320, ($('time-scroll').clientWidth || 760));
  const inner = width - LEFT - RIGHT;
  return { width, inner, x: (t) => LEFT + (t - state.from) / (state.to - state.from) * inner };
}

// The factor from measured seconds to the predicted axis.
function stretch() {
  const t = trace();
  if (!t || $('scale').checked || !t.end) return 1;
  return entry().end / t.end;
}
// One scale if both are legible.
function chooseScale() {
  const t = trace();
  $('scale').checked = t !== null && entry().end > t.end / 3 && entry().end < t.end * 3;
}
function axisEnd() {
  const t = trace();
  return Math.max(entry().end, t ? t.end * stretch() : 0) || 1;
}

function ticks(from, to) {
  const raw = (to - from) / 10, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const list = [];
  for (let i = Math.ceil(from / step); i * step <= to && list.length < 50; ++i) list.push(i * step);
  return list;
}
