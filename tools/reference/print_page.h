// Prints a page of the reference.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_REFERENCE_PRINT_PAGE_H_
#define PARTITA_TOOLS_REFERENCE_PRINT_PAGE_H_

#include <string>

namespace partita {

// To standard output. The program's exit code: 1 if that is closed or full.
int PrintPage(const std::string& page);

}  // namespace partita

#endif  // PARTITA_TOOLS_REFERENCE_PRINT_PAGE_H_
