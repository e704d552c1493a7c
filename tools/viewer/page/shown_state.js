// The program's data, and the part that the page shows.
// SPDX-License-Identifier: Apache-2.0

const DATA = JSON.parse(document.getElementById('data').textContent);

// One hue for each device; the first eight are dot_text.cc's.
const COLORS = [['#dfe9f7', '#3f6fb0'], ['#fae6d4', '#c0702a'], ['#dbf0e3', '#35895a'], ['#f6deea', '#b04a80'],
                ['#e8e2f7', '#7457b8'], ['#d9eff1', '#2c8590'], ['#f3edcf', '#93801f'], ['#f8dedd', '#b84a45']];
const NEUTRAL = ['#f1f3f5', '#8a94a3'];
const MIXED = ['#f4f5f7', '#8a94a3'];

const state = { entry: 0, trace: -1, box: -1, command: -1, open: new Set(), hits: new Set(), tab: 'node',
                from: 0, to: 1, view: { x: 0, y: 0, k: 1 } };

const $ = (id) => document.getElementById(id);
const entry = () => DATA.entries[state.entry];
const trace = () => state.trace < 0 ? null : DATA.traces[state.trace];
const colors = (devices) =>
    devices.length === 0 ? NEUTRAL : devices.length > 1 ? MIXED : COLORS[devices[0] % COLORS.length];
