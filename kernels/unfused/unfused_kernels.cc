// Binds the segments of a body and launches them in order.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/unfused/unfused_kernels.h"

#include <memory>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/status_macros.h"
#include "kernels/unfused/body_segments.h"
#include "kernels/unfused/value_places.h"

namespace partita {
namespace {

using Libraries = std::vector<const KernelLibrary*>;

class UnfusedKernel : public Kernel {
 public:
  UnfusedKernel(std::vector<BodySegment> segments, const ValuePlaces& places,
                std::vector<std::unique_ptr<Kernel>> kernels)
      : segments_(std::move(segments)), workspace_(places.workspace()) {
    for (size_t i = 0; i < segments_.size(); ++i) {
      Step step = {std::move(kernels[i])};
      for (ValueId value : segments_[i].operands) {
        step.operands.push_back(places.of(value));
      }
      for (ValueId value : segments_[i].results) {
        step.results.push_back(places.of(value));
      }
      steps_.push_back(std::move(step));
    }
  }

  absl::Status Launch(const LaunchArgs& args) override {
    for (Step& step : steps_) PARTITA_RETURN_IF_ERROR(Launch(step, args));
    return absl::OkStatus();
  }

 private:
  struct Step {
    std::unique_ptr<Kernel> kernel;
    std::vector<ValuePlace> operands;
    std::vector<ValuePlace> results;
  };

  absl::Status Launch(Step& step, const LaunchArgs& args) {
    operands_.clear();
    results_.clear();
    for (const ValuePlace& place : step.operands) {
      operands_.push_back(place.In(args));
    }
    for (const ValuePlace& place : step.results) {
      results_.push_back(place.In(args));
    }
    return step.kernel->Launch(
        {.stream = args.stream,
         .operands = operands_,
         .results = results_,
         .workspace = static_cast<std::byte*>(args.workspace) + workspace_});
  }

  const std::vector<BodySegment> segments_;  // kernels may keep views of them
  const int64_t workspace_;                  // of intermediates
  std::vector<Step> steps_;
  std::vector<void*> operands_;  // of the running step
  std::vector<void*> results_;
};

bool AllowsAll(const BoundKernel& bound,
               const std::vector<InPlacePair>& in_place) {
  return absl::c_all_of(in_place, [&](const InPlacePair& pair) {
    return absl::c_linear_search(bound.in_place, pair);
  });
}

// Binds the segments of one fused node, in sequence.
class SegmentBinder {
 public:
  SegmentBinder(const BindRequest& fused, int64_t workspace)
      : fused_(fused), workspace_(workspace) {}

  // With the first of `libraries` that computes the segment, or else with
  // `fallback`.
  absl::Status Bind(const BodySegment& segment,
                    const std::vector<InPlacePair>& in_place,
                    const Libraries& libraries, const KernelLibrary& fallback) {
    for (const KernelLibrary* library : libraries) {
      auto bound = BindBy(*library, segment, in_place);
      if (absl::IsResourceExhausted(bound.status())) return bound.status();
      if (!bound.ok()) continue;
      only_fallback_ = false;
      Add(*std::move(bound));
      return absl::OkStatus();
    }
    PARTITA_ASSIGN_OR_RETURN(BoundKernel bound,
                             BindBy(fallback, segment, in_place));
    Add(std::move(bound));
    return absl::OkStatus();
  }

  bool only_fallback() const { return only_fallback_; }
  // "unfused.FIRST+SECOND"
  KernelId Id(absl::string_view library) const {
    return absl::StrCat(library, ".", kernels_text_);
  }
  // "A, then B"
  Arithmetic CombinedArithmetic() const {
    return {.source = arithmetics_text_};
  }
  std::vector<std::unique_ptr<Kernel>> TakeKernels() {
    return std::move(kernels_);
  }

 private:
  // Any kernel of the library that allows the required in-place pairs.
  absl::StatusOr<BoundKernel> BindBy(
      const KernelLibrary& library, const BodySegment& segment,
      const std::vector<InPlacePair>& in_place) const {
    const KernelBinding binding = {.kernel = std::string(library.name()),
                                   .workspace = workspace_,
                                   .in_place = in_place};
    BindRequest request = {segment.node(), &binding, fused_.device,
                           fused_.code};
    request.emulates = fused_.emulates;
    PARTITA_ASSIGN_OR_RETURN(BoundKernel bound, library.Bind(request));
    if (AllowsAll(bound, in_place)) return bound;
    return absl::UnimplementedError(
        absl::StrCat(segment.node().ToString(), ": found ", bound.id.ToString(),
                     "; expected a kernel that works in place"));
  }

  void Add(BoundKernel bound) {
    const bool is_first = kernels_.empty();
    absl::StrAppend(&kernels_text_, is_first ? "" : "+", bound.id.ToString());
    absl::StrAppend(&arithmetics_text_, is_first ? "" : ", then ",
                    bound.arithmetic.ToString());
    kernels_.push_back(std::move(bound.kernel));
  }

  const BindRequest& fused_;
  const int64_t workspace_;
  bool only_fallback_ = true;
  std::string kernels_text_;
  std::string arithmetics_text_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

absl::Status TooLittleWorkspace(const BindRequest& request, int64_t needed) {
  return absl::ResourceExhaustedError(absl::StrCat(
      request.node.ToString(), ": found ", needed,
      " bytes of workspace needed for intermediates by ",
      request.binding->kernel.ToString(), "; expected at most ",
      request.binding->workspace, "; compile the plan again on this machine"));
}

}  // namespace

absl::StatusOr<BoundKernel> UnfusedLibrary::Bind(
    const BindRequest& request) const {
  if (!request.node.is(kFused)) {
    return absl::UnimplementedError(absl::StrCat(request.node.ToString(),
                                                 ": found a node of one op; ",
                                                 "expected a fused one"));
  }
  PARTITA_ASSIGN_OR_RETURN(std::vector<BodySegment> segments,
                           SegmentsOf(request.node));
  PARTITA_ASSIGN_OR_RETURN(const ValuePlaces places,
                           ValuePlaces::Of(request.node, segments));
  const int64_t left = request.binding->workspace - places.workspace();
  if (left < 0) return TooLittleWorkspace(request, places.workspace());
  SegmentBinder binder(request, left);
  for (size_t i = 0; i < segments.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        binder.Bind(segments[i], places.in_place()[i], libraries_, fallback_));
  }
  if (binder.only_fallback()) {
    return absl::UnimplementedError(absl::StrCat(
        request.node.ToString(), ": found nothing but ", fallback_.name(),
        " for the ops of its body; expected a kernel for one of them"));
  }
  BoundKernel unfused;
  unfused.id = binder.Id(name());
  unfused.arithmetic = binder.CombinedArithmetic();
  unfused.kernel = std::make_unique<UnfusedKernel>(std::move(segments), places,
                                                   binder.TakeKernels());
  return unfused;
}

}  // namespace partita
