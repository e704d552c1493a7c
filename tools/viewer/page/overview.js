// The panel while nothing is selected: the devices and their load.
// SPDX-License-Identifier: Apache-2.0

function leftOutText(e) {
  return 'The page shows the first ' + e.commands.length + ' commands of a step; ' + e.commandsLeftOut + ' more are left out.';
}

function overview() {
  const table = element('table', {}, element('tr', {}, element('th', {}, 'Device'), element('th', { class: 'n' }, 'Nodes'), element('th', { class: 'n' }, 'Computes'),
    element('th', { class: 'n' }, 'Of the step'), element('th', { class: 'n' }, 'Peak'), element('th', { class: 'n' }, 'Limit')));
  const e = entry();
  DATA.devices.forEach((device, d) => {
    const nodes = e.boxes.filter((b) => b.kind === 'node' && b.devices.includes(d)).length;
    const busy = e.commands.filter((c) => c.kind === 'kernel' && e.streams[c.stream].device === d).reduce((sum, c) => sum + c.end - c.start, 0);
    table.append(element('tr', {}, element('td', {}, device.name), element('td', { class: 'n' }, String(nodes)),
      element('td', { class: 'n' }, secondsText(busy)), element('td', { class: 'n' }, e.end ? (100 * busy / e.end).toFixed(0) + ' %' : ''),
      element('td', { class: 'n' }, bytesText(e.memory[d].peak)), element('td', { class: 'n' }, bytesText(e.memory[d].limit))));
  });
  const parts = [table];
  if (e.commandsLeftOut) parts.unshift(element('p', { class: 'leftout' }, leftOutText(e)));
  if (DATA.summary) parts.push(element('pre', {}, DATA.summary));
  return parts;
}
