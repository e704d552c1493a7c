// The devices and their load.
// SPDX-License-Identifier: Apache-2.0

function overview(shown) {
  const { entry, plan } = shown, nodes = plan.devices.map(() => 0), busy = entry.busySeconds(plan.devices.length);
  for (let b = 0; b < entry.numBoxes; ++b) if (entry.boxKind(b) === NODE) for (const d of entry.devices(b)) ++nodes[d];
  const rows = plan.devices.map((_, d) => d).filter((d) => shown.deviceShown(d)).map((d) => pickRow(false, () => shown.setFilter({ device: d }),
    [shown.deviceLabel(d)], [String(nodes[d]), 'n'], [axisText(entry, busy[d]), 'n'], [shareText(busy[d], entry.end), 'n'],
    [bytesText(entry.memory[d].peak), 'n'], [bytesText(entry.memory[d].limit), 'n']));
  const parts = [element('h2', { class: 'above' }, 'Devices'),
    table([['Device'], ['Nodes', 'n'], ['Computes', 'n'], ['Of the step', 'n'], ['Peak', 'n'], ['Limit', 'n']], rows)];
  if (plan.summary) parts.push(element('pre', {}, plan.summary));
  return parts;
}
