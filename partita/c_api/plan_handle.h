// What a partita_plan refers to.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_PLAN_HANDLE_H_
#define PARTITA_PARTITA_C_API_PLAN_HANDLE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "partita/c_api.h"
#include "partita/c_api/handle_mark.h"
#include "partita/session.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_file.h"

struct partita_plan {  // NOLINT(readability-identifier-naming)
  static constexpr auto kKind = partita::c_api::HandleKind::kPlan;
  static constexpr char kName[] = "plan";

  const partita::Plan& contents() const {
    return compiled != nullptr ? *compiled : **proved;
  }

  partita::c_api::HandleMark mark{kKind};
  // One of them: from a file or from memory, or compiled by this process.
  std::optional<partita::ProvedPlan> proved;
  std::shared_ptr<const partita::Plan> compiled;
  partita::PlanFileOptions file_options;
  std::string warnings;
  // Held by calls that may hash constants, which caches the hashes.
  std::mutex hashing;
};

#endif  // PARTITA_PARTITA_C_API_PLAN_HANDLE_H_
