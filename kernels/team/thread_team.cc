// Turns, and who is done with them.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/team/thread_team.h"

#include <pthread.h>

#include "graph/host_capacity.h"

namespace partita {
namespace {

constinit thread_local const ThreadTeam::Member* this_member = nullptr;

std::atomic<int> forks{0};
// Threads of teams; more than there are cores must not keep them.
std::atomic<int> team_threads{0};

void BeginChild() {
  forks.fetch_add(1);
  team_threads.store(0);
}

int CountForks() {
  static const bool counts = pthread_atfork(nullptr, nullptr, BeginChild) == 0;
  return counts ? forks.load(std::memory_order_relaxed) : 0;
}

bool IsCrowded() {
  static const int cores = ThisHost().threads;
  return team_threads.load(std::memory_order_relaxed) > cores;
}

void WaitForChange(WatchedWord& word, uint32_t seen, WaitFor what) {
  word.WaitForChange(seen, what, IsCrowded());
}

}  // namespace

const ThreadTeam::Member* ThreadTeam::ThisMember() { return this_member; }

void ThreadTeam::Run(int size, int most,
                     absl::FunctionRef<void(int thread)> work) noexcept {
  if (const Member* const outer = this_member) {
    const Member alone = {nullptr, 0, 1, most};
    this_member = &alone;
    work(0);
    this_member = outer;
    return;
  }
  // Other thread-local objects may end later, and static ones do.
  constinit static thread_local bool has_ended = false;
  struct Own : ThreadTeam {
    ~Own() { has_ended = true; }
  };
  if (has_ended) return ThreadTeam().RunTurn(size, most, work);
  thread_local Own own;
  own.RunTurn(size, most, work);
}

ThreadTeam::~ThreadTeam() {
  LeaveThoseOfTheParent();
  if (workers_.empty()) return;
  team_threads.fetch_sub(static_cast<int>(workers_.size()) + 1);
  stop_.store(true, std::memory_order_relaxed);
  for (auto& worker : workers_) worker->turn.Change();
  for (auto& worker : workers_) worker->thread.join();
}

void ThreadTeam::LeaveThoseOfTheParent() {
  if (forks_ == CountForks()) return;
  for (auto& worker : workers_) worker.release();
  workers_.clear();
  forks_ = CountForks();
}

void ThreadTeam::Grow(int workers) {
  LeaveThoseOfTheParent();
  const int before = static_cast<int>(workers_.size());
  if (before >= workers) return;
  team_threads.fetch_add(workers - before + (before == 0 ? 1 : 0));
  for (int number = before; number < workers; ++number) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    worker.thread =
        std::thread([this, &worker, number] { Work(worker, number + 1); });
  }
}

void ThreadTeam::Do(int thread) {
  const Member* const before = this_member;
  const Member member = {this, thread, size_, most_};
  this_member = &member;
  (*work_)(thread);
  this_member = before;
}

void ThreadTeam::Work(Worker& worker, int number) {
  for (uint32_t turn = 0;; ++turn) {
    WaitForChange(worker.turn, turn, WaitFor::kNext);
    if (stop_.load(std::memory_order_relaxed)) return;
    Do(number);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.Change();
  }
}

void ThreadTeam::RunTurn(int size, int most,
                         absl::FunctionRef<void(int thread)> work) {
  Grow(size - 1);
  work_ = &work;
  size_ = size;
  most_ = most;
  left_.store(size - 1, std::memory_order_relaxed);
  const uint32_t done = done_.value();
  for (int i = 0; i < size - 1; ++i) workers_[i]->turn.Change();
  Do(0);
  if (size > 1) WaitForChange(done_, done, WaitFor::kPeers);
}

void ThreadTeam::Barrier() {
  const uint32_t passed = passed_.value();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size_) {
    WaitForChange(passed_, passed, WaitFor::kPeers);
    return;
  }
  arrived_.store(0, std::memory_order_relaxed);
  passed_.Change();
}

}  // namespace partita
