// What to look at first, ranked (findings.h). Each shows what it speaks of.
// SPDX-License-Identifier: Apache-2.0

function followFinding(shown, finding) {
  if (finding.moment >= 0) shown.showMoment(finding.device, finding.moment);
  else if (finding.link >= 0) shown.setFilter({ link: finding.link });
  else if (finding.command >= 0) {
    shown.selectCommand(finding.command);
    const { entry } = shown, start = entry.start(finding.command), length = entry.length(finding.command);
    shown.showTime(start - 2 * length, start + 3 * length);
  } else if (finding.box >= 0) shown.select(finding.box);
  else if (finding.device >= 0) shown.setFilter({ device: finding.device });
  else return;
  say(finding.text);
}

function leftOutText(entry) {
  return `The page shows the first ${entry.numCommands} commands of a step; ${entry.commandsLeftOut} more are left out. Findings speak of those shown.`;
}

function findingsTab(shown) {
  const { entry } = shown, parts = emulatedNote(shown.trace);
  if (entry.commandsLeftOut) parts.push(element('p', { class: 'note leftout' }, leftOutText(entry)));
  if (!entry.timed) parts.push(note('The plan has no prediction: compile it, or give the machine: partita view PLAN --machine FILE.'));
  else if (entry.findings.length === 0) parts.push(note('Nothing stands out: no device waits, no link or memory is nearly full.'));
  parts.push(element('ol', { class: 'findings' }, ...entry.findings.map((finding, i) => {
    const bar = element('i', { class: 'bar-part' });
    bar.style.width = Math.min(100, 100 * finding.seconds / entry.end) + '%';
    const leads = finding.device >= 0 || finding.box >= 0 || finding.link >= 0 || finding.command >= 0;
    return element('li', { 'data-finding': i }, leads ? go(finding.text, () => followFinding(shown, finding)) : element('span', {}, finding.text), element('div', { class: 'bar-all' }, bar));
  })));
  if (entry.explained.size > 0) {
    parts.push(element('h2', { class: 'above' }, 'Why here, and what elsewhere'), element('p', {},
      ...[...entry.explained.keys()].flatMap((b) => [go(`${entry.op(b)} ${entry.name(b)}`, () => shown.select(b)), ', ']).slice(0, -1)));
  }
  return parts.concat(overview(shown));
}
