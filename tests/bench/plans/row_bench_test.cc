// Tests that rows are printed by their keys.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/row_bench.h"

#include <gtest/gtest.h>

#include <sstream>

namespace partita {
namespace {

RowTable Lengths() {
  return {.columns = {"length", "text"},
          .keys = {"a", "bb", "bad"},
          .measure = [](const std::string& key) -> absl::StatusOr<RowCells> {
            if (key == "bad") return absl::InternalError("no length");
            return RowCells{std::to_string(key.size()), "of\t" + key + "\n"};
          }};
}

TEST(RowBench, RowsFollowTheHeader) {
  std::ostringstream out;
  ASSERT_TRUE(PrintRows(Lengths(), {"bb", "a"}, out).ok());
  EXPECT_EQ(out.str(), "key\tlength\ttext\nbb\t2\tof bb \na\t1\tof a \n");
}

TEST(RowBench, AnUnknownKeyIsRefusedBeforeAnyRow) {
  std::ostringstream out;
  EXPECT_EQ(PrintRows(Lengths(), {"a", "c"}, out).message(),
            "found no row c; expected one of those that --keys prints");
  EXPECT_EQ(out.str(), "");
}

TEST(RowBench, RowsBeforeAnErrorAreKept) {
  std::ostringstream out;
  EXPECT_EQ(PrintRows(Lengths(), {"a", "bad", "bb"}, out).message(),
            "no length");
  EXPECT_EQ(out.str(), "key\tlength\ttext\na\t1\tof a \n");
}

TEST(RowBench, EveryColumnHasACell) {
  RowTable table = Lengths();
  table.columns.push_back("more");
  std::ostringstream out;
  EXPECT_EQ(PrintRows(table, {"a"}, out).message(),
            "bug: found 2 cells in row a; expected 3");
}

TEST(RowBench, MicrosecondsOfNothingAreEmpty) {
  EXPECT_EQ(Microseconds(1.5e-6), "1.500000");
  EXPECT_EQ(Microseconds(std::nullopt), "");
}

}  // namespace
}  // namespace partita
