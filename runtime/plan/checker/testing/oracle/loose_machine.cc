// A machine that keeps no more order than every executor does.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/loose_machine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/testing/oracle/port_offsets.h"
#include "runtime/plan/checker/testing/oracle/roles.h"

namespace partita {
namespace {

using Kind = Command::Kind;

bool IsInstant(Kind kind) {
  return kind == Kind::kRecord || kind == Kind::kWait;
}

// The index of the name that the port has, or -1.
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
  harm_ = absl::StrCat("command ", program_.ops[op].command.index, " of step ",
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
  // A wait ends when at least one record of its event has ended.
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
    const size_t ranks =
        program_.entry->groups[op.what->group.index].ranks.size();
    if (op.partners.size() < ranks) return false;
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

// Callers find ports by name.
Bytes LooseMachine::FeedBytes(const Op& op) const {
  const Graph& graph = *program_.entry->graph;
  std::vector<std::string> names;
  for (ValueId input : graph.inputs()) names.push_back(graph.value(input).name);
  const int named = Called(program_.entry->inputs, op.what->port, names);
  if (named < 0) return {};
  const Bytes all = reference_.Input(op.step, named);
  Bytes bytes;
  for (int64_t offset : OffsetsInPort(program_, *op.what)) {
    if (offset >= static_cast<int64_t>(all.size())) return {};
    bytes.push_back(all[offset]);
  }
  return bytes;
}

// Reads the operands and returns the results that the op will write. Until it
// ends, its results are junk.
std::vector<Bytes> LooseMachine::ResultsOf(MachineState& state, int i) {
  const Op& op = program_.ops[i];
  // A command may start to write before it has read all operands, except
  // operands that it may overwrite in place.
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
        // The partial sum comes after the node's operands.
        const bool is_sum = k == node.num_operands();
        const ValueSharding held = is_sum
                                       ? ResultValueSharding(node.node(), 0)
                                       : OperandValueSharding(node.node(), k);
        const size_t size =
            OffsetsInWhole(is_sum ? node.result_type(0) : node.operand_type(k),
                           held, op.what->instance.rank)
                .size();
        if (operands[k].size() == size) continue;
        Harm(i, "reads another size");
        return {};
      }
      return Compute(terms_, node, op.what->instance.rank,
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
  AccessSlots(state, i);
}

// A message is in its slot from the start of its send to the end of its
// receive.
bool LooseMachine::IsInFlight(const MachineState& state, int send) const {
  const int receiver = program_.ops[send].receiver;
  return state.phase[send] != MachineState::kQueued &&
         (receiver < 0 || state.phase[receiver] != MachineState::kEnded);
}

// Junk results from an op that starts over the slot of a message in flight, and
// from an op that runs while a send starts over its bytes. The message is junk
// too if that op writes. The slot loses what it held before.
void LooseMachine::AccessSlots(MachineState& state, int i) {
  const auto conflict = [&](int op, int send) {
    if (state.phase[op] == MachineState::kRunning) Spoil(state, op);
    for (const SlotAccess& access : program_.ops[op].slot_accesses) {
      if (access.send != send || !access.writes) continue;
      for (Bytes& bytes : state.pending[send]) {
        std::fill(bytes.begin(), bytes.end(), kJunk);
      }
    }
  };
  const Op& op = program_.ops[i];
  for (const SlotAccess& access : op.slot_accesses) {
    if (IsInFlight(state, access.send)) conflict(i, access.send);
  }
  Store(state, op.slot, {});
  for (int other : op.slot_accessed_by) {
    const bool runs = state.phase[other] == MachineState::kRunning ||
                      state.phase[other] == MachineState::kSpoiled;
    if (runs) conflict(other, i);
  }
}

// The results of a rank. Its partners' bytes are those at the start of the
// partners, unless an op has spoiled them since.
std::vector<Bytes> LooseMachine::CollectiveResults(const MachineState& state,
                                                   int i) {
  const Op& op = program_.ops[i];
  const OpView node = program_.entry->graph->view(op.what->instance.node);
  std::vector<Bytes> results;
  for (size_t value = 0; value < op.results.size(); ++value) {
    results.push_back(
        CollectiveResult(state, op, node, static_cast<int>(value)));
  }
  return results;
}

Bytes LooseMachine::CollectiveResult(const MachineState& state, const Op& op,
                                     const OpView& node, int value) const {
  const int shard = RolesIn(node)[op.what->instance.rank].receives;
  const int ranks = static_cast<int>(node.node().placement.devices.size());
  const std::vector<Bytes> operands = Gathered(state, op, node, value);
  if (operands.empty()) return {};
  if (ForwardsShards(node)) return operands[shard];
  const bool reduces = OperandValueSharding(node.node(), value).sharding.kind ==
                       Sharding::Kind::kPartial;
  const auto has_junk = [](const Bytes& bytes) {
    return std::find(bytes.begin(), bytes.end(), kJunk) != bytes.end();
  };
  if (reduces && std::any_of(operands.begin(), operands.end(), has_junk)) {
    return {};
  }
  const TensorType moved = MovedType(node, value);
  return RunCollectiveOn(terms_, node, value, moved, moved, operands,
                         ranks)[shard];
}

// The shards of operand `value`; junk where a rank gives none. Empty if a
// partner performs another collective.
std::vector<Bytes> LooseMachine::Gathered(const MachineState& state,
                                          const Op& op, const OpView& node,
                                          int value) const {
  const std::vector<Role> roles = RolesIn(node);
  std::vector<Bytes> operands(
      std::count_if(roles.begin(), roles.end(),
                    [](const Role& role) { return role.sends >= 0; }));
  for (int part : op.partners) {
    const Command& partner = *program_.ops[part].what;
    if (partner.instance.node != op.what->instance.node ||
        partner.instance.micro_batch != op.what->instance.micro_batch) {
      return {};
    }
    const int shard = roles[partner.instance.rank].sends;
    const std::vector<Bytes>& given = state.pending[part];
    if (shard >= 0 && !given.empty()) operands[shard] = given[value];
  }
  for (int m = 0; m < static_cast<int>(operands.size()); ++m) {
    const size_t size =
        OffsetsInWhole(node.operand_type(value),
                       OperandValueSharding(node.node(), value), m)
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
  const std::vector<int64_t> offsets = OffsetsInPort(program_, *op.what);
  if (bytes.size() != offsets.size()) return Harm(i, "fetches another size");
  for (size_t b = 0; b < offsets.size(); ++b) {
    if (offsets[b] >= static_cast<int64_t>(expected.size()) ||
        bytes[b] != expected[offsets[b]]) {
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
    results = CollectiveResults(state, i);
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
  // Partners may still need the bytes of a send or collective.
  if (op.what->kind != Kind::kSend && op.what->kind != Kind::kCollective) {
    state.pending[i].clear();
  }
  if (StepEnded(state, op.step)) BeginStep(state, op.step + program_.depth);
}

// At the start of a step, step-local bytes are junk.
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
