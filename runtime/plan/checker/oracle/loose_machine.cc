// A machine that keeps no more order than every executor does.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/oracle/loose_machine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/oracle/port_places.h"
#include "runtime/plan/checker/oracle/roles.h"

namespace partita {
namespace {

using Kind = Command::Kind;

bool IsInstant(Kind kind) {
  return kind == Kind::kRecord || kind == Kind::kWait;
}

// The value of the graph that has the port's name, or -1.
int Called(const std::vector<Port>& ports, int port,
           const std::vector<std::string>& names) {
  const auto it = std::find(names.begin(), names.end(), ports[port].name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

}  // namespace

std::string MachineState::Key() const {
  std::string key(phase.begin(), phase.end());
  const auto append = [&](const Bytes& bytes) {
    key.append(reinterpret_cast<const char*>(bytes.data()),
               bytes.size() * sizeof(Term));
  };
  append(memory);
  for (const std::vector<Bytes>& all : pending) {
    for (const Bytes& bytes : all) append(bytes);
  }
  return key;
}

LooseMachine::LooseMachine(const Unrolled& program, TermTable& terms,
                           const Reference& reference)
    : program_(program), terms_(terms), reference_(reference) {
  if (program.outside) harm_ = "a byte beyond the arena or the stated peak";
}

MachineState LooseMachine::Initial() const {
  MachineState state;
  state.phase.assign(program_.ops.size(), MachineState::kQueued);
  state.memory.assign(program_.memory, kJunk);
  state.pending.resize(program_.ops.size());
  for (const PersistentValue& value : program_.entry->persistent) {
    Store(state,
          program_.AddressesOf(program_.entry->buffers[value.buffer.index], 0),
          reference_.Persistent(0, value));
  }
  return state;
}

void LooseMachine::Harm(int op, const std::string& what) {
  if (!harm_.empty()) return;
  harm_ = absl::StrCat("command ", program_.ops[op].command, " of step ",
                       program_.ops[op].step, " ", what);
}

bool LooseMachine::StepEnded(const MachineState& state, int step) const {
  const int count = program_.num_commands();
  return std::all_of(
      state.phase.begin() + step * count,
      state.phase.begin() + (step + 1) * count,
      [](uint8_t phase) { return phase == MachineState::kEnded; });
}

bool LooseMachine::CanStart(const MachineState& state, int i) const {
  const Op& op = program_.ops[i];
  if (state.phase[i] != MachineState::kQueued) return false;
  if (op.previous >= 0 && state.phase[op.previous] != MachineState::kEnded) {
    return false;
  }
  const int before = op.step - program_.depth;
  if (before >= 0 && !StepEnded(state, before)) return false;
  if (op.what->kind != Kind::kWait) return true;
  // Every run holds a wait until some record of its event has ended.
  return std::any_of(op.partners.begin(), op.partners.end(), [&](int record) {
    return state.phase[record] == MachineState::kEnded;
  });
}

bool LooseMachine::CanEnd(const MachineState& state, int i) const {
  const Op& op = program_.ops[i];
  if (state.phase[i] != MachineState::kRunning &&
      state.phase[i] != MachineState::kSpoiled) {
    return false;
  }
  const auto started = [&](int partner) {
    return state.phase[partner] != MachineState::kQueued;
  };
  if (op.what->kind == Kind::kRecv && op.partners.empty()) return false;
  if (op.what->kind == Kind::kCollective) {
    const size_t members =
        program_.entry->groups[op.what->group.index].members.size();
    if (op.partners.size() < members) return false;
  }
  return std::all_of(op.awaited.begin(), op.awaited.end(), started);
}

Bytes LooseMachine::Load(const MachineState& state, const Addresses& addresses,
                         int op) {
  Bytes bytes;
  for (int32_t address : addresses) {
    bytes.push_back(state.memory[address]);
    if (bytes.back() == kJunk) Harm(op, "reads junk");
  }
  return bytes;
}

void LooseMachine::Store(MachineState& state, const Addresses& addresses,
                         const Bytes& bytes) {
  for (size_t i = 0; i < addresses.size(); ++i) {
    state.memory[addresses[i]] = i < bytes.size() ? bytes[i] : kJunk;
  }
}

// A caller finds ports by name.
Bytes LooseMachine::FeedBytes(const Op& op) const {
  const Graph& graph = *program_.entry->graph;
  std::vector<std::string> names;
  for (ValueId input : graph.inputs()) names.push_back(graph.value(input).name);
  const int named = Called(program_.entry->inputs, op.what->port, names);
  if (named < 0) return {};
  const Bytes all = reference_.Input(op.step, named);
  Bytes bytes;
  for (int64_t place : PlacesOfPort(program_, *op.what)) {
    if (place >= static_cast<int64_t>(all.size())) return {};
    bytes.push_back(all[place]);
  }
  return bytes;
}

// Reads, and makes junk of what the op will write: what it will leave there if
// nothing disturbs it.
std::vector<Bytes> LooseMachine::ResultsOf(MachineState& state, int i) {
  const Op& op = program_.ops[i];
  // A command may begin to write before it has read all, but for what it may
  // write in place.
  std::vector<Bytes> operands(op.operands.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    if (op.in_place[k]) operands[k] = Load(state, op.operands[k], i);
  }
  for (const Addresses& result : op.results) Store(state, result, {});
  Store(state, op.workspace, {});
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!op.in_place[k]) operands[k] = Load(state, op.operands[k], i);
  }
  switch (op.what->kind) {
    case Kind::kKernel: {
      const OpView node = program_.entry->graph->view(op.what->instance.node);
      for (int k = 0; k < static_cast<int>(operands.size()); ++k) {
        // Behind the node's operands stands the sum so far.
        const bool is_sum = k == node.num_operands();
        const Division division = is_sum ? ResultDivision(node.node(), 0)
                                         : OperandDivision(node.node(), k);
        const size_t size =
            PlacesInWhole(is_sum ? node.result_type(0) : node.operand_type(k),
                          division, op.what->instance.member)
                .size();
        if (operands[k].size() == size) continue;
        Harm(i, "reads another size");
        return {};
      }
      return Compute(terms_, node, op.what->instance.member,
                     op.what->instance.micro_batch, operands);
    }
    case Kind::kFeed:
      return {FeedBytes(op)};
    case Kind::kFetch:
    case Kind::kCopy:
    case Kind::kSend:
    case Kind::kCollective:
      return operands;
    case Kind::kRecord:
    case Kind::kWait:
    case Kind::kRecv:
      break;
  }
  return {};
}

void LooseMachine::Spoil(MachineState& state, int i) {
  state.phase[i] = MachineState::kSpoiled;
  for (Bytes& bytes : state.pending[i]) {
    std::fill(bytes.begin(), bytes.end(), kJunk);
  }
}

void LooseMachine::Start(MachineState& state, int i) {
  const Op& op = program_.ops[i];
  if (IsInstant(op.what->kind)) {
    state.phase[i] = MachineState::kEnded;
    if (StepEnded(state, op.step)) BeginStep(state, op.step + program_.depth);
    return;
  }
  state.phase[i] = MachineState::kRunning;
  state.pending[i] = ResultsOf(state, i);
  for (int other : op.conflicts) {
    if (state.phase[other] != MachineState::kRunning &&
        state.phase[other] != MachineState::kSpoiled) {
      continue;
    }
    Spoil(state, i);
    Spoil(state, other);
  }
  TouchSlots(state, i);
}

// A message lies in its slot from the start of its send to the end of its
// receive.
bool LooseMachine::IsUnderWay(const MachineState& state, int send) const {
  const int receiver = program_.ops[send].receiver;
  return state.phase[send] != MachineState::kQueued &&
         (receiver < 0 || state.phase[receiver] != MachineState::kEnded);
}

// What starts over the slot of a message under way, and what runs over a slot
// while its message sets out, leaves junk, and so does the message if the other
// one writes. What the slot held before is lost.
void LooseMachine::TouchSlots(MachineState& state, int i) {
  const auto meet = [&](int op, int send) {
    if (state.phase[op] == MachineState::kRunning) Spoil(state, op);
    for (const SlotTouch& touch : program_.ops[op].slot_touches) {
      if (touch.send != send || !touch.writes) continue;
      for (Bytes& bytes : state.pending[send]) {
        std::fill(bytes.begin(), bytes.end(), kJunk);
      }
    }
  };
  const Op& op = program_.ops[i];
  for (const SlotTouch& touch : op.slot_touches) {
    if (IsUnderWay(state, touch.send)) meet(i, touch.send);
  }
  Store(state, op.slot, {});
  for (int other : op.slot_touched_by) {
    const bool runs = state.phase[other] == MachineState::kRunning ||
                      state.phase[other] == MachineState::kSpoiled;
    if (runs) meet(other, i);
  }
}

// What a member has after the exchange; its partners' bytes are as they were
// when the partners started, unless something spoiled them since.
std::vector<Bytes> LooseMachine::Exchanged(const MachineState& state, int i) {
  const Op& op = program_.ops[i];
  const OpView node = program_.entry->graph->view(op.what->instance.node);
  std::vector<Bytes> results;
  for (size_t value = 0; value < op.results.size(); ++value) {
    results.push_back(ExchangedValue(state, op, node, static_cast<int>(value)));
  }
  return results;
}

Bytes LooseMachine::ExchangedValue(const MachineState& state, const Op& op,
                                   const OpView& node, int value) const {
  const int piece = RolesIn(node)[op.what->instance.member].is_handed;
  const int members = static_cast<int>(node.node().placement.devices.size());
  const std::vector<Bytes> operands = Gathered(state, op, node, value);
  if (operands.empty()) return {};
  if (HandsPiecesOn(node)) return operands[piece];
  const bool joins = OperandDivision(node.node(), value).sharding.kind ==
                     Sharding::Kind::kPartial;
  const auto has_junk = [](const Bytes& bytes) {
    return std::find(bytes.begin(), bytes.end(), kJunk) != bytes.end();
  };
  if (joins && std::any_of(operands.begin(), operands.end(), has_junk)) {
    return {};
  }
  return Exchange(terms_, node, value, operands, members)[piece];
}

// The pieces of operand `value`, junk where none was given; nothing if a
// partner does something else.
std::vector<Bytes> LooseMachine::Gathered(const MachineState& state,
                                          const Op& op, const OpView& node,
                                          int value) const {
  const std::vector<Role> roles = RolesIn(node);
  std::vector<Bytes> operands(
      std::count_if(roles.begin(), roles.end(),
                    [](const Role& role) { return role.hands_over >= 0; }));
  for (int part : op.partners) {
    const Command& partner = *program_.ops[part].what;
    if (partner.instance.node != op.what->instance.node ||
        partner.instance.micro_batch != op.what->instance.micro_batch) {
      return {};
    }
    const int piece = roles[partner.instance.member].hands_over;
    const std::vector<Bytes>& given = state.pending[part];
    if (piece >= 0 && !given.empty()) operands[piece] = given[value];
  }
  for (int m = 0; m < static_cast<int>(operands.size()); ++m) {
    const size_t size = PlacesInWhole(node.operand_type(value),
                                      OperandDivision(node.node(), value), m)
                            .size();
    if (operands[m].size() != size) operands[m].assign(size, kJunk);
  }
  return operands;
}

void LooseMachine::CheckFetch(int i, const Bytes& bytes) {
  const Op& op = program_.ops[i];
  const int named = Called(program_.entry->outputs, op.what->port,
                           program_.entry->graph->output_names());
  if (named < 0) return Harm(i, "fetches what nobody asks for");
  const Bytes& expected = reference_.Output(op.step, named);
  const std::vector<int64_t> places = PlacesOfPort(program_, *op.what);
  if (bytes.size() != places.size()) return Harm(i, "fetches another size");
  for (size_t b = 0; b < places.size(); ++b) {
    if (places[b] >= static_cast<int64_t>(expected.size()) ||
        bytes[b] != expected[places[b]]) {
      return Harm(i, "fetches another value");
    }
  }
}

void LooseMachine::End(MachineState& state, int i) {
  const Op& op = program_.ops[i];
  const bool spoiled = state.phase[i] == MachineState::kSpoiled;
  std::vector<Bytes> results;
  if (op.what->kind == Kind::kRecv) {
    results = state.pending[op.partners[0]];
  } else if (op.what->kind == Kind::kCollective) {
    results = Exchanged(state, i);
  } else {
    results = state.pending[i];
  }
  for (size_t r = 0; r < op.results.size(); ++r) {
    Store(state, op.results[r],
          spoiled || r >= results.size() ? Bytes() : results[r]);
  }
  Store(state, op.workspace, {});
  if (op.what->kind == Kind::kFetch) {
    CheckFetch(i, spoiled ? Bytes(results[0].size(), kJunk) : results[0]);
  }
  state.phase[i] = MachineState::kEnded;
  // Partners may still need what a send or part hands over.
  if (op.what->kind != Kind::kSend && op.what->kind != Kind::kCollective) {
    state.pending[i].clear();
  }
  if (StepEnded(state, op.step)) BeginStep(state, op.step + program_.depth);
}

// Bytes of the step-local part are whatever they are when a step starts.
void LooseMachine::BeginStep(MachineState& state, int step) const {
  const std::vector<PlanDevice>& devices = program_.plan->devices;
  for (size_t d = 0; d < devices.size(); ++d) {
    const int64_t begin = program_.arena_begin[d] +
                          devices[d].persistent_bytes +
                          step % program_.depth * devices[d].step_bytes;
    for (int64_t b = 0; b < devices[d].step_bytes; ++b) {
      state.memory[begin + b] = kJunk;
    }
  }
}

bool LooseMachine::Done(const MachineState& state) const {
  return std::all_of(state.phase.begin(), state.phase.end(), [](uint8_t phase) {
    return phase == MachineState::kEnded;
  });
}

void LooseMachine::CheckEnd(const MachineState& state) {
  for (const PersistentValue& value : program_.entry->persistent) {
    const Addresses addresses =
        program_.AddressesOf(program_.entry->buffers[value.buffer.index], 0);
    const Bytes expected = reference_.Persistent(program_.steps, value);
    for (size_t b = 0; b < addresses.size(); ++b) {
      if (b >= expected.size() || state.memory[addresses[b]] != expected[b]) {
        if (harm_.empty()) harm_ = "a persistent byte ends as another value";
        return;
      }
    }
  }
}

}  // namespace partita
