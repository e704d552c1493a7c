// Fuzz target: any notes in a proved plan are safe to simulate and to view, and
// what comes out is finite and refers to what exists.
// SPDX-License-Identifier: Apache-2.0
//
// An input is a machine as JSON, a zero byte, and bytes that choose the notes
// of the plan's entry. The plan itself is always the same.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "partita/plan_figures.h"
#include "partita/plan_prices.h"
#include "runtime/plan/plan.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/two_cpu_plan.h"
#include "tools/viewer/page_json.h"
#include "tools/viewer/plan_view.h"

namespace partita {
namespace {

constexpr double kNumbers[] = {0,
                               1e-6,
                               2e-6,
                               3e-6,
                               1,
                               -1e-6,
                               5e-324,
                               1e300,
                               std::numeric_limits<double>::max(),
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};

constexpr const char* kTexts[] = {"",
                                  "pinned",
                                  "load of cpu:1",
                                  "link cpu:0 - cpu:1",
                                  "</script><b>\"\\\n",
                                  "\xff\xc0\x80 no UTF-8"};

// Notes from bytes; zeros after their end.
class Notes {
 public:
  explicit Notes(absl::string_view bytes) : bytes_(bytes) {}

  PlanNotes Read(absl::string_view machine) {
    PlanNotes notes;
    notes.machine_json = std::string(machine);
    notes.summary = Text();
    const size_t entries = Choose(4) == 3 ? 2 : 1;
    for (size_t e = 0; e < entries; ++e) notes.entries.push_back(ReadEntry());
    return notes;
  }

 private:
  size_t Choose(size_t count) {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return byte % count;
  }
  std::string Text() { return kTexts[Choose(std::size(kTexts))]; }
  double Number() {
    const size_t choice = Choose(std::size(kNumbers) + 1);
    if (choice < std::size(kNumbers)) return kNumbers[choice];
    double number = 0;
    const absl::string_view taken = bytes_.substr(0, sizeof(number));
    std::memcpy(&number, taken.data(), taken.size());
    bytes_.remove_prefix(taken.size());
    return number;
  }

  EntryNotes ReadEntry() {
    EntryNotes notes;
    const size_t nodes = Choose(8);
    for (size_t n = 0; n < nodes; ++n) {
      // Mostly nodes that exist.
      constexpr int32_t kNodes[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, -1, 7};
      const int32_t node = kNodes[Choose(std::size(kNodes))];
      std::string reason = Text();
      notes.nodes.push_back({NodeId(node), std::move(reason), Number()});
    }
    // Mostly none, or as many as there are commands.
    constexpr size_t kCounts[] = {0, 7, 7, 6, 8};
    const size_t commands = kCounts[Choose(std::size(kCounts))];
    for (size_t c = 0; c < commands; ++c) {
      const double start = Number();
      notes.predicted.push_back({start, Number()});
    }
    notes.step_seconds = Number();
    notes.bound_seconds = Number();
    notes.bound_by = Text();
    return notes;
  }

  absl::string_view bytes_;
};

// Where the notes begin.
size_t MachineSize(absl::string_view input) {
  return std::min(input.find('\0'), input.size());
}

bool IsTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

void CheckView(const PlanView& view) {
  for (const ViewedEntry& entry : view.entries) {
    for (const CommandView& command : entry.commands) {
      ExpectFuzz(IsTime(command.start) && command.start <= command.end &&
                     std::isfinite(command.end),
                 "a command outside the step", command.title);
    }
    for (const FindingView& finding : entry.findings) {
      ExpectFuzz(
          std::isfinite(finding.seconds) &&
              finding.device < static_cast<int>(view.devices.size()) &&
              finding.link < static_cast<int>(view.links.size()) &&
              finding.box < static_cast<int>(entry.boxes.size()) &&
              (!finding.command.valid() ||
               finding.command.index < static_cast<int>(entry.commands.size())),
          "a finding about nothing", finding.text);
    }
  }
  PageData page;
  page.AddPlan(view, {});
  ExpectFuzz(nlohmann::json::accept(page.Text()), "a page that is not JSON");
}

void CheckFigures(const PlanFigures& figures) {
  for (const EntryFigures& entry : figures.entries) {
    ExpectFuzz(IsTime(entry.step_seconds) && IsTime(entry.latency_seconds),
               "a step of no time", entry.name);
    for (const PathCommand& command : entry.path.commands) {
      ExpectFuzz(IsTime(command.seconds), "a path of no time", command.title);
    }
  }
}

// As `partita view` and `partita diff` read the notes of a plan's own machine.
void UseOwnMachine(const Plan& plan) {
  const absl::StatusOr<std::optional<PlanMachine>> own = OwnMachine(plan);
  if (!own.ok() || !own->has_value()) return;
  const Machine& machine = (*own)->machine;
  if (!CheckHasDevices(plan, machine).ok()) return;
  absl::StatusOr<std::vector<double>> seconds = NotedSeconds(plan, 0);
  if (!seconds.ok()) return;
  const ViewedMachine viewed{machine, {*std::move(seconds)}, /*is_own=*/true};
  const absl::StatusOr<PlanFigures> figures =
      FiguresOf(plan, machine, viewed.node_seconds);
  if (figures.ok()) CheckFigures(*figures);
  const absl::StatusOr<PlanView> view = ReadPlanView(plan, &viewed);
  if (view.ok()) CheckView(*view);
}

}  // namespace
}  // namespace partita

// Most mutations are of the notes: few changed machines are accepted.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t,
                                          unsigned int seed) {
  std::minstd_rand random(seed);
  const size_t first =
      partita::MachineSize({reinterpret_cast<const char*>(bytes), size}) + 1;
  if (first >= size) return 0;
  const size_t changes = 1 + random() % 4;
  for (size_t i = 0; i < changes; ++i) {
    // Small numbers mostly choose what is legal.
    const bool is_small = random() % 4 != 0;
    bytes[first + random() % (size - first)] =
        static_cast<uint8_t>(random() % (is_small ? 6 : 256));
  }
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view input(reinterpret_cast<const char*>(bytes), size);
  const absl::string_view machine = input.substr(0, MachineSize(input));
  const size_t notes = std::min(machine.size() + 1, input.size());
  Plan plan = TwoCpuPlan();
  plan.notes = Notes(input.substr(notes)).Read(machine);
  const absl::StatusOr<PlanView> view = ReadPlanView(plan);
  if (view.ok()) CheckView(*view);
  UseOwnMachine(plan);
  return 0;
}
