// Counts the bytes that operator new has allocated and delete has not freed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_FUZZ_MEMORY_METER_H_
#define PARTITA_TESTS_FUZZ_MEMORY_METER_H_

#include <cstdint>

namespace partita {

// Counts from now on, in addition to existing allocations. For all threads of
// the program.
void BeginMeter();
// The most bytes at once since BeginMeter; 0 under the address and thread
// sanitizers, which have an operator new of their own.
int64_t PeakBytes();

}  // namespace partita

#endif  // PARTITA_TESTS_FUZZ_MEMORY_METER_H_
