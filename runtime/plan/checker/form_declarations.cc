// Form of declarations: devices, buffers, streams, groups, channels.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/device_limits.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

bool IsPartSize(int64_t bytes) { return bytes >= 0 && bytes <= kMaxPartBytes; }

// One past the last byte of a range, or -1 if the range does not fit in `part`
// bytes.
int64_t EndInside(const Range& range, int64_t part) {
  if (range.offset < 0 || range.block < 0 || range.count < 0 ||
      range.stride < 0 || range.offset > part) {
    return -1;
  }
  if (range.empty()) return range.offset;
  if (range.count > 1 && range.stride < range.block) return -1;
  const int64_t room = part - range.offset;
  if (range.block > room) return -1;
  if (range.count > 1 &&
      (range.count - 1) > (room - range.block) / range.stride) {
    return -1;
  }
  return range.end();
}

void CheckBuffer(const EntryView& view, const Buffer& buffer,
                 Findings& findings) {
  if (!InBounds(buffer.device.index, view.plan->devices.size())) {
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat("!", buffer.name, ": found device ", buffer.device.index,
                     "; expected one of the plan's ", view.plan->devices.size(),
                     "; give the buffer an arena")));
    return;
  }
  const PlanDevice& device = view.device(buffer.device);
  const int64_t part =
      buffer.persistent ? device.persistent_bytes : device.step_bytes;
  if (EndInside(buffer.range, part) < 0) {
    findings.Add(view.Found(
        Rule::kRange,
        absl::StrCat(device.traits.name, " !", buffer.name, ": found offset ",
                     buffer.range.offset, ", ", buffer.range.count, " x ",
                     buffer.range.block, " bytes; expected a range inside the ",
                     part, " bytes of ",
                     buffer.persistent ? "the persistent" : "the step-local",
                     " part; move it or enlarge the part")));
  }
}

// "gpu:0/s", or the stream's number if its device does not exist.
std::string NamedStream(const EntryView& view, StreamId id) {
  const bool named = InBounds(id.index, view.entry->streams.size()) &&
                     InBounds(view.entry->streams[id.index].device.index,
                              view.plan->devices.size());
  return named ? view.StreamText(id) : absl::StrCat("stream ", id.index);
}

// "", or a message that the stream does not exist.
std::string StreamFault(const EntryView& view, StreamId id) {
  const size_t streams = view.entry->streams.size();
  if (InBounds(id.index, streams)) return "";
  return absl::StrCat("found stream ", id.index, "; expected one of the ",
                      streams, " that the entry has; name another");
}

void CheckGroup(const EntryView& view, size_t g, Findings& findings) {
  absl::flat_hash_set<int32_t> seen;
  for (StreamId rank : view.entry->groups[g].ranks) {
    std::string fault = StreamFault(view, rank);
    if (fault.empty() && !seen.insert(rank.index).second) {
      fault = absl::StrCat("found ", NamedStream(view, rank),
                           " twice; expected each rank to be another "
                           "stream; name each stream once");
    }
    if (fault.empty()) continue;
    findings.Add(
        view.Found(Rule::kShape, absl::StrCat("group ", g, ": ", fault)));
    return;
  }
}

// "", or the fault in the channel's slots.
std::string SlotsFault(const EntryView& view, const Channel& channel) {
  if (channel.capacity < 0) {
    return absl::StrCat("found capacity ", channel.capacity,
                        "; expected 0 or more; raise it");
  }
  if (channel.slots.size() != static_cast<size_t>(channel.capacity)) {
    return absl::StrCat("found capacity ", channel.capacity, " and ",
                        channel.slots.size(),
                        channel.slots.size() == 1 ? " slot" : " slots",
                        "; expected one for each message that it holds; list "
                        "as many slots as the capacity");
  }
  for (BufferId slot : channel.slots) {
    if (InBounds(slot.index, view.entry->buffers.size())) continue;
    return absl::StrCat(
        "found buffer ", slot.index, " as a slot; expected one of the ",
        view.entry->buffers.size(), " that the entry has; name another");
  }
  return "";
}

std::string ChannelFault(const EntryView& view, const Channel& channel) {
  for (StreamId end : {channel.sender, channel.receiver}) {
    std::string fault = StreamFault(view, end);
    if (!fault.empty()) return fault;
  }
  if (channel.sender == channel.receiver) {
    return "found one stream at both ends; expected two; name another";
  }
  return SlotsFault(view, channel);
}

void CheckChannel(const EntryView& view, size_t i, Findings& findings) {
  const Channel& channel = view.entry->channels[i];
  const std::string fault = ChannelFault(view, channel);
  if (fault.empty()) return;
  findings.Add(view.Found(
      Rule::kShape,
      absl::StrCat("channel ", i, " ", NamedStream(view, channel.sender),
                   " -> ", NamedStream(view, channel.receiver), ": ", fault)));
}

// The dimension exists, and the unit divides it.
bool SplitFits(const TensorType& type, const Sharding& split) {
  return InBounds(split.dim, type.rank()) && split.unit >= 1 &&
         type.dims[split.dim] % split.unit == 0;
}

// There is one sharding for each value or none, and their dimensions exist.
bool ShardingsFit(const Graph& graph, const std::vector<Sharding>& shardings,
                  const ValueIds& values) {
  if (shardings.empty()) return true;
  if (shardings.size() != values.size()) return false;
  for (size_t i = 0; i < shardings.size(); ++i) {
    if (shardings[i].kind == Sharding::Kind::kSplit &&
        !SplitFits(graph.type(values[i]), shardings[i])) {
      return false;
    }
  }
  return true;
}

void CheckInputPlacements(const EntryView& view, Findings& findings) {
  const Graph& graph = view.graph();
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueId input = graph.inputs()[i];
    if (ShardingsFit(graph, graph.input_placement(static_cast<int>(i)).results,
                     {input})) {
      continue;
    }
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat("input ", view.ValueText(input),
                     ": found a sharding that does not fit it; expected one, "
                     "along a dimension that it has and in a unit that divides "
                     "it; place it again")));
  }
}

void CheckPlacements(const EntryView& view, Findings& findings) {
  CheckInputPlacements(view, findings);
  for (NodeId id : view.graph().order()) {
    const Node& node = view.graph().node(id);
    if (node.placement.devices.size() <= kMaxDevices &&
        ShardingsFit(view.graph(), node.placement.operands, node.operands) &&
        ShardingsFit(view.graph(), node.placement.results, node.results)) {
      continue;
    }
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat(view.NodeText(id), ": found ",
                     node.placement.devices.size(),
                     " devices and shardings that do not fit its values; "
                     "expected at most ",
                     kMaxDevices,
                     " devices and one sharding a value, along a dimension "
                     "that it has and in a unit that divides it; place it "
                     "again")));
  }
}

bool IsRate(double rate) { return std::isfinite(rate) && rate >= 0; }

// Costs and simulations divide by rates and add up times.
void CheckRates(const Plan& plan, const DeviceTraits& traits,
                Findings& findings) {
  const auto expect = [&](absl::string_view what, double rate) {
    if (IsRate(rate)) return;
    Finding finding;
    finding.message = absl::StrCat(
        "plan @", plan.name, ": device ", traits.name, ": found ", what, " ",
        rate, "; expected a finite number, not negative; change the rates");
    findings.Add(std::move(finding));
  };
  expect("bandwidth", traits.memory_bandwidth);
  expect("launch", traits.launch_seconds);
  for (int i = 0; i < kNumDTypes; ++i) {
    expect(DTypeName(static_cast<DType>(i)), traits.peak_flops[i]);
  }
}

void CheckThreads(const Plan& plan, const DeviceTraits& traits,
                  Findings& findings) {
  if (traits.threads >= 1 && traits.threads <= kMaxDeviceThreads) return;
  Finding finding;
  finding.message = absl::StrCat(
      "plan @", plan.name, ": device ", traits.name, ": found ", traits.threads,
      " threads; expected 1 to ", kMaxDeviceThreads,
      "; compile the model for a device that has them");
  findings.Add(std::move(finding));
}

void CheckPrograms(const EntryView& view, Findings& findings) {
  for (const Program& program : view.entry->programs) {
    if (program.num_buffer_slots >= 0 && program.num_event_slots >= 0 &&
        program.num_buffer_slots <= kMaxPlanNumber &&
        program.num_event_slots <= kMaxPlanNumber) {
      continue;
    }
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat("program ", program.name, ": found ",
                     program.num_buffer_slots, " buffer slots and ",
                     program.num_event_slots, " event slots; expected 0 to ",
                     kMaxPlanNumber, " of each; lower them")));
  }
}

}  // namespace

void CheckEvents(const EntryView& view, Findings& findings) {
  const int64_t most =
      kMaxSpareEvents + static_cast<int64_t>(view.commands.size());
  if (view.entry->num_events <= most) return;
  findings.Add(view.Found(
      Rule::kShape,
      absl::StrCat("found ", view.entry->num_events, " events for ",
                   view.commands.size(), " commands; expected at most ", most,
                   "; number the events that commands record from 0")));
}

void CheckEntries(const Plan& plan, Findings& findings) {
  if (plan.entries.size() <= kMaxPlanEntries) return;
  Finding finding;
  finding.message = absl::StrCat(
      "plan @", plan.name, ": found ", plan.entries.size(),
      " entries; expected at most ", kMaxPlanEntries, "; plan for fewer");
  findings.Add(std::move(finding));
}

void CheckDevices(const Plan& plan, Findings& findings) {
  if (plan.devices.size() > kMaxDevices) {
    Finding finding;
    finding.message = absl::StrCat(
        "plan @", plan.name, ": found ", plan.devices.size(),
        " devices; expected at most ", kMaxDevices, "; plan for fewer");
    return findings.Add(std::move(finding));
  }
  absl::flat_hash_set<std::string> names;
  for (const PlanDevice& device : plan.devices) {
    CheckRates(plan, device.traits, findings);
    CheckThreads(plan, device.traits, findings);
    if (IsPartSize(device.persistent_bytes) && IsPartSize(device.step_bytes) &&
        IsPartSize(device.memory) && IsPowerOfTwo(device.alignment) &&
        device.alignment <= kMaxAlignment &&
        names.insert(device.traits.name).second) {
      continue;
    }
    Finding finding;
    finding.message = absl::StrCat(
        "plan @", plan.name, ": device ", device.traits.name, ": found memory ",
        device.memory, ", persistent ", device.persistent_bytes, ", step ",
        device.step_bytes, " and alignment ", device.alignment,
        "; expected sizes of 0 to 2^50 bytes, a power of two up to 2^21 as "
        "alignment, and "
        "a name that no other device has; change what differs");
    findings.Add(std::move(finding));
  }
}

void CheckDeclarations(const EntryView& view, Findings& findings) {
  const Entry& entry = *view.entry;
  CheckPlacements(view, findings);
  CheckPrograms(view, findings);
  if (entry.depth < 1 || entry.depth > kMaxPlanDepth || entry.num_events < 0 ||
      entry.num_events > kMaxPlanEvents) {
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat("found depth ", entry.depth, " and ", entry.num_events,
                     " events; expected 1 to ", kMaxPlanDepth,
                     " overlapping steps and at most ", kMaxPlanEvents,
                     " events; lower them")));
  }
  for (const Stream& stream : entry.streams) {
    if (InBounds(stream.device.index, view.plan->devices.size())) continue;
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat("stream ", stream.name, ": found device ",
                     stream.device.index, "; expected one of the plan's ",
                     view.plan->devices.size(), "; put the stream on one")));
  }
  for (const Buffer& buffer : entry.buffers) {
    CheckBuffer(view, buffer, findings);
  }
  for (size_t g = 0; g < entry.groups.size(); ++g) {
    CheckGroup(view, g, findings);
  }
  for (size_t i = 0; i < entry.channels.size(); ++i) {
    CheckChannel(view, i, findings);
  }
}

}  // namespace partita
