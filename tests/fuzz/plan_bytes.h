// Corrects what a mutation breaks in the header of a plan file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_FUZZ_PLAN_BYTES_H_
#define PARTITA_TESTS_FUZZ_PLAN_BYTES_H_

#include <string>

namespace partita {

// Corrects the hash of the metadata. False, and no change, if the header does
// not say where the metadata are.
bool FixHash(std::string& bytes);

// Corrects the header's sizes, so that truncated and extended files pass it
// too.
void FixSizes(std::string& bytes);

}  // namespace partita

#endif  // PARTITA_TESTS_FUZZ_PLAN_BYTES_H_
