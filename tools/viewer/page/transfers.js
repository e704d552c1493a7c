// The ledger of transfers.
// SPDX-License-Identifier: Apache-2.0

// The most rows of the table: more make a browser slow, and nobody reads them.
const MOST_ROWS = 2000;

function drawTransfers() {
  const list = entry().transfers;
  const between = list.filter((t) => t.from !== 'caller' && t.to !== 'caller');
  const hidden = between.filter((t) => t.hidden).length;
  const table = element('table', {}, element('tr', {}, element('th', {}, 'From'), element('th', {}, 'To'), element('th', {}, 'Value'), element('th', { class: 'n' }, 'Bytes'),
    element('th', { class: 'n' }, 'Time'), element('th', {}, 'Hidden'), element('th', {}, 'Reason')));
  for (const t of list.slice(0, MOST_ROWS)) {
    const share = t.seconds > 0 ? Math.round(100 * t.hiddenSeconds / t.seconds) : 100;
    table.append(element('tr', { class: 'row' + (t.command === state.command ? ' on' : ''), onclick: () => selectCommand(t.command) },
      element('td', { class: 'w' }, t.from), element('td', { class: 'w' }, t.to), element('td', { class: 'name' }, t.value), element('td', { class: 'n' }, bytesText(t.bytes)),
      element('td', { class: 'n' }, secondsText(t.seconds)), element('td', { class: 'w' }, t.seconds === 0 ? 'no time' : t.hidden ? 'yes' : share ? share + ' %' : 'no'),
      element('td', { class: 'name' }, t.reason)));
  }
  fill($('tab-transfers'), element('p', { class: 'note' }, between.length === 0 ? 'Nothing moves between devices.'
      : `${between.length} transfers between devices, ${bytesText(between.reduce((s, t) => s + t.bytes, 0))}; ${hidden} hidden behind what the receiving device computes meanwhile.`), table,
    list.length > MOST_ROWS ? element('p', { class: 'note' }, `The first ${MOST_ROWS} of ${list.length} rows; \`partita simulate PLAN --trace FILE\` writes all.`) : '');
}
