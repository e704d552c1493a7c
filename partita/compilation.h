// The compilation of one module: its stages, each timed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_COMPILATION_H_
#define PARTITA_PARTITA_COMPILATION_H_

#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "binding/choose_kernels.h"
#include "binding/layout_state.h"
#include "graph/fingerprint.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "partita/compile.h"
#include "partita/predict.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "placement/partition/variable_homes.h"
#include "placement/planner/pins.h"
#include "placement/planner/planner.h"
#include "runtime/plan/plan.h"

namespace partita {

// One attempt: a placed module on its way to a plan, with its notes.
struct Attempt {
  Plan plan;
  std::vector<EntryNotes> notes;                // by entry
  std::vector<std::vector<PricedNode>> chosen;  // by entry
  // The module's text after these stages, if requested.
  std::string placed_text;
  std::string kernels_text;
  // The strategy with the same placement, and so the same plan; all other
  // fields are then empty.
  std::string repeats;
};

class Compilation {
 public:
  // `machine` and `options` must outlive it.
  Compilation(Module module, const Machine& machine,
              const CompileOptions& options);

  // Writes the pins and runs the source passes. Call it first.
  absl::Status Optimise();
  // Splits the batch into micro-batches if the options say so. Call it before
  // any strategy.
  absl::Status DivideIntoMicroBatches();
  const Module& source() const { return source_; }
  CompileReport& report() { return report_; }

  // Places, chooses kernels and lowers. Only lowering knows the plan's real
  // memory, so only it decides what fits; a placement that the planner expects
  // to be short is lowered too. If lowering needs more memory on a device than
  // the planner expected, the planner runs again with that much less. The
  // refusal is the planner's if it expected the shortage, else that of the
  // first lowering. A placement that another strategy already had is not
  // lowered again.
  absl::StatusOr<Attempt> Try(const Planner& planner, bool with_texts = false);

  absl::StatusOr<Prediction> Predict(Attempt& attempt);
  // Generated code for the plan's nodes.
  absl::Status BuildCode(Plan& plan);
  // Adds the certificate; Internal if the checker refuses the plan.
  absl::Status Prove(Plan& plan);

 private:
  // Runs `work` as a stage: progress before, duration after.
  absl::Status Stage(absl::string_view name,
                     const std::function<absl::Status()>& work);
  // One round of Try. `expected`: the shortage that the planner expects.
  absl::StatusOr<Attempt> TryWithin(const std::vector<int64_t>& limits,
                                    const Planner& planner, bool with_texts,
                                    absl::Status& expected);
  absl::StatusOr<Plan> LowerModule(Module module);
  // A copy of the source, placed by this strategy.
  absl::StatusOr<Module> Place(const Planner& planner,
                               const std::vector<int64_t>& limits,
                               std::vector<EntryNotes>& notes,
                               absl::Status& expected);
  // The notes of a placed function, and the shortage that its planner expects.
  struct PlacedFunction {
    EntryNotes notes;
    absl::Status shortage;
  };
  // `homes`: the variables' homes from previous functions; this function's are
  // added.
  absl::StatusOr<PlacedFunction> PlaceFunction(
      const Planner& planner, const std::vector<int64_t>& limits,
      const MicroBatches& parts, VariableHomes& homes, Graph& function);
  absl::Status BindKernels(Module& module,
                           std::vector<std::vector<PricedNode>>& chosen);
  // Lowers the limit of the device on which lowering ran short; false if it
  // failed for another reason, or if nothing is left.
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
  // Placements that led to plans, with their strategies, and those that did
  // not, with their faults.
  std::vector<std::pair<Fingerprint, std::string>> placed_;
  std::vector<std::pair<Fingerprint, absl::Status>> refused_;
  CompileReport report_;
  std::vector<WrittenPin> pins_;
  std::future<void> opening_codegen_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILATION_H_
