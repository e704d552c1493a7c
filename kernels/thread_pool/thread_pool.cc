// Work, and counting the threads that are done.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/thread_pool/thread_pool.h"

#include <pthread.h>

#include "graph/host_capacity.h"

namespace partita {
namespace {

constinit thread_local const ThreadPool::RunState* this_run = nullptr;

std::atomic<int> forks{0};
// Threads of all pools. If they are more than the cores, they must not spin.
std::atomic<int> pool_threads{0};

void BeginChild() {
  forks.fetch_add(1);
  pool_threads.store(0);
}

int CountForks() {
  static const bool counts = pthread_atfork(nullptr, nullptr, BeginChild) == 0;
  return counts ? forks.load(std::memory_order_relaxed) : 0;
}

bool IsCrowded() {
  static const int cores = ThisHost().threads;
  return pool_threads.load(std::memory_order_relaxed) > cores;
}

void WaitForChange(WatchedWord& word, uint32_t seen, WaitFor what) {
  word.WaitForChange(seen, what, IsCrowded());
}

}  // namespace

const ThreadPool::RunState* ThreadPool::ThisRun() { return this_run; }

void ThreadPool::Run(int size, int most,
                     absl::FunctionRef<void(int thread)> work) noexcept {
  if (const RunState* const outer = this_run) {
    const RunState alone = {nullptr, 0, 1, most};
    this_run = &alone;
    work(0);
    this_run = outer;
    return;
  }
  // Other thread-local objects may be destroyed later, and static ones are.
  constinit static thread_local bool has_ended = false;
  struct Own : ThreadPool {
    ~Own() { has_ended = true; }
  };
  if (has_ended) return ThreadPool().RunHere(size, most, work);
  thread_local Own own;
  own.RunHere(size, most, work);
}

ThreadPool::~ThreadPool() {
  LeaveThoseOfTheParent();
  if (workers_.empty()) return;
  pool_threads.fetch_sub(static_cast<int>(workers_.size()) + 1);
  stop_.store(true, std::memory_order_relaxed);
  for (auto& worker : workers_) worker->run_count.Change();
  for (auto& worker : workers_) worker->thread.join();
}

void ThreadPool::LeaveThoseOfTheParent() {
  if (forks_ == CountForks()) return;
  for (auto& worker : workers_) worker.release();
  workers_.clear();
  forks_ = CountForks();
}

void ThreadPool::Grow(int workers) {
  LeaveThoseOfTheParent();
  const int before = static_cast<int>(workers_.size());
  if (before >= workers) return;
  pool_threads.fetch_add(workers - before + (before == 0 ? 1 : 0));
  for (int number = before; number < workers; ++number) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    worker.thread =
        std::thread([this, &worker, number] { Work(worker, number + 1); });
  }
}

void ThreadPool::Do(int thread) {
  const RunState* const before = this_run;
  const RunState run = {this, thread, size_, most_};
  this_run = &run;
  (*work_)(thread);
  this_run = before;
}

void ThreadPool::Work(Worker& worker, int number) {
  for (uint32_t run_count = 0;; ++run_count) {
    WaitForChange(worker.run_count, run_count, WaitFor::kNext);
    if (stop_.load(std::memory_order_relaxed)) return;
    Do(number);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.Change();
  }
}

void ThreadPool::RunHere(int size, int most,
                         absl::FunctionRef<void(int thread)> work) {
  Grow(size - 1);
  work_ = &work;
  size_ = size;
  most_ = most;
  left_.store(size - 1, std::memory_order_relaxed);
  const uint32_t done = done_.value();
  for (int i = 0; i < size - 1; ++i) workers_[i]->run_count.Change();
  Do(0);
  if (size > 1) WaitForChange(done_, done, WaitFor::kPeers);
}

void ThreadPool::Barrier() {
  const uint32_t passed = passed_.value();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size_) {
    WaitForChange(passed_, passed, WaitFor::kPeers);
    return;
  }
  arrived_.store(0, std::memory_order_relaxed);
  passed_.Change();
}

}  // namespace partita
