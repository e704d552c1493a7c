// A node or a command: its cost, and the reason for its device.
// SPDX-License-Identifier: Apache-2.0

const MOST_COMMANDS = 50;  // of a node, in the panel

function valueLine(shown, operand) {
  return element('span', {}, operand.box >= 0 ? go(operand.name, () => shown.select(operand.box)) : operand.name, '  ',
    element('code', {}, operand.type), operand.box === -1 ? '  constant' : '');
}

function commandLine(shown, c) {
  const { entry, trace, plan } = shown, stream = entry.streams[entry.commands.stream[c]];
  let text = `${plan.deviceName(stream.device)} / ${stream.name}`;
  if (entry.timed) text += `, at ${secondsText(entry.start(c))}, takes ${secondsText(entry.length(c))}`;
  if (trace) text += `; measured ${secondsText(trace.lengthOf(c))}`;
  return element('span', {}, go(`${c} ${entry.kind(c)}`, () => shown.selectCommand(c)), '  ', text);
}

function secondsLine(shown, commands) {
  const { entry, trace } = shown, parts = [];
  const sum = (length) => commands.reduce((all, c) => all + length(c), 0);
  if (entry.timed) parts.push(secondsText(sum((c) => entry.length(c))) + ' predicted');
  if (trace) parts.push(secondsText(sum((c) => trace.lengthOf(c))) + ' measured');
  return parts.join(', ');
}

function nodePanel(shown, b) {
  const { entry, plan } = shown, commands = [...entry.commandsOf(b)];
  const readers = [...new Set([...entry.edgesFrom(b)].map((e) => entry.edges.to[e]))];
  const path = entry.pathBoxes.get(b), attributes = stringAt(entry.boxes.attributes[b]), body = entry.boxes.text[b];
  return [element('div', { 'data-selected': entry.name(b) },
    element('div', { class: 'head' }, element('b', {}, entry.name(b)), element('span', {}, entry.op(b))),
    definitions([
      ['Device', entry.devices(b).map((d) => plan.deviceName(d)).join(', ')],
      ['Reason', entry.reason(b)],
      ['Seconds', secondsLine(shown, commands)],
      ['Critical path', path ? `${secondsText(path)}, ${shareText(path, entry.end)} of the step` : ''],
      ['Kernel', entry.kernel(b)],
      ['Workspace', entry.boxes.workspace[b] ? bytesText(entry.boxes.workspace[b]) : ''],
      ['Operands', entry.operands(b).map((o) => valueLine(shown, o))],
      ['Results', entry.results(b).map((r) => valueLine(shown, { ...r, box: -2 }))],
      ['Read by', readers.slice(0, 12).map((r) => go(entry.op(r) + ' ' + entry.name(r), () => shown.select(r)))],
      ['Attributes', attributes ? attributes.split('\n').map((text) => element('code', {}, text)) : ''],
      ['Scope', entry.scope(b)],
      ['From', entry.location(b)],
      ['Commands', commands.slice(0, MOST_COMMANDS).map((c) => commandLine(shown, c)).concat(commands.length > MOST_COMMANDS ? [`and ${commands.length - MOST_COMMANDS} more`] : [])],
      ['Arithmetic', entry.boxes.arithmetic[b] && stringAt(entry.boxes.arithmetic[b]) ? element('code', {}, stringAt(entry.boxes.arithmetic[b])) : ''],
    ])), ...explanationOf(shown, b),
  body < 0 ? note('The body is left out, as the page is large: partita check PLAN --text prints it.') : stringAt(body) ? element('pre', {}, stringAt(body)) : ''];
}

function commandPanel(shown, c) {
  const { entry } = shown, event = entry.commands.event[c], partners = [];
  if (event >= 0) entry.commands.event.forEach((other, k) => { if (k !== c && other === event && partners.length < 50) partners.push(k); });
  return [element('div', { 'data-selected': entry.title(c) },
    element('div', { class: 'head' }, element('b', {}, entry.title(c)), element('span', {}, 'command ' + c)),
    definitions([['Command', [commandLine(shown, c)]], [entry.kind(c) === 'wait' ? 'Recorded by' : 'Waited for by', partners.map((k) => commandLine(shown, k))]]))];
}

function nodeTab(shown) {
  if (shown.box >= 0) return nodePanel(shown, shown.box);
  if (shown.command >= 0) return commandPanel(shown, shown.command);
  return [note('Click a node or a command to see what it is, where it runs and why.')];
}
