// Collects the constants of a plan file and their positions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_STORED_CONSTANTS_H_
#define PARTITA_RUNTIME_PLAN_STORED_CONSTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_file.h"

namespace partita {

// The bytes of one hash, stored once.
struct StoredConstant {
  ContentHash hash;
  int64_t size = 0;
  LiteralId literal;   // a literal with these bytes
  int file = -1;       // index in StoredConstants::files; -1: the plan's own
  int64_t offset = 0;  // in the plan's own file: set when it is laid out
};

// A literal: a type over a constant's bytes.
struct StoredLiteral {
  LiteralId literal;
  int constant = 0;
};

struct StoredConstants {
  std::vector<StoredConstant> constants;
  std::vector<StoredLiteral> literals;
  absl::flat_hash_map<LiteralId, int> places;  // in `literals`
  std::vector<std::string> files;
  int64_t misplaced = 0;  // WrittenWeights
  int64_t outside = 0;
};

// Collects the constants whose bytes the plan's text does not contain, in the
// order of first use: variables, nodes, persistent values. FailedPrecondition
// if the bytes of one are missing.
absl::StatusOr<StoredConstants> CollectConstants(const Plan& plan,
                                                 const std::string& plan_path,
                                                 WeightStorage weights);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_STORED_CONSTANTS_H_
