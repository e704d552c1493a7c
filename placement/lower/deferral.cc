// Reachability among tasks, from collectives and to them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/deferral.h"

#include <utility>

namespace partita {
namespace {

// By task, whether it is in `marked` or can be reached from there.
std::vector<bool> Reach(std::vector<int> marked,
                        const std::vector<std::vector<int>>& next) {
  std::vector<bool> reached(next.size(), false);
  for (int task : marked) reached[task] = true;
  while (!marked.empty()) {
    const int task = marked.back();
    marked.pop_back();
    for (int other : next[task]) {
      if (reached[other]) continue;
      reached[other] = true;
      marked.push_back(other);
    }
  }
  return reached;
}

std::vector<int> PartsOfCollectives(const PlanDraft& draft) {
  std::vector<int> parts;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    if (draft.tasks[i].kind == Command::Kind::kCollective) {
      parts.push_back(static_cast<int>(i));
    }
  }
  return parts;
}

// By task, whether some of `parts`, other than those of its own collective,
// wait for a part of that.
std::vector<bool> FindWaitedFor(const std::vector<int>& parts,
                                const Dependence& dependence) {
  std::vector<int> operands;
  for (int part : parts) {
    const std::vector<int>& before = dependence.before[part];
    operands.insert(operands.end(), before.begin(), before.end());
  }
  const std::vector<bool> leads_on = Reach(operands, dependence.before);
  std::vector<bool> first_part(leads_on.size(), false);
  for (int part : parts) {
    if (leads_on[part]) first_part[dependence.first_part[part]] = true;
  }
  std::vector<bool> waited_for(leads_on.size(), false);
  for (int part : parts) {
    waited_for[part] = first_part[dependence.first_part[part]];
  }
  return waited_for;
}

}  // namespace

std::vector<bool> FindDeferred(const PlanDraft& draft,
                               const Dependence& dependence) {
  const std::vector<int> parts = PartsOfCollectives(draft);
  const std::vector<bool> waited_for = FindWaitedFor(parts, dependence);
  std::vector<int> deferred;
  for (int part : parts) {
    if (waited_for[part] || !draft.Computes(draft.tasks[part])) continue;
    deferred.push_back(part);
  }
  return Reach(std::move(deferred), dependence.after);
}

}  // namespace partita
