// Strategy `search`: local search over drafts.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/status_macros.h"
#include "placement/planner/constraints.h"
#include "placement/planner/draft_judge.h"
#include "placement/planner/draft_score.h"
#include "placement/planner/draft_timer.h"
#include "placement/planner/first_fit.h"
#include "placement/planner/item_constraints.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/search_budget.h"
#include "placement/planner/search_moves.h"
#include "placement/planner/search_seeds.h"
#include "placement/planner/strategies.h"
#include "placement/planner/strategy_drafts.h"
#include "placement/planner/whole_placements.h"

namespace partita {
namespace {

// The factor by which the evaluations grow within a time budget.
constexpr int64_t kGrowth = 4;
constexpr int64_t kMostInTime = int64_t{1} << 40;

struct ScoredDraft {
  ItemDraft draft;
  DraftScore score;
};

bool BetterFirst(const ScoredDraft& a, const ScoredDraft& b) {
  return a.score < b.score;
}

bool IsTimeOver(const Objective& objective) {
  return objective.is_time_over && objective.is_time_over();
}

absl::Status NoneIsAllowed() {
  return absl::FailedPreconditionError(
      "constraints: found no placement that meets them and the pins; expected "
      "one; leave a constraint or a pin out");
}

// Climbs by estimates.
class Climber {
 public:
  Climber(const SearchSpace& space, const ItemConstraints& constraints)
      : objective_(space.request.objective),
        constraints_(constraints),
        timer_(space),
        moves_(space) {}

  // Adds evaluations to those that are left.
  void Allow(int64_t evaluations) { left_ += evaluations; }
  int64_t left() const {
    return IsTimeOver(objective_) ? 0 : std::max<int64_t>(0, left_);
  }

  // What breaks a constraint is worse than all that does not.
  DraftScore Score(const ItemDraft& draft) {
    --left_;
    if (!constraints_.Allow(draft)) return kNoDraft;
    return timer_.Score(draft);
  }

  void AllowMoreMemory(double share) { timer_.AllowMoreMemory(share); }

  // The best `most` of all, by estimate, best first.
  std::vector<ScoredDraft> BestOf(const WholePlacements& all, ItemDraft draft,
                                  size_t most) {
    std::vector<ScoredDraft> best;  // a heap: the worst is in front
    draft = all.First(std::move(draft));
    do {
      ScoredDraft next{draft, Score(draft)};
      if (next.score == kNoDraft) continue;
      best.push_back(std::move(next));
      absl::c_push_heap(best, BetterFirst);
      if (best.size() <= most) continue;
      absl::c_pop_heap(best, BetterFirst);
      best.pop_back();
    } while (all.Next(draft));
    absl::c_sort_heap(best, BetterFirst);
    return best;
  }

  // Takes every better move in turn, round by round, until a round has none.
  ScoredDraft Climb(ScoredDraft from, int64_t most) {
    const int64_t end = std::max<int64_t>(0, left_ - most);
    bool improves = true;
    while (improves && left() > end) {
      improves = false;
      for (const Move& move : moves_.Of(from.draft, left_ - end)) {
        if (left() <= end) break;
        improves |= TakeIfBetter(move, from);
      }
    }
    return from;
  }

  // The moves of a draft that fit best, by estimate. Leaves evaluations for the
  // neighbours of these.
  std::vector<ScoredDraft> Neighbours(ItemDraft draft, size_t most) {
    const int64_t share = std::max(kLeastEvaluations, left() / 4);
    std::vector<ScoredDraft> neighbours;
    for (const Move& alone : moves_.Of(draft, std::min(left(), share))) {
      if (left() == 0) break;
      const Move move = constraints_.WithPartners(alone);
      const Move undo = UndoOf(draft, move);
      Apply(move, draft);
      const DraftScore score = Score(draft);
      if (score != kNoDraft) neighbours.push_back({draft, score});
      Apply(undo, draft);
    }
    absl::c_stable_sort(neighbours, BetterFirst);
    if (neighbours.size() > most) neighbours.resize(most);
    return neighbours;
  }

 private:
  bool TakeIfBetter(const Move& alone, ScoredDraft& best) {
    const Move move = constraints_.WithPartners(alone);
    const Move undo = UndoOf(best.draft, move);
    Apply(move, best.draft);
    const DraftScore score = Score(best.draft);
    if (!IsBetter(score, best.score)) {
      Apply(undo, best.draft);
      return false;
    }
    best.score = score;
    return true;
  }

  const Objective& objective_;
  const ItemConstraints& constraints_;
  DraftTimer timer_;
  const SearchMoves moves_;
  int64_t left_ = 0;
};

class Search {
 public:
  explicit Search(const PlanRequest& request)
      : space_(request),
        whole_(space_),
        constraints_(space_),
        climber_(space_, constraints_),
        judge_(request),
        drafts_(StrategyDrafts(request)),
        seeds_(AllowedSeeds()) {}

  // Step 2. Only the splits of a large graph, whose lowering takes long, are
  // left out, where few evaluations are to be made.
  void OfferSeeds(int64_t evaluations) {
    OfferStrategies();
    const auto splits = static_cast<int64_t>(seeds_.splits.size());
    if (evaluations / kEvaluationsPerLowering < splits) return;
    for (const ItemDraft& split : seeds_.splits) {
      judge_.Allow(1);
      Offer(split);
    }
  }

  // Steps 3 and 4. True if they ended before the evaluations did: no move is
  // better.
  bool Run(int64_t evaluations) {
    climber_.Allow(evaluations);
    judge_.Allow(std::max<int64_t>(1, evaluations / kEvaluationsPerLowering));
    const int64_t whole = whole_.CountUpTo(evaluations / 2);
    const bool are_few = whole > 0 && whole <= evaluations / 2;
    const int64_t climbing = evaluations - (are_few ? whole : 0);
    climbs_ = IsMemoryTight() ? ClimbTwice(climbing) : ClimbAll(climbing);
    for (const ScoredDraft& climb : climbs_) Offer(climb.draft);
    for (const Draft& draft : seeds_.others) OfferOther(draft);
    if (are_few) OfferWhole();
    while (judge_.is_open() && MoveOn()) {
    }
    return climber_.left() > 0 && judge_.is_open();
  }

  absl::StatusOr<Draft> Take() {
    if (judge_.best().has_value()) return *std::move(judge_.best());
    return FirstThatFits();
  }

 private:
  void OfferStrategies() {
    judge_.Allow(static_cast<int64_t>(drafts_.size()));
    for (const Draft& draft : drafts_) {
      if (!judge_.is_open()) return;
      std::optional<ItemDraft> items = ItemDraftOf(space_, draft);
      if (items.has_value()) offered_.push_back(*items);
      if (judge_.Offer(draft)) best_items_ = std::move(items);
    }
  }

  // What was offered before is not lowered again.
  bool Offer(const ItemDraft& draft) {
    if (!judge_.is_open() || absl::c_linear_search(offered_, draft)) {
      return false;
    }
    offered_.push_back(draft);
    const bool is_best = judge_.Offer(DraftOf(space_, draft));
    if (is_best) best_items_ = draft;
    return is_best;
  }

  void OfferOther(const Draft& draft) {
    if (judge_.Offer(draft)) best_items_.reset();
  }

  // A climb ends where no move is better by estimate; the best of all may be
  // elsewhere.
  void OfferWhole() {
    if (climbs_.empty() || !judge_.is_open()) return;
    judge_.Allow(kWholeOffers);
    for (const ScoredDraft& draft :
         climber_.BestOf(whole_, climbs_.front().draft, kWholeOffers)) {
      Offer(draft.draft);
    }
  }

  // Without those that break a constraint and cannot be repaired.
  SearchSeeds AllowedSeeds() const {
    SearchSeeds seeds = FindSearchSeeds(space_);
    for (const Draft& draft : drafts_) {
      std::optional<ItemDraft> items = ItemDraftOf(space_, draft);
      if (!items.has_value()) continue;
      if (absl::c_linear_search(seeds.items, *items)) continue;
      seeds.items.push_back(*std::move(items));
    }
    if (constraints_.empty()) return seeds;
    SearchSeeds allowed;
    for (ItemDraft& seed : seeds.items) {
      std::optional<ItemDraft> repaired = constraints_.Repair(std::move(seed));
      if (!repaired.has_value()) continue;
      if (absl::c_linear_search(allowed.items, *repaired)) continue;
      allowed.items.push_back(*std::move(repaired));
    }
    for (ItemDraft& split : seeds.splits) {
      if (constraints_.Allow(split)) allowed.splits.push_back(std::move(split));
    }
    const PlanRequest& request = space_.request;
    for (Draft& seed : seeds.others) {
      if (!request.constraints->Check(request, seed).ok()) continue;
      allowed.others.push_back(std::move(seed));
    }
    return allowed;
  }

  // Without predictions: the best few by estimate.
  absl::StatusOr<Draft> FirstThatFits() {
    if (climbs_.empty()) return NoneIsAllowed();
    FirstFit choice(space_.request);
    for (size_t i = 0; i < climbs_.size() && i < kMostOffers; ++i) {
      if (choice.Offer(DraftOf(space_, climbs_[i].draft))) break;
    }
    return choice.Take();
  }

  // Only lowered drafts tell what fits, so there is nothing to try without
  // predictions.
  bool IsMemoryTight() {
    climber_.AllowMoreMemory(0);
    if (!space_.request.objective.predict) return false;
    return absl::c_any_of(seeds_.items, [&](const ItemDraft& seed) {
      const DraftScore score = climber_.Score(seed);
      return score != kNoDraft && score.missing > 0;
    });
  }

  // The estimate of memory is for one order of the nodes; lowering may find one
  // that needs less. So drafts that nearly fit are offered too.
  std::vector<ScoredDraft> ClimbTwice(int64_t evaluations) {
    std::vector<ScoredDraft> climbs = ClimbAll(evaluations / 2);
    climber_.AllowMoreMemory(kMemorySlack);
    for (ScoredDraft& climb : ClimbAll(evaluations / 2)) {
      climbs.push_back(std::move(climb));
    }
    return climbs;
  }

  // The ends of the climbs of the best seeds (ClimbBudgetFor), and the other
  // seeds; best first, without duplicates.
  std::vector<ScoredDraft> ClimbAll(int64_t evaluations) {
    std::vector<ItemDraft> starts = seeds_.items;
    if (best_items_.has_value() &&
        !absl::c_linear_search(starts, *best_items_)) {
      starts.push_back(*best_items_);
    }
    std::vector<ScoredDraft> scored;
    for (ItemDraft& start : starts) {
      const DraftScore score = climber_.Score(start);
      scored.push_back({std::move(start), score});
    }
    absl::c_stable_sort(scored, BetterFirst);
    const auto seeds = static_cast<int64_t>(scored.size());
    const ClimbBudget budget = ClimbBudgetFor(evaluations, seeds);
    std::vector<ScoredDraft> climbs;
    for (int64_t i = 0; i < seeds; ++i) {
      ScoredDraft climb = i < budget.climbs
                              ? climber_.Climb(scored[i], budget.evaluations)
                              : scored[i];
      const bool is_new = absl::c_none_of(
          climbs,
          [&](const ScoredDraft& other) { return other.draft == climb.draft; });
      if (is_new) climbs.push_back(std::move(climb));
    }
    absl::c_stable_sort(climbs, BetterFirst);
    return climbs;
  }

  // Lowers the neighbours of the best draft, the most promising first. True if
  // one is better.
  bool MoveOn() {
    if (!best_items_.has_value()) return false;
    for (const ScoredDraft& next :
         climber_.Neighbours(*best_items_, kNeighbours)) {
      if (Offer(next.draft)) return true;
    }
    return false;
  }

  static constexpr double kMemorySlack = 1.0 / 8;
  static constexpr size_t kNeighbours = 64;
  static constexpr size_t kMostOffers = 3;
  static constexpr size_t kWholeOffers = 64;

  const SearchSpace space_;
  const WholePlacements whole_;
  const ItemConstraints constraints_;
  Climber climber_;
  DraftJudge judge_;
  const std::vector<Draft> drafts_;  // of the other strategies
  const SearchSeeds seeds_;
  std::vector<ScoredDraft> climbs_;
  std::vector<ItemDraft> offered_;
  // The best draft that was judged, if it is one of items.
  std::optional<ItemDraft> best_items_;
};

// How other strategies place a function that follows another. Without
// predictions the first is taken: all functions have the same stages.
constexpr StrategyFn* kFollowers[] = {DraftPinned, DraftData, DraftSingle};

// A draft that breaks no constraint, repaired if need be.
absl::StatusOr<Draft> FollowWithin(const PlanRequest& request,
                                   StrategyFn& follow) {
  PARTITA_ASSIGN_OR_RETURN(Draft draft, follow(request));
  const bool is_allowed = request.constraints == nullptr ||
                          request.constraints->Check(request, draft).ok();
  if (is_allowed) return draft;
  const SearchSpace space(request);
  std::optional<ItemDraft> items = ItemDraftOf(space, draft);
  if (items.has_value()) {
    items = ItemConstraints(space).Repair(*std::move(items));
  }
  if (!items.has_value()) return NoneIsAllowed();
  Draft repaired = DraftOf(space, *items);
  PARTITA_RETURN_IF_ERROR(CheckLinks(request, repaired));
  return repaired;
}

}  // namespace

absl::StatusOr<Draft> DraftSearch(const PlanRequest& request) {
  // One device leaves nothing to search.
  if (request.costs.num_devices() == 1) return DraftSingle(request);
  int64_t evaluations = EvaluationsFor(
      request.options, static_cast<int64_t>(request.costs.order().size()));
  Search search(request);
  search.OfferSeeds(evaluations);
  bool is_done = search.Run(evaluations);
  while (request.objective.is_time_over && !is_done &&
         !request.objective.is_time_over()) {
    evaluations = std::min(kGrowth * evaluations, kMostInTime);
    is_done = search.Run(evaluations);
  }
  return search.Take();
}

absl::StatusOr<Draft> FollowSearch(const PlanRequest& request) {
  DraftJudge judge(request);
  judge.Allow(std::size(kFollowers));
  std::optional<Draft> first;
  absl::Status fault;
  for (StrategyFn* follow : kFollowers) {
    absl::StatusOr<Draft> draft = FollowWithin(request, *follow);
    fault.Update(draft.status());
    if (!draft.ok()) continue;
    judge.Offer(*draft);
    if (!first.has_value()) first = *std::move(draft);
  }
  if (judge.best().has_value()) return *std::move(judge.best());
  if (first.has_value()) return *std::move(first);
  return fault;
}

}  // namespace partita
