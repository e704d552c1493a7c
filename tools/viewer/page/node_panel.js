// The panel: a node or a command, its cost, and the reason for its device.
// SPDX-License-Identifier: Apache-2.0

function rows(pairs) {
  const list = element('dl');
  for (const [key, value] of pairs) {
    if (value === '' || value === null || value === undefined || value.length === 0) continue;
    list.append(element('dt', {}, key), element('dd', {}, ...(Array.isArray(value) ? value.map((v) => element('div', {}, v)) : [value])));
  }
  return list;
}

function valueLine(operand) {
  const [name, type, box] = operand;
  const line = element('span');
  line.append(box >= 0 ? element('a', { onclick: () => select(box) }, name) : name, '  ', element('code', {}, type), box >= 0 ? '' : '  constant');
  return line;
}

function commandLine(i) {
  const c = entry().commands[i], t = trace(), s = entry().streams[c.stream];
  let text = `${DATA.devices[s.device].name} / ${s.name}`;
  if (entry().timed) text += `, at ${secondsText(c.start)}, takes ${secondsText(c.end - c.start)}`;
  if (t) text += `; measured ${measuredText(t.commands[i][1] - t.commands[i][0])}`;
  return element('span', {}, element('a', { onclick: () => selectCommand(i) }, `${i} ${c.kind}`), '  ', text);
}

function measuredSeconds(box) {
  const t = trace();
  return t ? box.commands.reduce((sum, i) => sum + t.commands[i][1] - t.commands[i][0], 0) : null;
}

function nodePanel(b) {
  const box = entry().boxes[b];
  const readers = [...new Set(entry().edges.filter((e) => e.from === b).map((e) => e.to))];
  const measured = measuredSeconds(box);
  const predicted = box.commands.reduce((sum, i) => sum + entry().commands[i].end - entry().commands[i].start, 0);
  const panel = element('div', { 'data-selected': box.name },
    element('div', { class: 'head' }, element('b', {}, box.name), element('span', {}, box.op)),
    rows([
      ['Device', box.devices.map((d) => DATA.devices[d].name).join(', ')],
      ['Reason', box.reason],
      ['Seconds', entry().timed || measured !== null ?
        (entry().timed ? secondsText(predicted) + ' predicted' : '') + (measured === null ? '' : (entry().timed ? ', ' : '') + measuredText(measured) + ' measured') : ''],
      ['Kernel', box.kernel],
      ['Workspace', box.workspace ? bytesText(box.workspace) : ''],
      ['Operands', box.operands.map(valueLine)],
      ['Results', box.results.map(([name, type]) => element('span', {}, name, '  ', element('code', {}, type)))],
      ['Read by', readers.slice(0, 12).map((r) => element('a', { onclick: () => select(r) }, entry().boxes[r].op + ' ' + entry().boxes[r].name))],
      ['Attributes', box.attributes.map(([key, value]) => element('code', {}, key + ' = ' + value))],
      ['Scope', box.scope],
      ['From', box.location],
      ['Commands', box.commands.map(commandLine)],
      ['Arithmetic', box.arithmetic ? element('code', {}, box.arithmetic) : ''],
    ]));
  if (box.text) panel.append(element('pre', {}, box.text));
  return panel;
}

function commandPanel(i) {
  const c = entry().commands[i];
  const partners = entry().commands.map((_, k) => k).filter((k) => k !== i && c.event >= 0 && entry().commands[k].event === c.event);
  return element('div', { 'data-selected': c.title },
    element('div', { class: 'head' }, element('b', {}, c.title), element('span', {}, 'command ' + i)),
    rows([['Command', [commandLine(i)]], [c.kind === 'wait' ? 'Recorded by' : 'Waited for by', partners.map(commandLine)]]));
}

function drawNodeTab() {
  if (state.box >= 0) fill($('tab-node'), nodePanel(state.box));
  else if (state.command >= 0) fill($('tab-node'), commandPanel(state.command));
  else fill($('tab-node'), element('p', { class: 'note' }, 'Click a node or a command to see what it is, where it runs and why.'), ...overview());
}
