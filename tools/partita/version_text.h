// The answer of `partita --version`.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_VERSION_TEXT_H_
#define PARTITA_TOOLS_PARTITA_VERSION_TEXT_H_

#include <string>

namespace partita {

// The version and the commit, which decide what the program does; the plan
// format and the checker, which decide whether two programs understand each
// other's plans; the libraries, and the instruction sets of this host that
// kernels use. One line each. Opens the code generator, to ask for LLVM's
// version.
std::string VersionText();

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_VERSION_TEXT_H_
