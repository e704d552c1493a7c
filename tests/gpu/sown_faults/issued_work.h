// What was issued to a driver, and what of it happens before what: the judge of
// sown faults. It sees calls and commands, and shares no code with the software
// GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_ISSUED_WORK_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_ISSUED_WORK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// Handles of streams and events, as numbers.
using HandleKey = uintptr_t;

// Two commands that access the same bytes, one of them writing: the first
// happens before the second. If the second happens before the first, the values
// are wrong in every order; if neither does, there is a race.
struct NeededOrder {
  CommandId first;
  CommandId second;
  uint64_t steps_later = 0;  // of the second, if steps overlap
};

// The clocks of Lamport (1978), as vectors over streams and host threads
// (Mattern 1989).
//
// Not thread safe: callers hold a lock. "This thread" is the calling one.
class IssuedWork {
 public:
  struct Copied {
    uintptr_t to = 0;
    uintptr_t from = 0;
    size_t bytes = 0;
    // Whose memory that is; 0: the host's.
    HandleKey to_context = 0;
    HandleKey from_context = 0;
  };
  // A kernel accesses memory of its context, a copy what it copies.
  struct Issued {
    std::string what;  // "a kernel"
    HandleKey context = 0;
    std::optional<Copied> copied;
  };
  struct GraphNode {
    std::optional<Issued> issued;  // none: it does no work
    std::optional<CommandId> command;
    std::vector<size_t> after;  // indices of nodes
  };
  struct Block {
    HandleKey context = 0;  // 0: page-locked memory of the host
    uintptr_t address = 0;
    size_t bytes = 0;
  };
  // What the host does for a command.
  struct HostCommand {
    bool is_work = false;  // all of it: the stream is one of the host
    // A thread waits until the record is issued: it then knows what the
    // recording thread knew.
    std::optional<EventId> records;
    std::optional<EventId> waits_for;
  };
  // The commands of a plan's steps, on the thread that performs them.
  void BeginCommand(uint64_t step, CommandId command, const HostCommand& host);
  void EndCommand(const HostCommand& host);
  // The command that this thread performed until now. For calls that are made
  // late.
  struct Performed {
    uint64_t step = 0;
    std::optional<CommandId> command;
  };
  Performed SetPerformed(const Performed& performed);
  // Of a session's load, by its caller. At the end, all work that was issued is
  // over for the caller; what is not is a violation.
  void EndLoading();
  // A step that this thread submits: threads begin it when it is submitted.
  void BeginStep(uint64_t step);
  // This thread has waited for the step, as all threads end it: its work, and
  // that of earlier ones, is over; what is not is a violation. Later steps may
  // be going on.
  void EndStep(uint64_t step);

  // The driver's calls on this thread, in the command that it performs.
  void AddWork(HandleKey stream, const Issued& issued);
  // A copy from pageable memory: the source is read when the call returns.
  void AddStagedCopy(HandleKey stream, const Issued& issued);
  void Record(HandleKey event, HandleKey stream);
  void Wait(HandleKey stream, HandleKey event);
  // One launch of an exec: its nodes start when those of their `after` are
  // done, which are in front of them, and none before the stream's earlier work
  // and the exec's earlier launches (cuda.h:21050).
  void LaunchGraph(HandleKey stream, HandleKey exec,
                   const std::vector<GraphNode>& nodes);
  void HostWaitsForEvent(HandleKey event);
  void HostWaitsForStream(HandleKey stream);
  // Memory is freed: no work that accesses it may be going on.
  void Free(const Block& block);

  // Races of commands, and of the copies of one by way of the host; work that
  // goes on after a step or in freed memory: a sentence each.
  std::vector<std::string> Violations(
      const std::vector<NeededOrder>& needed) const;

 private:
  using Chain = int;
  // How much of each chain is over.
  using Clock = std::map<Chain, uint64_t>;
  struct Place {
    Chain chain = 0;
    uint64_t count = 0;
  };
  struct Work {
    uint64_t step = 0;
    std::optional<CommandId> command;  // none: while loading
    bool on_host = false;
    Place done;
    // When its source is read, if that is earlier.
    std::optional<Place> source_read;
    Clock before;  // what is over when it starts
    Issued issued;
  };
  using ByCommand =
      std::map<std::pair<uint64_t, int32_t>, std::vector<const Work*>>;
  struct Thread {
    Chain chain = 0;
    Clock clock;
    uint64_t step = 0;
    std::optional<CommandId> command;
    Clock at_begin;                   // of the command
    std::map<uint64_t, Clock> ended;  // by step, once a later one has begun
  };

  static void Join(Clock& clock, const Clock& other);
  static bool Covers(const Clock& clock, const Place& place);
  static bool MayConflict(const Work& a, const Work& b);
  bool IsOrdered(const Work& first, const Work& second) const;
  // What nothing orders of two commands of a step, and of one.
  std::vector<std::string> Unordered(uint64_t step, const NeededOrder& order,
                                     ByCommand& works) const;
  std::vector<std::string> Unordered(
      const std::vector<const Work*>& hops) const;
  Thread& ThisThread();
  Chain ChainOf(HandleKey stream);
  Place Next(Chain chain) { return {chain, ++counts_[chain]}; }
  Clock AllThreads() const;
  Clock AllThreadsAtEnd(uint64_t step) const;
  static bool Accesses(const Issued& issued, const Block& block);
  // That the work is over that `concerns`.
  template <typename Concerns>
  void Require(const Clock& clock, const std::string& when, Concerns concerns);

  std::map<std::thread::id, Thread> threads_;
  std::map<HandleKey, Chain> stream_chains_;
  std::map<Chain, Clock> streams_;
  std::map<HandleKey, Clock> events_;
  std::map<HandleKey, Clock> execs_;  // at the end of their last launch
  std::map<std::pair<uint64_t, int32_t>, Clock> host_events_;  // by step
  std::vector<uint64_t> counts_;                               // by chain
  std::map<uint64_t, Clock> starts_;                           // by step
  Clock start_;                                                // of the last
  std::vector<Work> work_;
  std::vector<std::string> violations_;
};

// The order that the commands of an entry need, from the bytes of their buffers
// and of the slots of channels; of steps that overlap, too. Needs: no
// collectives.
std::vector<NeededOrder> NeededOrders(const Plan& plan, int entry);

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_ISSUED_WORK_H_
