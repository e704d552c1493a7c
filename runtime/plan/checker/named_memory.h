// The arenas during the serial run: the name that each byte holds.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_NAMED_MEMORY_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_NAMED_MEMORY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/interval_map.h"
#include "runtime/plan/checker/names.h"

namespace partita {

// The content of a range's bytes: a name, or undefined.
struct Content {
  int64_t end() const { return begin + size; }

  int64_t begin;  // in the range's own bytes
  int64_t size;
  std::optional<Name> name;
};

class NamedMemory {
 public:
  // `view` and `names` must outlive this. No byte is defined yet.
  NamedMemory(const EntryView& view, const Names& names);

  // True if the work exceeded what a sensible plan needs. From then on,
  // Mismatch finds nothing.
  bool gave_up() const { return visits_ > most_visits_; }

  // The buffer now holds these segments, and is undefined between them.
  void Define(const Buffer& buffer, const std::vector<NamedSegment>& segments);
  // Like Define, for the single block of a persistent range, but keeps the
  // bytes between the segments.
  void DefinePersistent(const Buffer& buffer,
                        const std::vector<NamedSegment>& segments);

  std::vector<Content> ContentOf(const Buffer& buffer);

  // The first bytes of the buffer that differ from `asked`. The message begins
  // with the buffer; the caller adds who reads it.
  std::optional<Finding> Mismatch(CommandId command, const Buffer& buffer,
                                  const std::vector<NamedSegment>& asked);
  // A finding about bytes [begin, end) of the buffer.
  Finding Differs(Rule rule, CommandId command, const Buffer& buffer,
                  int64_t begin, int64_t end, absl::string_view what) const;

 private:
  int64_t Base(const Buffer& buffer) const;
  std::optional<Finding> Compare(CommandId command, const Buffer& buffer,
                                 const Content& segment, int64_t at,
                                 const NamedSegment& asked) const;

  const EntryView& view_;
  const Names& names_;
  std::vector<IntervalMap<Name>> arenas_;
  const int64_t most_visits_;
  int64_t visits_ = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_NAMED_MEMORY_H_
