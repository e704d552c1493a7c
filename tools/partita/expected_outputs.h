// The outputs of a run beside those of ONNX test data.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_EXPECTED_OUTPUTS_H_
#define PARTITA_TOOLS_PARTITA_EXPECTED_OUTPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "partita/session.h"
#include "tools/partita/run_report.h"

namespace partita {

// With FOLDER/output_0.pb and so on, one for each output. `atol` is a share of
// the output's largest magnitude.
absl::StatusOr<std::vector<OutputComparison>> CompareTestData(
    const Session& session, const std::string& folder, double rtol,
    double atol);

// FailedPrecondition if an output is of another type or outside the tolerances.
absl::Status CheckTolerances(const std::vector<OutputComparison>& outputs);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_EXPECTED_OUTPUTS_H_
