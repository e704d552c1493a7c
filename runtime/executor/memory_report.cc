// Figures from runners and arenas, blocks from the plan.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/memory_report.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "runtime/plan/command_titles.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

// The bytes of one step of the entry on a device: up to the last byte of its
// buffers.
int64_t StepBytes(const Entry& entry, DeviceId device) {
  int64_t bytes = 0;
  for (const Buffer& buffer : entry.buffers) {
    if (buffer.device != device || buffer.persistent || buffer.range.empty()) {
      continue;
    }
    bytes = std::max(bytes, buffer.range.end());
  }
  return bytes;
}

size_t IndexOf(const Device* device, const Devices& devices) {
  const auto found = absl::c_find_if(
      devices, [&](const auto& other) { return other.get() == device; });
  return static_cast<size_t>(found - devices.begin());
}

// How the commands of an entry use one buffer.
struct BufferUse {
  void AddCommand(CommandId command) {
    if (first < 0) first = command.index;
    last = command.index;
  }
  void AddOwner(std::string owner) {
    if (!absl::c_linear_search(owners, owner)) {
      owners.push_back(std::move(owner));
    }
  }

  int first = -1;
  int last = -1;
  bool is_workspace = false;
  std::vector<std::string> owners;
};

class BufferUses {
 public:
  static absl::StatusOr<BufferUses> Of(const Plan& plan, const Entry& entry) {
    PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
    BufferUses uses(plan, entry);
    for (const CommandId c : commands.ids()) uses.Add(commands[c], c);
    return uses;
  }
  const BufferUse& of(size_t buffer) const { return uses_[buffer]; }

 private:
  BufferUses(const Plan& plan, const Entry& entry)
      : entry_(entry), titles_(plan, entry), uses_(entry.buffers.size()) {}

  void Add(const Command& command, CommandId id) {
    for (const Access& access : Accesses(entry_, command)) {
      uses_[access.buffer.index].AddCommand(id);
    }
    for (size_t i = 0; i < command.results.size(); ++i) {
      uses_[command.results[i].index].AddOwner(ResultText(command, i));
    }
    if (command.workspace.valid()) {
      BufferUse& use = uses_[command.workspace.index];
      use.is_workspace = true;
      use.AddOwner(titles_.TitleOf(command));
    }
    if (!command.channel.valid()) return;
    for (const BufferId slot : entry_.channels[command.channel.index].slots) {
      uses_[slot.index].AddCommand(id);
      uses_[slot.index].AddOwner(ResultText(command, 0));
    }
  }

  // The value that the command writes to its result `i`.
  std::string ResultText(const Command& command, size_t i) const {
    if (command.kind == Command::Kind::kFeed) {
      return absl::StrCat("input ", entry_.inputs[command.port].name);
    }
    if (!command.instance.node.valid()) {  // a copy of a plan made by hand
      return absl::StrCat("!", entry_.buffers[command.results[i].index].name);
    }
    const Graph& graph = *entry_.graph;
    return ValueText(graph, graph.node(command.instance.node).results[i]);
  }

  const Entry& entry_;
  CommandTitles titles_;
  std::vector<BufferUse> uses_;
};

// Adds the blocks of a session to the snapshots of its devices.
class SnapshotBuilder {
 public:
  SnapshotBuilder(const LoadedSession& session,
                  std::vector<MemorySnapshot>& snapshots)
      : session_(session), snapshots_(snapshots) {}

  absl::Status Build() {
    const Plan& plan = session_.plan;
    for (size_t e = 0; e < plan.entries.size(); ++e) {
      AddPersistent(plan.entries[e]);
      PARTITA_RETURN_IF_ERROR(AddOfSteps(plan.entries[e]));
      AddStaging(plan.entries[e].name, *session_.runners[e]);
    }
    AddCode();
    for (MemorySnapshot& snapshot : snapshots_) {
      absl::c_stable_sort(snapshot.blocks, [](const auto& a, const auto& b) {
        return std::tie(a.kind, a.offset) < std::tie(b.kind, b.offset);
      });
    }
    return absl::OkStatus();
  }

 private:
  // Entries share constants and variables.
  void AddPersistent(const Entry& entry) {
    for (const PersistentValue& value : entry.persistent) {
      const Buffer& buffer = entry.buffers[value.buffer.index];
      if (buffer.range.empty() ||
          !added_.emplace(buffer.device.index, buffer.range.offset).second) {
        continue;
      }
      const OpView node = entry.graph->view(value.node);
      const bool is_variable = node.op().traits.reads_variable;
      Add(buffer.device,
          {.kind = is_variable ? MemoryKind::kVariable : MemoryKind::kWeights,
           .offset = buffer.range.offset,
           .bytes = buffer.range.size(),
           .owners = {is_variable
                          ? absl::StrCat("@", node.attr_string("name"))
                          : ValueText(*entry.graph, node.node().results[0])},
           .in_place = session_.memory.IsInPlace(entry, value.buffer)});
    }
  }

  absl::Status AddOfSteps(const Entry& entry) {
    PARTITA_ASSIGN_OR_RETURN(const BufferUses uses,
                             BufferUses::Of(session_.plan, entry));
    for (size_t b = 0; b < entry.buffers.size(); ++b) {
      const Buffer& buffer = entry.buffers[b];
      const BufferUse& use = uses.of(b);
      if (buffer.persistent || buffer.range.empty() || use.first < 0) continue;
      MemoryBlock block = {
          .entry = entry.name,
          .kind = use.is_workspace ? MemoryKind::kWorkspace
                                   : MemoryKind::kActivation,
          .offset = AbsoluteRange(session_.plan, entry, buffer, 0).offset,
          .bytes = buffer.range.size(),
          .copies = entry.depth,
          .first_command = use.first,
          .last_command = use.last,
          .owners = use.owners};
      // Only read: a part of other buffers, or several of them as one.
      if (block.owners.empty()) {
        block.owners.push_back(absl::StrCat("!", buffer.name));
      }
      Add(buffer.device, std::move(block));
    }
    return absl::OkStatus();
  }

  void AddStaging(const std::string& entry, const EntryRunner& runner) {
    for (StagingUse& use : runner.Staging()) {
      Add(DeviceId(static_cast<int32_t>(IndexOf(use.device, session_.devices))),
          {.entry = entry,
           .kind = MemoryKind::kStaging,
           .bytes = use.bytes / use.copies,
           .copies = use.copies,
           .owners = std::move(use.owners)});
    }
  }

  void AddCode() {
    const Plan& plan = session_.plan;
    for (size_t d = 0; d < plan.devices.size(); ++d) {
      const std::string target = CodeTargetOf(plan.devices[d].traits);
      for (const CodeObject& code : plan.code_objects) {
        if (code.target != target) continue;
        Add(DeviceId(static_cast<int32_t>(d)),
            {.kind = MemoryKind::kCode,
             .bytes = static_cast<int64_t>(code.bytes.size()),
             .owners = {code.target}});
      }
    }
  }

  void Add(DeviceId device, MemoryBlock block) {
    snapshots_[device.index].blocks.push_back(std::move(block));
  }

  const LoadedSession& session_;
  std::vector<MemorySnapshot>& snapshots_;
  std::set<std::pair<int, int64_t>> added_;  // device, offset of persistent
};

}  // namespace

absl::StatusOr<std::vector<DeviceMemory>> MemoryUseOf(
    const LoadedSession& session) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<DeviceMemory> use, session.memory.Use());
  for (DeviceMemory& memory : use) {
    memory.allocated = memory.peak = memory.persistent;
  }
  for (size_t e = 0; e < session.runners.size(); ++e) {
    const EntryRunner& runner = *session.runners[e];
    for (size_t d = 0; d < use.size(); ++d) {
      const int64_t step =
          StepBytes(session.plan.entries[e], DeviceId(static_cast<int32_t>(d)));
      use[d].allocated += runner.in_flight() * step;
      // Steps in flight belong to one entry.
      use[d].peak = std::max(
          use[d].peak, use[d].persistent + runner.most_in_flight() * step);
    }
    for (const StagingUse& staging : runner.Staging()) {
      use[IndexOf(staging.device, session.devices)].staging += staging.bytes;
    }
  }
  return use;
}

absl::StatusOr<std::vector<MemorySnapshot>> MemorySnapshotOf(
    const LoadedSession& session) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<DeviceMemory> use, MemoryUseOf(session));
  std::vector<MemorySnapshot> snapshots;
  for (DeviceMemory& memory : use) snapshots.push_back({std::move(memory), {}});
  PARTITA_RETURN_IF_ERROR(SnapshotBuilder(session, snapshots).Build());
  return snapshots;
}

}  // namespace partita
