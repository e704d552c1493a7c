// Every shard of a sharded variable that is updated must be persistent.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"
#include "runtime/plan/checker/testing/plan_description.h"

namespace partita {
namespace {

// w becomes -x, two elements on each device.
constexpr absl::string_view kSharded =
    R"(variable @w: i8[4] = i8[4] [1, 2, 3, 4]

graph @f(%x: i8[4] on {gpu:0, gpu:1} -> (split 0)) -> i8[4] {
  %w = variable {dtype = i8, name = "w", shape = [4]} : i8[4] on {gpu:0, gpu:1} -> (split 0)
  %n = neg %x : i8[4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  update @w = %n
  return %n
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 2 step 2
  device gpu:1 cuda memory 100
    arena persistent 2 step 2
  entry @f of @f {
    input x i8[4]
    output n i8[4]
    arena gpu:0
      !w0 persistent 0 2
      !x0 0 2
    arena gpu:1
      !w1 persistent 0 2
      !x1 0 2
    persistent
      !w0 = %w initial i8[2] #FIRST
      !w1 = %w rank 1 initial i8[2] #SECOND
    stream gpu:0/s
      0 feed -> !x0 input 0
      1 kernel %n (!x0) -> !w0
      2 fetch !w0 output 0
    stream gpu:1/s
      3 feed -> !x1 input 0
      4 kernel %n rank 1 (!x1) -> !w1
      5 fetch !w1 output 0
  }
}
)";

std::string HashOf(absl::Span<const char> values) {
  return HashBytes(
             {reinterpret_cast<const std::byte*>(values.data()), values.size()})
      .ToString();
}

// The plan's text has hashes of shards, no bytes.
std::string VerdictOfShards(const TextChanges& changes) {
  const std::string text = absl::StrReplaceAll(kSharded, changes);
  return CheckerVerdict({{"FIRST", HashOf({1, 2})}, {"SECOND", HashOf({3, 4})}},
                        text);
}

TEST(VariableShards, AShardThatIsNotPersistentIsLost) {
  EXPECT_EQ(VerdictOfShards({}), "proved");
  EXPECT_EQ(
      VerdictOfShards({{"      !w1 = %w rank 1 initial i8[2] #SECOND\n", ""}}),
      "plan @f: variable w (split 0 over 2 devices): found no persistent range "
      "for shard 1, i8[2]; expected one for every shard, as the updates of the "
      "others are lost; keep it on gpu:1");
}

// If a variable of one element is sharded over two devices, the first has none.
TEST(VariableShards, AShardWithoutBytesNeedsNoRange) {
  const std::string part = absl::StrCat("i8[1] #", HashOf({7}));
  const TextChanges one = {{"i8[4] [1, 2, 3, 4]", "i8[1] [7]"},
                           {"neg %x", "copy %x"},
                           {"kernel %n (!x0)", "copy %n !x0"},
                           {"kernel %n rank 1 (!x1)", "copy %n rank 1 !x1"},
                           {"i8[4]", "i8[1]"},
                           {"shape = [4]", "shape = [1]"},
                           {"      !w0 = %w initial i8[2] #FIRST\n", ""},
                           {"!w0 persistent 0 2", "!w0 persistent 0 0"},
                           {"!w1 persistent 0 2", "!w1 persistent 0 1"},
                           {"!x0 0 2", "!x0 0 0"},
                           {"!x1 0 2", "!x1 0 1"},
                           {"i8[2] #SECOND", part}};
  EXPECT_EQ(VerdictOfShards(one), "proved");
}

}  // namespace
}  // namespace partita
