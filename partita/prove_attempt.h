// Proves that an attempt's plan computes what the source does.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROVE_ATTEMPT_H_
#define PARTITA_PARTITA_PROVE_ATTEMPT_H_

#include "absl/status/status.h"
#include "partita/attempt.h"
#include "partita/compile_target.h"
#include "partita/source_module.h"

namespace partita {

// Proves each link of the chain from the source to the plan
// (docs/internals/proof.md): placed graph = optimised graph, bound graph =
// placed graph, plan = bound graph. Adds the certificate. Internal, "bug: ...",
// names the link whose proof fails.
absl::Status ProveAttempt(const SourceModule& source,
                          const CompileTarget& target, Attempt& attempt);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROVE_ATTEMPT_H_
