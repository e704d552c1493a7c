// Facts about the CUDA driver and a GPU: a rule, its source, and a reading.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_FACT_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_FACT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

class Gpu;

enum class FactVerdict {
  kPass,        // seen as the rule says
  kFail,        // seen otherwise
  kFigure,      // no rule: what is, is the fact
  kUnmeasured,  // not seen; the text says why
};

// What one fact showed on one GPU.
struct Reading {
  FactVerdict verdict = FactVerdict::kUnmeasured;
  std::string seen;
  std::vector<std::pair<std::string, double>> figures;  // the unit in the name
};

// How a fact is run.
enum class Process {
  kShared,  // in the process of its group, one after another
  kOwn,     // in one of its own: it may hang, or end its context
  kMayDie,  // as kOwn; that the driver ends the process by a signal is a
            // reading
};

struct Fact {
  const char* id;        // e.g. "event.wait_unrecorded"
  const char* rule;      // one sentence
  const char* source;    // e.g. "cuda.h:15957", "PTX ISA 9.7.3", "none"
  const char* expected;  // of the reading, in words; "figure" if no rule
  absl::StatusOr<Reading> (*measure)(Gpu& gpu);
  Process process = Process::kShared;
  // "NAME=VALUE" set for the process, or null. Such a fact has its own process.
  const char* environment = nullptr;
};

struct FactGroup {
  const char* name;
  absl::Span<const Fact> facts;
};

// All groups, in the order in which they run.
absl::Span<const FactGroup> AllFactGroups();

// The groups, one a file `<name>_facts.cc`.
FactGroup DeviceFacts();
FactGroup EventFacts();
FactGroup StreamFacts();
FactGroup GraphFacts();
FactGroup GraphContextFacts();
FactGroup GraphCostFacts();
FactGroup GraphShapeFacts();
FactGroup CaptureFacts();
FactGroup CaptureEventFacts();
FactGroup CaptureCopyFacts();
FactGroup MemoryFacts();
FactGroup HostMemoryFacts();
FactGroup FootprintFacts();
FactGroup CodeFacts();
FactGroup LaunchFacts();
FactGroup QueueFacts();
FactGroup CallbackFacts();
FactGroup ErrorFacts();
FactGroup ClockFacts();
FactGroup TransferFacts();
FactGroup NumberFacts();
FactGroup NaNFacts();
FactGroup ThreadFacts();
FactGroup MisuseFacts();
FactGroup GraphMisuseFacts();

// Whom each step is reported to as soon as it was taken; null: nobody. For who
// wants to know how far a process came that did not end well.
using StepListener = void (*)(const std::string& step);
void SetStepListener(StepListener listener);

// Collects the steps of one fact: codes, values and figures, with or without an
// expectation. One step that is not as expected makes the reading a FAIL; no
// expectation at all makes it a figure.
class Steps {
 public:
  explicit Steps(const DriverApi& api) : api_(api) {}

  void Code(absl::string_view what, CUresult seen, CUresult expected);
  void Code(absl::string_view what, CUresult seen);

  template <typename T>
  void Is(absl::string_view what, const T& seen, const T& expected) {
    Check(seen == expected);
    Add(absl::StrCat(what, " ", seen),
        seen == expected ? "" : absl::StrCat(expected));
  }
  void Holds(absl::string_view what, bool seen) {
    Check(seen);
    Add(absl::StrCat(what, seen ? ": yes" : ": no"), seen ? "" : "yes");
  }
  void Note(absl::string_view text) { Add(text, ""); }
  // `name` ends in the unit: "launch_us".
  void Figure(absl::string_view name, double value);

  Reading End() const;

 private:
  void Check(bool good);
  void Add(absl::string_view text, absl::string_view expected);

  const DriverApi& api_;
  int checks_ = 0;
  int failures_ = 0;
  std::string seen_;
  std::vector<std::pair<std::string, double>> figures_;
};

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_FACT_H_
