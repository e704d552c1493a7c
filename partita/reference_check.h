// Holds a step of a session against its plan's reference, bit for bit.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_REFERENCE_CHECK_H_
#define PARTITA_PARTITA_REFERENCE_CHECK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/host_tensor.h"
#include "partita/session.h"

namespace partita {

//   auto check = ReferenceCheck::Of(session);   // before the step
//   if (!check.ok()) return check.status();
//   if (auto run = session.Run(); !run.ok()) return run;
//   return check->Compare(1);
class ReferenceCheck {
 public:
  // Computes by reference what the next step must give. The session, which does
  // not change, must outlive this.
  static absl::StatusOr<ReferenceCheck> Of(Session& session);

  // After that step. Internal, with `step` in the message, if an output, or a
  // variable that the entry updates, has other bits.
  absl::Status Compare(int64_t step) const;

 private:
  ReferenceCheck(Session& session, std::vector<HostTensor> expected)
      : session_(&session), expected_(std::move(expected)) {}

  Session* session_;
  std::vector<HostTensor> expected_;  // outputs, then updated variables
};

}  // namespace partita

#endif  // PARTITA_PARTITA_REFERENCE_CHECK_H_
