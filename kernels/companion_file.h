// Finds files that belong to a program and are opened at first use.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_COMPANION_FILE_H_
#define PARTITA_KERNELS_COMPANION_FILE_H_

#include <string>
#include <vector>

namespace partita {

// In search order: PARTITA_LIBRARY_PATH (separated by colons); partita/ beside
// the shared library that has this code, as in an installation, or, if the
// program itself has it, the program's own folder, ../lib/partita of that, and
// `in_runfiles`, the build's folder, below PROGRAM.runfiles; and `in_runfiles`
// below RUNFILES_DIR and TEST_SRCDIR.
std::vector<std::string> CompanionFolders(const std::string& in_runfiles);

// The file in the first of these folders that has it; "" if none has.
std::string FindCompanion(const std::string& file,
                          const std::string& in_runfiles);

}  // namespace partita

#endif  // PARTITA_KERNELS_COMPANION_FILE_H_
