// Runs the stages of a compilation, and times them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_STAGE_CLOCK_H_
#define PARTITA_PARTITA_STAGE_CLOCK_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "partita/compile.h"
#include "partita/compile_target.h"

namespace partita {

class StageClock {
 public:
  // Adds to `stages`. Both must outlive it.
  StageClock(const CompileTarget& target, std::vector<StageTime>& stages)
      : target_(target), stages_(stages) {}

  // Runs `work` as a stage: progress before, duration after. A stage that runs
  // several times has one entry. A stage may run others: their time is theirs.
  // The error of `work` or, first, of a device's catalog.
  absl::Status Run(absl::string_view name,
                   const std::function<absl::Status()>& work);

 private:
  const CompileTarget& target_;
  std::vector<StageTime>& stages_;
  double inner_seconds_ = 0;  // of stages in the running stage
};

}  // namespace partita

#endif  // PARTITA_PARTITA_STAGE_CLOCK_H_
