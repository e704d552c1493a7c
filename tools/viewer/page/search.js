// Finds nodes by name, op, scope, location or kernel.
// SPDX-License-Identifier: Apache-2.0

class Search {
  constructor(shown) {
    this.shown = shown;
    const input = this.input = $('search');
    this.marked = -1;
    input.addEventListener('input', () => this.show(input.value));
    input.addEventListener('keydown', (event) => this.onKey(event));
    document.addEventListener('pointerdown', (event) => { if (!event.target.closest('.search')) this.close(); });
    shown.on('selection', () => this.close());
  }

  onKey(event) {
    if (event.key === 'Escape') this.close();
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      this.mark(this.marked + by);
    }
    if (event.key !== 'Enter') return;
    const found = this.find(this.input.value), marked = Math.max(0, this.marked);
    this.close();
    if (found.length) this.shown.select(found[marked]);
  }

  // The hit that Enter selects.
  mark(index) {
    const hits = [...$('hits').querySelectorAll('[data-hit]')];
    this.marked = Math.min(Math.max(index, 0), hits.length - 1);
    hits.forEach((hit, i) => hit.setAttribute('aria-selected', i === this.marked));
    if (this.marked < 0) { this.input.removeAttribute('aria-activedescendant'); return; }
    hits[this.marked].scrollIntoView({ block: 'nearest' });
    this.input.setAttribute('aria-activedescendant', hits[this.marked].id);
  }

  // Strings that hold the text are found once, however many nodes have them.
  find(text) {
    const wanted = text.trim().toLowerCase(), { entry } = this.shown, { name, op, scope, location, kernel } = entry.boxes;
    if (!wanted) return [];
    const matching = DATA.strings.map((s) => s.toLowerCase().includes(wanted)), found = [];
    for (let b = 0; b < entry.numBoxes; ++b) {
      const place = [name, op, scope, location, kernel].findIndex((column) => matching[column[b]]);
      if (place >= 0) found.push([entry.name(b).toLowerCase().replace(/^%/, '') === wanted.replace(/^%/, '') ? -1 : place, b]);
    }
    return found.sort((x, y) => x[0] - y[0] || x[1] - y[1]).map(([, b]) => b);
  }

  show(text) {
    const { shown } = this, { entry } = shown, found = this.find(text);
    shown.hits = new Set(found);
    fill($('hits'), ...found.slice(0, 30).map((b, i) => element('li', { id: 'hit-' + i, role: 'option', 'data-hit': entry.name(b), onclick: () => shown.select(b) },
      entry.name(b) + '  ', element('small', {}, entry.op(b) + (entry.scope(b) ? ' · ' + entry.scope(b) : '')))));
    if (text.trim() && found.length === 0) fill($('hits'), element('li', {}, element('small', {}, 'no node of that name, op, scope or kernel')));
    $('hits').hidden = !text.trim();
    this.input.setAttribute('aria-expanded', !$('hits').hidden);
    this.mark(0);
    shown.emit('hits');
    return found;
  }
  close() {
    $('hits').hidden = true;
    this.input.setAttribute('aria-expanded', false);
  }
}
