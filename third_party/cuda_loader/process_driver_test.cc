// Tests which driver a process uses.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_loader/process_driver.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

// The first answer is that of this host: a driver or none.
TEST(ProcessDriver, ATableThatIsSetReplacesTheHostsDriver) {
  const absl::StatusOr<const DriverApi*> of_host = ProcessDriver();
  const DriverApi table;
  SetProcessDriver(&table);
  const absl::StatusOr<const DriverApi*> set = ProcessDriver();
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(*set, &table);
  SetProcessDriver(nullptr);
  const absl::StatusOr<const DriverApi*> again = ProcessDriver();
  EXPECT_EQ(again.status(), of_host.status());
  if (of_host.ok()) {
    EXPECT_EQ(*again, *of_host);
  }
}

}  // namespace
}  // namespace partita
