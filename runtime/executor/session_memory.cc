// Allocates arenas and loads persistent values.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/session_memory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "runtime/device/host_arena.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

constexpr uintptr_t kKernelAlignment = 64;

bool IsVariable(const Entry& entry, const PersistentValue& value) {
  return entry.graph->node(value.node).op->traits.reads_variable;
}

// The type of the shard that a rank of the node's device set holds.
TensorType RankType(const Entry& entry, const PersistentValue& value) {
  const OpView node = entry.graph->view(value.node);
  const Placement& placement = node.node().placement;
  return ShardType(node.result_type(0), ShardingOf(placement.results, 0),
                   value.rank, static_cast<int>(placement.devices.size()));
}

// (device, first byte).
using Places = std::set<std::pair<int, int64_t>>;

// The ends of persistent buffers, by device and first byte.
class BufferEnds {
 public:
  explicit BufferEnds(const Plan& plan) {
    for (const Entry& entry : plan.entries) {
      for (const Buffer& buffer : entry.buffers) {
        if (!buffer.persistent || buffer.range.empty()) continue;
        int64_t& end = ends_[{buffer.device.index, buffer.range.offset}];
        end = std::max(end, buffer.range.end());
      }
    }
    for (auto it = ends_.begin(), last = it; it != ends_.end(); last = it++) {
      if (last->first.first != it->first.first) continue;
      it->second = std::max(it->second, last->second);
    }
  }

  // The largest end among buffers that begin before `offset`; 0 if none does.
  int64_t Furthest(int device, int64_t offset) const {
    const auto after = ends_.lower_bound({device, offset});
    if (after == ends_.begin()) return 0;
    const auto& [place, end] = *std::prev(after);
    return place.first == device ? end : 0;
  }

 private:
  // By device and first byte: the largest end of all buffers that begin there
  // or before.
  std::map<std::pair<int, int64_t>, int64_t> ends_;
};

// Values that some buffer reads together with bytes beside them. They must be
// loaded at their offset in the arena.
Places ReadWithOthers(const Plan& plan) {
  const BufferEnds ends(plan);
  Places places;
  for (const Entry& entry : plan.entries) {
    for (const PersistentValue& value : entry.persistent) {
      const Buffer& buffer = entry.buffers[value.buffer.index];
      const Range& range = buffer.range;
      if (range.empty()) continue;
      const int device = buffer.device.index;
      const bool from_before =
          ends.Furthest(device, range.offset) > range.offset;
      const bool beyond = ends.Furthest(device, range.end()) > range.end();
      if (from_before || beyond) places.insert({device, range.offset});
    }
  }
  return places;
}

// Opens the bytes of one buffer while the object exists.
class OpenedBlocks {
 public:
  OpenedBlocks(ArenaGuard* guard, const Blocks& blocks)
      : guard_(guard), blocks_(blocks) {
    if (guard_ != nullptr) guard_->Open({blocks_});
  }
  ~OpenedBlocks() {
    if (guard_ != nullptr) guard_->Close({blocks_});
  }

 private:
  ArenaGuard* guard_;
  const Blocks blocks_;
};

}  // namespace

SessionMemory::SessionMemory(const Plan& plan, const Devices& devices)
    : plan_(plan), devices_(devices), in_place_(devices.size()) {}

absl::StatusOr<std::unique_ptr<SessionMemory>> SessionMemory::New(
    const Plan& plan, const Devices& devices, bool constants_in_place) {
  if (devices.size() != plan.devices.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan @", plan.name, ": found ", devices.size(),
                     " devices; expected the plan's ", plan.devices.size()));
  }
  std::unique_ptr<SessionMemory> memory(new SessionMemory(plan, devices));
  PARTITA_RETURN_IF_ERROR(memory->CheckFits());
  PARTITA_RETURN_IF_ERROR(memory->NewArenas());
  PARTITA_RETURN_IF_ERROR(memory->Load(constants_in_place));
  return memory;
}

absl::Status SessionMemory::CheckFits() const {
  PARTITA_RETURN_IF_ERROR(CheckFitsHost());
  for (size_t d = 0; d < devices_.size(); ++d) {
    PARTITA_RETURN_IF_ERROR(CheckFitsDevice(DeviceId(static_cast<int32_t>(d))));
  }
  return absl::OkStatus();
}

// The machine file states the memory in use outside arenas (`reserve`); here it
// is measured.
absl::Status SessionMemory::CheckFitsDevice(DeviceId id) const {
  PARTITA_ASSIGN_OR_RETURN(const std::optional<MemoryFigures> figures,
                           devices_[id.index]->Memory());
  const PlanDevice& device = plan_.devices[id.index];
  const int64_t arena = ArenaBytes(device, PlanDepth(plan_));
  if (!figures.has_value() || arena <= figures->free) return absl::OkStatus();
  const std::string remedy =
      figures->share.empty()
          ? "end the processes that use them, or compile for a machine whose "
            "`reserve` is as large"
          : "split the GPU into fewer shares, or compile for shares of this "
            "size (`partita devices --split-gpu`)";
  return absl::ResourceExhaustedError(absl::StrCat(
      "plan @", plan_.name, ": found an arena of ", arena, " bytes on ",
      device.traits.name, ", ", device.persistent_bytes,
      " of them persistent; expected at most the ", figures->free,
      " bytes that are free of its ", figures->total,
      figures->share.empty() ? "" : absl::StrCat(" (", figures->share, ")"),
      ": ", figures->total - figures->free, " are in use outside the arena; ",
      remedy));
}

// Arenas are reserved whole and committed when accessed. A plan accesses all of
// its arenas, except on devices that compute nothing.
absl::Status SessionMemory::CheckFitsHost() const {
  const int64_t available = AvailableHostMemory();
  if (available < 0) return absl::OkStatus();
  double wanted = 0;
  for (size_t d = 0; d < devices_.size(); ++d) {
    const bool on_host = devices_[d]->properties().host_accesses_arenas;
    if (!on_host || !HoldsValues(DeviceId(static_cast<int32_t>(d)))) continue;
    wanted +=
        static_cast<double>(ArenaBytes(plan_.devices[d], PlanDepth(plan_)));
  }
  if (wanted <= static_cast<double>(available)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("plan @", plan_.name, ": found arenas of ",
                   static_cast<int64_t>(std::min(wanted, 9e18)),
                   " bytes; expected at most the ", available,
                   " bytes of memory that this host has free; run it with "
                   "timed virtual devices, which access no memory"));
}

bool SessionMemory::HoldsValues(DeviceId device) const {
  return devices_[device.index]->properties().computed_by !=
         ComputedBy::kNothing;
}

absl::Status SessionMemory::NewArenas() {
  for (size_t d = 0; d < devices_.size(); ++d) {
    const PlanDevice& device = plan_.devices[d];
    const int64_t bytes = ArenaBytes(device, PlanDepth(plan_));
    PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena,
                             devices_[d]->NewArena(bytes, device.alignment));
    arenas_.push_back(std::move(arena));
  }
  return absl::OkStatus();
}

absl::Status SessionMemory::Load(bool constants_in_place) {
  const Places together = ReadWithOthers(plan_);
  Places loaded;
  for (const Entry& entry : plan_.entries) {
    for (const PersistentValue& value : entry.persistent) {
      const Buffer& buffer = entry.buffers[value.buffer.index];
      // A value of zero bytes needs no load; its offset is that of the next
      // value.
      if (buffer.range.empty()) continue;
      if (!HoldsValues(buffer.device)) continue;
      const std::pair place(buffer.device.index, buffer.range.offset);
      if (!loaded.insert(place).second) {
        continue;  // entries share their persistent values
      }
      const bool in_place = constants_in_place && !IsVariable(entry, value) &&
                            !together.contains(place);
      PARTITA_RETURN_IF_ERROR(LoadValue(entry, value, in_place));
    }
  }
  for (auto& constants : in_place_) {
    std::sort(constants.begin(), constants.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }
  return absl::OkStatus();
}

absl::Status SessionMemory::LoadValue(const Entry& entry,
                                      const PersistentValue& value,
                                      bool in_place) {
  const Buffer& buffer = entry.buffers[value.buffer.index];
  const LiteralPool& literals = plan_.module.literals();
  if (!literals.has_bytes(value.initial)) {
    return absl::FailedPreconditionError(
        absl::StrCat("entry @", entry.name, ": !", buffer.name,
                     ": found a constant with only its hash; expected its "
                     "bytes; load the plan from its file"));
  }
  if (literals.type(value.initial) == RankType(entry, value)) {
    const std::byte* bytes = literals.byte_span(value.initial).data();
    if (in_place && KeepInPlace(buffer.device, buffer.range, bytes)) {
      return absl::OkStatus();
    }
    return WritePersistent(entry, value, bytes);
  }
  PARTITA_ASSIGN_OR_RETURN(const HostTensor shard,
                           FirstBytes(entry.graph->view(value.node), value.rank,
                                      literals.tensor(value.initial)));
  return WritePersistent(entry, value, shard.bytes());
}

bool SessionMemory::KeepInPlace(DeviceId device, const Range& range,
                                const std::byte* bytes) {
  const auto address = reinterpret_cast<uintptr_t>(bytes);
  if (!devices_[device.index]->properties().reads_host_memory ||
      range.count != 1 || range.empty() || address % kKernelAlignment != 0) {
    return false;
  }
  // Constants are only read: the checker proves it, and the mapping of a file
  // is read-only.
  in_place_[device.index].push_back(
      {range.offset, range.end(), const_cast<std::byte*>(bytes)});
  return true;
}

Blocks SessionMemory::Locate(const Entry& entry, BufferId id,
                             int64_t step) const {
  const Buffer& buffer = entry.buffers[id.index];
  const Range range = AbsoluteRange(plan_, entry, buffer, step);
  const int device = buffer.device.index;
  std::byte* base = arenas_[device]->base() + range.offset;
  const auto& constants = in_place_[device];
  if (buffer.persistent && !range.empty() && !constants.empty()) {
    auto after = std::upper_bound(
        constants.begin(), constants.end(), range.offset,
        [](int64_t offset, const auto& c) { return offset < c.begin; });
    if (after != constants.begin() && range.end() <= std::prev(after)->end) {
      base = std::prev(after)->bytes + (range.offset - std::prev(after)->begin);
    }
  }
  return {base, range.block, range.count, range.stride};
}

absl::Status SessionMemory::RestoreVariables() {
  for (const Entry& entry : plan_.entries) {
    for (const PersistentValue& value : entry.persistent) {
      const DeviceId device = entry.buffers[value.buffer.index].device;
      if (!IsVariable(entry, value) || !HoldsValues(device)) continue;
      PARTITA_RETURN_IF_ERROR(LoadValue(entry, value, /*in_place=*/false));
    }
  }
  return absl::OkStatus();
}

absl::Status SessionMemory::WritePersistent(const Entry& entry,
                                            const PersistentValue& value,
                                            const void* bytes) {
  const Buffer& buffer = entry.buffers[value.buffer.index];
  if (RankType(entry, value).num_bytes() != buffer.range.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry @", entry.name, ": !", buffer.name,
                     ": found a range of ", buffer.range.size(),
                     " bytes; expected ", RankType(entry, value).num_bytes()));
  }
  const DeviceId device = entry.buffers[value.buffer.index].device;
  const Blocks to = Locate(entry, value.buffer, 0);
  OpenedBlocks opened(guard(device), to);
  for (int64_t i = 0; i < to.count; ++i) {
    PARTITA_RETURN_IF_ERROR(devices_[device.index]->Upload(
        to.base + i * to.stride,
        static_cast<const std::byte*>(bytes) + i * to.block, to.block));
  }
  return absl::OkStatus();
}

absl::Status SessionMemory::ReadPersistent(const Entry& entry,
                                           const PersistentValue& value,
                                           void* bytes) const {
  const DeviceId device = entry.buffers[value.buffer.index].device;
  const Blocks from = Locate(entry, value.buffer, 0);
  OpenedBlocks opened(guard(device), from);
  for (int64_t i = 0; i < from.count; ++i) {
    PARTITA_RETURN_IF_ERROR(devices_[device.index]->Download(
        static_cast<std::byte*>(bytes) + i * from.block,
        from.base + i * from.stride, from.block));
  }
  return absl::OkStatus();
}

bool SessionMemory::IsInPlace(const Entry& entry, BufferId id) const {
  const Buffer& buffer = entry.buffers[id.index];
  const Arena& arena = *arenas_[buffer.device.index];
  if (!buffer.persistent || buffer.range.empty()) return false;
  return Locate(entry, id, 0).base != arena.base() + buffer.range.offset;
}

absl::StatusOr<std::vector<DeviceMemory>> SessionMemory::Use() const {
  std::vector<DeviceMemory> use;
  for (size_t d = 0; d < devices_.size(); ++d) {
    const PlanDevice& device = plan_.devices[d];
    DeviceMemory& memory = use.emplace_back();
    memory.device = device.traits.name;
    memory.arena = arenas_[d]->size();
    memory.persistent = device.persistent_bytes;
    memory.step = device.step_bytes;
    memory.depth = PlanDepth(plan_);
    memory.reserved = arenas_[d]->ReservedBytes();
    for (const auto& constant : in_place_[d]) {
      memory.in_place += constant.end - constant.begin;
    }
    memory.committed = arenas_[d]->CommittedBytes();
    memory.limit = device.memory;
    PARTITA_ASSIGN_OR_RETURN(const std::optional<MemoryFigures> figures,
                             devices_[d]->Memory());
    if (!figures.has_value()) continue;
    memory.total = figures->total;
    memory.free = figures->free;
    memory.outside = figures->total - figures->free - memory.arena;
  }
  return use;
}

}  // namespace partita
