// Quantities as text, and texts truncated to a width.
// SPDX-License-Identifier: Apache-2.0

function cut(text, length) { return text.length <= length ? text : text.slice(0, Math.max(1, length - 1)) + '…'; }

function bytesText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let u = 0;
  while (bytes >= 1024 && u < 4) { bytes /= 1024; ++u; }
  return (u === 0 ? bytes : bytes.toFixed(1)) + ' ' + units[u];
}

function secondsText(seconds) {
  if (!entry().timed) return seconds.toFixed(0);
  if (seconds >= 1) return seconds.toFixed(3) + ' s';
  if (seconds >= 1e-3) return (seconds * 1e3).toFixed(2) + ' ms';
  if (seconds === 0) return '0';
  return (seconds * 1e6).toFixed(seconds < 1e-5 ? 2 : 1) + ' µs';
}
// On the axis, where steps are round: 50 ms and not 50.00 ms.
function tickText(seconds) { return secondsText(seconds).replace(/\.(\d*?)0+(?= |$)/, (_, digits) => digits && '.' + digits); }

function measuredText(seconds) {
  if (seconds >= 1) return seconds.toFixed(3) + ' s';
  return seconds >= 1e-3 ? (seconds * 1e3).toFixed(2) + ' ms' : (seconds * 1e6).toFixed(1) + ' µs';
}

const pen = document.createElement('canvas').getContext('2d');
function textWidth(text, size, weight) {
  pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}
// The longest prefix that fits.
function cutTo(text, width, size, weight) {
  text = cut(text, 60);
  if (textWidth(text, size, weight) <= width) return text;
  let low = 1, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(text.slice(0, middle) + '…', size, weight) <= width) low = middle; else high = middle - 1;
  }
  return text.slice(0, low) + '…';
}
