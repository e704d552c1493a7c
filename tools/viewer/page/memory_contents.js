// What fills the memory of a device at a moment: a treemap of its blocks, by
// kind and size.
// SPDX-License-Identifier: Apache-2.0

const MOST_TILES = 300;
const FIRST_BLOCKS = 40;  // of the table, until all are asked for

// Blocks that are there, each with the bytes that no block before it has: views
// and in-place results share bytes with others. Their sum is the curve's value:
// one block has the persistent bytes that are of other entries.
function blocksAt(shown, device, time) {
  const { entry } = shown, memory = entry.memory[device], { kind, name, box, begin, end, from, to } = memory.blocks;
  const at = Math.round(time / entry.tick), live = { true: [], false: [] };
  for (let i = 0; i < kind.length; ++i) {
    const persistent = from[i] < 0;
    // A moment between two commands shows the one that starts.
    if (persistent || (from[i] <= at && (at < to[i] || from[i] === to[i] && Math.abs(at - to[i]) < 1))) live[persistent].push(i);
  }
  const blocks = [];
  let persistent = 0;
  for (const [key, part] of Object.entries(live)) {
    part.sort((a, b) => begin[a] - begin[b] || end[b] - end[a]);
    let covered = 0;
    for (const i of part) {
      const bytes = end[i] - Math.max(begin[i], covered);
      if (bytes > 0) blocks.push({ kind: kind[i], name: stringAt(name[i]), box: box[i], bytes });
      if (bytes > 0 && key === 'true') persistent += bytes;
      covered = Math.max(covered, end[i]);
    }
  }
  if (memory.persistent > persistent) blocks.push({ kind: 0, name: 'of other entries, and gaps', box: -1, bytes: memory.persistent - persistent });
  return blocks.sort((a, b) => a.kind - b.kind || b.bytes - a.bytes);
}

// Rows of tiles with sides near each other (Bruls, Huizing, van Wijk 2000).
// Calls place(tile, x, y, w, h); tiles have `bytes` and descend.
function squarify(tiles, x, y, w, h, place) {
  let all = tiles.reduce((sum, t) => sum + t.bytes, 0), first = 0;
  while (first < tiles.length && all > 0 && w > 0 && h > 0) {
    const side = Math.min(w, h), scale = w * h / all;
    const worst = (sum, least, most) => { const s = sum * scale; return Math.max(side * side * most * scale / (s * s), s * s / (side * side * least * scale)); };
    let last = first, sum = 0, best = Infinity;
    while (last < tiles.length) {
      const next = worst(sum + tiles[last].bytes, tiles[last].bytes, tiles[first].bytes);
      if (next > best) break;
      best = next;
      sum += tiles[last++].bytes;
    }
    const depth = sum * scale / side;
    let along = 0;
    for (let i = first; i < last; ++i) {
      const length = tiles[i].bytes / sum * side;
      if (w >= h) place(tiles[i], x, y + along, depth, length); else place(tiles[i], x + along, y, length, depth);
      along += length;
    }
    if (w >= h) { x += depth; w -= depth; } else { y += depth; h -= depth; }
    all -= sum;
    first = last;
  }
}

function drawTreemap(shown, blocks) {
  const width = 640, height = 260, map = shape('svg', { class: 'treemap', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Memory by kind and size' });
  const hatch = shape('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    shape('rect', { width: 2, height: 6, fill: 'currentColor', opacity: 0.25 }));
  map.append(shape('defs', {}, hatch));
  const byKind = BLOCK_KINDS.map((_, k) => ({ kind: k, blocks: blocks.filter((b) => b.kind === k) })).filter((g) => g.blocks.length);
  for (const group of byKind) group.bytes = group.blocks.reduce((sum, b) => sum + b.bytes, 0);
  byKind.sort((a, b) => b.bytes - a.bytes);
  squarify(byKind, 0, 0, width, height, (group, gx, gy, gw, gh) => {
    // The small ones together.
    const shownBlocks = group.blocks.slice(0, MOST_TILES), rest = group.blocks.slice(MOST_TILES).reduce((sum, b) => sum + b.bytes, 0);
    if (rest > 0) shownBlocks.push({ kind: group.kind, name: `${group.blocks.length - MOST_TILES} smaller`, box: -1, bytes: rest });
    shownBlocks.sort((a, b) => b.bytes - a.bytes);
    squarify(shownBlocks, gx + 1, gy + 1, Math.max(0, gw - 2), Math.max(0, gh - 2), (block, x, y, w, h) => {
      const [fill, line] = shades(BLOCK_HUES[block.kind]), pick = block.box >= 0 ? () => shown.select(block.box) : null;
      const tile = shape('g', { class: 'tile' + (pick ? ' pick' : ''), 'data-kind': BLOCK_KINDS[block.kind], onclick: pick });
      tile.append(shape('rect', { x, y, width: w, height: h, fill, stroke: line, 'stroke-width': 0.7 }));
      if (BLOCK_KINDS[block.kind] === 'workspace') tile.append(shape('rect', { x, y, width: w, height: h, fill: 'url(#hatch)' }));
      if (w > 44 && h > 14) tile.append(shape('text', { x: x + 4, y: y + 11 }, cut(block.name, Math.floor(w / 6))));
      if (w > 44 && h > 28) tile.append(shape('text', { x: x + 4, y: y + 23, class: 'size' }, cut(`${BLOCK_KINDS[block.kind]} ${bytesText(block.bytes)}`, Math.floor(w / 5.4))));
      tile.append(shape('title', {}, `${block.name}\n${BLOCK_KINDS[block.kind]}, ${bytesText(block.bytes)}`));
      map.append(tile);
    });
  });
  return map;
}

// The largest first. Keys reach every block here, and no tile of the treemap.
function blocksTable(shown, blocks, all) {
  const most = shown.allBlocks ? MOST_ROWS : FIRST_BLOCKS, sorted = [...blocks].sort((a, b) => b.bytes - a.bytes);
  const rows = sorted.slice(0, most).map((b) => pickRow(false, () => { if (b.box >= 0) shown.select(b.box); },
    [b.name, 'name'], [BLOCK_KINDS[b.kind]], [bytesText(b.bytes), 'n'], [shareText(b.bytes, all), 'n']));
  const button = element('button', { type: 'button', 'aria-pressed': shown.allBlocks, onclick: () => shown.toggleBlocks() }, `All ${blocks.length} blocks`);
  return [...(blocks.length > FIRST_BLOCKS ? [button] : []), table([['Block'], ['Kind'], ['Bytes', 'n'], ['Share', 'n']], rows),
    ...(shown.allBlocks && blocks.length > most ? [note(`The largest ${most} of ${blocks.length} blocks.`)] : [])];
}

function memoryTab(shown) {
  const { entry, plan } = shown;
  const devices = plan.devices.map((_, d) => d).filter((d) => shown.deviceShown(d));
  const { device: chosen, time } = shown.moment || { device: devices[0], time: peakOf(entry, devices[0]) };
  // Of folded devices the first is shown.
  const device = shown.deviceShown(chosen) ? chosen : plan.equalDevices[plan.classOf[chosen]][0];
  const blocks = blocksAt(shown, device, time), all = blocks.reduce((sum, b) => sum + b.bytes, 0), memory = entry.memory[device];
  const choose = element('select', { 'aria-label': 'Device', onchange: (e) => shown.showMoment(+e.target.value, peakOf(entry, +e.target.value)) },
    ...devices.map((d) => element('option', { value: d }, shown.deviceLabel(d))));
  choose.value = device;
  const kinds = BLOCK_KINDS.map((name, k) => [name, blocks.filter((b) => b.kind === k).reduce((sum, b) => sum + b.bytes, 0), k]).filter(([, bytes]) => bytes > 0);
  const legend = kinds.map(([name, bytes, k]) => {
    const swatch = element('i', {}), [fill, line] = shades(BLOCK_HUES[k]);
    swatch.style.background = fill;
    swatch.style.borderColor = line;
    return element('span', { class: 'chip' }, swatch, `${name} ${bytesText(bytes)}`);
  });
  const step = (by) => () => shown.showMoment(device, Math.min(Math.max(0, time + by * (shown.to - shown.from) / 50), entry.end));
  return [element('div', { class: 'head' }, choose, element('b', { id: 'moment' }, `${bytesText(all)} at ${axisText(entry, time)}`),
    element('span', {}, `of ${bytesText(memory.limit)}; arena ${bytesText(memory.arena)}, peak ${bytesText(memory.peak)}`),
    element('button', { type: 'button', onclick: step(-1), 'aria-label': 'Earlier' }, '◂'), element('button', { type: 'button', onclick: step(1), 'aria-label': 'Later' }, '▸'),
    element('button', { type: 'button', onclick: () => shown.showMoment(device, peakOf(entry, device)) }, 'Peak')),
    note('Click any moment of a memory curve. Views and in-place results share bytes, which count once.'),
    element('div', { class: 'legend' }, ...legend), drawTreemap(shown, blocks),
    ...blocksTable(shown, blocks, all),
    ...(memory.blocksLeftOut ? [note(`The page shows the first ${memory.blocks.kind.length} blocks of the step; ${memory.blocksLeftOut} more are left out.`)] : [])];
}

function peakOf(entry, device) {
  const { points } = entry.memory[device];
  let best = 0;
  for (let i = 2; i < points.length; i += 2) if (points[i + 1] > points[best + 1]) best = i;
  return points.length ? points[best] * entry.tick : 0;
}
