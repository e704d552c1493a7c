// Binds and launches kernels of drawn nodes over guarded memory, in child
// processes whose instructions are capped.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_KERNELS_GUARDED_SWEEP_H_
#define PARTITA_TESTS_KERNELS_GUARDED_SWEEP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/kernels/drawn_node.h"

namespace partita {

// What children take their kernels from.
struct SweptKernels {
  const KernelCatalog* catalog;
  std::vector<const KernelLibrary*> libraries;
};

struct SweepOptions {
  std::string cap;  // as oneDNN calls it; "AVX2"
  std::string isa;  // as machine files do; nothing is drawn where it is less
  uint64_t seed = 1;
  int first = 0;  // node, and how many
  int nodes = 0;
  std::vector<int> threads = {1, 2, 3, 4};
  int seconds = 180;    // that a kernel may take, and one asking for it
  int most_deaths = 8;  // of children; then the sweep ends
  // Nothing is excluded for what is known to be wrong with it.
  bool with_known_faults = false;
  // Called in each child. By default all that the host has.
  std::function<SweptKernels()> kernels;
};

struct Sweep {
  std::string isa;  // that the children had
  int nodes = 0;    // drawn
  // Kernels that were launched, one for each number of threads.
  std::map<std::string, int> launched;  // by implementation
  // Left out for one thread, by implementation.
  std::map<std::string, int> excluded;
  // "gradient by the weights 17 (seed 1), 2 threads, jit:avx2: signal 11 ...",
  // and the node.
  std::vector<std::string> failures;

  int Launched() const;
  int Excluded() const;
};

// The caller has started no threads, and has not asked oneDNN for anything.
// Launches, twice, every kernel that can be bound to a node: its operands may
// not be written, nothing may be touched outside of them, the results and the
// workspace that was asked for, the results are eval's, and it ends
// within the limit. A node is left at its first fault.
Sweep RunSweep(const NodeKind& kind, const SweepOptions& options);

// A line of a table in Markdown, and its head.
std::string TableHead();
std::string TableLine(const NodeKind& kind, const std::string& cap,
                      const Sweep& sweep);

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_GUARDED_SWEEP_H_
