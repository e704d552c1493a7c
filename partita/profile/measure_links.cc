// Runs a copy, and reads its time from the trace.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/measure_links.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/dtype.h"
#include "graph/status_macros.h"
#include "partita/profile/traced_steps.h"

namespace partita {
namespace {

constexpr int64_t kSizes[] = {int64_t{4} << 10, int64_t{256} << 10,
                              int64_t{16} << 20};
constexpr int kSteps = 9;

// Two ops that no pass merges or removes.
std::string GraphOf(const Link& link, int64_t bytes) {
  const std::string type =
      absl::StrCat("f32[", 8 * bytes / BitsOf(DType::kF32), "]");
  return absl::StrCat("graph @link(%x: ", type, ") -> ", type, " {\n  %h = exp",
                      " %x : ", type, " on ", link.from,
                      "\n  %y = relu %h : ", type, " on ", link.to,
                      "\n  return %y\n}\n");
}

// Of the only copy of the step; 0 if there is none.
double SecondsOfCopy(const CommandList& commands,
                     const std::vector<MeasuredCommand>& trace) {
  for (const MeasuredCommand& measured : trace) {
    const Command& command = commands[CommandId(measured.command)];
    if (command.kind != Command::Kind::kCopy) continue;
    return measured.end_seconds - measured.start_seconds;
  }
  return 0;
}

absl::StatusOr<CopySeconds> MeasureCopy(const Machine& machine,
                                        const Link& link, int64_t bytes) {
  CompileOptions options;
  options.strategy = "pinned";
  PARTITA_ASSIGN_OR_RETURN(const double seconds,
                           MedianOfTraces(GraphOf(link, bytes), machine,
                                          options, kSteps, SecondsOfCopy));
  return CopySeconds{bytes, seconds};
}

}  // namespace

absl::StatusOr<MeasuredLink> FitLink(const Link& link,
                                     absl::Span<const CopySeconds> copies) {
  const CopySeconds& largest = copies[copies.size() - 1];
  const CopySeconds& next = copies[copies.size() - 2];
  if (largest.seconds <= next.seconds) {
    return absl::OutOfRangeError(
        absl::StrCat("link from ", link.from, " to ", link.to, ": found ",
                     largest.bytes, " bytes copied no slower than ", next.bytes,
                     "; expected a slower copy; measure on a quiet machine"));
  }
  return MeasuredLink{
      .from = link.from,
      .to = link.to,
      .bandwidth = static_cast<double>(largest.bytes - next.bytes) /
                   (largest.seconds - next.seconds),
      .latency = copies[0].seconds};
}

absl::StatusOr<MeasuredLink> MeasureLink(const Machine& machine,
                                         const Link& link) {
  std::vector<CopySeconds> copies;
  for (const int64_t bytes : kSizes) {
    PARTITA_ASSIGN_OR_RETURN(copies.emplace_back(),
                             MeasureCopy(machine, link, bytes));
  }
  return FitLink(link, copies);
}

}  // namespace partita
