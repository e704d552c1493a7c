// The generated GPU kernels that are tried on a real GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_PTX_CORPUS_CORPUS_H_
#define PARTITA_TESTING_GPU_PTX_CORPUS_CORPUS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/row_program.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"

namespace partita {

// The targets for which there is PTX.
inline constexpr const char* kCorpusTargets[] = {"sm_80", "sm_90"};

// Large programs, to measure bytes a second.
std::vector<ElementwiseProgram> MeasuredPrograms();
std::vector<RowProgram> MeasuredRows();

// PTX of SamplePrograms(), SampleRows(), and the measured programs.
absl::StatusOr<std::string> CorpusPtx(absl::string_view target);

// Writes FOLDER/sm_80.ptx and FOLDER/sm_90.ptx. Operands and expected results
// are computed where the corpus is run: they are the same everywhere.
absl::Status WriteCorpus(const std::string& folder);
// The text of FOLDER/TARGET.ptx.
absl::StatusOr<std::string> ReadCorpus(const std::string& folder,
                                       absl::string_view target);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_PTX_CORPUS_CORPUS_H_
