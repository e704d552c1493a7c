// One write, flushed.
// SPDX-License-Identifier: Apache-2.0

#include "tools/reference/print_page.h"

#include <cstdio>

namespace partita {

int PrintPage(const std::string& page) {
  const bool written =
      std::fwrite(page.data(), 1, page.size(), stdout) == page.size() &&
      std::fflush(stdout) == 0;
  return written ? 0 : 1;
}

}  // namespace partita
