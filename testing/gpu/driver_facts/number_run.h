// Runs one instruction on the GPU, on many operands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_NUMBER_RUN_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_NUMBER_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/number_instructions.h"

namespace partita {

struct NumberInputs {
  std::vector<uint64_t> words;  // three a case
  size_t cases() const { return words.size() / 3; }
  const uint64_t* at(size_t i) const { return &words[3 * i]; }
  void Add(uint64_t a, uint64_t b, uint64_t c) {
    words.insert(words.end(), {a, b, c});
  }
};

// Every pair of special values, triples of every third, and random bits.
NumberInputs InputsOf(const TestedInstruction& instruction);

// One result a case.
absl::StatusOr<std::vector<uint64_t>> RunOnGpu(
    const Gpu& gpu, const TestedInstruction& instruction,
    const NumberInputs& inputs);

// "(3f800000,7fc00000)=7fffffff"
std::string CaseText(const TestedInstruction& instruction,
                     const uint64_t* operands, uint64_t result);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_NUMBER_RUN_H_
