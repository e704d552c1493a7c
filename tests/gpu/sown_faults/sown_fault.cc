// Names of faults.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/sown_fault.h"

#include "absl/strings/str_cat.h"

namespace partita {

absl::string_view NameOf(CallKind kind) {
  switch (kind) {
    case CallKind::kRecord:
      return "record";
    case CallKind::kWait:
      return "wait";
    case CallKind::kEvent:
      return "event";
    case CallKind::kStream:
      return "stream";
    case CallKind::kGraph:
      return "graph";
    case CallKind::kDestroy:
      return "destroy";
    case CallKind::kAlloc:
      return "memory";
    case CallKind::kPinned:
      return "page-locked memory";
    case CallKind::kFree:
      return "free";
    case CallKind::kContext:
      return "context";
    case CallKind::kSwitch:
      return "context switch";
    case CallKind::kPeer:
      return "access to a peer";
    case CallKind::kQuestion:
      return "question";
    case CallKind::kCode:
      return "code";
    case CallKind::kPrepare:
      return "preparation";
    case CallKind::kCopy:
      return "copy";
    case CallKind::kBytes:
      return "bytes of a copy";
    case CallKind::kLaunch:
      return "launch";
    case CallKind::kExec:
      return "graph of a launch";
    case CallKind::kGrid:
      return "grid";
    case CallKind::kArgument:
      return "argument";
    case CallKind::kNode:
      return "graph node";
    case CallKind::kEdge:
      return "graph edge";
    case CallKind::kHostWait:
      return "wait of the host";
  }
  return "";
}

absl::string_view NameOf(Wrong wrong) {
  switch (wrong) {
    case Wrong::kDropped:
      return "dropped";
    case Wrong::kTwice:
      return "twice";
    case Wrong::kLate:
      return "late";
    case Wrong::kNeighbours:
      return "its neighbour's";
    case Wrong::kEarly:
      return "given back early";
    case Wrong::kSwapped:
      return "swapped";
    case Wrong::kMoved:
      return "moved";
    case Wrong::kShort:
      return "half";
    case Wrong::kLong:
      return "more";
  }
  return "";
}

std::vector<Wrong> WrongsOf(CallKind kind) {
  switch (kind) {
    case CallKind::kRecord:
    case CallKind::kWait:
    case CallKind::kCopy:
    case CallKind::kLaunch:
      return {Wrong::kDropped, Wrong::kTwice, Wrong::kLate, Wrong::kNeighbours};
    case CallKind::kSwitch:
      return {Wrong::kDropped, Wrong::kLate, Wrong::kNeighbours};
    case CallKind::kEvent:
    case CallKind::kStream:
      return {Wrong::kNeighbours, Wrong::kEarly, Wrong::kSwapped};
    case CallKind::kGraph:
      return {Wrong::kNeighbours, Wrong::kEarly};
    case CallKind::kCode:
      return {Wrong::kNeighbours, Wrong::kEarly, Wrong::kTwice};
    case CallKind::kAlloc:
      return {Wrong::kEarly, Wrong::kShort};
    case CallKind::kContext:
      return {Wrong::kNeighbours, Wrong::kTwice};
    case CallKind::kPinned:
      return {Wrong::kNeighbours, Wrong::kSwapped};
    case CallKind::kExec:
      return {Wrong::kNeighbours};
    case CallKind::kPeer:
    case CallKind::kPrepare:
    case CallKind::kHostWait:
      return {Wrong::kDropped};
    case CallKind::kDestroy:
      return {Wrong::kDropped, Wrong::kTwice};
    case CallKind::kFree:
    case CallKind::kNode:
      return {Wrong::kDropped, Wrong::kTwice, Wrong::kNeighbours};
    case CallKind::kEdge:
      return {Wrong::kDropped, Wrong::kNeighbours};
    case CallKind::kQuestion:
      return {Wrong::kSwapped};
    case CallKind::kBytes:
      return {Wrong::kNeighbours, Wrong::kSwapped, Wrong::kMoved, Wrong::kShort,
              Wrong::kLong};
    case CallKind::kGrid:
      return {Wrong::kShort, Wrong::kLong};
    case CallKind::kArgument:
      return {Wrong::kSwapped, Wrong::kMoved};
  }
  return {};
}

std::string TextOf(const SownFault& fault) {
  return absl::StrCat(NameOf(fault.kind), " ", fault.index, " ",
                      NameOf(fault.wrong));
}

bool ChangesWork(const SownFault& fault) {
  switch (fault.kind) {
    case CallKind::kPinned:
    case CallKind::kCode:
    case CallKind::kGraph:
    case CallKind::kBytes:
    case CallKind::kExec:
    case CallKind::kGrid:
    case CallKind::kArgument:
    case CallKind::kNode:
      return true;
    case CallKind::kCopy:
    case CallKind::kLaunch:
      return fault.wrong != Wrong::kNeighbours;
    default:
      return false;
  }
}

}  // namespace partita
