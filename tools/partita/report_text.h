// Reports as people and as programs read them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_REPORT_TEXT_H_
#define PARTITA_TOOLS_PARTITA_REPORT_TEXT_H_

#include <string>

#include "partita/compile.h"
#include "runtime/plan/plan.h"

namespace partita {

// What went where, memory, predicted step and bound: a dozen lines.
std::string CompileSummary(const Compiled& compiled);
std::string CompileJson(const Compiled& compiled);

// "1.24 ms", "61.0 us".
std::string SecondsText(double seconds);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_REPORT_TEXT_H_
