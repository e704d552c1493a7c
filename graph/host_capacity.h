// What this process may use of the host that it runs on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_HOST_CAPACITY_H_
#define PARTITA_GRAPH_HOST_CAPACITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

// All CPU devices of a plan on this host together have no more than this.
struct HostCapacity {
  // Cores of the affinity mask, less if a cgroup or OMP_THREAD_LIMIT says so.
  int threads = 1;
  int64_t memory = 0;  // bytes in all, free or not, less if a cgroup says so
  std::vector<std::string> isas;  // as UsableIsas
};

HostCapacity ThisHost();

// Every DeviceTraits::isa whose instructions this process may use
// (instruction_set.h), best first; none if unknown.
std::vector<std::string> UsableIsas();

// Every DeviceTraits::isa that a CPU may have, best first.
std::vector<std::string> CpuIsas();

// What a DeviceTraits::isa means here: itself; of the empty one, any, the best
// of UsableIsas, or the least that there is if none is known.
std::string MeantIsa(absl::string_view isa);

// Of those that differ in products of bf16 alone, the plain one: "avx512" for
// "avx512_amx". Vectors of f32, and generated code, are the same.
std::string VectorIsa(const std::string& isa);

}  // namespace partita

#endif  // PARTITA_GRAPH_HOST_CAPACITY_H_
