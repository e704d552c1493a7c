// Subtracts the time of inner stages.
// SPDX-License-Identifier: Apache-2.0

#include "partita/stage_clock.h"

#include <chrono>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/status_macros.h"

namespace partita {

absl::Status StageClock::Run(absl::string_view name,
                             const std::function<absl::Status()>& work) {
  if (target_.options().progress) target_.options().progress(name);
  const auto has_name = [&](const StageTime& stage) {
    return stage.stage == name;
  };
  if (!absl::c_any_of(stages_, has_name)) {
    stages_.push_back({std::string(name), 0});
  }
  const double outer = std::exchange(inner_seconds_, 0);
  const auto start = std::chrono::steady_clock::now();
  absl::Status status = work();
  // A catalog's error explains everything that follows from it.
  PARTITA_RETURN_IF_ERROR(target_.CheckCatalog());
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  absl::c_find_if(stages_, has_name)->seconds += taken.count() - inner_seconds_;
  inner_seconds_ = outer + taken.count();
  return status;
}

}  // namespace partita
