// Checks devices, sizes and alignment of a command's buffers.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/command_form.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/shards.h"

namespace partita {

bool CommandForm::speaks_of_node() const {
  switch (command_.kind) {
    case Command::Kind::kKernel:
    case Command::Kind::kCopy:
    case Command::Kind::kCollective:
    case Command::Kind::kSend:
    case Command::Kind::kRecv:
      return true;
    case Command::Kind::kFeed:
    case Command::Kind::kFetch:
    case Command::Kind::kRecord:
    case Command::Kind::kWait:
      return false;
  }
  return false;
}

void CommandForm::Add(Rule rule, absl::string_view what) {
  findings_.Add(
      view_.Found(rule, c_,
                  absl::StrCat(view_.places.Text(c_), " ",
                               CommandKindName(command_.kind), ": ", what)));
}

size_t CommandForm::NumInstances() const {
  return command_.kind == Command::Kind::kCollective
             ? view_.collective(command_).ranks.size()
             : node().node().placement.devices.size();
}

const std::string& CommandForm::InstanceDevice() const {
  return command_.kind == Command::Kind::kCollective
             ? view_.collective(command_).ranks[command_.instance.rank].device
             : node().node().placement.devices[command_.instance.rank];
}

void CommandForm::CheckOwnDevice() {
  const DeviceId device = view_.device_of(command_);
  if (speaks_of_node() && InstanceDevice() != DeviceName(device)) {
    Add(Rule::kDevice,
        absl::StrCat("found it on ", DeviceName(device), "; expected ",
                     NodeText(), " on ", InstanceDevice(),
                     ", where the graph places it; move the command"));
  }
  const auto here = [&](BufferId id) {
    if (view_.buffer(id).device == device) return;
    Add(Rule::kDevice,
        absl::StrCat("found ", view_.BufferText(id), " on a stream of ",
                     DeviceName(device),
                     "; expected bytes of that device; copy them first"));
  };
  absl::c_for_each(command_.operands, here);
  absl::c_for_each(command_.results, here);
  if (command_.workspace.valid()) here(command_.workspace);
}

void CommandForm::ExpectBytes(BufferId id, int64_t bytes,
                              absl::FunctionRef<std::string()> what) {
  const int64_t found = view_.buffer(id).range.size();
  if (found == bytes) return;
  Add(Rule::kSize, absl::StrCat("found ", found, " bytes in ",
                                view_.BufferText(id), "; expected the ", bytes,
                                " of ", what(), "; change the buffer's range"));
}

void CommandForm::ExpectValue(BufferId id, ValueId value,
                              const Sharding& sharding, int rank) {
  const Graph& graph = view_.graph();
  const TensorType shard = TypeOfShard(graph.type(value), sharding, rank,
                                       NumRanks(node().node().placement));
  ExpectBytes(id, shard.num_bytes(), [&] {
    return absl::StrCat(view_.ValueText(value), ": ", shard.ToString());
  });
  ExpectDense(id, shard.dtype);
}

// Kernels and collectives need one block, aligned to its elements.
void CommandForm::ExpectDense(BufferId id, DType dtype) {
  const Buffer& buffer = view_.buffer(id);
  if (NumBlocks(buffer.range) > 1) {
    Add(Rule::kSize,
        absl::StrCat("found ", view_.BufferText(id), " in ", buffer.range.count,
                     " blocks; expected one block; copy first"));
  }
  ExpectAligned(id, std::max(1, BitsOf(dtype) / 8));
}

void CommandForm::ExpectAligned(BufferId id, int64_t alignment) {
  const Buffer& buffer = view_.buffer(id);
  if (buffer.range.empty()) return;
  const PlanDevice& device = view_.device(buffer.device);
  if (device.alignment < alignment) {
    Add(Rule::kRange,
        absl::StrCat("found ", view_.BufferText(id), " in an arena aligned ",
                     "to ", device.alignment, "; expected at least ", alignment,
                     "; raise the device's alignment"));
  }
  for (int copy = 0; copy < std::min(view_.entry->depth, 2); ++copy) {
    const int64_t begin = PartBegin(device, buffer, copy) + buffer.range.offset;
    if (begin % alignment == 0) continue;
    Add(Rule::kRange,
        absl::StrCat("found ", view_.BufferText(id), " at offset ",
                     buffer.range.offset, ", byte ", begin,
                     " of its arena; expected a multiple of ", alignment,
                     " there; move the buffer"));
    return;
  }
}

}  // namespace partita
