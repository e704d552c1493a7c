// Names of findings, and their list.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/finding.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace partita::emulated_gpu {
namespace {

// A program that errs in a loop errs in the first rounds.
constexpr size_t kMostFindings = 1000;

}  // namespace

absl::string_view NameOf(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace:
      return "race";
    case FindingKind::kUndefined:
      return "undefined bytes";
    case FindingKind::kBounds:
      return "out of bounds";
    case FindingKind::kForeignMemory:
      return "foreign memory";
    case FindingKind::kUnrecordedWait:
      return "unrecorded wait";
    case FindingKind::kCapture:
      return "capture";
    case FindingKind::kLeak:
      return "leak";
    case FindingKind::kHostDereference:
      return "host dereference";
    case FindingKind::kWrongContext:
      return "wrong context";
    case FindingKind::kDeadlock:
      return "deadlock";
    case FindingKind::kMisuse:
      return "misuse";
    case FindingKind::kNotEmulated:
      break;
  }
  return "not emulated";
}

std::string TextOf(const Finding& finding) {
  return absl::StrCat(NameOf(finding.kind), ": ", finding.text);
}

void FindingLog::Add(FindingKind kind, std::string text) {
  if (all_.size() == kMostFindings || !texts_.insert(text).second) return;
  all_.push_back({kind, std::move(text)});
}

}  // namespace partita::emulated_gpu
