// The CUDA drivers that work. Needs no header of CUDA.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_THIRD_PARTY_CUDA_SEARCH_DRIVER_VERSION_H_
#define PARTITA_THIRD_PARTY_CUDA_SEARCH_DRIVER_VERSION_H_

#include <string>

#include "absl/status/status.h"

namespace partita {

// The oldest driver with all functions that are called: CUDA 12.8, as
// cuDriverGetVersion counts.
inline constexpr int kOldestDriver = 12080;

// "12.8" of 12080.
std::string DriverVersionText(int version);

// FailedPrecondition, in one sentence that names the library, if a driver of
// this version, as cuDriverGetVersion counts, is too old.
absl::Status CheckDriverVersion(int version);

}  // namespace partita

#endif  // PARTITA_THIRD_PARTY_CUDA_SEARCH_DRIVER_VERSION_H_
