// Connects the controls and shows the first entry; the build puts it last.
// SPDX-License-Identifier: Apache-2.0

function listen() {
  listenToGraph();
  listenToTime();
  $('fit').addEventListener('click', () => fitGraph(true));
  $('fold').addEventListener('click', () => { state.open = new Set([0]); drawGraph(); fitGraph(false); });
  $('unfold').addEventListener('click', () => { state.open = new Set(entry().groups.keys()); drawGraph(); fitGraph(false); });
  $('search').addEventListener('input', () => search($('search').value));
  $('search').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') closeHits();
    if (event.key !== 'Enter') return;
    const found = find($('search').value);
    closeHits();
    if (found.length) select(found[0]);
  });
  document.addEventListener('pointerdown', (event) => { if (!event.target.closest('.search')) closeHits(); });
  for (const button of document.querySelectorAll('[role=tab]')) button.addEventListener('click', () => showTab(button.dataset.tab));
  $('entry').addEventListener('change', () => showEntry(+$('entry').value));
  $('trace').addEventListener('change', () => { state.trace = +$('trace').value; chooseScale(); state.from = 0; state.to = axisEnd(); drawAll(); });
  window.addEventListener('resize', drawTime);
  window.addEventListener('hashchange', followFragment);
}

if (DATA.entries.length > 0) {
  fill($('entry'), ...DATA.entries.map((e, i) => element('option', { value: i }, e.name)));
  $('entry').hidden = DATA.entries.length < 2;
  showTab('node');
  listen();
  showEntry(0);
  followFragment();
}
document.body.dataset.ready = 'yes';
