// A serialised ONNX model without its weights.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_MODEL_SKELETON_H_
#define PARTITA_GRAPH_ONNX_MODEL_SKELETON_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace partita {

// Bytes of a model file.
struct RawRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// A copy of a serialised ModelProto in which every raw_data of an initializer
// and of a node's tensor attribute, in functions and branches too, is replaced
// by the location of its bytes in `model`; DecodeRawRange reads it. All other
// bytes are unchanged, so protobuf parses the copy if it parses the model.
// Every range is inside `model`. InvalidArgument for bytes that are not a
// protobuf message.
absl::StatusOr<std::string> ModelSkeleton(absl::string_view model);

// Nullopt if ModelSkeleton did not write the text.
std::optional<RawRange> DecodeRawRange(absl::string_view raw_data);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_MODEL_SKELETON_H_
