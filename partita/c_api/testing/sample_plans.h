// Small plans for tests of the C API, as text and as files, beside those of
// partita/testing/plan_texts.h.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_TESTING_SAMPLE_PLANS_H_
#define PARTITA_PARTITA_C_API_TESTING_SAMPLE_PLANS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "partita/testing/plan_texts.h"
#include "runtime/plan/plan.h"

namespace partita::c_api {

// @lengths: out = concat(a, b), a bool[0] and b bool[3].
extern const char kBools[];
// Two entries over x f32[2]: @twice returns y = x + x, @square z = x x.
extern const char kTwoEntries[];

// ParsePlan; the text must be right.
Plan PlanOf(absl::string_view text);
// The bytes of its plan file, which is written to a temporary folder.
std::string PlanBytes(const Plan& plan);
std::string FileBytes(const std::string& path);
void WriteBytes(const std::string& path, absl::string_view bytes);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_TESTING_SAMPLE_PLANS_H_
