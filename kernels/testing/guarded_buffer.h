// Memory with inaccessible pages on both sides, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TESTING_GUARDED_BUFFER_H_
#define PARTITA_KERNELS_TESTING_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>

namespace partita {

// `bytes` bytes, 64-byte aligned, adjacent to the inaccessible MiB before or
// after them. Up to 63 bytes between the end and the MiB after hold a pattern
// that GapIntact checks.
class GuardedBuffer {
 public:
  enum class Side { kAtStart, kAtEnd };
  GuardedBuffer(int64_t bytes, Side side, std::byte fill);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  void MakeReadOnly();
  bool GapIntact() const;

 private:
  std::byte* mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_TESTING_GUARDED_BUFFER_H_
