// A leaderboard as text, as JSON and as a page.
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partita/leaderboard.h"
#include "tools/partita/leaderboard_page.h"
#include "tools/partita/leaderboard_text.h"

namespace partita {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Leaderboard Sample() {
  Leaderboard board{.machine = "two <small> gpus",
                    .devices = {"gpu:0", "gpu:1"}};
  board.rows.push_back({.strategy = "auto",
                        .chosen = "list",
                        .step_seconds = 1e-4,
                        .latency_seconds = 1e-4,
                        .bound_seconds = 7.5e-5,
                        .bound_by = "load of gpu:0 and 1 like it",
                        .peak_bytes = {3 << 20, 1 << 20},
                        .moved_bytes = 16384,
                        .bubble = 0.13,
                        .planning_seconds = 0.25});
  board.rows.push_back({.strategy = "single",
                        .step_seconds = 2.5e-4,
                        .latency_seconds = 2.5e-4,
                        .bound_seconds = 7.5e-5,
                        .bound_by = "critical path",
                        .peak_bytes = {4 << 20, 0},
                        .bubble = 0,
                        .planning_seconds = 0.001});
  board.rows.push_back(
      {.strategy = "data", .refusal = "placement @f: found 4.0 MiB needed"});
  return board;
}

TEST(LeaderboardTextTest, OneLineForEachStrategyAndTheBound) {
  EXPECT_EQ(
      LeaderboardText(Sample()),
      "strategy    step      gap   bubble  moved     gpu:0    gpu:1    "
      "planning\n"
      "auto: list  100.0 us  25 %  13 %    16.0 KiB  3.0 MiB  1.0 MiB  "
      "250.00 ms\n"
      "single      250.0 us  70 %  0 %     0 B       4.0 MiB  0 B      "
      "1.00 ms\n"
      "data        refused: placement @f: found 4.0 MiB needed\n"
      "no plan for this machine takes less than 75.0 us (load of gpu:0 and 1 "
      "like it)\n");
}

TEST(LeaderboardTextTest, WithoutAPlanThereIsNoBound) {
  Leaderboard board = Sample();
  board.rows.erase(board.rows.begin(), board.rows.begin() + 2);
  EXPECT_EQ(LeaderboardText(board),
            "strategy  step  gap  bubble  moved  gpu:0  gpu:1  planning\n"
            "data      refused: placement @f: found 4.0 MiB needed\n");
}

TEST(LeaderboardJsonTest, FixedNamesAndSiUnits) {
  Leaderboard board = Sample();
  board.rows.erase(board.rows.begin() + 1);
  board.rows[0].step_seconds = 0.5;
  board.rows[0].latency_seconds = 0.75;
  board.rows[0].bound_seconds = 0.375;
  EXPECT_EQ(LeaderboardJson(board), R"({
  "machine": "two <small> gpus",
  "strategies": [
    {
      "strategy": "auto",
      "refusal": "",
      "chosen": "list",
      "step_seconds": 0.5,
      "latency_seconds": 0.75,
      "bound_seconds": 0.375,
      "bound_by": "load of gpu:0 and 1 like it",
      "gap_percent": 25.0,
      "bubble_percent": 13.0,
      "moved_bytes": 16384,
      "peak_bytes": {
        "gpu:0": 3145728,
        "gpu:1": 1048576
      },
      "planning_seconds": 0.25
    },
    {
      "strategy": "data",
      "refusal": "placement @f: found 4.0 MiB needed"
    }
  ]
}
)");
}

// From the heading on.
std::string BodyOf(const std::string& page) {
  return page.substr(page.find("<h1>"));
}

TEST(LeaderboardPageTest, ATableWithABarForEachStep) {
  EXPECT_EQ(
      BodyOf(LeaderboardPage(Sample(), "a&b.onnx")),
      "<h1>a&amp;b.onnx on two &lt;small&gt; gpus</h1>\n"
      "<p>no plan for this machine takes less than 75.0 us (load of gpu:0 and "
      "1 like it)</p>\n"
      "<table>\n"
      "<tr><th>strategy</th><th></th><th>step</th><th>gap</th>"
      "<th>bubble</th><th>moved</th><th>gpu:0</th><th>gpu:1</th>"
      "<th>planning</th></tr>\n"
      "<tr><td>auto: list</td><td><div class=\"bar\">"
      "<i style=\"width: 40.0%\"></i><b style=\"left: 30.0%\"></b></div></td>"
      "<td>100.0 us</td><td>25 %</td><td>13 %</td><td>16.0 KiB</td>"
      "<td>3.0 MiB</td><td>1.0 MiB</td><td>250.00 ms</td></tr>\n"
      "<tr><td>single</td><td><div class=\"bar\">"
      "<i style=\"width: 100.0%\"></i><b style=\"left: 30.0%\"></b></div></td>"
      "<td>250.0 us</td><td>70 %</td><td>0 %</td><td>0 B</td>"
      "<td>4.0 MiB</td><td>0 B</td><td>1.00 ms</td></tr>\n"
      "<tr><td>data</td><td class=\"refused\" colspan=\"8\">refused: placement "
      "@f: found 4.0 MiB needed</td></tr>\n"
      "</table>\n</body>\n</html>\n");
}

TEST(LeaderboardPageTest, ThePageLoadsNothingAndRunsNoScript) {
  const std::string page = LeaderboardPage(Sample(), "m.onnx");
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
}

}  // namespace
}  // namespace partita
