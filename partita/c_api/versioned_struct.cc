// Copies between structs of different versions.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/versioned_struct.h"

#include <algorithm>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/status_macros.h"
#include "partita/c_api/border.h"

namespace partita::c_api {
namespace {

// No header will have a larger struct. Bounds what a wrong size makes the
// library access.
constexpr size_t kMostBytes = 1024;

// struct_size is the first field of every struct.
absl::StatusOr<size_t> GivenSize(const void* given, const StructSizes& sizes) {
  PARTITA_RETURN_IF_ERROR(CheckGiven(
      given, sizes.name, absl::StrCat("a pointer to a ", sizes.name)));
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size >= sizes.first && size <= kMostBytes) return size;
  return absl::InvalidArgumentError(absl::StrCat(
      sizes.name, ": found a struct_size of ", size, "; expected ", sizes.first,
      "..", kMostBytes, "; set it to sizeof(", sizes.name, ")"));
}

absl::Span<char> FieldsOf(void* given, size_t begin, size_t end) {
  if (begin >= end) return {};
  return {static_cast<char*>(given) + begin, end - begin};
}

}  // namespace

absl::Status ReadVersioned(const void* from, const StructSizes& sizes,
                           void* to) {
  PARTITA_ASSIGN_OR_RETURN(const size_t given, GivenSize(from, sizes));
  const absl::Span<const char> unknown =
      FieldsOf(const_cast<void*>(from), sizes.own, given);
  if (absl::c_any_of(unknown, [](char byte) { return byte != 0; })) {
    return absl::InvalidArgumentError(absl::StrCat(
        sizes.name, ": found a field that is newer than this library, version ",
        PARTITA_API_VERSION,
        "; expected zero in it; use a newer library, or leave the field zero"));
  }
  std::memcpy(to, from, std::min(given, sizes.own));
  return absl::OkStatus();
}

absl::Status WriteVersioned(const void* from, const StructSizes& sizes,
                            void* to) {
  PARTITA_ASSIGN_OR_RETURN(const size_t given, GivenSize(to, sizes));
  const size_t end = std::min(given, sizes.own);
  std::memcpy(static_cast<char*>(to) + sizeof(size_t),
              static_cast<const char*>(from) + sizeof(size_t),
              end - sizeof(size_t));
  const absl::Span<char> unknown = FieldsOf(to, sizes.own, given);
  std::fill(unknown.begin(), unknown.end(), '\0');
  return absl::OkStatus();
}

absl::StatusOr<bool> ReadFlag(int32_t field, absl::string_view name) {
  if (field == 0 || field == 1) return field == 1;
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": found ", field, "; expected 0 or 1"));
}

}  // namespace partita::c_api
