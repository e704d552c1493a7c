// The largest numbers that a plan may hold. Plan text, plan files and the
// checker have the same limits, so that every proved plan can be loaded.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_LIMITS_H_
#define PARTITA_RUNTIME_PLAN_PLAN_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace partita {

inline constexpr size_t kMaxPlanEntries = 1024;
inline constexpr int kMaxPlanDepth = 64;  // steps that may overlap
inline constexpr int kMaxPlanEvents = 1 << 22;
// Micro-batches, ranks, slots, capacities, and the numbers of groups,
// channels and ports.
inline constexpr int kMaxPlanNumber = 1 << 20;

// Commands of one step.
inline constexpr int64_t kMaxExpandedCommands = int64_t{1} << 22;
// A schedule may invoke programs repeatedly, and steps may overlap. The
// expanded entry may have at most kFreeExpansion commands and buffers of
// commands, and kMaxExpansion more for each that the text or file states.
inline constexpr int64_t kMaxExpansion = 1024;
inline constexpr int64_t kFreeExpansion = int64_t{1} << 16;

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_LIMITS_H_
