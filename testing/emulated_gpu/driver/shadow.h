// Who accessed which bytes of an allocation, and which bytes are defined.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_SHADOW_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_SHADOW_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

#include "testing/emulated_gpu/driver/timeline.h"

namespace partita::emulated_gpu {

// Who accesses: a command that runs, and for a kernel which of its threads.
struct Accessor {
  CommandId command = 0;
  const VectorClock* clock = nullptr;
  uint32_t thread = 0;
};

// Two accesses that nothing orders, one of them a write.
struct Conflict {
  CommandId other = 0;  // the accessor's own: another thread of the launch
  bool other_wrote = false;
  uint32_t other_thread = 0;
  uint64_t offset = 0;  // the first byte
};

// The last writer of each byte and its readers since. Kept for a whole page
// where all its bytes have the same, else for 4 bytes or for each, as the
// accesses need; pages that nobody accessed take no memory. Commands come in
// an order that respects happens-before, so that each pair of accesses is seen
// whatever order was drawn.
class Shadow {
 public:
  Shadow(uint64_t bytes, const Timeline& timeline)
      : bytes_(bytes), timeline_(timeline), regions_(Regions(bytes)) {}

  // An access of the bytes; conflicts are appended.
  void Read(uint64_t offset, uint64_t bytes, const Accessor& by,
            std::vector<Conflict>& conflicts);
  void Write(uint64_t offset, uint64_t bytes, const Accessor& by,
             std::vector<Conflict>& conflicts);
  // Every access that is not over for sure by then.
  std::vector<Conflict> NotOver(const VectorClock& clock) const;

  // Of how many bytes from `offset` on, `most` at most, the definedness is the
  // same as that of the first, which is `defined`.
  uint64_t DefinedRun(uint64_t offset, uint64_t most, bool& defined) const;
  bool IsDefined(uint64_t offset, uint64_t bytes) const;
  void SetDefined(uint64_t offset, uint64_t bytes, bool defined);

 private:
  static constexpr uint64_t kPage = 1024;    // bytes
  static constexpr uint64_t kRegion = 1024;  // pages
  static constexpr uint32_t kManyThreads = UINT32_MAX;

  struct Cell {
    CommandId writer = 0;
    uint32_t writer_thread = 0;
    CommandId reader = 0;  // the last one
    uint32_t reader_thread = 0;
    uint32_t other_readers = 0;  // 1 + an index into reader_sets_; 0: none
  };
  struct Page {
    uint32_t grain = kPage;  // bytes of a cell
    Cell whole;              // if that is the page
    std::vector<Cell> cells;
    bool all_defined = false;  // without `defined`
    std::unique_ptr<std::bitset<kPage>> defined;
  };
  using Region = std::array<Page, kRegion>;

  static size_t Regions(uint64_t bytes) {
    return (bytes + kPage * kRegion - 1) / (kPage * kRegion);
  }
  Page& PageAt(uint64_t offset);
  const Page* FindPage(uint64_t offset) const;
  void Split(Page& page, uint32_t grain);
  template <typename Visit>
  void ForEachCell(uint64_t offset, uint64_t bytes, Visit visit);
  void ReadCell(Cell& cell, uint64_t offset, const Accessor& by,
                std::vector<Conflict>& conflicts);
  void WriteCell(Cell& cell, uint64_t offset, const Accessor& by,
                 std::vector<Conflict>& conflicts);
  void AddNotOver(const Cell& cell, uint64_t offset, const VectorClock& clock,
                  std::vector<Conflict>& conflicts) const;

  uint64_t bytes_;
  const Timeline& timeline_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<std::vector<CommandId>> reader_sets_;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_SHADOW_H_
