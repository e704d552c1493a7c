// Tabs. Only the shown one is drawn.
// SPDX-License-Identifier: Apache-2.0

class Tabs {
  // `tabs`: [name, title, draw], where draw() returns elements.
  constructor(tabs) {
    this.tabs = tabs;
    this.waits = false;
    fill($('tabs'), ...tabs.map(([name, title]) => element('button', { role: 'tab', id: 'tab-' + name, 'data-tab': name, 'aria-controls': 'tab-body', onclick: () => this.show(name) }, title)));
    $('tab-body').setAttribute('role', 'tabpanel');
    $('tabs').addEventListener('keydown', (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = tabs.findIndex(([name]) => name === this.shown);
      if (!by) return;
      this.show(tabs[(at + by + tabs.length) % tabs.length][0]);
      $('tab-' + this.shown).focus();
    });
  }
  has(name) { return this.tabs.some(([other]) => other === name); }
  show(name) {
    const changed = this.shown !== name;
    this.shown = name;
    for (const button of document.querySelectorAll('[role=tab]')) {
      button.setAttribute('aria-selected', button.dataset.tab === name);
      button.tabIndex = button.dataset.tab === name ? 0 : -1;
    }
    this.draw();
    if (changed) $('tab-body').scrollTop = 0;
  }
  draw() { fill($('tab-body'), ...this.tabs.find(([name]) => name === this.shown)[2]()); $('tab-body').dataset.tab = this.shown; }
  redraw() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => { this.waits = false; this.draw(); });
  }
}
