// Strategy `pipeline`: consecutive stages.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/id_vector.h"
#include "graph/op_view.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "placement/planner/bytes_in_flight.h"
#include "placement/planner/first_fit.h"
#include "placement/planner/flow.h"
#include "placement/planner/fold_backward.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/stage_search.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr int kMostSegments = 512;
constexpr double kNever = std::numeric_limits<double>::infinity();

// The parameters of one search: devices, memory limits, and whether a stage may
// include nodes that are pinned to another device.
struct Attempt {
  IdSpan<LineDeviceId, MachineDeviceId> devices;
  MemoryLimits limits;
  bool pins_outside = false;
};

class Pipeline {
 public:
  explicit Pipeline(const PlanRequest& request)
      : request_(request),
        costs_(request.costs),
        flow_(request.costs),
        bytes_(request, flow_),
        line_(
            FoldBackward(request.costs, flow_, request.options.micro_batches)) {
    has_pins_ = absl::c_any_of(flow_.items, [&](const FlowItem& item) {
      return request_.pin(item.node) != nullptr;
    });
    Sweep();
    CutAtThinPositions();
  }

  bool empty() const { return flow_.items.empty(); }
  int num_segments() const { return static_cast<int>(ends_.size()); }
  bool has_pins() const { return has_pins_; }

  std::optional<Draft> Try(const Attempt& attempt) const {
    const StageLine line = MakeLine(attempt);
    const std::optional<Stages> stages = SearchStages(
        line, static_cast<int>(request_.options.stages.value_or(0)));
    if (!stages.has_value()) return std::nullopt;
    return MakeDraft(*stages, attempt.devices);
  }

 private:
  // The first and last positions at which a value is made or read.
  struct Span {
    int first = std::numeric_limits<int>::max();
    int last = -1;
    void Include(int position) {
      first = std::min(first, position);
      last = std::max(last, position);
    }
  };
  Span SpanOf(const FlowValue& value) const {
    Span span;
    if (value.maker >= 0) span.Include(line_.position[value.maker]);
    for (int reader : value.readers) span.Include(line_.position[reader]);
    return span;
  }

  // 1. By position and micro-batch: bytes that cross into it (forward and
  // backward), and bytes that are live while it runs, in all steps in flight.
  void Sweep() {
    const size_t n = line_.items.size();
    std::vector<int64_t> crossing(n + 2, 0), living(n + 2, 0);
    for (ValueId id : flow_.values.ids()) {
      const FlowValue& value = flow_.values[id];
      const Span span = SpanOf(value);
      if (span.last < 0 || value.is_stored) continue;
      // An input is there from the start.
      const int first = value.maker < 0 ? 0 : span.first;
      living[first] += bytes_.Of(id);
      living[span.last + 1] -= bytes_.Of(id);
      if (value.maker < 0) continue;  // inputs are fed where they are read
      const int64_t moved = costs_.bytes(id) / MicroBatchesSharing(value.maker);
      crossing[span.first + 1] += moved;
      crossing[span.last + 1] -= moved;
    }
    std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
    std::partial_sum(living.begin(), living.end(), living.begin());
    crossing_.assign(crossing.begin(), crossing.begin() + n);
    living_.assign(living.begin(), living.begin() + n);
    for (size_t position = 0; position < n; ++position) {
      int64_t workspace = 0;
      for (int item : line_.items[position]) {
        for (MachineDeviceId device : costs_.devices()) {
          workspace = std::max(
              workspace, bytes_.WorkspaceOf(flow_.items[item].node, device));
        }
      }
      living_[position] += workspace;
    }
  }

  int micro_batches() const { return request_.options.micro_batches.count; }

  // How many micro-batches share a result of the item: all of them for a sum
  // over micro-batches and for values made from it.
  int MicroBatchesSharing(int maker) const {
    return line_.once[maker] || IsSum(maker) ? micro_batches() : 1;
  }

  // Cuts the line into at most kMostSegments segments, at the position of each
  // window with the fewest crossing bytes.
  void CutAtThinPositions() {
    const int n = static_cast<int>(line_.items.size());
    const int windows = std::min(n, kMostSegments);
    for (int w = 1; w < windows; ++w) {
      const int begin = static_cast<int>(int64_t{w} * n / windows);
      const int end = static_cast<int>(int64_t{w + 1} * n / windows);
      const auto thinnest =
          std::min_element(crossing_.begin() + begin, crossing_.begin() + end);
      ends_.Add(static_cast<int>(thinnest - crossing_.begin()));
    }
    if (n > 0) ends_.Add(n);
  }

  int begin_of(SegmentId segment) const {
    return segment.index == 0 ? 0 : ends_[SegmentId(segment.index - 1)];
  }

  bool NeedsPorts(const FlowItem& item) const {
    return item.reads_input ||
           (item.makes_output && request_.options.output_device.empty());
  }

  // Seconds in one micro-batch. The time of an item that runs once a step is
  // shared by all micro-batches.
  double Seconds(int index, MachineDeviceId device, bool pins_outside) const {
    const FlowItem& item = flow_.items[index];
    if (const Placement* pin = request_.pin(item.node); pin != nullptr) {
      if (pins_outside) return 0;
      const bool here = pin->devices.size() == 1 &&
                        costs_.FindDevice(pin->devices[0]) == device;
      if (!here) return kNever;
    }
    const NodeCost& cost = costs_.cost(item.node, device);
    if (!cost.can_run) return kNever;
    if (NeedsPorts(item) && !costs_.has_ports(device)) return kNever;
    return line_.once[index] ? cost.seconds / micro_batches() : cost.seconds;
  }

  LineSegment MakeSegment(SegmentId id, const Attempt& attempt) const {
    LineSegment segment;
    segment.entering = crossing_[begin_of(id)];
    segment.seconds.assign(attempt.devices.size(), 0);
    for (int position = begin_of(id); position < ends_[id]; ++position) {
      segment.live = std::max(segment.live, living_[position]);
      for (int item : line_.items[position]) {
        for (LineDeviceId device : attempt.devices.ids()) {
          segment.seconds[device] +=
              Seconds(item, attempt.devices[device], attempt.pins_outside);
        }
      }
    }
    return segment;
  }

  // Adds a value's bytes to each segment that has one of these items.
  void NoteReads(ValueId value, const std::vector<int>& items,
                 std::vector<StoredRead> LineSegment::*list,
                 IdVector<SegmentId, LineSegment>& segments) const {
    std::set<SegmentId, std::greater<SegmentId>> segments_read;
    for (int item : items) {
      segments_read.emplace(static_cast<int>(
          absl::c_upper_bound(ends_, line_.position[item]) - ends_.begin()));
    }
    const int64_t bytes = bytes_.Of(value);
    SegmentId next(num_segments());
    for (SegmentId here : segments_read) {
      (segments[here].*list).push_back({bytes, next});
      next = here;
    }
  }

  // Adds stored values to the segments of their readers. Sums over
  // micro-batches are live for the whole step too.
  void AddStored(IdVector<SegmentId, LineSegment>& segments) const {
    for (ValueId id : flow_.values.ids()) {
      const FlowValue& value = flow_.values[id];
      if (value.is_stored) {
        NoteReads(id, value.readers, &LineSegment::stored, segments);
      } else if (value.maker >= 0 && IsSum(value.maker)) {
        NoteReads(id, {value.maker}, &LineSegment::stored, segments);
      }
    }
  }

  bool IsSum(int item) const {
    return request_.graph().view(flow_.items[item].node).is(kAccumulate);
  }

  // Adds values that the forward part keeps for the backward part.
  void AddKept(IdVector<SegmentId, LineSegment>& segments) const {
    for (ValueId id : flow_.values.ids()) {
      const FlowValue& value = flow_.values[id];
      if (value.is_stored) continue;
      if (value.maker >= 0 &&
          (line_.backward[value.maker] || line_.once[value.maker])) {
        continue;
      }
      std::vector<int> backward;
      absl::c_copy_if(value.readers, std::back_inserter(backward),
                      [&](int reader) { return line_.backward[reader]; });
      NoteReads(id, backward, &LineSegment::kept, segments);
    }
  }

  StageLine MakeLine(const Attempt& attempt) const {
    StageLine line;
    for (SegmentId segment : ends_.ids()) {
      line.segments.Add(MakeSegment(segment, attempt));
    }
    AddStored(line.segments);
    AddKept(line.segments);
    line.micro_batches = micro_batches();
    line.keeps_all =
        request_.options.micro_batches.schedule == PipelineSchedule::kGPipe;
    for (LineDeviceId device : attempt.devices.ids()) {
      line.limits.Add(attempt.limits[attempt.devices[device]]);
    }
    line.transfer = [this, &attempt](LineDeviceId from, LineDeviceId to,
                                     int64_t bytes) {
      return costs_.TransferSeconds(attempt.devices[from], attempt.devices[to],
                                    bytes);
    };
    line.equal = [this, &attempt](LineDeviceId a, LineDeviceId b) {
      return Interchangeable(attempt.devices[a], attempt.devices[b], attempt);
    };
    line.likely_orders = LikelyOrders(attempt);
    return line;
  }

  std::vector<std::vector<LineDeviceId>> LikelyOrders(
      const Attempt& attempt) const {
    const IdRange<LineDeviceId> ids = attempt.devices.ids();
    const std::vector<LineDeviceId> own(ids.begin(), ids.end());
    std::vector<LineDeviceId> fastest;
    for (MachineDeviceId device : FastestFirst(costs_)) {
      absl::c_copy_if(own, std::back_inserter(fastest), [&](LineDeviceId id) {
        return attempt.devices[id] == device;
      });
    }
    return {fastest, own};
  }

  // True if the devices have equal speed, limits and links to all others, and
  // no node is pinned.
  bool Interchangeable(MachineDeviceId a, MachineDeviceId b,
                       const Attempt& attempt) const {
    if (attempt.limits[a] != attempt.limits[b] || has_pins()) {
      return false;
    }
    if (!costs_.SameSpeed(a, b)) return false;
    for (MachineDeviceId other : costs_.devices()) {
      if (other == a || other == b) continue;
      const Link* to_a = costs_.link(a, other);
      const Link* to_b = costs_.link(b, other);
      if ((to_a == nullptr) != (to_b == nullptr)) return false;
      if (to_a == nullptr) continue;
      if (to_a->bandwidth != to_b->bandwidth ||
          to_a->latency != to_b->latency) {
        return false;
      }
    }
    return true;
  }

  Draft MakeDraft(const Stages& stages,
                  IdSpan<LineDeviceId, MachineDeviceId> devices) const {
    Draft draft(request_.graph());
    PutPinned(request_, draft);
    int stage = 0;
    for (SegmentId id : ends_.ids()) {
      if (id == stages.ends[stage]) ++stage;
      for (int position = begin_of(id); position < ends_[id]; ++position) {
        for (int item : line_.items[position]) {
          const NodeId node = flow_.items[item].node;
          if (request_.pin(node) != nullptr) continue;
          Put(draft, node, devices[stages.devices[stage]],
              {.reason = Reason::kStage, .stage = stage});
        }
      }
    }
    PutFollowers(request_, draft);
    return draft;
  }

  const PlanRequest& request_;
  const CostModel& costs_;
  const Flow flow_;
  const BytesInFlight bytes_;
  const FoldedLine line_;
  bool has_pins_ = false;
  std::vector<int64_t> crossing_;  // by position: bytes, both directions
  std::vector<int64_t> living_;    // by position: bytes, all steps in flight
  IdVector<SegmentId, int> ends_;  // one past its last position
};

absl::Status CheckStageCount(const PlanRequest& request, int segments) {
  const int most = std::min(request.costs.num_devices(), std::max(1, segments));
  const int64_t stages = request.options.stages.value_or(0);
  if (stages <= most) return absl::OkStatus();
  return OfOption(
      "stages",
      absl::InvalidArgumentError(absl::StrCat(
          "stages: found ", stages, "; expected at most ", most,
          ", one device and one node for each; leave it out to get the best "
          "number")));
}

// The sets of devices to try: all, and the linked ones if those are others.
std::vector<std::vector<MachineDeviceId>> DeviceSets(const CostModel& costs) {
  const std::vector<MachineDeviceId> all(costs.devices().begin(),
                                         costs.devices().end());
  std::vector<std::vector<MachineDeviceId>> sets = {all};
  if (LinkedDevices(costs) != all) sets.push_back(LinkedDevices(costs));
  return sets;
}

// Offers drafts within `limits` until one fits.
absl::Status Search(const PlanRequest& request, const Pipeline& pipeline,
                    MemoryLimits limits, FirstFit& choice) {
  for (bool pins_outside : {false, true}) {
    if (pins_outside && !pipeline.has_pins()) continue;
    for (const auto& devices : DeviceSets(request.costs)) {
      std::optional<Draft> draft =
          pipeline.Try({IdSpan<LineDeviceId, MachineDeviceId>(devices), limits,
                        pins_outside});
      if (!draft.has_value()) continue;
      const bool fits = choice.Offer(*std::move(draft));
      if (fits) return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Draft> DraftPipeline(const PlanRequest& request) {
  const Pipeline pipeline(request);
  PARTITA_RETURN_IF_ERROR(CheckStageCount(request, pipeline.num_segments()));
  if (pipeline.empty()) return DraftSingle(request);
  FirstFit choice(request);
  PARTITA_RETURN_IF_ERROR(Search(request, pipeline, request.limits(), choice));
  if (!choice.has_draft()) {
    // The search's own count of memory may be too pessimistic.
    const IdVector<MachineDeviceId, int64_t> boundless(
        request.limits().size(), std::numeric_limits<int64_t>::max());
    PARTITA_RETURN_IF_ERROR(Search(request, pipeline, boundless, choice));
  }
  if (choice.was_offered()) return choice.Take();
  return absl::FailedPreconditionError(absl::StrCat(
      "placement @", request.graph().name(), " by pipeline: found no ",
      request.options.stages.has_value()
          ? absl::StrCat(*request.options.stages, " ")
          : "",
      "consecutive stages with kernels and links for all of them; expected at "
      "least one such split; try strategy list"));
}

}  // namespace partita
