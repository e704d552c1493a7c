// A cubin with an instruction that no GPU has.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_DAMAGED_CODE_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_DAMAGED_CODE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {

// Code of this GPU, an ELF file, that the driver's compiler makes of `ptx`.
absl::StatusOr<std::string> CubinOf(const Gpu& gpu, const std::string& ptx);

// Gives the first instruction of `kernel` an operation that does not exist.
absl::Status DamageKernel(const std::string& kernel, std::string& cubin);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_DAMAGED_CODE_H_
