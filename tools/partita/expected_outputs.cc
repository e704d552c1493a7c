// Compares with the files of a folder.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/expected_outputs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/tested_model.h"
#include "graph/status_macros.h"
#include "tools/partita/compare.h"
#include "tools/partita/tensor_file.h"

namespace partita {

absl::StatusOr<std::vector<OutputComparison>> CompareTestData(
    const Session& session, const std::string& folder, double rtol,
    double atol) {
  std::vector<OutputComparison> comparisons;
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* actual, session.GetOutput(i));
    PARTITA_ASSIGN_OR_RETURN(HostTensor data,
                             ReadTensor(TestDataPath(folder, "output", i)));
    const HostTensor expected = AsDeclared(std::move(data), actual->type());
    comparisons.push_back(
        {session.output_name(i),
         Compare(*actual, expected, rtol, atol * LargestMagnitude(expected))});
  }
  return comparisons;
}

absl::Status CheckTolerances(const std::vector<OutputComparison>& outputs) {
  int typed = 0;
  int far = 0;
  for (const OutputComparison& output : outputs) {
    typed += !output.difference.problem.empty();
    far += !output.difference.within;
  }
  if (typed > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("found ", typed, " of ", outputs.size(),
                     " outputs of another type than the test data; expected "
                     "none; look for the data of another model"));
  }
  if (far == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("found ", far, " of ", outputs.size(),
                   " outputs outside the tolerances; expected ",
                   "none; --rtol and --atol widen them"));
}

}  // namespace partita
