// Writes the page as a table with bars.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/leaderboard_page.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "graph/utf8.h"
#include "tools/partita/leaderboard_text.h"

namespace partita {
namespace {

constexpr char kHead[] = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Partita leaderboard</title>
<style>
body { margin: 24px; background: #f5f6f8; color: #1d2530; font: 13px/1.45 system-ui, sans-serif; }
h1 { margin: 0 0 4px; font-size: 16px; }
p { margin: 0 0 16px; color: #5f6b7a; }
table { border-collapse: collapse; background: #fff; border: 1px solid #e2e6eb; }
th, td { padding: 6px 12px; border-bottom: 1px solid #e2e6eb; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child, td.refused { text-align: left; }
th, td.refused { color: #5f6b7a; }
td.refused { white-space: normal; }
.bar { position: relative; width: 240px; height: 12px; background: #eef1f4; }
.bar i { position: absolute; top: 0; bottom: 0; left: 0; background: #3f6fb0; }
.bar b { position: absolute; top: -2px; bottom: -2px; width: 2px; background: #b4403a; }
</style>
</head>
<body>
)";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      ValidUtf8(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

double LongestStep(const Leaderboard& board) {
  double longest = 0;
  for (const LeaderboardRow& row : board.rows) {
    longest = std::max(longest, row.step_seconds);
  }
  return longest;
}

std::string BarHtml(const LeaderboardRow& row, double longest) {
  const double scale = longest > 0 ? 100 / longest : 0;
  return absl::StrFormat(
      "<td><div class=\"bar\"><i style=\"width: %.1f%%\"></i>"
      "<b style=\"left: %.1f%%\"></b></div></td>",
      scale * row.step_seconds, scale * row.bound_seconds);
}

std::string RowHtml(const Leaderboard& board, const LeaderboardRow& row,
                    double longest) {
  if (!row.refusal.empty()) {
    return absl::StrCat("<tr><td>", Escaped(row.strategy),
                        "</td><td class=\"refused\" colspan=\"",
                        LeaderboardColumns(board).size(),
                        "\">refused: ", Escaped(row.refusal), "</td></tr>\n");
  }
  const std::vector<std::string> cells = LeaderboardCells(row);
  std::string html = absl::StrCat("<tr><td>", Escaped(cells[0]), "</td>",
                                  BarHtml(row, longest));
  for (size_t i = 1; i < cells.size(); ++i) {
    absl::StrAppend(&html, "<td>", Escaped(cells[i]), "</td>");
  }
  return html + "</tr>\n";
}

std::string HeadRowHtml(const Leaderboard& board) {
  const std::vector<std::string> titles = LeaderboardColumns(board);
  std::string html = absl::StrCat("<tr><th>", titles[0], "</th><th></th>");
  for (size_t i = 1; i < titles.size(); ++i) {
    absl::StrAppend(&html, "<th>", Escaped(titles[i]), "</th>");
  }
  return html + "</tr>\n";
}

}  // namespace

std::string LeaderboardPage(const Leaderboard& board, absl::string_view model) {
  std::string html = absl::StrCat(kHead, "<h1>", Escaped(model), " on ",
                                  Escaped(board.machine), "</h1>\n<p>",
                                  Escaped(LeaderboardBound(board)),
                                  "</p>\n<table>\n", HeadRowHtml(board));
  const double longest = LongestStep(board);
  for (const LeaderboardRow& row : board.rows) {
    html += RowHtml(board, row, longest);
  }
  return html + "</table>\n</body>\n</html>\n";
}

}  // namespace partita
