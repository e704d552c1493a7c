// Handles of the C API that free themselves, and calls that must succeed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_TESTING_OWNED_HANDLES_H_
#define PARTITA_PARTITA_C_API_TESTING_OWNED_HANDLES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "partita/c_api.h"

namespace partita::c_api {

struct FreesHandle {
  void operator()(partita_status* handle) const;
  void operator()(partita_plan* handle) const;
  void operator()(partita_session* handle) const;
  void operator()(partita_cancel* handle) const;
};
template <typename Handle>
using Owned = std::unique_ptr<Handle, FreesHandle>;

// A status and its last message.
class Caught {
 public:
  Caught() : status_(partita_status_new()) {}
  // For a call's argument.
  partita_status* get() const { return status_.get(); }
  std::string message() const { return partita_status_message(get()); }
  partita_code code() const { return partita_status_code(get()); }

 private:
  Owned<partita_status> status_;
};

// These print the message and end the program if the call fails.
Owned<partita_plan> PlanFromBytes(absl::string_view bytes);
Owned<partita_plan> PlanFromText(absl::string_view text);
Owned<partita_session> SessionOf(partita_plan* plan,
                                 int32_t devices = PARTITA_DEVICES_REAL);
Owned<partita_session> SessionFromText(absl::string_view text);

// A tensor over the values, which must outlive it.
partita_tensor TensorOver(partita_dtype dtype,
                          std::initializer_list<int64_t> dims, void* data,
                          size_t bytes);
partita_tensor FloatsOf(std::initializer_list<int64_t> dims,
                        std::vector<float>& values);
// The elements of an f32 output without a binding.
std::vector<float> OutputFloats(partita_session* session, size_t output = 0);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_TESTING_OWNED_HANDLES_H_
