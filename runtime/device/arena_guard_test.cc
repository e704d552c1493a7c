// Tests which bytes of an arena are poisoned while commands run.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/arena_guard.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace partita {
namespace {

// One letter for each 8 bytes: '.' is accessible, 'x' is poisoned.
std::string Picture(const std::vector<std::byte>& arena) {
  std::string picture;
  for (size_t i = 0; i < arena.size(); i += 8) {
#if defined(__SANITIZE_ADDRESS__)
    picture += __asan_address_is_poisoned(arena.data() + i) ? 'x' : '.';
#else
    picture += '.';
#endif
  }
  return picture;
}

// The expected picture; without AddressSanitizer all bytes are accessible.
std::string Guarded(const std::string& picture) {
  return ArenaGuardsWork() ? picture : std::string(picture.size(), '.');
}

class ArenaGuardTest : public testing::Test {
 protected:
  Blocks At(int64_t eighth, int64_t eighths) {
    return {arena_.data() + 8 * eighth, 8 * eighths};
  }
  std::vector<std::byte> arena_ = std::vector<std::byte>(64);
};

TEST_F(ArenaGuardTest, OnlyDeclaredBytesAreOpen) {
  {
    ArenaGuard guard(arena_.data(), 64);
    EXPECT_EQ(Picture(arena_), Guarded("xxxxxxxx"));
    guard.Open({At(1, 2)});
    EXPECT_EQ(Picture(arena_), Guarded("x..xxxxx"));
    guard.Close({At(1, 2)});
    EXPECT_EQ(Picture(arena_), Guarded("xxxxxxxx"));
  }
  EXPECT_EQ(Picture(arena_), Guarded("........"));
}

TEST_F(ArenaGuardTest, BytesThatAnotherCommandHoldsStayOpen) {
  ArenaGuard guard(arena_.data(), 64);
  guard.Open({At(0, 6)});
  guard.Open({At(2, 2), At(2, 2)});
  guard.Close({At(0, 6)});
  EXPECT_EQ(Picture(arena_), Guarded("xx..xxxx"));
  guard.Close({At(2, 2)});
  EXPECT_EQ(Picture(arena_), Guarded("xx..xxxx"));
  guard.Close({At(2, 2)});
  EXPECT_EQ(Picture(arena_), Guarded("xxxxxxxx"));
}

TEST_F(ArenaGuardTest, ABlockOfColumnsOpensItsColumnsOnly) {
  ArenaGuard guard(arena_.data(), 64);
  const Blocks columns = {arena_.data(), 8, 3, 16};
  guard.Open({columns});
  EXPECT_EQ(Picture(arena_), Guarded(".x.x.xxx"));
  guard.Close({columns});
  EXPECT_EQ(Picture(arena_), Guarded("xxxxxxxx"));
}

// Opened and closed in any order, as many times as it is held.
TEST_F(ArenaGuardTest, HoldsOfManyCommandsAddUp) {
  ArenaGuard guard(arena_.data(), 64);
  guard.Open({At(0, 4), At(2, 4), At(4, 4)});
  guard.Close({At(2, 4)});
  EXPECT_EQ(Picture(arena_), Guarded("........"));
  guard.Close({At(4, 4)});
  EXPECT_EQ(Picture(arena_), Guarded("....xxxx"));
  guard.Open({At(3, 2)});
  guard.Close({At(0, 4)});
  EXPECT_EQ(Picture(arena_), Guarded("xxx..xxx"));
  guard.Close({At(3, 2)});
  EXPECT_EQ(Picture(arena_), Guarded("xxxxxxxx"));
}

// A split along an inner dimension has a block for each row: this must take
// seconds, not minutes.
TEST(ArenaGuard, ManyRowsTakeTimeInProportion) {
  std::vector<std::byte> arena(16 * 200'000);
  ArenaGuard guard(arena.data(), static_cast<int64_t>(arena.size()));
  const Blocks rows = {arena.data(), 8, 200'000, 16};
  for (int i = 0; i < 3; ++i) {
    guard.Open({rows});
    guard.Close({rows});
  }
}

}  // namespace
}  // namespace partita
