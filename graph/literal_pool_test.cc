// Tests when the bytes of constants in mapped files are copied.
// SPDX-License-Identifier: Apache-2.0

#include "graph/literal_pool.h"

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

constexpr float kValues[] = {1, 2, 3};
const TensorType kThree{DType::kF32, {3}, {}};

// Three floats after `lead` bytes.
std::shared_ptr<const MappedFile> FileWith(int lead) {
  const std::string path = testing::TempDir() + "/literals.bin";
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << std::string(lead, 'x');
  file.write(reinterpret_cast<const char*>(kValues), sizeof(kValues));
  file.close();
  absl::StatusOr<std::shared_ptr<const MappedFile>> mapped =
      MappedFile::Open(path);
  EXPECT_TRUE(mapped.ok()) << mapped.status();
  return *std::move(mapped);
}

bool HoldsValues(const void* bytes) {
  return std::memcmp(bytes, kValues, sizeof(kValues)) == 0;
}

TEST(LiteralPool, AlignedBytesOfAFileAreNotCopied) {
  const auto file = FileWith(8);
  LiteralPool pool;
  const LiteralId id = pool.AddMapped(kThree, file, 8);
  EXPECT_EQ(pool.byte_span(id).data(), file->bytes().data() + 8);
  EXPECT_EQ(pool.tensor(id).bytes(), file->bytes().data() + 8);
  EXPECT_TRUE(HoldsValues(pool.tensor(id).bytes()));
}

TEST(LiteralPool, MisalignedBytesAreCopiedOnlyForTheirTensor) {
  const auto file = FileWith(5);
  LiteralPool pool;
  const LiteralId id = pool.AddMapped(kThree, file, 5);
  EXPECT_EQ(pool.byte_span(id).data(), file->bytes().data() + 5);
  ASSERT_TRUE(pool.file_range(id).has_value());
  EXPECT_EQ(pool.hash(id), HashBytes(pool.byte_span(id)));
  const LiteralPool copy = pool;
  const HostTensor& tensor = pool.tensor(id);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes()) % 64, 0u);
  EXPECT_TRUE(HoldsValues(tensor.bytes()));
  EXPECT_EQ(&copy.tensor(id), &tensor) << "one copy for all pools";
}

TEST(LiteralPool, ThreadsShareOneCopyOfAMisalignedTensor) {
  const auto file = FileWith(1);
  LiteralPool pool;
  const LiteralId id = pool.AddMapped(kThree, file, 1);
  std::vector<const HostTensor*> seen(4);
  std::vector<std::thread> threads;
  for (auto& tensor : seen) {
    threads.emplace_back([&] { tensor = &pool.tensor(id); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const HostTensor* tensor : seen) {
    EXPECT_EQ(tensor, seen[0]);
    EXPECT_TRUE(HoldsValues(tensor->bytes()));
  }
}

}  // namespace
}  // namespace partita
