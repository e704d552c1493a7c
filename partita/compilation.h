// One module on its way to a plan: the stages of the chain, each timed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_COMPILATION_H_
#define PARTITA_PARTITA_COMPILATION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/fingerprint.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "partita/compile.h"
#include "partita/predict.h"
#include "passes/choose_kernels.h"
#include "passes/layout_state.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "placement/partition/variable_homes.h"
#include "placement/planner/planner.h"
#include "runtime/plan/plan.h"

namespace partita {

// One attempt: a placed module on its way to a plan, and what was learned.
struct Attempt {
  Plan plan;
  std::vector<EntryNotes> notes;                  // by entry
  std::vector<std::vector<ChosenKernel>> chosen;  // by entry
  // The module after these stages, where somebody asked for it.
  std::string placed_text;
  std::string kernels_text;
  // The strategy that had placed the module alike, and so has this plan; then
  // there is nothing else.
  std::string repeats;
};

class Compilation {
 public:
  // `machine` and `options` must outlive it.
  Compilation(Module module, const Machine& machine,
              const CompileOptions& options);

  // Writes the pins and runs the source passes. First of all.
  absl::Status Optimise();
  // Divides the batch as the options say, if they do. Before any strategy.
  absl::Status DivideIntoMicroBatches();
  const Module& source() const { return source_; }
  CompileReport& report() { return report_; }

  // Places, chooses kernels and lowers. Lowering may find a device short that
  // the planner thought large enough: then the planner is asked again with that
  // much less. Where that leads nowhere, lowering's refusal is told, which
  // knows what the plan takes. What another strategy has placed alike is not
  // done again.
  absl::StatusOr<Attempt> Try(const Planner& planner, bool with_texts = false);

  absl::StatusOr<Prediction> Predict(Attempt& attempt);
  // Generated code for the plan's nodes.
  absl::Status BuildImages(Plan& plan);
  // Internal if the checker refuses the plan; else it gets its certificate.
  absl::Status Prove(Plan& plan);

 private:
  // Runs `work` as a stage: progress before, duration after.
  absl::Status Stage(absl::string_view name,
                     const std::function<absl::Status()>& work);
  // A placed copy of the source, by this strategy.
  absl::StatusOr<Module> Place(const Planner& planner,
                               const std::vector<int64_t>& limits,
                               std::vector<EntryNotes>& notes);
  // `homes` are what functions before this one have decided, and then what it
  // has.
  absl::Status PlaceFunction(const Planner& planner,
                             const std::vector<int64_t>& limits,
                             const MicroBatches& parts, VariableHomes& homes,
                             Graph& function, EntryNotes& notes);
  absl::Status BindKernels(Module& module,
                           std::vector<std::vector<ChosenKernel>>& chosen);
  // Lowers the limit of the device that lowering found short; false if that is
  // not why it failed, or nothing is left.
  bool LowerLimit(const absl::Status& status,
                  std::vector<int64_t>& limits) const;

  Module source_;
  std::vector<MicroBatches> micro_batches_;  // by function
  const Machine& machine_;
  const CompileOptions& options_;
  const KernelCatalog& catalog_;
  std::vector<DeviceTraits> traits_;
  std::vector<int64_t> usable_;
  PackedConstants packed_;
  // What strategies placed that led to plans.
  std::vector<std::pair<Fingerprint, std::string>> placed_;
  CompileReport report_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILATION_H_
