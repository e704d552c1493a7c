// Where the files are that belong to a program and are opened at first use.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_COMPANION_FILE_H_
#define PARTITA_KERNELS_COMPANION_FILE_H_

#include <string>
#include <vector>

namespace partita {

// Of PARTITA_LIBRARY_PATH (between colons), the program's own folder, and
// `in_runfiles`, where the build puts the file, below the roots of runfiles.
std::vector<std::string> CompanionFolders(const std::string& in_runfiles);

// The file in the first of these folders that has it; empty if none has.
std::string FindCompanion(const std::string& file,
                          const std::string& in_runfiles);

}  // namespace partita

#endif  // PARTITA_KERNELS_COMPANION_FILE_H_
