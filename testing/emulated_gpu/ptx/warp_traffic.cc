// Puts the accesses of threads together.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/warp_traffic.h"

#include <algorithm>

#include "graph/status_macros.h"

namespace partita::ptx {
namespace {

constexpr uint32_t kWarpThreads = 32;

}  // namespace

absl::Status WarpTrafficMemory::Read(const Access& access, std::byte* to) {
  PARTITA_RETURN_IF_ERROR(memory_.Read(access, to));
  Note(access, /*writes=*/false);
  return absl::OkStatus();
}

absl::Status WarpTrafficMemory::Write(const Access& access,
                                      const std::byte* from) {
  PARTITA_RETURN_IF_ERROR(memory_.Write(access, from));
  Note(access, /*writes=*/true);
  return absl::OkStatus();
}

// Blocks run one after the other.
void WarpTrafficMemory::Note(const Access& access, bool writes) {
  if (access.block != block_) EndBlock();
  block_ = access.block;
  WarpTraffic& traffic = traffic_[access.line];
  traffic.writes = writes;
  traffic.access_bytes = access.bytes;
  Instruction& instruction = of_block_[access.line];
  const uint64_t number = instruction.done[access.thread]++;
  auto& accesses = instruction.accesses[access.thread / kWarpThreads];
  if (number >= accesses.size()) accesses.resize(number + 1);
  accesses[number].emplace_back(access.address, access.address + access.bytes);
}

// One access of a warp.
void WarpTrafficMemory::Count(std::vector<Bytes>& access,
                              WarpTraffic& traffic) {
  std::sort(access.begin(), access.end());
  uint64_t asked = 0;
  uint64_t counted = 0;  // the end of the bytes that are counted
  uint64_t sector = 0;   // the first one that is not counted
  for (const auto& [begin, end] : access) {
    if (end <= counted) continue;
    asked += end - std::max(begin, counted);
    const uint64_t behind = (end - 1) / kSectorBytes + 1;
    traffic.sectors += behind - std::max(sector, begin / kSectorBytes);
    counted = end;
    sector = behind;
  }
  ++traffic.accesses;
  traffic.asked += asked;
  traffic.fewest += (asked + kSectorBytes - 1) / kSectorBytes;
}

void WarpTrafficMemory::EndBlock() {
  for (auto& [line, instruction] : of_block_) {
    for (auto& [warp, accesses] : instruction.accesses) {
      for (std::vector<Bytes>& access : accesses) {
        Count(access, traffic_[line]);
      }
    }
  }
  of_block_.clear();
}

std::map<int, WarpTraffic> WarpTrafficMemory::Traffic() {
  EndBlock();
  return traffic_;
}

}  // namespace partita::ptx
