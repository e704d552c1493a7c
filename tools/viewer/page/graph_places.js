// Positions of boxes and groups, for the present folding. The layers and their
// order are layered_layout.h's.
// SPDX-License-Identifier: Apache-2.0

const BOX = 0, GROUP = 1, LANE = 2;  // LayoutItem::Kind

// What does not depend on the folding, once for each entry.
function indexGroups(entry) {
  if (entry.groupOf) return;
  entry.groupOf = new Int32Array(entry.numBoxes);
  entry.itemOf = new Int32Array(entry.numBoxes);  // in its group
  entry.groupItem = new Int32Array(entry.groups.length);
  entry.groups.forEach((group, g) => {
    group.lanes = new Map(group.routes.map(([from, to, lanes]) => [from + '>' + to, lanes]));
    for (let i = 0; i < group.items.length / 2; ++i) {
      const index = group.items[2 * i + 1];
      if (group.items[2 * i] === BOX) { entry.groupOf[index] = g; entry.itemOf[index] = i; }
      if (group.items[2 * i] === GROUP) entry.groupItem[index] = i;
    }
  });
}

function groupNote(plan, group) {
  const names = group.devices.slice(0, 4).map((d) => plan.deviceName(d)).join(', ');
  return `${group.boxes} nodes · ${names}${group.devices.length > 4 ? `, ${group.devices.length - 4} more` : ''}`;
}

// A node's name, and where it is: no colour has to say it.
function boxNote(plan, entry, b) {
  const devices = entry.devices(b);
  if (plan.hues.size === 1 || devices.length === 0) return entry.name(b);
  return `${cut(entry.name(b), 18)} · ${devices.length === 1 ? plan.deviceName(devices[0]) : devices.length + ' devices'}`;
}

// The positions with the least squared distance from the preferred ones that keep
// the order and the widths: neighbours that would overlap move as one block.
function spread(items, wish, width, gap) {
  let offset = 0;
  const blocks = [];
  items.forEach((item, i) => {
    if (i > 0) offset += (width[items[i - 1]] + width[item]) / 2 + gap;
    blocks.push({ sum: wish[item] - offset, count: 1, items: [[item, offset]] });
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1], before = blocks[blocks.length - 2];
      if (before.sum / before.count <= last.sum / last.count) break;
      before.sum += last.sum; before.count += last.count;
      for (const item of last.items) before.items.push(item);
      blocks.pop();
    }
  });
  const place = new Map();
  for (const block of blocks) for (const [item, by] of block.items) place.set(item, block.sum / block.count + by);
  return place;
}

class GraphPlaces {
  constructor(shown) {
    this.plan = shown.plan;
    this.entry = shown.entry;
    this.open = shown.open;
    this.boxes = new Map();   // by box: x, y, w, h
    this.groups = new Map();  // by visible group
    this.lanes = new Map();   // by "group:item"
    indexGroups(this.entry);
    const all = this.arrange(0);
    this.size = { w: all.w, h: all.h };
    this.groups.set(0, { x: 0, y: 0, w: all.w, h: all.h });
    this.flatten(0, all, 0, 0);
  }

  // About the width of the text: the drawing cuts what is longer.
  sizeOf(least, most, height, texts) {
    return { w: Math.min(most, Math.max(least, ...texts.map((t) => cut(t, 60).length * 6.4 + 24))), h: height };
  }
  boxSize(b) { return this.sizeOf(84, 190, 38, [this.entry.op(b), boxNote(this.plan, this.entry, b)]); }
  groupSize(g) {
    const group = this.entry.groups[g];
    return this.sizeOf(120, 250, 46, ['▸ ' + group.name, groupNote(this.plan, group)]);
  }

  // The centres of a group's items: each near its neighbours, in the order of its
  // layer.
  itemCenters(group, width) {
    const count = width.length, center = new Array(count).fill(0);
    const above = Array.from({ length: count }, () => []), below = Array.from({ length: count }, () => []);
    for (const [from, to, lanes] of group.routes) {
      const path = [from, ...lanes, to];
      for (let i = 1; i < path.length; ++i) { below[path[i - 1]].push(path[i]); above[path[i]].push(path[i - 1]); }
    }
    const place = (layer, near) => {
      const wish = {};
      for (const item of layer) {
        const others = near ? near[item] : [];
        wish[item] = others.length ? others.reduce((sum, n) => sum + center[n], 0) / others.length : center[item];
      }
      for (const [item, x] of spread(layer, wish, width, 18)) center[item] = x;
    };
    for (const layer of group.layers) place(layer, null);
    for (let sweep = 0; sweep < 6; ++sweep) {
      for (const layer of group.layers) place(layer, above);
      for (let l = group.layers.length; l-- > 0;) place(group.layers[l], below);
    }
    for (const layer of group.layers) place(layer, above);
    return center;
  }

  // The size of an open group and the positions of its items.
  arrange(g) {
    const group = this.entry.groups[g], inner = {}, size = [];
    for (let i = 0; i < group.items.length / 2; ++i) {
      const kind = group.items[2 * i], index = group.items[2 * i + 1];
      if (kind === BOX) size.push(this.boxSize(index));
      else if (kind === LANE) size.push({ w: 8, h: 0 });
      else if (!this.open.has(index)) size.push(this.groupSize(index));
      else size.push(inner[index] = this.arrange(index));
    }
    const width = size.map((s) => s.w), center = this.itemCenters(group, width), pad = 14;
    let left = 0, right = 100;
    center.forEach((x, i) => { left = Math.min(left, x - width[i] / 2); });
    const at = [];
    let y = g === 0 ? 14 : 30;
    for (const layer of group.layers) {
      const height = layer.reduce((most, item) => Math.max(most, size[item].h), 0);
      for (const item of layer) {
        at[item] = { x: center[item] - width[item] / 2 - left + pad, y: y + (height - size[item].h) / 2,
                     w: width[item], h: size[item].h, top: y, bottom: y + height };
        right = Math.max(right, at[item].x + at[item].w);
      }
      y += height + 30;
    }
    return { w: right + pad, h: y - 30 + 14, at, inner };
  }

  flatten(g, arranged, x, y) {
    const { items } = this.entry.groups[g];
    for (let i = 0; i < items.length / 2; ++i) {
      const kind = items[2 * i], index = items[2 * i + 1], p = arranged.at[i];
      const here = { x: x + p.x, y: y + p.y, w: p.w, h: p.h };
      if (kind === BOX) this.boxes.set(index, here);
      else if (kind === LANE) this.lanes.set(g + ':' + i, { x: here.x + 4, top: y + p.top, bottom: y + p.bottom });
      else {
        this.groups.set(index, here);
        if (arranged.inner[index]) this.flatten(index, arranged.inner[index], here.x, here.y);
      }
    }
  }

  // The groups around a box from the root to its visible part, and that part.
  shownPath(box) {
    const path = [], { groups, groupOf } = this.entry;
    for (let g = groupOf[box]; g >= 0; g = groups[g].parent) path.push(g);
    path.reverse();
    let n = 1;
    while (n < path.length && this.open.has(path[n])) ++n;
    return n < path.length ? { path: path.slice(0, n), rect: this.groups.get(path[n]), group: path[n] } : { path, rect: this.boxes.get(box), box };
  }
}
