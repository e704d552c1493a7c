// A leaderboard as one self-contained HTML file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_LEADERBOARD_PAGE_H_
#define PARTITA_TOOLS_PARTITA_LEADERBOARD_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "partita/leaderboard.h"

namespace partita {

// The table of LeaderboardText, with a bar for each step and a mark at its
// bound. Opens from disk, loads nothing and runs no script. Names are escaped;
// bytes that are not UTF-8 become replacement characters.
std::string LeaderboardPage(const Leaderboard& board, absl::string_view model);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_LEADERBOARD_PAGE_H_
