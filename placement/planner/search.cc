// Strategy `search`: local search over drafts.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "placement/planner/draft_timer.h"
#include "placement/planner/first_fit.h"
#include "placement/planner/search_moves.h"
#include "placement/planner/search_seeds.h"
#include "placement/planner/split_moves.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr int64_t kMostEvaluations = 4000;
constexpr int64_t kLeastEvaluations = 16;
constexpr int64_t kEvaluatedNodes = 100'000;
constexpr int64_t kEvaluationsPerLowering = 128;
// A move must save more than rounding does.
constexpr double kLeastSaving = 1e-6;

bool IsBetter(const DraftScore& a, const DraftScore& b) {
  if (a.missing != b.missing) return a.missing < b.missing;
  return a.seconds < b.seconds * (1 - kLeastSaving);
}

WholeDraft After(WholeDraft draft, const Move& move) {
  for (const auto& [item, devices] : move) draft[item] = devices;
  return draft;
}

struct ScoredDraft {
  WholeDraft draft;
  DraftScore score;
};

bool BetterFirst(const ScoredDraft& a, const ScoredDraft& b) {
  return a.score < b.score;
}

// Climbs by estimates.
class Climber {
 public:
  Climber(const PlanRequest& request, const Flow& flow, int64_t evaluations)
      : timer_(request, flow), moves_(request, flow), left_(evaluations) {}

  ScoredDraft Score(WholeDraft draft) {
    --left_;
    const DraftScore score = timer_.Score(draft);
    return {std::move(draft), score};
  }

  // Takes every better move in turn, round by round, until a round has none.
  ScoredDraft Climb(ScoredDraft from, int64_t most) {
    const int64_t end = std::max<int64_t>(0, left_ - most);
    bool improves = true;
    while (improves && left_ > end) {
      improves = false;
      for (const Move& move : moves_.Of(from.draft, left_ - end)) {
        if (left_ <= end) break;
        ScoredDraft moved = Score(After(from.draft, move));
        if (!IsBetter(moved.score, from.score)) continue;
        from = std::move(moved);
        improves = true;
      }
    }
    return from;
  }

  // The moves of a draft that fit best, by estimate.
  std::vector<ScoredDraft> Neighbours(const WholeDraft& draft, size_t most) {
    std::vector<ScoredDraft> neighbours;
    for (const Move& move : moves_.Of(draft, std::max<int64_t>(0, left_))) {
      neighbours.push_back(Score(After(draft, move)));
    }
    absl::c_stable_sort(neighbours, BetterFirst);
    if (neighbours.size() > most) neighbours.resize(most);
    return neighbours;
  }

 private:
  DraftTimer timer_;
  const SearchMoves moves_;
  int64_t left_;
};

// Judges drafts by lowering and simulating them, and keeps the best.
class Judge {
 public:
  Judge(const PlanRequest& request, int64_t lowerings)
      : request_(request), left_(request.objective.predict ? lowerings : 0) {}

  // True if the draft is the best so far.
  bool Offer(Draft draft) {
    if (left_ <= 0) return false;
    --left_;
    const std::optional<DraftScore> score = Score(draft);
    if (!score.has_value()) return false;
    if (best_.has_value() && !IsBetter(*score, score_)) return false;
    best_ = std::move(draft);
    score_ = *score;
    return true;
  }

  bool is_open() const { return left_ > 0; }
  std::optional<Draft>& best() { return best_; }

 private:
  std::optional<DraftScore> Score(const Draft& draft) const {
    if (!CheckLinks(request_, draft).ok()) return std::nullopt;
    const absl::StatusOr<PredictedDraft> predicted =
        request_.objective.predict(PlacementsOf(request_, draft));
    if (!predicted.ok()) return std::nullopt;
    DraftScore score{0, predicted->step_seconds};
    const std::vector<MachineDevice>& devices =
        request_.costs.machine().devices;
    for (size_t d = 0; d < devices.size(); ++d) {
      score.missing = std::max(
          score.missing, predicted->needed_bytes[d] - devices[d].usable());
    }
    return score;
  }

  const PlanRequest& request_;
  int64_t left_;
  std::optional<Draft> best_;
  DraftScore score_;
};

class Search {
 public:
  Search(const PlanRequest& request, int64_t evaluations)
      : request_(request),
        flow_(request.costs),
        climber_(request, flow_, evaluations),
        judge_(request, evaluations / kEvaluationsPerLowering),
        evaluations_(evaluations) {}

  absl::StatusOr<Draft> Run() {
    const SearchSeeds seeds = FindSearchSeeds(request_, flow_);
    const std::vector<ScoredDraft> climbs = ClimbAll(seeds.whole);
    for (const ScoredDraft& climb : climbs) Offer(climb.draft);
    for (const Draft& draft : seeds.sharded) OfferSharded(draft);
    while (judge_.is_open() && (MoveNodes() || MoveSplits())) {
    }
    if (judge_.best().has_value()) return *std::move(judge_.best());
    return FirstThatFits(climbs);
  }

 private:
  bool Offer(const WholeDraft& draft) {
    const bool is_best = judge_.Offer(DraftOf(request_, flow_, draft));
    if (is_best) best_whole_ = draft;
    return is_best;
  }

  // Without predictions: the best few by estimate.
  absl::StatusOr<Draft> FirstThatFits(const std::vector<ScoredDraft>& climbs) {
    FirstFit choice(request_);
    for (size_t i = 0; i < climbs.size() && i < kMostOffers; ++i) {
      if (choice.Offer(DraftOf(request_, flow_, climbs[i].draft))) break;
    }
    return choice.Take();
  }

  bool OfferSharded(const Draft& draft) {
    const bool is_best = judge_.Offer(draft);
    if (is_best) best_whole_.reset();
    return is_best;
  }

  // The end of each seed's climb, best first, without duplicates. The seeds
  // share three quarters of the evaluations.
  std::vector<ScoredDraft> ClimbAll(const std::vector<WholeDraft>& seeds) {
    std::vector<ScoredDraft> scored;
    for (const WholeDraft& seed : seeds) scored.push_back(climber_.Score(seed));
    absl::c_stable_sort(scored, BetterFirst);
    const int64_t each =
        evaluations_ * 3 / 4 / std::max<int64_t>(1, scored.size());
    std::vector<ScoredDraft> climbs;
    for (const ScoredDraft& seed : scored) {
      ScoredDraft climb = climber_.Climb(seed, each);
      const bool is_new = absl::c_none_of(
          climbs,
          [&](const ScoredDraft& other) { return other.draft == climb.draft; });
      if (is_new) climbs.push_back(std::move(climb));
    }
    absl::c_stable_sort(climbs, BetterFirst);
    return climbs;
  }

  // Lowers the neighbours of the best draft of whole nodes, the most promising
  // first. True if one is better.
  bool MoveNodes() {
    if (!best_whole_.has_value()) return false;
    for (const ScoredDraft& next :
         climber_.Neighbours(*best_whole_, kNeighbours)) {
      if (Offer(next.draft)) return true;
    }
    return false;
  }

  // The same for splits of equal nodes.
  bool MoveSplits() {
    const std::vector<MachineDeviceId> devices = EqualDevices(request_.costs);
    if (devices.size() < 2 || !judge_.best().has_value()) return false;
    for (const Draft& next :
         SplitMoves(request_, devices, *judge_.best(), kNeighbours)) {
      if (OfferSharded(next)) return true;
    }
    return false;
  }

  static constexpr size_t kNeighbours = 16;
  static constexpr size_t kMostOffers = 3;

  const PlanRequest& request_;
  const Flow flow_;
  Climber climber_;
  Judge judge_;
  const int64_t evaluations_;
  // The best draft that was judged, if its nodes are whole.
  std::optional<WholeDraft> best_whole_;
};

int64_t EvaluationsFor(const PlanRequest& request) {
  const auto nodes = static_cast<int64_t>(request.costs.order().size());
  return request.options.evaluations.value_or(
      std::clamp(kEvaluatedNodes / std::max<int64_t>(1, nodes),
                 kLeastEvaluations, kMostEvaluations));
}

}  // namespace

absl::StatusOr<Draft> DraftSearch(const PlanRequest& request) {
  // One device leaves nothing to search.
  if (request.costs.num_devices() == 1) return DraftSingle(request);
  return Search(request, EvaluationsFor(request)).Run();
}

}  // namespace partita
