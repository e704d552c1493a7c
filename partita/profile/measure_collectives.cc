// Runs an all_gather or an all_reduce, and reads its time from traces.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/measure_collectives.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/device_kind_traits.h"
#include "graph/dtype.h"
#include "graph/status_macros.h"
#include "partita/profile/traced_steps.h"

namespace partita {
namespace {

constexpr int64_t kSizes[] = {int64_t{4} << 10, int64_t{256} << 10,
                              int64_t{2} << 20};
// More than of copies: two threads at least have to run at the same time.
constexpr int kSteps = 33;

int64_t ElementsOf(int64_t bytes) { return 8 * bytes / BitsOf(DType::kF32); }

// Shards of `bytes`, which both devices need whole.
std::string GatherOf(const Link& link, int64_t bytes) {
  const std::string type = absl::StrCat("f32[2, ", ElementsOf(bytes), "]");
  const std::string both = absl::StrCat("{", link.from, ", ", link.to, "}");
  return absl::StrCat("graph @gather(%x: ", type, ") -> ", type,
                      " {\n  %h = exp %x : ", type, " on ", both,
                      " (split 0) -> (split 0)\n  %y = relu %h : ", type,
                      " on ", both, "\n  return %y\n}\n");
}

// By `data`, the partial sums of a batch of two.
std::string ReduceOf(int64_t bytes) {
  const std::string row = absl::StrCat(ElementsOf(bytes), "]");
  return absl::StrCat(
      "graph @reduce(%x: f32[2, ", row, ") -> f32[", row,
      " {\n  %h = reduce_sum %x {axes = [0], keep_dims = ", "false} : f32[",
      row, "\n  %y = relu %h : f32[", row, "\n  return %y\n}\n");
}

// The two ends alone.
Machine PairOf(const Machine& machine, const Link& link) {
  Machine pair = {
      .name = machine.name,
      .devices = {*machine.FindDevice(link.from), *machine.FindDevice(link.to)},
      .links = {link},
      .host = machine.host};
  return pair;
}

// Of the only collective of the step; 0 if there is none.
double SecondsFromLastArrival(const CommandList& commands,
                              const std::vector<MeasuredCommand>& trace) {
  double arrived = 0;
  double ended = 0;
  for (const MeasuredCommand& rank : trace) {
    const Command& command = commands[CommandId(rank.command)];
    if (command.kind != Command::Kind::kCollective) continue;
    arrived = std::max(arrived, rank.start_seconds);
    ended = std::max(ended, rank.end_seconds);
  }
  return ended - arrived;
}

absl::StatusOr<CollectiveFigures> Measure(
    const Machine& machine, const Link& link, absl::string_view strategy,
    absl::FunctionRef<std::string(int64_t)> graph_of) {
  const Machine pair = PairOf(machine, link);
  CompileOptions options;
  options.strategy = std::string(strategy);
  std::vector<TimedCollective> collectives;
  for (const int64_t bytes : kSizes) {
    PARTITA_ASSIGN_OR_RETURN(const double seconds,
                             MedianOfTraces(graph_of(bytes), pair, options,
                                            kSteps, SecondsFromLastArrival));
    if (seconds <= 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("found no collective in a plan over ", link.from,
                       " and ", link.to, " by ", strategy,
                       "; expected identical devices; collectives between "
                       "these are priced by the figures of their link"));
    }
    collectives.push_back({bytes, seconds});
  }
  return FitCollective(collectives,
                       std::max(pair.devices[0].traits.launch_seconds,
                                pair.devices[1].traits.launch_seconds));
}

}  // namespace

absl::StatusOr<CollectiveFigures> FitCollective(
    absl::Span<const TimedCollective> collectives, double launch) {
  const TimedCollective& largest = collectives[collectives.size() - 1];
  const TimedCollective& next = collectives[collectives.size() - 2];
  if (largest.seconds <= next.seconds) {
    return absl::OutOfRangeError(
        absl::StrCat("found a collective of ", largest.bytes,
                     " bytes no slower than one of ", next.bytes,
                     "; expected a slower one; measure on a quiet machine"));
  }
  return CollectiveFigures{
      .bandwidth = static_cast<double>(largest.bytes - next.bytes) /
                   (largest.seconds - next.seconds),
      .latency = std::max(0.0, collectives[0].seconds - launch)};
}

bool JoinsHostDevices(const Machine& machine, const Link& link) {
  const auto shares_host = [&](const std::string& name) {
    const MachineDevice* device = machine.FindDevice(name);
    return device != nullptr && TraitsOf(device->traits.kind).shares_host;
  };
  return shares_host(link.from) && shares_host(link.to);
}

absl::StatusOr<CollectiveFigures> MeasureGather(const Machine& machine,
                                                const Link& link) {
  return Measure(machine, link, "pinned",
                 [&](int64_t bytes) { return GatherOf(link, bytes); });
}

absl::StatusOr<CollectiveFigures> MeasureReduce(const Machine& machine,
                                                const Link& link) {
  return Measure(machine, link, "data", ReduceOf);
}

}  // namespace partita
