// Why a node is where it is, and what the plan would come to with it elsewhere.
// SPDX-License-Identifier: Apache-2.0

function explanationOf(shown, b) {
  const { entry } = shown, explanation = entry.explained.get(b);
  if (!explanation) return [];
  const priced = explanation.options.some((o) => o.step !== null);
  const cell = (option) => option.present ? 'where it is' : option.refusal ? 'refused: ' + option.refusal : option.kernel ? '' : 'no kernel';
  const rows = explanation.options.map((o) => element('tr', { class: o.present ? 'on' : '' },
    ...[[o.placement.replace(/,(?! )/g, ', '), ''], [o.seconds === null ? '' : secondsText(o.seconds), 'n'],
      ...(priced ? [[o.step === null ? '' : changeText(entry.step, o.step, secondsText), 'n'], [[o.transfers, o.memory, o.path].filter((t) => t).join('\n'), 'lines']] : []),
      [cell(o), 'name']].map(([text, kind]) => element('td', { class: kind }, text))));
  const heads = [['On'], ['Alone', 'n'], ...(priced ? [['Step', 'n'], ['Transfers, memory, critical path']] : []), ['']];
  return [element('h2', { class: 'above' }, 'Why here, and what elsewhere'), element('p', { class: 'note' }, explanation.why,
    ...(explanation.constraints.length ? [`; asked for: ${explanation.constraints.join('; ')}`] : [])),
    ...(explanation.options.length ? [table(heads, rows)] : []),
    ...(explanation.left_out ? [note(`Left out: ${explanation.left_out} more of its placements.`)] : []),
    ...(explanation.options.length && !priced ? [note('With the model the page also prices each of these plans: partita view PLAN --model MODEL.')] : [])];
}
