// Cells of pages, as in FastTrack (Flanagan and Freund, 2009): the last write,
// and of the reads since then those that are not ordered.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/shadow.h"

#include <algorithm>

namespace partita::emulated_gpu {
namespace {

// The conflicts of one access name each command once.
void Append(const Conflict& conflict, std::vector<Conflict>& conflicts) {
  for (const Conflict& known : conflicts) {
    if (known.other == conflict.other &&
        known.other_wrote == conflict.other_wrote) {
      return;
    }
  }
  conflicts.push_back(conflict);
}

}  // namespace

Shadow::Page& Shadow::PageAt(uint64_t offset) {
  std::unique_ptr<Region>& region = regions_[offset / kPage / kRegion];
  if (region == nullptr) region = std::make_unique<Region>();
  return (*region)[offset / kPage % kRegion];
}

const Shadow::Page* Shadow::FindPage(uint64_t offset) const {
  const std::unique_ptr<Region>& region = regions_[offset / kPage / kRegion];
  return region == nullptr ? nullptr : &(*region)[offset / kPage % kRegion];
}

void Shadow::Split(Page& page, uint32_t grain) {
  std::vector<Cell> cells(kPage / grain);
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] =
        page.grain == kPage ? page.whole : page.cells[i * grain / page.grain];
  }
  page.cells = std::move(cells);
  page.grain = grain;
}

template <typename Visit>
void Shadow::ForEachCell(uint64_t offset, uint64_t bytes, Visit visit) {
  const uint64_t end = offset + bytes;
  while (offset < end) {
    Page& page = PageAt(offset);
    const uint64_t start = offset % kPage;
    const uint64_t here = std::min(end - offset, kPage - start);
    if (here == kPage && page.grain == kPage) {
      visit(page.whole, offset);
    } else {
      const uint32_t needed = start % 4 == 0 && here % 4 == 0 ? 4 : 1;
      if (page.grain > needed) Split(page, needed);
      const uint32_t grain = page.grain;
      for (uint64_t i = start; i < start + here; i += grain) {
        visit(page.cells[i / grain], offset - start + i);
      }
    }
    offset += here;
  }
}

void Shadow::ReadCell(Cell& cell, uint64_t offset, const Accessor& by,
                      std::vector<Conflict>& conflicts) {
  if (cell.writer == by.command) {
    if (cell.writer_thread != by.thread) {
      Append({cell.writer, true, cell.writer_thread, offset}, conflicts);
    }
  } else if (cell.writer != 0 &&
             !timeline_.HappensBefore(cell.writer, *by.clock)) {
    Append({cell.writer, true, cell.writer_thread, offset}, conflicts);
  }
  if (cell.reader == by.command) {
    if (cell.reader_thread != by.thread) cell.reader_thread = kManyThreads;
    return;
  }
  if (cell.reader != 0 && !timeline_.HappensBefore(cell.reader, *by.clock)) {
    std::vector<CommandId> readers;
    if (cell.other_readers != 0) readers = reader_sets_[cell.other_readers - 1];
    std::erase_if(readers, [&](CommandId reader) {
      return timeline_.HappensBefore(reader, *by.clock);
    });
    readers.push_back(cell.reader);
    // Neighbours have the same readers: the last set does again.
    if (reader_sets_.empty() || reader_sets_.back() != readers) {
      reader_sets_.push_back(std::move(readers));
    }
    cell.other_readers = static_cast<uint32_t>(reader_sets_.size());
  }
  // Readers before one that is over are kept: they may be of other chains.
  cell.reader = by.command;
  cell.reader_thread = by.thread;
}

void Shadow::WriteCell(Cell& cell, uint64_t offset, const Accessor& by,
                       std::vector<Conflict>& conflicts) {
  const auto check = [&](CommandId other, uint32_t thread, bool wrote) {
    if (other == 0) return;
    if (other == by.command ? thread == by.thread
                            : timeline_.HappensBefore(other, *by.clock)) {
      return;
    }
    Append({other, wrote, thread, offset}, conflicts);
  };
  check(cell.writer, cell.writer_thread, true);
  check(cell.reader, cell.reader_thread, false);
  if (cell.other_readers != 0) {
    for (CommandId reader : reader_sets_[cell.other_readers - 1]) {
      if (reader != by.command) check(reader, 0, false);
    }
  }
  cell = {.writer = by.command, .writer_thread = by.thread};
}

void Shadow::Read(uint64_t offset, uint64_t bytes, const Accessor& by,
                  std::vector<Conflict>& conflicts) {
  ForEachCell(offset, bytes, [&](Cell& cell, uint64_t at) {
    ReadCell(cell, at, by, conflicts);
  });
}

void Shadow::Write(uint64_t offset, uint64_t bytes, const Accessor& by,
                   std::vector<Conflict>& conflicts) {
  ForEachCell(offset, bytes, [&](Cell& cell, uint64_t at) {
    WriteCell(cell, at, by, conflicts);
  });
}

void Shadow::AddNotOver(const Cell& cell, uint64_t offset,
                        const VectorClock& clock,
                        std::vector<Conflict>& conflicts) const {
  const auto check = [&](CommandId command, bool wrote) {
    if (command == 0 || timeline_.HappensBefore(command, clock)) return;
    Append({command, wrote, 0, offset}, conflicts);
  };
  check(cell.writer, true);
  check(cell.reader, false);
  if (cell.other_readers == 0) return;
  for (CommandId reader : reader_sets_[cell.other_readers - 1]) {
    check(reader, false);
  }
}

std::vector<Conflict> Shadow::NotOver(const VectorClock& clock) const {
  std::vector<Conflict> conflicts;
  for (uint64_t offset = 0; offset < bytes_; offset += kPage) {
    const Page* page = FindPage(offset);
    if (page == nullptr) {
      offset += kPage * (kRegion - 1);  // the whole region
      continue;
    }
    if (page->grain == kPage) {
      AddNotOver(page->whole, offset, clock, conflicts);
      continue;
    }
    for (size_t i = 0; i < page->cells.size(); ++i) {
      AddNotOver(page->cells[i], offset + i * page->grain, clock, conflicts);
    }
  }
  return conflicts;
}

uint64_t Shadow::DefinedRun(uint64_t offset, uint64_t most,
                            bool& defined) const {
  const auto at = [&](const Page* page, uint64_t i) {
    if (page == nullptr) return false;
    return page->defined == nullptr ? page->all_defined : (*page->defined)[i];
  };
  defined = at(FindPage(offset), offset % kPage);
  uint64_t run = 0;
  while (run < most) {
    const Page* page = FindPage(offset + run);
    const uint64_t start = (offset + run) % kPage;
    const uint64_t here = std::min(most - run, kPage - start);
    if (page == nullptr || page->defined == nullptr) {
      if (at(page, start) != defined) return run;
      run += here;
      continue;
    }
    for (uint64_t i = 0; i < here; ++i) {
      if ((*page->defined)[start + i] != defined) return run + i;
    }
    run += here;
  }
  return run;
}

bool Shadow::IsDefined(uint64_t offset, uint64_t bytes) const {
  bool defined = false;
  return DefinedRun(offset, bytes, defined) >= bytes && defined;
}

void Shadow::SetDefined(uint64_t offset, uint64_t bytes, bool defined) {
  const uint64_t end = offset + bytes;
  while (offset < end) {
    Page& page = PageAt(offset);
    const uint64_t start = offset % kPage;
    const uint64_t here = std::min(end - offset, kPage - start);
    offset += here;
    if (here == kPage) {
      page.defined = nullptr;
      page.all_defined = defined;
      continue;
    }
    if (page.defined == nullptr) {
      if (page.all_defined == defined) continue;
      page.defined = std::make_unique<std::bitset<kPage>>();
      if (page.all_defined) page.defined->set();
    }
    for (uint64_t i = 0; i < here; ++i) page.defined->set(start + i, defined);
    if (defined && page.defined->all()) {
      page.defined = nullptr;
      page.all_defined = true;
    }
  }
}

}  // namespace partita::emulated_gpu
