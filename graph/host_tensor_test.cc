// Tests the alignment and content of owned bytes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/host_tensor.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gtest/gtest.h"

namespace partita {
namespace {

constexpr int64_t kLargePage = int64_t{2} << 20;

HostTensor Bytes(int64_t count) {
  return HostTensor(TensorType{DType::kU8, {count}, {}});
}

uintptr_t AddressOf(const HostTensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.bytes());
}

TEST(HostTensor, ATensorThatFillsALargePageIsAlignedToIt) {
  EXPECT_EQ(AddressOf(Bytes(kLargePage)) % kLargePage, 0u);
  EXPECT_EQ(AddressOf(Bytes(3 * kLargePage + 1)) % kLargePage, 0u);
  EXPECT_EQ(AddressOf(Bytes(kLargePage - 1)) % 64, 0u);
  EXPECT_EQ(AddressOf(Bytes(1)) % 64, 0u);
}

TEST(HostTensor, OwnedBytesAreZeroWhateverTheirSize) {
  for (int64_t size : {int64_t{0}, int64_t{1}, kLargePage, kLargePage + 77}) {
    const HostTensor tensor = Bytes(size);
    EXPECT_TRUE(std::all_of(tensor.byte_span().begin(),
                            tensor.byte_span().end(),
                            [](std::byte b) { return b == std::byte{0}; }))
        << size;
  }
}

TEST(HostTensor, ALargeTensorCanBeAssignedToASmallOne) {
  HostTensor tensor = Bytes(3);
  tensor = Bytes(kLargePage);
  tensor.bytes()[kLargePage - 1] = std::byte{7};
  const HostTensor copy = tensor.Clone();
  tensor = Bytes(5);
  EXPECT_EQ(copy.bytes()[kLargePage - 1], std::byte{7});
  EXPECT_EQ(tensor.byte_span().size(), 5u);
}

}  // namespace
}  // namespace partita
