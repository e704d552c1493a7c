// Predicted beside measured seconds, the largest difference first (residuals.h).
// SPDX-License-Identifier: Apache-2.0

const MOST_RESIDUALS = 300;  // rows

function residualCells(predicted, measured, largest) {
  const by = measured - predicted, bar = element('span', { class: 'residual' + (by < 0 ? ' less' : '') });
  bar.style.width = Math.max(1, 60 * Math.abs(by) / largest) + 'px';
  return [[secondsText(predicted), 'n'], [secondsText(measured), 'n'], [(by < 0 ? '−' : '+') + secondsText(Math.abs(by)), 'n'],
    [predicted > 0 ? (measured / predicted).toFixed(2) : '', 'n'], [bar, 'w']];
}

// What times of a step on emulated devices say; none for other steps.
function emulatedNote(trace) {
  return trace && trace.emulated.length > 0
    ? [element('p', { class: 'note emulated' }, `Software emulated ${trace.emulated.join(', ')} in the measured step: its times are not those of the plan's devices, so no finding compares them with the prediction.`)] : [];
}

function residualsTab(shown) {
  const { trace, entry } = shown;
  if (!trace) return [note('No measured step: partita run PLAN --trace FILE measures one, and partita view PLAN --trace FILE shows it.')];
  if (trace.ops.length === 0) return [note('The plan has no prediction to compare with.')];
  const heads = (first, second) => [[first], [second, 'n'], ['Predicted', 'n'], ['Measured', 'n'], ['Difference', 'n'], ['Ratio', 'n'], ['']];
  const largest = (list, from) => Math.max(1e-30, ...list.slice(0, MOST_RESIDUALS).map((row) => Math.abs(row[from + 1] - row[from])));
  const opsLargest = largest(trace.ops, 2), nodesLargest = largest(trace.nodes, 1);
  const ops = trace.ops.slice(0, MOST_RESIDUALS).map(([op, count, predicted, measured]) => element('tr', {},
    ...[[op], [String(count), 'n'], ...residualCells(predicted, measured, opsLargest)].map(([text, kind]) => element('td', { class: kind }, text))));
  const nodes = trace.nodes.slice(0, MOST_RESIDUALS).map(([b, predicted, measured]) => pickRow(b === shown.box, () => shown.select(b),
    [`${entry.op(b)} ${entry.name(b)}`, 'name'], [entry.devices(b).map((d) => shown.plan.deviceName(d)).join(', '), 'n'], ...residualCells(predicted, measured, nodesLargest)));
  const sum = (list, at) => list.reduce((all, row) => all + row[at], 0);
  return [...emulatedNote(trace), note(`Kernels: ${secondsText(sum(trace.ops, 2))} predicted, ${secondsText(sum(trace.ops, 3))} measured. + is slower than predicted.`),
    element('h2', {}, 'By op'), table(heads('Op', 'Nodes'), ops), element('h2', { class: 'above' }, 'By node'), table(heads('Node', 'Device'), nodes)];
}
