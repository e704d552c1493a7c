// Quantities as text, and texts truncated to a width.
// SPDX-License-Identifier: Apache-2.0

function cut(text, length) { return text.length <= length ? text : text.slice(0, Math.max(1, length - 1)) + '…'; }

// As the program prints it: a tie goes to the even digit.
function bytesText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let u = 0;
  while (bytes >= 1024 && u < 4) { bytes /= 1024; ++u; }
  if (u === 0) return bytes + ' B';
  let tenths = Math.round(10 * bytes);
  if (tenths - 10 * bytes === 0.5 && tenths % 2) --tenths;
  return (tenths / 10).toFixed(1) + ' ' + units[u];
}
// Of two sizes that differ, all digits if they have the same text.
function bytesTexts(a, b) { return a !== b && bytesText(a) === bytesText(b) ? [`${a} B`, `${b} B`] : [bytesText(a), bytesText(b)]; }

// In the units of the program's texts, which the page shows too.
function secondsText(seconds) {
  if (seconds >= 1) return seconds.toFixed(3) + ' s';
  if (seconds >= 1e-3) return (seconds * 1e3).toFixed(2) + ' ms';
  if (seconds === 0) return '0';
  return (seconds * 1e6).toFixed(seconds < 1e-5 ? 2 : 1) + ' us';
}
// Of an entry's axis: without a prediction it counts commands.
function axisText(entry, seconds) { return entry.timed ? secondsText(seconds) : seconds.toFixed(0); }
// On the axis, where steps are round: 50 ms and not 50.00 ms.
function tickText(entry, seconds) { return axisText(entry, seconds).replace(/\.(\d*?)0+(?= |$)/, (_, digits) => digits && '.' + digits); }

function shareText(part, whole) { return whole > 0 ? (100 * part / whole).toFixed(part / whole < 0.0995 ? 1 : 0) + ' %' : ''; }

function changeText(from, to, print) {
  if (print(from) === print(to)) return print(from);
  const by = from > 0 ? ` (${to >= from ? '+' : '−'}${(100 * Math.abs(to - from) / from).toFixed(1)} %)` : '';
  return `${print(from)} → ${print(to)}${by}`;
}

function countText(count, one, many) { return `${count} ${count === 1 ? one : many}`; }

// The longest prefix that fits. Widths of characters are near each other, so a
// text is measured once.
const textWidths = new Map();
function widthOf(pen, text) {
  const key = pen.font + text;
  let width = textWidths.get(key);
  if (width === undefined) {
    if (textWidths.size > 50000) textWidths.clear();
    width = pen.measureText(text).width;
    textWidths.set(key, width);
  }
  return width;
}
function cutTo(pen, text, width) {
  text = cut(text, 60);
  const all = widthOf(pen, text);
  if (all <= width) return text;
  return text.slice(0, Math.max(1, Math.floor(text.length * width / all) - 1)) + '…';
}
