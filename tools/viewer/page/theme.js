// Colours, for light and dark: hues that stay apart for colour-blind readers
// (Okabe and Ito 2008). Nothing is said by colour alone.
// SPDX-License-Identifier: Apache-2.0

const HUES = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], [120, 94, 240], [150, 140, 20]];
const NEUTRAL = [138, 148, 163];

const THEME = {};
function mix(a, b, share) { return a.map((v, i) => Math.round(v * share + b[i] * (1 - share))); }
function rgb(color) { return `rgb(${color.join(',')})`; }

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['ink', 'soft', 'faint', 'line', 'paper', 'ground', 'mark', 'path', 'limit', 'edge', 'edge-cut', 'wait']) {
    THEME[name.replace('-', '_')] = style.getPropertyValue('--' + name).trim();
  }
  THEME.font = getComputedStyle(document.body).fontFamily;
  THEME.dark = matchMedia('(prefers-color-scheme: dark)').matches;
}

// [fill, line] of a hue.
function shades(hue) {
  const paper = THEME.dark ? [24, 28, 34] : [255, 255, 255];
  return [rgb(mix(hue, paper, THEME.dark ? 0.36 : 0.2)), rgb(THEME.dark ? mix(hue, [255, 255, 255], 0.8) : mix(hue, [0, 0, 0], 0.88))];
}
// -1: a device that the plan does not use.
function deviceColors(plan, devices) { return shades(devices.length === 1 && devices[0] >= 0 ? HUES[plan.hueOf[devices[0]] % HUES.length] : NEUTRAL); }

// Of memory blocks, as BlockView::Kind.
const BLOCK_KINDS = ['constant', 'variable', 'input', 'transfer', 'activation', 'workspace'];
const BLOCK_HUES = [NEUTRAL, HUES[0], HUES[4], HUES[5], HUES[2], HUES[3]];
