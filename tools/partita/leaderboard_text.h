// A leaderboard for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_LEADERBOARD_TEXT_H_
#define PARTITA_TOOLS_PARTITA_LEADERBOARD_TEXT_H_

#include <string>
#include <vector>

#include "partita/leaderboard.h"

namespace partita {

// The figures of a row under LeaderboardColumns, as people read them.
std::vector<std::string> LeaderboardColumns(const Leaderboard& board);
std::vector<std::string> LeaderboardCells(const LeaderboardRow& row);

// "no plan for this machine takes less than 24.8 us (load of gpu:0)", of the
// best row; "" if no strategy makes a plan.
std::string LeaderboardBound(const Leaderboard& board);

// A table with a line for each strategy, and the bound.
std::string LeaderboardText(const Leaderboard& board);
std::string LeaderboardJson(const Leaderboard& board);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_LEADERBOARD_TEXT_H_
