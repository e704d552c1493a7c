// Operands of calls that are wrong without being another call's.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_OPERANDS_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_OPERANDS_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/gpu/sown_faults/call_account.h"
#include "tests/gpu/sown_faults/sown_fault.h"

namespace partita {

// All return false if there is nothing to change, or if the change could access
// memory of the process that is nobody's.

// One parameter of a kernel, of 8 bytes each.
bool ChangeArgument(Wrong wrong, size_t index, std::vector<uint64_t>& values);

bool ChangeGrid(Wrong wrong, unsigned& blocks, unsigned& threads);

bool ChangeBytes(const CallAccount& account, Wrong wrong, CUdeviceptr& to,
                 CUdeviceptr& from, size_t& bytes);

// Halves a size.
bool Shorten(size_t& bytes);

// The answer of the driver at `answer`.
bool ChangeAnswer(const CallAccount& account, CUpointer_attribute attribute,
                  void* answer);

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_OPERANDS_H_
