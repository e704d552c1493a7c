// Contract: what a plan assumes of its devices, compared with those at hand.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/contract.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

void CompareTraits(const DeviceTraits& wanted, const DeviceTraits& found,
                   std::vector<std::string>& differences) {
  const auto differ = [&](absl::string_view what, absl::string_view is,
                          absl::string_view expected) {
    differences.push_back(absl::StrCat("device ", wanted.name, ": found ", what,
                                       " ", is, "; expected ", expected));
  };
  if (found.kind != wanted.kind) {
    differ("kind", DeviceKindName(found.kind), DeviceKindName(wanted.kind));
  }
  if (!wanted.isa.empty() && found.isa != wanted.isa) {
    differ("instruction set", found.isa.empty() ? "unknown" : found.isa,
           wanted.isa);
  }
  if (found.threads != wanted.threads) {
    differ("threads", absl::StrCat(found.threads),
           absl::StrCat(wanted.threads));
  }
}

// The largest int64 if it does not fit; negative sizes are refused by form.
int64_t ArenaSize(const PlanDevice& device, int64_t depth) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (device.step_bytes > 0 &&
      depth > (kMost - device.persistent_bytes) / device.step_bytes) {
    return kMost;
  }
  return device.persistent_bytes + depth * device.step_bytes;
}

}  // namespace

absl::Status CheckContract(const Plan& plan,
                           absl::Span<const ActualDevice> actual) {
  if (actual.size() != plan.devices.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("plan @", plan.name, ": found ", actual.size(),
                     " devices; expected ", plan.devices.size()));
  }
  int64_t depth = 1;
  for (const Entry& entry : plan.entries) {
    depth = std::max<int64_t>(depth, entry.depth);
  }
  std::vector<std::string> differences;
  bool short_of_memory = false;
  for (size_t i = 0; i < actual.size(); ++i) {
    const PlanDevice& wanted = plan.devices[i];
    CompareTraits(wanted.traits, actual[i].traits, differences);
    const int64_t bytes = ArenaSize(wanted, depth);
    if (actual[i].memory >= bytes) continue;
    short_of_memory = true;
    differences.push_back(absl::StrCat("device ", wanted.traits.name,
                                       ": found ", actual[i].memory,
                                       " bytes free; expected ", bytes));
  }
  if (differences.empty()) return absl::OkStatus();
  std::string text = absl::StrCat("plan @", plan.name,
                                  " was made for other devices; compile it "
                                  "again for these, or run it with --virtual");
  for (const std::string& difference : differences) {
    absl::StrAppend(&text, "\n  ", difference);
  }
  return short_of_memory ? absl::ResourceExhaustedError(text)
                         : absl::FailedPreconditionError(text);
}

}  // namespace partita
