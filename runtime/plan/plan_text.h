// The text form of plans, for people and tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_TEXT_H_
#define PARTITA_RUNTIME_PLAN_PLAN_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/ops/op_set.h"
#include "runtime/plan/plan.h"

namespace partita {

// The module as IR text, then the plan:
//
//   graph @mlp(%x: f32[2]) -> f32[2] { ... }
//
//   plan @mlp {
//     device cpu:0 cpu threads 1 isa "" memory 1024 alignment 64
//       arena persistent 0 step 16
//     entry @mlp of @mlp depth 1 events 0 {
//       input x f32[2]
//       output y f32[2]
//       arena cpu:0
//         !x  0  8                     // live 0..1
//         !y  8  8 x 1 every 16        // live 1..2
//       stream cpu:0/compute
//         0 feed -> !x input 0         // x
//         1 kernel %y (!x) -> !y       // eval.relu
//         2 fetch !y output 0          // y
//     }
//   }
//
// Commands are listed by stream; their numbers are their positions in launch
// order. A program that the schedule invokes once, without slots, is listed in
// the entry itself if its name is `main`. Comments are for the reader:
// ParsePlan skips them. A text may omit numbers, `persistent` values' initial
// literals, and every word that states a default.
struct PlanTextOptions {
  bool comments = true;  // kernels, live ranges, who records an event
  bool reasons = false;  // and the notes' reasons and predictions
  bool certificate = true;
};

// Missing or repeated names get a number. A plan with ids that do not exist can
// be printed, with question marks, but not read back.
std::string PrintPlan(const Plan& plan, const PlanTextOptions& options = {});

// Parses what PrintPlan prints. If the text has only the hash of a constant or
// of native code, its bytes are missing in the plan. Node ids may differ from
// those of the printed plan: nodes are numbered in the graph's order. All else
// is equal. Errors begin with `source`; each fault is reported with its line
// and a caret.
absl::StatusOr<Plan> ParsePlan(absl::string_view text, absl::string_view source,
                               const OpSet& ops);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_TEXT_H_
