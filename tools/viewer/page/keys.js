// The keys that work everywhere, and the list of all of them.
// SPDX-License-Identifier: Apache-2.0

const KEYS = [
  ['/', 'search'], ['p', 'critical path on and off'], ['Esc', 'nothing selected, no filter'], ['?', 'these keys'],
  ['+ − 0', 'on graph or timeline: zoom, whole'], ['arrows', 'graph: the first reader or operand, the next or previous node; with shift, or with nothing selected: pan'],
  ['Enter', 'graph: fold the group of the selected node, or open it'], ['← →', 'timeline: pan; with shift: the next or previous command of the stream'], ['↑ ↓', 'timeline: scroll'],
];

function listenToKeys(shown) {
  fill($('key-list'), ...KEYS.filter(([key]) => key !== '/' || $('search')).flatMap(([key, what]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, what)]));
  $('help').addEventListener('click', () => $('keys').showModal());
  document.addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, dialog') || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { '/': () => $('search') && $('search').focus(), 'p': () => shown.forEach((s) => s.togglePath()), '?': () => $('keys').showModal(),
                  'Escape': () => shown.forEach((s) => { if (s.filter) s.setFilter(null); if (s.box >= 0 || s.command >= 0) s.select(-1); }) }[event.key];
    if (!act) return;
    if (event.key !== 'Escape') event.preventDefault();
    act();
  });
}
