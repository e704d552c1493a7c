// Threads that work together, and wait for each other with patience.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TEAM_THREAD_TEAM_H_
#define PARTITA_KERNELS_TEAM_THREAD_TEAM_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kernels/team/watched_word.h"

namespace partita {

// The threads that one calling thread keeps from call to call; they end with
// it. In a child of fork() they are made anew, and for what runs while the
// thread ends.
class ThreadTeam {
 public:
  // What a thread is while it works: of a team, or alone in a nested one.
  struct Member {
    ThreadTeam* team;
    int thread;
    int size;
    int most;  // of Run
  };

  // Null outside of Run.
  static const Member* ThisMember();

  // Calls work(0) here and work(1), ... work(size - 1) on threads of the
  // calling thread's team; returns when all are done. Within a member of any
  // team: work(0) alone, of size 1. `most` is for Member. An exception of
  // `work` ends the process, as it does in OpenMP's regions.
  static void Run(int size, int most,
                  absl::FunctionRef<void(int thread)> work) noexcept;

  ThreadTeam() = default;
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // From all members of a Run: returns when each has called it.
  void Barrier();

 private:
  struct alignas(64) Worker {
    WatchedWord turn;
    std::thread thread;
  };

  void RunTurn(int size, int most, absl::FunctionRef<void(int thread)> work);
  void Grow(int workers);
  void LeaveThoseOfTheParent();
  void Work(Worker& worker, int number);
  void Do(int thread);

  std::vector<std::unique_ptr<Worker>> workers_;
  int forks_ = 0;  // of the process, when the threads were made

  // Of the present Run.
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

#endif  // PARTITA_KERNELS_TEAM_THREAD_TEAM_H_
