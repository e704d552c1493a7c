// Positions of boxes and groups, for the present folding.
// SPDX-License-Identifier: Apache-2.0

let groupOf = [];   // by box
let itemOf = [];    // by box: item in its group
let groupItem = []; // by group: item in its parent
let lanesOf = [];   // by group: lanes of "from>to"
let loadOf = [];    // by group: by device: nodes in it

function indexGroups() {
  groupOf = []; itemOf = []; groupItem = [];
  lanesOf = entry().groups.map((group) => new Map(group.routes.map(([from, to, lanes]) => [from + '>' + to, lanes])));
  entry().groups.forEach((group, g) => group.items.forEach(([kind, index], i) => {
    if (kind === 'box') { groupOf[index] = g; itemOf[index] = i; }
    if (kind === 'group') groupItem[index] = i;
  }));
  loadOf = entry().groups.map(() => DATA.devices.map(() => 0));
  entry().boxes.forEach((box, b) => {
    if (box.kind !== 'node') return;
    for (let g = groupOf[b]; g >= 0; g = entry().groups[g].parent) box.devices.forEach((d) => { loadOf[g][d] += 1; });
  });
}

const sizes = new Map();  // texts are measured once
function sizeOf(key, least, most, height, texts) {
  if (!sizes.has(key)) {
    sizes.set(key, { w: Math.min(most, Math.max(least, ...texts.map((t) => textWidth(...t) + 22))), h: height });
  }
  return sizes.get(key);
}
function boxSize(b) {
  const box = entry().boxes[b];
  return sizeOf(`${state.entry}b${b}`, 84, 190, 38, [[cut(box.op, 60), 11.5, 600], [cut(box.name, 60), 10, 400]]);
}
function groupNote(group) {
  return group.boxes + ' nodes · ' + group.devices.map((d) => DATA.devices[d].name).join(', ');
}
function groupSize(g) {
  const group = entry().groups[g];
  return sizeOf(`${state.entry}g${g}`, 120, 250, 46, [['▸ ' + cut(group.name, 60), 11.5, 600], [groupNote(group), 10, 400]]);
}

// The positions with the least squared distance from the preferred ones that keep
// the order and the widths: neighbours that would overlap move as one block.
function spread(items, wish, width, gap) {
  let offset = 0;
  const blocks = [];
  items.forEach((item, i) => {
    if (i > 0) offset += (width[items[i - 1]] + width[item]) / 2 + gap;
    blocks.push({ sum: wish[item] - offset, count: 1, members: [[item, offset]] });
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1], before = blocks[blocks.length - 2];
      if (before.sum / before.count <= last.sum / last.count) break;
      before.sum += last.sum; before.count += last.count;
      for (const member of last.members) before.members.push(member);
      blocks.pop();
    }
  });
  const place = {};
  for (const block of blocks) {
    for (const [item, by] of block.members) place[item] = block.sum / block.count + by;
  }
  return place;
}

function neighbours(group) {
  const above = group.items.map(() => []), below = group.items.map(() => []);
  for (const [from, to, lanes] of group.routes) {
    const path = [from, ...lanes, to];
    for (let i = 1; i < path.length; ++i) { below[path[i - 1]].push(path[i]); above[path[i]].push(path[i - 1]); }
  }
  return [above, below];
}

// The centres of a group's items: each near its neighbours, in the order of its
// layer.
function itemCenters(group, width) {
  const center = group.items.map(() => 0);
  const [above, below] = neighbours(group);
  const place = (layer, near) => {
    const wish = {};
    for (const item of layer) {
      wish[item] = near[item].length ? near[item].reduce((sum, n) => sum + center[n], 0) / near[item].length : center[item];
    }
    Object.entries(spread(layer, wish, width, 18)).forEach(([item, x]) => { center[item] = x; });
  };
  const none = group.items.map(() => []);
  for (const layer of group.layers) place(layer, none);
  for (let sweep = 0; sweep < 6; ++sweep) {
    for (const layer of group.layers) place(layer, above);
    for (let l = group.layers.length; l-- > 0;) place(group.layers[l], below);
  }
  for (const layer of group.layers) place(layer, above);
  return center;
}

// The size of an open group and the positions of its items.
function arrange(g) {
  const group = entry().groups[g];
  const inner = {};
  const size = group.items.map(([kind, index]) => {
    if (kind === 'box') return boxSize(index);
    if (kind === 'lane') return { w: 8, h: 0 };
    if (!state.open.has(index)) return groupSize(index);
    inner[index] = arrange(index);
    return inner[index];
  });
  const width = size.map((s) => s.w);
  const center = itemCenters(group, width);
  const pad = 14;
  const left = Math.min(...center.map((x, i) => x - width[i] / 2), 0);
  const at = [];
  let y = g === 0 ? 14 : 30;
  for (const layer of group.layers) {
    const height = Math.max(...layer.map((item) => size[item].h));
    for (const item of layer) {
      at[item] = { x: center[item] - width[item] / 2 - left + pad, y: y + (height - size[item].h) / 2,
                   w: width[item], h: size[item].h, top: y, bottom: y + height };
    }
    y += height + 30;
  }
  const right = Math.max(...at.map((p) => p.x + p.w), 100);
  return { w: right + pad, h: y - 30 + 14, at, inner };
}

let placed = { boxes: {}, groups: {} };  // absolute
let laneAt = {};                         // "group:item"

function flatten(g, arranged, x, y) {
  entry().groups[g].items.forEach(([kind, index], i) => {
    const p = arranged.at[i];
    const here = { x: x + p.x, y: y + p.y, w: p.w, h: p.h };
    if (kind === 'box') placed.boxes[index] = here;
    else if (kind === 'lane') laneAt[g + ':' + i] = { x: here.x + 4, top: y + p.top, bottom: y + p.bottom };
    else {
      placed.groups[index] = here;
      if (arranged.inner[index]) flatten(index, arranged.inner[index], here.x, here.y);
    }
  });
}
