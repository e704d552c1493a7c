// The border between the C API and C++: handles, exceptions and statuses.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_BORDER_H_
#define PARTITA_PARTITA_C_API_BORDER_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partita/c_api.h"
#include "partita/c_api/handle_mark.h"

// Every struct behind a handle begins with its mark, and has its kind and its
// name for messages.
struct partita_status {  // NOLINT(readability-identifier-naming)
  static constexpr auto kKind = partita::c_api::HandleKind::kStatus;

  partita::c_api::HandleMark mark{kKind};
  partita_code code = PARTITA_OK;
  const char* message = "";  // `text`, or a literal if memory ran out
  std::string text;
};

namespace partita::c_api {

// True for a handle that exists and is of its type's kind.
template <typename Handle>
bool IsLive(const Handle* handle) {
  const auto address = reinterpret_cast<uintptr_t>(handle);
  return handle != nullptr && address % alignof(Handle) == 0 &&
         handle->mark.Is(Handle::kKind);
}

// PARTITA_INVALID_HANDLE for a handle that is not live.
absl::Status InvalidHandle(absl::string_view name, bool is_null);
template <typename Handle>
absl::Status CheckHandle(const Handle* handle) {
  if (IsLive(handle)) return absl::OkStatus();
  return InvalidHandle(Handle::kName, handle == nullptr);
}

// The body of every _free.
template <typename Handle>
partita_code FreeHandle(Handle* handle) noexcept {
  if (handle == nullptr) return PARTITA_OK;
  if (!IsLive(handle) || !handle->mark.Clear(Handle::kKind)) {
    return PARTITA_INVALID_HANDLE;
  }
  delete handle;
  return PARTITA_OK;
}

// InvalidArgument for NULL. `name` and `expected` are those of a message:
// "path", "the name of a file".
absl::Status CheckGiven(const void* pointer, absl::string_view name,
                        absl::string_view expected);

// For functions that return a value through a pointer: stores what `body`
// returns, an absl::StatusOr<Result>, or after an error a zero. InvalidArgument
// for NULL; `name` is that of the parameter.
template <typename Result, typename Body>
absl::Status Return(Result* result, absl::string_view name, const Body& body) {
  absl::Status status =
      CheckGiven(result, name, "a pointer to a variable for the result");
  if (!status.ok()) return status;
  *result = {};
  absl::StatusOr<Result> value = body();
  if (value.ok()) *result = *value;
  return value.status();
}

// The body of every function with a status: runs `body`, converts exceptions to
// errors, and stores the result in `status`, which may be null. Does not run
// `body` if `status` is no live handle.
partita_code AtBorder(partita_status* status,
                      absl::FunctionRef<absl::Status()> body) noexcept;

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_BORDER_H_
