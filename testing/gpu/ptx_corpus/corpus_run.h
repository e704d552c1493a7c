// Runs the corpus on a GPU and compares the bits.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_PTX_CORPUS_CORPUS_RUN_H_
#define PARTITA_TESTING_GPU_PTX_CORPUS_CORPUS_RUN_H_

#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

struct CorpusCounts {
  int runs = 0;   // of a kernel: each twice a target, aligned and not
  int wrong = 0;  // runs with an element that differs, NaN bits aside
};

// On device 0, with the texts of the folder. Prints the device, each wrong
// element and bytes a second. The driver's error ends it.
absl::StatusOr<CorpusCounts> RunCorpus(const DriverApi& api,
                                       const std::string& folder,
                                       std::ostream& out);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_PTX_CORPUS_CORPUS_RUN_H_
