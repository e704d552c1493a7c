// Writes, reads and compares the names of bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/named_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr int64_t kVisitsOfWrite = 4;  // a write costs more than a visit

int64_t EndOf(const NamedSegment& segment) {
  return segment.begin + segment.size;
}

// Appends a segment, merged with the last one if it continues it.
void Append(const Content& segment, std::vector<Content>& content) {
  if (!content.empty() && content.back().name.has_value() &&
      segment.name.has_value()) {
    Content& last = content.back();
    Name alike = *segment.name;
    alike.bytes = last.name->bytes;
    if (alike == *last.name && Extend(last.name->bytes, last.size,
                                      segment.name->bytes, segment.size)) {
      last.size += segment.size;
      return;
    }
  }
  content.push_back(segment);
}

}  // namespace

NamedMemory::NamedMemory(const EntryView& view, const Names& names)
    : view_(view),
      names_(names),
      arenas_(view.plan->devices.size()),
      most_visits_(MaxVisits(view)) {}

int64_t NamedMemory::Base(const Buffer& buffer) const {
  return PartBegin(view_.device(buffer.device), buffer, 0);
}

void NamedMemory::Define(const Buffer& buffer,
                         const std::vector<NamedSegment>& segments) {
  IntervalMap<Name>& arena = arenas_[buffer.device.index];
  size_t p = 0;
  int64_t at = 0;  // in the range, where the present block begins
  ForEachBlock(buffer.range, Base(buffer), [&](ByteSpan block) {
    const int64_t size = block.end - block.begin;
    arena.Erase(block.begin, block.end);
    while (p < segments.size() && segments[p].begin < at + size) {
      visits_ += kVisitsOfWrite;
      const int64_t from = std::max(at, segments[p].begin);
      const int64_t to = std::min(at + size, EndOf(segments[p]));
      Name name = segments[p].name;
      name.Shift(from - segments[p].begin);
      arena.Set(block.begin + from - at, block.begin + to - at, name);
      if (EndOf(segments[p]) > at + size) break;  // continues in the next block
      ++p;
    }
    at += size;
  });
}

void NamedMemory::DefinePersistent(const Buffer& buffer,
                                   const std::vector<NamedSegment>& segments) {
  for (const NamedSegment& segment : segments) {
    const int64_t begin = buffer.range.offset + segment.begin;
    arenas_[buffer.device.index].Set(begin, begin + segment.size, segment.name);
  }
}

std::vector<Content> NamedMemory::ContentOf(const Buffer& buffer) {
  std::vector<Content> content;
  int64_t at = 0;
  ForEachBlock(buffer.range, Base(buffer), [&](ByteSpan block) {
    if (gave_up()) return;
    arenas_[buffer.device.index].ForEach(
        block.begin, block.end,
        [&](int64_t begin, int64_t end, const Name* name) {
          ++visits_;
          Content segment{at + begin - block.begin, end - begin, std::nullopt};
          if (name != nullptr) segment.name = *name;
          Append(segment, content);
          return true;
        });
    at += block.end - block.begin;
  });
  return content;
}

std::optional<Finding> NamedMemory::Mismatch(
    CommandId command, const Buffer& buffer,
    const std::vector<NamedSegment>& asked) {
  size_t a = 0;
  const std::vector<Content> content = ContentOf(buffer);
  if (gave_up()) return std::nullopt;
  // Both lists are in the order of the range's bytes, so one sweep compares
  // them.
  for (const Content& segment : content) {
    for (int64_t at = segment.begin; at < segment.end();) {
      while (a < asked.size() && EndOf(asked[a]) <= at) ++a;
      if (!segment.name.has_value()) {
        return Differs(Rule::kUndefined, command, buffer, at, segment.end(),
                       "nothing has defined them");
      }
      if (a == asked.size()) {
        return Differs(Rule::kWrongValue, command, buffer, at, segment.end(),
                       "the graph does not say what these are");
      }
      std::optional<Finding> differs =
          Compare(command, buffer, segment, at, asked[a]);
      if (differs.has_value()) return differs;
      at = std::min(segment.end(), EndOf(asked[a]));
    }
  }
  return std::nullopt;
}

// From byte `at` of the range on, as far as both segments reach.
std::optional<Finding> NamedMemory::Compare(CommandId command,
                                            const Buffer& buffer,
                                            const Content& segment, int64_t at,
                                            const NamedSegment& asked) const {
  const int64_t end = std::min(segment.end(), EndOf(asked));
  Name held = *segment.name;
  held.Shift(at - segment.begin);
  Name wanted = asked.name;
  wanted.Shift(at - asked.begin);
  int64_t agreed = 0;
  if (held.Answers(wanted)) {
    agreed = Agreement(held.bytes, wanted.bytes, end - at);
  }
  if (agreed == end - at) return std::nullopt;
  held.Shift(agreed);
  wanted.Shift(agreed);
  const int64_t size = end - at - agreed;
  return Differs(Rule::kWrongValue, command, buffer, at + agreed, end,
                 absl::StrCat("they hold ", names_.Text(held, size),
                              " and not ", names_.Text(wanted, size)));
}

Finding NamedMemory::Differs(Rule rule, CommandId command, const Buffer& buffer,
                             int64_t begin, int64_t end,
                             absl::string_view what) const {
  const Range& range = buffer.range;
  const auto address = [&](int64_t at) {
    return Base(buffer) + range.offset + at / range.block * range.stride +
           at % range.block;
  };
  Finding finding;
  finding.rule = rule;
  finding.entry = view_.index;
  finding.command = command;
  finding.device = buffer.device;
  finding.bytes = {address(begin), address(end - 1) + 1};
  finding.message = absl::StrCat(
      view_.device(buffer.device).traits.name, " !", buffer.name, " (",
      view_.BytesText(buffer, finding.bytes), "), but ", what);
  return finding;
}

}  // namespace partita
