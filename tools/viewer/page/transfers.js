// The ledger of transfers.
// SPDX-License-Identifier: Apache-2.0

// The most rows of the table: more make a browser slow, and nobody reads them.
const MOST_ROWS = 2000;

function transfersTab(shown) {
  const { entry } = shown, { transfers: t, transferTotals: totals } = entry, rows = [];
  let passing = 0;
  for (let i = 0; i < t.command.length; ++i) {
    if (!shown.passesCommand(t.command[i])) continue;
    if (++passing > MOST_ROWS) continue;
    const command = t.command[i], length = t.length[i], share = length > 0 ? Math.round(100 * t.hiddenLength[i] / length) : 100;
    rows.push(pickRow(command === shown.command, () => shown.selectCommand(command), [stringAt(t.from[i]), 'w'], [stringAt(t.to[i]), 'w'], [stringAt(t.value[i]), 'name'],
      [bytesText(t.bytes[i]), 'n'], [axisText(entry, length * entry.tick), 'n'], [length === 0 ? 'no time' : t.hidden[i] ? 'yes' : share ? share + ' %' : 'no', 'w'], [stringAt(t.reason[i]), 'name']));
  }
  const all = shown.filter ? passing : t.command.length + entry.transfersLeftOut, left = entry.transfersLeftOut ? `; ${entry.transfersLeftOut} more of the step are left out` : '';
  return [note(totals.count === 0 ? 'Nothing moves between devices.'
      : `${countText(totals.count, 'transfer', 'transfers')} between devices, ${bytesText(totals.bytes)}; ${totals.hidden} hidden behind what the receiving device computes meanwhile.`),
    table([['From'], ['To'], ['Value'], ['Bytes', 'n'], ['Time', 'n'], ['Hidden'], ['Reason']], rows),
    ...(passing > MOST_ROWS || entry.transfersLeftOut ? [note(`The first ${Math.min(MOST_ROWS, passing)} of ${all} rows${shown.filter ? left : ''}; partita simulate PLAN --trace FILE writes all.`)] : [])];
}
