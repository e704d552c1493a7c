// Converts errors and exceptions of C++ to codes and messages.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/border.h"

#include <exception>
#include <new>
#include <system_error>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "graph/utf8.h"

namespace partita::c_api {
namespace {

constexpr absl::string_view kInvalidHandle = "partita/invalid_handle";

constexpr char kNoMemory[] =
    "found no memory left in this process; expected room for the plan, its "
    "weights and the arenas; free memory, or raise the process's limit";

// The numbers of both are equal, except for what C++ cannot do wrong.
partita_code CodeOf(const absl::Status& status) {
  if (status.GetPayload(kInvalidHandle).has_value()) {
    return PARTITA_INVALID_HANDLE;
  }
  return static_cast<partita_code>(status.code());
}

partita_code StoreLiteral(partita_status* status, partita_code code,
                          const char* message) noexcept {
  if (status == nullptr) return code;
  status->code = code;
  status->message = message;
  return code;
}

// May throw std::bad_alloc.
partita_code Store(partita_status* status, partita_code code,
                   absl::string_view message) {
  if (status == nullptr) return code;
  status->text = ValidUtf8(message);
  return StoreLiteral(status, code, status->text.c_str());
}

partita_code StoreStatus(partita_status* status, const absl::Status& result) {
  if (result.ok()) return StoreLiteral(status, PARTITA_OK, "");
  return Store(status, CodeOf(result), result.message());
}

// Of the exception that is being handled.
absl::Status StatusOfException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {
    // Thrown if no thread can be started.
    if (error.code() == std::errc::resource_unavailable_try_again) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "found no room to start another thread (", error.what(),
          "); expected room for one a stream and one a worker; raise the limit "
          "of processes (ulimit -u) or of memory (ulimit -v)"));
    }
    return absl::InternalError(
        absl::StrCat("bug: found a system error: ", error.what()));
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("bug: found an exception: ", error.what()));
  } catch (...) {
    return absl::InternalError("bug: found an exception of an unknown type");
  }
}

}  // namespace

absl::Status InvalidHandle(absl::string_view name, bool is_null) {
  absl::Status status = absl::InvalidArgumentError(absl::StrCat(
      name, ": found ",
      is_null ? "NULL" : "a handle that was freed or is of another kind",
      "; expected a handle that its _new or _load function returned"));
  status.SetPayload(kInvalidHandle, absl::Cord());
  return status;
}

absl::Status CheckGiven(const void* pointer, absl::string_view name,
                        absl::string_view expected) {
  if (pointer != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": found NULL; expected ", expected));
}

partita_code AtBorder(partita_status* status,
                      absl::FunctionRef<absl::Status()> body) noexcept {
  if (status != nullptr && !IsLive(status)) return PARTITA_INVALID_HANDLE;
  // The second `try` is for memory that runs out while an error is described.
  try {
    try {
      return StoreStatus(status, body());
    } catch (...) {
      return StoreStatus(status, StatusOfException());
    }
  } catch (...) {
    return StoreLiteral(status, PARTITA_RESOURCE_EXHAUSTED, kNoMemory);
  }
}

}  // namespace partita::c_api
