// What is found, and what the errors say.
// SPDX-License-Identifier: Apache-2.0

#include "partita/port_lookup.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(PortLookupTest, APortIsFoundByItsName) {
  const std::vector<Port> ports = {{.name = "x"}, {.name = "y z"}};
  EXPECT_EQ(FindPort(ports, "x", "input").value(), 0u);
  EXPECT_EQ(FindPort(ports, "y z", "input").value(), 1u);
  EXPECT_EQ(FindPort(ports, "z", "input").status().message(),
            "input z: found no such input; expected one of x, y z");
}

TEST(PortLookupTest, AnIndexIsBelowTheirNumber) {
  EXPECT_TRUE(CheckIndex(1, 2, "output").ok());
  EXPECT_EQ(CheckIndex(2, 2, "output").message(),
            "session: found output 2; expected an index below 2");
  EXPECT_EQ(CheckIndex(-1, 2, "output").message(),
            "session: found output -1; expected an index below 2");
}

TEST(PortLookupTest, OfNoneNoneIsExpected) {
  EXPECT_EQ(FindPort({}, "z", "input").status().message(),
            "input z: found no such input; expected none");
  EXPECT_EQ(CheckIndex(0, 0, "variable").message(),
            "session: found variable 0; expected none");
}

}  // namespace
}  // namespace partita
