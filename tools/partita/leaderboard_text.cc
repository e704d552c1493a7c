// Writes the table of a leaderboard.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/leaderboard_text.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "placement/machine/byte_size.h"
#include "tools/partita/json_text.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

std::string PercentText(double percent) {
  return absl::StrFormat("%.0f %%", percent);
}

std::string StrategyText(const LeaderboardRow& row) {
  return row.chosen.empty() ? row.strategy
                            : absl::StrCat(row.strategy, ": ", row.chosen);
}

// By column, of the head and of all rows with figures.
std::vector<size_t> WidthsOf(const Leaderboard& board,
                             const std::vector<std::string>& head) {
  std::vector<size_t> widths;
  for (const std::string& title : head) widths.push_back(title.size());
  for (const LeaderboardRow& row : board.rows) {
    widths[0] = std::max(widths[0], StrategyText(row).size());
    if (!row.refusal.empty()) continue;
    const std::vector<std::string> cells = LeaderboardCells(row);
    for (size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  return widths;
}

std::string LineOf(const std::vector<std::string>& cells,
                   const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    absl::StrAppendFormat(&line, "%-*s  ", static_cast<int>(widths[i]),
                          cells[i]);
  }
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

Json RowJson(const Leaderboard& board, const LeaderboardRow& row) {
  Json json = {{"strategy", row.strategy}, {"refusal", row.refusal}};
  if (!row.refusal.empty()) return json;
  json["chosen"] = row.chosen;
  json["step_seconds"] = row.step_seconds;
  json["latency_seconds"] = row.latency_seconds;
  json["bound_seconds"] = row.bound_seconds;
  json["bound_by"] = row.bound_by;
  json["gap_percent"] = GapPercent(row.step_seconds, row.bound_seconds);
  json["bubble_percent"] = 100 * row.bubble;
  json["moved_bytes"] = row.moved_bytes;
  for (size_t d = 0; d < board.devices.size(); ++d) {
    json["peak_bytes"][board.devices[d]] = row.peak_bytes[d];
  }
  json["planning_seconds"] = row.planning_seconds;
  return json;
}

}  // namespace

std::vector<std::string> LeaderboardColumns(const Leaderboard& board) {
  std::vector<std::string> titles = {"strategy", "step", "gap", "bubble",
                                     "moved"};
  titles.insert(titles.end(), board.devices.begin(), board.devices.end());
  titles.push_back("planning");
  return titles;
}

std::vector<std::string> LeaderboardCells(const LeaderboardRow& row) {
  std::vector<std::string> cells = {
      StrategyText(row), SecondsText(row.step_seconds),
      PercentText(GapPercent(row.step_seconds, row.bound_seconds)),
      PercentText(100 * row.bubble), RoundedByteSize(row.moved_bytes)};
  for (int64_t bytes : row.peak_bytes) cells.push_back(RoundedByteSize(bytes));
  cells.push_back(SecondsText(row.planning_seconds));
  return cells;
}

std::string LeaderboardBound(const Leaderboard& board) {
  const LeaderboardRow& best = board.rows[0];
  if (!best.refusal.empty()) return "";
  return absl::StrCat(
      "no plan for this machine takes less than ",
      SecondsText(best.bound_seconds),
      best.bound_by.empty() ? "" : absl::StrCat(" (", best.bound_by, ")"));
}

std::string LeaderboardText(const Leaderboard& board) {
  const std::vector<std::string> head = LeaderboardColumns(board);
  const std::vector<size_t> widths = WidthsOf(board, head);
  std::string text = LineOf(head, widths);
  for (const LeaderboardRow& row : board.rows) {
    text += row.refusal.empty()
                ? LineOf(LeaderboardCells(row), widths)
                : LineOf({row.strategy, absl::StrCat("refused: ", row.refusal)},
                         widths);
  }
  const std::string bound = LeaderboardBound(board);
  return bound.empty() ? text : absl::StrCat(text, bound, "\n");
}

std::string LeaderboardJson(const Leaderboard& board) {
  Json json = {{"machine", board.machine}};
  for (const LeaderboardRow& row : board.rows) {
    json["strategies"].push_back(RowJson(board, row));
  }
  return JsonText(json);
}

}  // namespace partita
