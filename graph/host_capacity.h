// The resources of the host that this process may use.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_HOST_CAPACITY_H_
#define PARTITA_GRAPH_HOST_CAPACITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

// The limit for all CPU devices of a plan on this host together.
struct HostCapacity {
  // Cores of the affinity mask, limited by the cgroup and OMP_THREAD_LIMIT.
  int threads = 1;
  int64_t memory = 0;  // total bytes, free or not, or the cgroup's limit
  std::vector<std::string> isas;  // UsableIsas()
};

HostCapacity ThisHost();

// Every DeviceTraits::isa with instructions that this process may use
// (instruction_set.h), best first; none if unknown.
std::vector<std::string> UsableIsas();

// Every DeviceTraits::isa that a CPU may have, best first.
std::vector<std::string> CpuIsas();

// Resolves a DeviceTraits::isa on this host. Empty ("any") is the best of
// UsableIsas, or the smallest ISA if none is known; others are unchanged.
std::string MeantIsa(absl::string_view isa);

// The base of ISAs that differ only in bf16 products: "avx512" for
// "avx512_amx". f32 vectors and generated code are the same for both.
std::string VectorIsa(const std::string& isa);

}  // namespace partita

#endif  // PARTITA_GRAPH_HOST_CAPACITY_H_
