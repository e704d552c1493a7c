// Which libraries a program links.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TESTING_LINKED_LIBRARIES_H_
#define PARTITA_PARTITA_TESTING_LINKED_LIBRARIES_H_

namespace partita {

// Expects of this process that it has mapped what runs plans, and no library of
// the compiler.
void ExpectOnlyWhatRunsPlans();

}  // namespace partita

#endif  // PARTITA_PARTITA_TESTING_LINKED_LIBRARIES_H_
