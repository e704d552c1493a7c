// Orders of commands.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/scheduler.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/code.h"

namespace partita::emulated_gpu {

std::string Describe(const Action& action) {
  return std::visit(
      [](const auto& work) -> std::string {
        using Work = std::decay_t<decltype(work)>;
        if constexpr (std::is_same_v<Work, Marker>) {
          return work.what;
        } else if constexpr (std::is_same_v<Work, KernelLaunch>) {
          return absl::StrCat("kernel ", work.code->name());
        } else if constexpr (std::is_same_v<Work, Copy>) {
          return absl::StrCat("copy of ", work.bytes, " bytes");
        } else if constexpr (std::is_same_v<Work, Fill>) {
          return absl::StrCat("fill of ",
                              work.width * work.height * work.element_bytes,
                              " bytes");
        } else {
          return "host function";
        }
      },
      action);
}

// Commands own those behind them: a long chain is taken apart from its front.
Scheduler::~Scheduler() {
  while (const CommandRef command = Take()) Finish(command);
}

void Scheduler::Add(const CommandRef& command,
                    const std::vector<CommandRef>& after) {
  ++pending_;
  chains_ = std::max(chains_, command->chain);
  for (const CommandRef& earlier : after) {
    if (earlier->done) continue;
    ++command->open_dependencies;
    earlier->successors.push_back(command);
  }
  if (command->open_dependencies == 0) ready_.push_back(command);
}

bool Scheduler::IsStarved(const Command& command) const {
  switch (order_) {
    case Order::kStarveOneStream:
      return command.chain == 1 + seed_ % chains_;
    case Order::kLateWaits:
      return command.behind_wait;
    default:
      return false;
  }
}

size_t Scheduler::Choose() {
  const auto by_chain = [](const CommandRef& a, const CommandRef& b) {
    return a->chain < b->chain;
  };
  switch (order_) {
    case Order::kOldestStreamFirst:
      return std::min_element(ready_.begin(), ready_.end(), by_chain) -
             ready_.begin();
    case Order::kYoungestStreamFirst:
      return std::max_element(ready_.begin(), ready_.end(), by_chain) -
             ready_.begin();
    default:
      break;
  }
  std::vector<size_t> choices;
  for (size_t i = 0; i < ready_.size(); ++i) {
    if (!IsStarved(*ready_[i])) choices.push_back(i);
  }
  if (choices.empty()) return Draw(ready_.size());
  return choices[Draw(choices.size())];
}

CommandRef Scheduler::Take() {
  if (ready_.empty()) return nullptr;
  const size_t chosen = Choose();
  CommandRef command = std::move(ready_[chosen]);
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(chosen));
  return command;
}

void Scheduler::Finish(const CommandRef& command) {
  command->done = true;
  --pending_;
  for (const CommandRef& next : command->successors) {
    if (--next->open_dependencies == 0) ready_.push_back(next);
  }
  command->successors.clear();
}

}  // namespace partita::emulated_gpu
