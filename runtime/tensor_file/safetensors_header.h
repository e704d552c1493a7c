// The header of a safetensors file: JSON with the position of each tensor.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_HEADER_H_
#define PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_HEADER_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/tensor_type.h"

namespace partita {

// The limit of the format's own library.
inline constexpr int64_t kMaxSafetensorsHeader = 100'000'000;

inline constexpr absl::string_view kSafetensorsMetadata = "__metadata__";

// The format's names for dtypes, in the order in which it stores tensors: by
// alignment, smallest first.
struct SafetensorsDType {
  absl::string_view name;
  DType dtype;
};
inline constexpr std::array<SafetensorsDType, kNumDTypes> kSafetensorsDTypes = {
    {{"BOOL", DType::kBool},
     {"U8", DType::kU8},
     {"I8", DType::kI8},
     {"I16", DType::kI16},
     {"U16", DType::kU16},
     {"F16", DType::kF16},
     {"BF16", DType::kBF16},
     {"I32", DType::kI32},
     {"U32", DType::kU32},
     {"F32", DType::kF32},
     {"F64", DType::kF64},
     {"I64", DType::kI64},
     {"U64", DType::kU64}}};

struct SafetensorsHeader {
  struct Tensor {
    std::string name;
    TensorType type;
    // Offsets from the end of the header; end - begin is the type's size.
    int64_t begin = 0;
    int64_t end = 0;
  };
  std::vector<Tensor> tensors;  // in the header's order
  std::map<std::string, std::string> metadata;
};

// Parses the JSON. Refuses what the format forbids (repeated names and keys,
// other keys, sizes that do not fit the shape) and dtypes that Partita lacks.
// Needs memory proportional to the text. Any bytes are safe.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(
    absl::string_view json, absl::string_view source);

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_SAFETENSORS_HEADER_H_
