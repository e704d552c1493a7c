// The word at the start of every handle of the C API.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_HANDLE_MARK_H_
#define PARTITA_PARTITA_C_API_HANDLE_MARK_H_

#include <atomic>
#include <cstdint>

namespace partita::c_api {

// Words that no pointer, no size and no text is.
enum class HandleKind : uint64_t {
  kStatus = 0xb1c7'5a7d'0e93'f001,
  kPlan = 0xb1c7'5a7d'0e93'f002,
  kSession = 0xb1c7'5a7d'0e93'f003,
  kCancel = 0xb1c7'5a7d'0e93'f004,
};

// Finds calls with handles of another kind, and with freed ones whose memory
// nobody uses. Atomic, so that the compiler does not drop the store before the
// memory is released, and so that only one of two frees at once succeeds.
// Thread safe.
class HandleMark {
 public:
  explicit HandleMark(HandleKind kind) : word_(static_cast<uint64_t>(kind)) {}
  HandleMark(const HandleMark&) = delete;
  HandleMark& operator=(const HandleMark&) = delete;

  bool Is(HandleKind kind) const {
    return word_.load() == static_cast<uint64_t>(kind);
  }
  // Clears the word; false, and no change, if it is not of this kind.
  bool Clear(HandleKind kind) {
    uint64_t expected = static_cast<uint64_t>(kind);
    return word_.compare_exchange_strong(expected, 0);
  }

 private:
  std::atomic<uint64_t> word_;
};

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_HANDLE_MARK_H_
