// One node or command is selected, everywhere on the page.
// SPDX-License-Identifier: Apache-2.0

function select(b, keepCommand) {
  state.box = b;
  if (!keepCommand) state.command = -1;
  closeHits();
  if (b >= 0) { unfoldTo(b); showTab('node'); }
  drawGraph();
  if (b >= 0) centerBox(b);
  drawTime(); drawNodeTab(); drawTransfers();
  if (b >= 0) remember(entry().boxes[b].name);
}

function selectCommand(i) {
  state.command = i;
  const box = entry().commands[i].box;
  select(box, true);
  if (box < 0) showTab('node');
}

function remember(name) {
  try { history.replaceState(null, '', '#select=' + encodeURIComponent(name)); } catch (ignored) { /* a page without a history */ }
}
