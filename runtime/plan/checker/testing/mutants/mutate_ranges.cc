// Mutations of how ranges are written and spaced, and of what persists.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "runtime/plan/checker/testing/mutants/command_list.h"
#include "runtime/plan/checker/testing/mutants/mutation_list.h"

namespace partita {
namespace {

std::optional<BufferId> DrawBuffer(const Entry& entry, Random& random) {
  if (entry.buffers.empty()) return std::nullopt;
  return BufferId(static_cast<int32_t>(random() % entry.buffers.size()));
}

std::string Spelled(const Range& range) {
  return absl::StrCat(range.offset, " ", range.block, " x ", range.count,
                      " every ", range.stride);
}

// The same bytes in the same order, written as another range.
Range SpelledOtherwise(const Range& range, Random& random) {
  if (range.empty()) {
    const auto any = [&] { return static_cast<int64_t>(random() % 5); };
    return random() % 2 == 0 ? Range{any(), 0, any(), any()}
                             : Range{any(), any(), 0, any()};
  }
  if (range.count == 1 && range.block > 1 && random() % 2 == 0) {
    std::vector<int64_t> parts;
    for (int64_t n = 1; n < range.block; ++n) {
      if (range.block % n == 0) parts.push_back(n);
    }
    const int64_t block = parts[random() % parts.size()];
    return {range.offset, block, range.block / block, block};
  }
  if (range.count > 1) return range;
  return {range.offset, range.block, 1, static_cast<int64_t>(random() % 9)};
}

std::string RespellRange(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<BufferId> id = DrawBuffer(entry, random);
  if (!id.has_value()) return "";
  Buffer& buffer = entry.buffers[id->index];
  const Range other = SpelledOtherwise(buffer.range, random);
  if (Spelled(other) == Spelled(buffer.range)) return "";
  buffer.range = other;
  return absl::StrCat("wrote !", buffer.name, " as ", Spelled(other));
}

// One block becomes several, with free bytes between them.
std::string SpaceOut(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<BufferId> id = DrawBuffer(entry, random);
  if (!id.has_value()) return "";
  Buffer& buffer = entry.buffers[id->index];
  Range& range = buffer.range;
  if (range.count != 1 || range.block < 2 || range.block % 2 != 0) return "";
  const int64_t half = range.block / 2;
  const int64_t stride = half + 1 + static_cast<int64_t>(random() % 3);
  range = {range.offset, half, 2, stride};
  return absl::StrCat("spaced out !", buffer.name, " to ", Spelled(range));
}

// Two adjacent buffers: the second moves between the halves of the first.
std::string Interleave(Plan& plan, Random& random) {
  std::vector<Buffer>& buffers = plan.entries[0].buffers;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Range& first = buffers[i].range;
    if (first.count != 1 || first.block < 2 || first.block % 2 != 0) continue;
    for (size_t j = 0; j < buffers.size(); ++j) {
      const Buffer& second = buffers[j];
      if (second.device == buffers[i].device &&
          second.persistent == buffers[i].persistent &&
          second.range.count == 1 && second.range.offset == first.end()) {
        pairs.push_back({i, j});
      }
    }
  }
  const auto pair = Draw(pairs, random);
  if (!pair.has_value()) return "";
  Range& first = buffers[pair->first].range;
  Range& second = buffers[pair->second].range;
  const int64_t half = first.block / 2;
  first = {first.offset, half, 2, half + second.block};
  second.offset = first.offset + half;
  return absl::StrCat("put !", buffers[pair->second].name, " into !",
                      buffers[pair->first].name);
}

std::string DropPersistent(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  if (entry.persistent.empty()) return "";
  const size_t at = random() % entry.persistent.size();
  const std::string name =
      entry.buffers[entry.persistent[at].buffer.index].name;
  entry.persistent.erase(entry.persistent.begin() + at);
  return absl::StrCat("persists no more: !", name);
}

// Two persistent values swap their ranges.
std::string SwapPersistent(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  std::vector<PersistentValue>& values = entry.persistent;
  if (values.size() < 2) return "";
  const size_t a = random() % values.size();
  const size_t b = random() % values.size();
  if (a == b) return "";
  std::swap(values[a].buffer, values[b].buffer);
  return absl::StrCat("swapped persistent values ", std::min(a, b), " and ",
                      std::max(a, b));
}

constexpr Mutation kRangeMutations[] = {
    {"respell range", RespellRange},     {"space out", SpaceOut},
    {"interleave", Interleave},          {"drop persistent", DropPersistent},
    {"swap persistent", SwapPersistent},
};

}  // namespace

absl::Span<const Mutation> RangeMutations() { return kRangeMutations; }

}  // namespace partita
