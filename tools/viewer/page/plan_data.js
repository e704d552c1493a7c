// The plans of the page: columns of the JSON (page_json.h) behind names.
// SPDX-License-Identifier: Apache-2.0

const DATA = JSON.parse(document.getElementById('data').textContent);
const stringAt = (i) => i < 0 ? '' : DATA.strings[i];

// Lists by key, for `keys` of 0 .. count - 1; negative keys are in no list.
class Lists {
  constructor(keys, count) {
    this.start = new Int32Array(count + 1);
    for (const key of keys) if (key >= 0) ++this.start[key + 1];
    for (let i = 0; i < count; ++i) this.start[i + 1] += this.start[i];
    const next = this.start.slice();
    this.items = new Int32Array(this.start[count]);
    keys.forEach((key, i) => { if (key >= 0) this.items[next[key]++] = i; });
  }
  of(key) { return this.items.subarray(this.start[key], this.start[key + 1]); }
}

const NODE = 0, INPUT = 1, OUTPUT = 2;  // BoxView::Kind

class EntryData {
  constructor(json, index) {
    const { name, ...columns } = json;
    Object.assign(this, columns);
    this.entryName = name;
    this.index = index;
    this.numBoxes = json.boxes.name.length;
    this.numCommands = json.commands.stream.length;
    this.kinds = Object.fromEntries([...new Set(json.commands.kind)].map((k) => [k, stringAt(k)]));
    this.pathSeconds = new Map();  // by command
    for (let i = 0; i < json.path.length; i += 2) this.pathSeconds.set(json.path[i], json.path[i + 1] * json.tick);
    this.pathBoxes = new Map();  // by box: seconds
    for (const [c, seconds] of this.pathSeconds) {
      const b = json.commands.box[c];
      if (b >= 0) this.pathBoxes.set(b, (this.pathBoxes.get(b) || 0) + seconds);
    }
    this.explained = new Map(json.explanations.map((e) => [e.box, e]));
  }
  name(b) { return stringAt(this.boxes.name[b]); }
  op(b) { return stringAt(this.boxes.op[b]); }
  scope(b) { return stringAt(this.boxes.scope[b]); }
  location(b) { return stringAt(this.boxes.location[b]); }
  reason(b) { return stringAt(this.boxes.reason[b]); }
  kernel(b) { return stringAt(this.boxes.kernel[b]); }
  boxKind(b) { return this.boxes.kind[b]; }
  devices(b) { return this.deviceSets[this.boxes.devices[b]]; }
  operands(b) {
    const { operandStart: at, operandName, operandType, operandBox } = this.boxes;
    const list = [];
    for (let i = at[b]; i < at[b + 1]; ++i) list.push({ name: stringAt(operandName[i]), type: stringAt(operandType[i]), box: operandBox[i] });
    return list;
  }
  results(b) {
    const { resultStart: at, resultName, resultType } = this.boxes;
    const list = [];
    for (let i = at[b]; i < at[b + 1]; ++i) list.push({ name: stringAt(resultName[i]), type: stringAt(resultType[i]) });
    return list;
  }
  commandsOf(b) { return (this.byBox ||= new Lists(this.commands.box, this.numBoxes)).of(b); }
  edgesFrom(b) { return (this.outgoing ||= new Lists(this.edges.from, this.numBoxes)).of(b); }
  edgesTo(b) { return (this.incoming ||= new Lists(this.edges.to, this.numBoxes)).of(b); }
  commandsOn(stream) { return (this.byStream ||= new Lists(this.commands.stream, this.streams.length)).of(stream); }
  title(c) { return stringAt(this.commands.title[c]); }
  kind(c) { return this.kinds[this.commands.kind[c]]; }
  start(c) { return this.commands.start[c] * this.tick; }
  length(c) { return this.commands.length[c] * this.tick; }
  deviceOf(c) { return this.streams[this.commands.stream[c]].device; }
  // By device: seconds of its kernels.
  busySeconds(numDevices) {
    if (this.busy) return this.busy;
    this.busy = new Array(numDevices).fill(0);
    for (let c = 0; c < this.numCommands; ++c) if (this.kind(c) === 'kernel') this.busy[this.deviceOf(c)] += this.length(c);
    return this.busy;
  }
  // -1: none.
  find(name) {
    for (let b = 0; b < this.numBoxes; ++b) if (this.name(b) === name || this.name(b) === '%' + name) return b;
    return -1;
  }
}

class TraceData {
  constructor(json) { Object.assign(this, json); }
  startOf(c) { return this.start[c] * this.tick; }
  lengthOf(c) { return this.length[c] * this.tick; }
}

class PlanData {
  constructor(json) {
    Object.assign(this, json);
    this.entries = json.entries.map((entry, i) => new EntryData(entry, i));
    this.traces = json.traces.map((trace) => new TraceData(trace));
    this.classOf = [];  // by device: its list of equal devices
    this.nameHues(new Map());
    json.equalDevices.forEach((devices, k) => devices.forEach((d) => { this.classOf[d] = k; }));
  }
  // By device. A device has the hue that a plan beside this one gives to its name.
  nameHues(hues) {
    this.hues = hues;
    this.hueOf = this.devices.map(({ name }) => {
      if (!hues.has(name)) hues.set(name, hues.size);
      return hues.get(name);
    });
  }
  deviceName(d) { return this.devices[d].name; }
}
