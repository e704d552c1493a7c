// A CUDA driver in front of another one that makes one call wrong, and keeps
// account of all calls.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_FAULTY_DRIVER_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_FAULTY_DRIVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "tests/gpu/sown_faults/issued_work.h"
#include "tests/gpu/sown_faults/sown_fault.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

// The driver of the process (SetProcessDriver) while it exists; one at a time.
//
// Thread safety: calls of the table and `Account` may run in parallel, the
// others when no call is going on.
class FaultyDriver {
 public:
  struct Options {
    std::optional<SownFault> fault;
    // Of the real driver: a copy to pageable memory is done when its call
    // returns.
    bool fetches_wait = true;
  };
  // `real` outlives the object. It is the driver of the process afterwards.
  FaultyDriver(const DriverApi& real, const Options& options);
  ~FaultyDriver();
  FaultyDriver(const FaultyDriver&) = delete;
  FaultyDriver& operator=(const FaultyDriver&) = delete;

  const DriverApi& api() const;

  // How many calls of the kind the program made.
  int64_t count(CallKind kind) const;
  // False if the call was never made, or has no neighbour.
  bool is_sown() const;
  // What was made and not given back, a sentence each.
  std::vector<std::string> Kept() const;
  // The command that a node of a graph was added for.
  void SetCommand(CUgraphNode node, CommandId command);
  // Called, if there is a fault, when a thread is about to wait for a stream,
  // an event or a context: the program's other threads may go first. To be set
  // while no call is going on; null: none.
  void BeforeWaits(std::function<void()> let_others_go_first);
  // Called when a call that makes, changes or waits for something has returned
  // an error: the program may stop. It makes no call. Likewise to be set.
  void AfterErrors(std::function<void()> stops);
  // Changes or reads the account of the work.
  void Account(absl::FunctionRef<void(IssuedWork&)> change);

  class Calls;

 private:
  const DriverApi& real_;
  const std::unique_ptr<Calls> calls_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_FAULTY_DRIVER_H_
