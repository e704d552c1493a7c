// Results and operands first, then intermediates that can share a result's
// bytes.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/unfused/value_places.h"

#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/in_place.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "kernels/codegen/read_program.h"

namespace partita {
namespace {

bool ReadsOf(const BodySegment& segment, ValueId value) {
  return absl::c_linear_search(segment.operands, value);
}

bool HasOneReader(absl::Span<const BodySegment> segments, ValueId value) {
  return absl::c_count_if(segments, [&](const BodySegment& segment) {
           return ReadsOf(segment, value);
         }) == 1;
}

}  // namespace

void* ValuePlace::In(const LaunchArgs& args) const {
  switch (kind) {
    case Kind::kOperand:
      return args.operands[index];
    case Kind::kResult:
      return args.results[index];
    case Kind::kWorkspace:
      return static_cast<std::byte*>(args.workspace) + offset;
    case Kind::kConstant:
      return constant;
  }
  return nullptr;
}

absl::StatusOr<ValuePlaces> ValuePlaces::Of(
    const OpView& fused, absl::Span<const BodySegment> segments) {
  ValuePlaces places;
  places.PlaceInputsAndConstants(fused.region(0));
  PARTITA_RETURN_IF_ERROR(places.PlaceResults(fused));
  places.in_place_.resize(segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    places.ShareResults(segments, static_cast<int>(i));
  }
  for (const BodySegment& segment : segments) places.PlaceOthers(segment);
  return places;
}

void ValuePlaces::PlaceInputsAndConstants(const Graph& body) {
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    places_[body.inputs()[i]] = {.kind = ValuePlace::Kind::kOperand,
                                 .index = static_cast<int>(i)};
  }
  for (const OpView& op : body.ops(kConstant)) {
    const HostTensor* constant = op.result(0).constant();
    if (constant == nullptr) continue;
    places_[op.result(0).id()] = {
        .kind = ValuePlace::Kind::kConstant,
        .constant = const_cast<std::byte*>(constant->bytes())};
  }
}

absl::Status ValuePlaces::PlaceResults(const OpView& fused) {
  const std::vector<ValueId>& outputs = fused.region(0).outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_new =
        places_
            .try_emplace(outputs[i],
                         ValuePlace{.kind = ValuePlace::Kind::kResult,
                                    .index = static_cast<int>(i)})
            .second;
    if (is_new) continue;
    return absl::UnimplementedError(absl::StrCat(
        fused.ToString(), ": found result ", i,
        " that is an operand, a constant or another result; expected one that "
        "an op of the body makes"));
  }
  return absl::OkStatus();
}

// All of a segment's operands are read before any result is written, element by
// element, and only the segment writes to its results.
void ValuePlaces::ShareResults(absl::Span<const BodySegment> segments,
                               int number) {
  const BodySegment& segment = segments[number];
  const OpView node = segment.node();
  if (!CountInstructions(node).has_value()) return;
  std::vector<bool> taken(segment.results.size());
  for (const InPlacePair& pair : ElementwiseInPlace(node)) {
    const ValueId value = segment.operands[pair.operand];
    const auto result = places_.find(segment.results[pair.result]);
    if (taken[pair.result] || places_.contains(value) ||
        result == places_.end() || !HasOneReader(segments, value) ||
        node.operand_type(pair.operand) != node.result_type(pair.result)) {
      continue;
    }
    const ValuePlace place = result->second;  // before the table grows
    places_[value] = place;
    in_place_[number].push_back(pair);
    taken[pair.result] = true;
  }
}

void ValuePlaces::PlaceOthers(const BodySegment& segment) {
  for (size_t i = 0; i < segment.results.size(); ++i) {
    const auto [place, is_new] = places_.try_emplace(segment.results[i]);
    if (!is_new) continue;
    place->second.offset = workspace_;
    workspace_ +=
        RoundUp(segment.node().result_type(static_cast<int>(i)).num_bytes(),
                kWorkspaceAlignment);
  }
}

}  // namespace partita
