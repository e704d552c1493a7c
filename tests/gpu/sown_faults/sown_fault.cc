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
    case CallKind::kDestroy:
      return "destroy";
    case CallKind::kAlloc:
      return "memory";
    case CallKind::kFree:
      return "free";
    case CallKind::kSwitch:
      return "context switch";
    case CallKind::kCopy:
      return "copy";
    case CallKind::kLaunch:
      return "launch";
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
    case Wrong::kLate:
      return "late";
    case Wrong::kNeighbours:
      return "its neighbour's";
    case Wrong::kEarly:
      return "freed early";
  }
  return "";
}

std::vector<Wrong> WrongsOf(CallKind kind) {
  switch (kind) {
    case CallKind::kEvent:
      return {Wrong::kNeighbours};
    case CallKind::kAlloc:
      return {Wrong::kEarly};
    case CallKind::kDestroy:
    case CallKind::kHostWait:
      return {Wrong::kDropped};
    case CallKind::kFree:
    case CallKind::kNode:
    case CallKind::kEdge:
      return {Wrong::kDropped, Wrong::kNeighbours};
    default:
      return {Wrong::kDropped, Wrong::kLate, Wrong::kNeighbours};
  }
}

std::string TextOf(const SownFault& fault) {
  return absl::StrCat(NameOf(fault.kind), " ", fault.index, " ",
                      NameOf(fault.wrong));
}

bool ChangesWork(const SownFault& fault) {
  if (fault.kind == CallKind::kNode) return true;
  return (fault.kind == CallKind::kCopy || fault.kind == CallKind::kLaunch) &&
         (fault.wrong == Wrong::kDropped || fault.wrong == Wrong::kLate);
}

}  // namespace partita
