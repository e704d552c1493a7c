// Threads that work together and wait for each other with patience.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_THREAD_POOL_THREAD_POOL_H_
#define PARTITA_KERNELS_THREAD_POOL_THREAD_POOL_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kernels/thread_pool/watched_word.h"

namespace partita {

// The threads of one calling thread, kept from call to call and ended with it.
// In a child of fork() they are started anew, and so are those for work while
// the calling thread ends.
class ThreadPool {
 public:
  // A thread's state during Run: in a pool, or alone in a nested run.
  struct RunState {
    ThreadPool* pool;
    int thread;
    int size;
    int most;  // of Run
  };

  // Null outside of Run.
  static const RunState* ThisRun();

  // Calls work(0) on this thread and work(1), ... work(size - 1) on threads of
  // this thread's pool; returns when all are done. Nested in a run: calls only
  // work(0), with size 1. `most` is for RunState. An exception from `work` ends
  // the process, as in OpenMP's regions.
  static void Run(int size, int most,
                  absl::FunctionRef<void(int thread)> work) noexcept;

  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Called by all threads of a Run: returns when each has called it.
  void Barrier();

 private:
  struct alignas(64) Worker {
    WatchedWord run_count;
    std::thread thread;
  };

  void RunHere(int size, int most, absl::FunctionRef<void(int thread)> work);
  void Grow(int workers);
  void LeaveThoseOfTheParent();
  void Work(Worker& worker, int number);
  void Do(int thread);

  std::vector<std::unique_ptr<Worker>> workers_;
  int forks_ = 0;  // of the process, when the threads were started

  // The current Run's.
  const absl::FunctionRef<void(int)>* work_ = nullptr;
  int size_ = 0;
  int most_ = 0;
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<int> left_{0};  // workers that are not done
  WatchedWord done_;
  alignas(64) std::atomic<int> arrived_{0};  // at the barrier
  WatchedWord passed_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_THREAD_POOL_THREAD_POOL_H_
