// Folds groups of a scope and opens them.
// SPDX-License-Identifier: Apache-2.0

// Keeps the group's corner where it is on the screen.
function toggle(g) {
  const before = placed.groups[g], v = state.view;
  if (state.open.has(g)) state.open.delete(g); else state.open.add(g);
  drawGraph();
  const after = placed.groups[g];
  const middle = (r) => r.x + r.w / 2;
  state.view = { k: v.k, x: v.x + (middle(before) - middle(after)) * v.k, y: v.y + (before.y - after.y) * v.k };
  moveGraph();
}

function unfoldTo(b) {
  let changed = false;
  for (let g = groupOf[b]; g > 0; g = entry().groups[g].parent) {
    if (!state.open.has(g)) { state.open.add(g); changed = true; }
  }
  return changed;
}
