// The memory of a fused body's values during a launch.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_UNFUSED_VALUE_PLACES_H_
#define PARTITA_KERNELS_UNFUSED_VALUE_PLACES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/op_view.h"
#include "graph/placement.h"
#include "kernels/kernel.h"
#include "kernels/unfused/body_segments.h"

namespace partita {

struct ValuePlace {
  enum class Kind : uint8_t { kOperand, kResult, kWorkspace, kConstant };

  void* In(const LaunchArgs& args) const;

  Kind kind = Kind::kWorkspace;
  int index = 0;             // the fused node's operand or result
  int64_t offset = 0;        // in the workspace
  void* constant = nullptr;  // bytes of the body's own constant
};

// An intermediate whose only reader is an elementwise segment is stored where
// that segment writes a result of the same type, each in another result. All
// others have memory of their own in the workspace.
class ValuePlaces {
 public:
  // Unimplemented if a result of the node is a value that no segment makes, or
  // is another result too.
  static absl::StatusOr<ValuePlaces> Of(const OpView& fused,
                                        absl::Span<const BodySegment> segments);

  const ValuePlace& of(ValueId value) const { return places_.at(value); }
  // Bytes of workspace, a multiple of kWorkspaceAlignment.
  int64_t workspace() const { return workspace_; }
  // By segment: the in-place pairs that its kernel must allow.
  const std::vector<std::vector<InPlacePair>>& in_place() const {
    return in_place_;
  }

 private:
  absl::Status PlaceResults(const OpView& fused);
  void PlaceInputsAndConstants(const Graph& body);
  void ShareResults(absl::Span<const BodySegment> segments, int segment);
  void PlaceOthers(const BodySegment& segment);

  absl::flat_hash_map<ValueId, ValuePlace> places_;
  std::vector<std::vector<InPlacePair>> in_place_;
  int64_t workspace_ = 0;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_UNFUSED_VALUE_PLACES_H_
