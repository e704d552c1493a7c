// The options of partita_compile are the flags of `partita compile`.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "partita/options/compilation_flags.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

// What the program prints and writes (partita/c_api.h), and what holds for its
// whole process: the library has CUDA_HOME for that.
const std::set<std::string> kFlagsOfProgram = {
    "output", "stop-after", "predict", "times", "json", "cuda-libs"};

TEST(CompileKeysTest, TheKeysAreTheFlagsExceptThoseOfTheProgram) {
  std::map<std::string, bool> flags;  // true: repeats
  for (const FlagDef& flag : kCompileCommand.flags) {
    if (!kFlagsOfProgram.contains(flag.name)) flags[flag.name] = flag.repeats;
  }
  std::map<std::string, bool> keys;
  for (const FlagDef& key : kCompilationFlags) keys[key.name] = key.repeats;
  EXPECT_EQ(keys, flags);
}

}  // namespace
}  // namespace partita
