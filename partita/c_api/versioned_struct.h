// Structs of the C API whose headers may be older or newer than the library.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_VERSIONED_STRUCT_H_
#define PARTITA_PARTITA_C_API_VERSIONED_STRUCT_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partita/c_api.h"

namespace partita::c_api {

// The size of a struct in version 1 of the API: up to the end of what was then
// its last field. These never change.
template <typename Struct>
inline constexpr size_t kFirstSize = 0;
template <>
inline constexpr size_t kFirstSize<partita_tensor> = offsetof(partita_tensor,
                                                              bytes) +
                                                     sizeof(size_t);
template <>
inline constexpr size_t kFirstSize<partita_session_options> =
    offsetof(partita_session_options, split_gpu) + sizeof(int32_t);
template <>
inline constexpr size_t kFirstSize<partita_run_options> =
    offsetof(partita_run_options, cancel) + sizeof(partita_cancel*);
template <>
inline constexpr size_t kFirstSize<partita_memory> = offsetof(partita_memory,
                                                              device_outside) +
                                                     sizeof(int64_t);

// The struct's bytes in this library, and for messages its name.
struct StructSizes {
  size_t first = 0;  // kFirstSize
  size_t own = 0;
  absl::string_view name;  // "partita_tensor"
};

// Copies the fields that the caller's struct and the library's both have.
// InvalidArgument for NULL, for a struct_size that no header has, and for
// fields of a newer header that are not zero. `to` begins with its defaults.
absl::Status ReadVersioned(const void* from, const StructSizes& sizes,
                           void* to);
// Writes those fields to the caller's struct, zeros to those that it has
// besides, and leaves its struct_size.
absl::Status WriteVersioned(const void* from, const StructSizes& sizes,
                            void* to);

template <typename Struct>
absl::StatusOr<Struct> ReadStruct(const Struct* given, absl::string_view name) {
  Struct read = {};
  const StructSizes sizes = {kFirstSize<Struct>, sizeof(Struct), name};
  absl::Status status = ReadVersioned(given, sizes, &read);
  if (!status.ok()) return status;
  return read;
}

template <typename Struct>
absl::Status WriteStruct(const Struct& value, absl::string_view name,
                         Struct* to) {
  const StructSizes sizes = {kFirstSize<Struct>, sizeof(Struct), name};
  return WriteVersioned(&value, sizes, to);
}

// A field that is 0 or 1; InvalidArgument otherwise.
absl::StatusOr<bool> ReadFlag(int32_t field, absl::string_view name);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_VERSIONED_STRUCT_H_
