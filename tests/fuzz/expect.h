// How a fuzz target reports a fault.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_FUZZ_EXPECT_H_
#define PARTITA_TESTS_FUZZ_EXPECT_H_

#include <cstdio>
#include <cstdlib>
#include <string>

namespace partita {

// Ends the program, so that the driver keeps the input.
inline void ExpectFuzz(bool holds, const char* what,
                       const std::string& details = "") {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, details.c_str());
  std::abort();
}

}  // namespace partita

#endif  // PARTITA_TESTS_FUZZ_EXPECT_H_
