// The part of a plan that the page shows: entry, selection, filter, range of
// time. Panes listen to the aspects that they draw.
// SPDX-License-Identifier: Apache-2.0

const FOLDED_FROM = 8;  // devices

class Shown {
  constructor(plan) {
    this.plan = plan;
    this.listeners = {};
    this.pathShown = true;
    this.allBlocks = false;  // in the table of memory
    // Lists of equal devices that are shown one by one.
    this.unfolded = new Set();
    if (plan.devices.length < FOLDED_FROM) plan.equalDevices.forEach((_, k) => this.unfolded.add(k));
    this.reset(0);
  }
  reset(index) {
    this.entry = this.plan.entries[index];
    this.box = -1;
    this.command = -1;
    this.filter = null;   // { device } or { link }
    this.moment = null;   // { device, time }
    this.hits = new Set();
    this.open = new Set([0, ...(this.entry.numBoxes <= 60 ? this.entry.groups.keys() : [])]);
    this.trace = this.plan.traces.find((t) => t.entry === index) || null;
    this.chooseScale();
    this.from = 0;
    this.to = this.axisEnd();
  }
  on(aspects, listener) { for (const aspect of aspects.split(' ')) (this.listeners[aspect] ||= []).push(listener); }
  emit(aspect) { for (const listener of this.listeners[aspect] || []) listener(); }

  showEntry(index) { this.reset(index); this.emit('entry'); }

  // Shows the first device of folded ones, and all of others.
  deviceShown(d) {
    const k = this.plan.classOf[d];
    return this.unfolded.has(k) || this.plan.equalDevices[k][0] === d;
  }
  deviceLabel(d) {
    const k = this.plan.classOf[d], count = this.plan.equalDevices[k].length;
    return this.plan.deviceName(d) + (this.unfolded.has(k) || count === 1 ? '' : ` × ${count}`);
  }
  toggleClass(k) {
    if (this.unfolded.has(k)) this.unfolded.delete(k); else this.unfolded.add(k);
    this.emit('devices');
  }
  hasFolds() { return this.plan.equalDevices.some((devices) => devices.length > 1); }

  // The factor from measured seconds to the predicted axis.
  stretch() { return !this.trace || this.oneScale || !this.trace.end ? 1 : this.entry.end / this.trace.end; }
  // One scale if both are legible.
  chooseScale() { const t = this.trace; this.oneScale = t !== null && this.entry.end > t.end / 3 && this.entry.end < t.end * 3; }
  axisEnd() { return Math.max(this.entry.end, this.trace ? this.trace.end * this.stretch() : 0) || 1; }
  showTime(from, to) {
    const end = this.timeEnd || this.axisEnd(), length = Math.min(end, Math.max(end * 1e-6, to - from));
    this.from = Math.min(Math.max(0, from), end - length);
    this.to = this.from + length;
    this.emit('time');
  }

  select(b, command = -1) {
    this.box = b;
    this.command = command;
    if (b >= 0) this.openTo(b);
    const device = command >= 0 ? this.entry.deviceOf(command) : -1;
    if (device >= 0 && !this.deviceShown(device)) { this.unfolded.add(this.plan.classOf[device]); this.emit('devices'); }
    this.emit('selection');
  }
  selectCommand(c) { this.select(this.entry.commands.box[c], c); }
  openTo(b) {
    let changed = false;
    const groupOf = this.entry.groupOf;
    for (let g = groupOf ? groupOf[b] : 0; g > 0; g = this.entry.groups[g].parent) {
      if (!this.open.has(g)) { this.open.add(g); changed = true; }
    }
    if (changed) this.emit('groups');
  }

  setFilter(filter) {
    const same = filter && this.filter && filter.device === this.filter.device && filter.link === this.filter.link;
    this.filter = same ? null : filter;
    if (this.filter && this.filter.link !== undefined) this.unfoldEnds(this.filter.link);
    this.emit('filter');
  }
  // A link is between two devices, not between two lists of them.
  unfoldEnds(link) {
    const { links, devices } = this.plan.machine, before = this.unfolded.size;
    for (const m of [links[link].from, links[link].to]) if (devices[m].device >= 0) this.unfolded.add(this.plan.classOf[devices[m].device]);
    if (this.unfolded.size > before) this.emit('devices');
  }
  // True if the filter is about the device.
  passesDevice(d) {
    const f = this.filter;
    if (!f) return true;
    if (f.device !== undefined) return f.device === d || (!this.unfolded.has(this.plan.classOf[d]) && this.plan.classOf[f.device] === this.plan.classOf[d]);
    const { links, devices } = this.plan.machine;
    return devices[links[f.link].from].device === d || devices[links[f.link].to].device === d;
  }
  passesCommand(c) {
    const f = this.filter;
    if (!f) return true;
    if (f.device !== undefined) return this.passesDevice(this.entry.deviceOf(c));
    const link = this.entry.commands.link[c];
    return link >= 0 ? link >> 1 === f.link : this.entry.kind(c) === 'collective' && this.passesDevice(this.entry.deviceOf(c));
  }
  passesBox(b) {
    const f = this.filter;
    if (!f) return true;
    if (f.device !== undefined) return this.entry.devices(b).some((d) => this.passesDevice(d));
    return this.entry.commandsOf(b).some((c) => this.passesCommand(c));
  }

  showMoment(device, time) { this.moment = { device, time }; this.emit('moment'); }
  toggleBlocks() { this.allBlocks = !this.allBlocks; this.emit('blocks'); }
  togglePath() { this.pathShown = !this.pathShown; this.emit('path'); }
}
