// Binds and launches kernels of random nodes over guarded memory, in child
// processes with limited instruction sets.
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

// The source of the children's kernels.
struct SweepSource {
  const KernelCatalog* catalog;
  std::vector<const KernelLibrary*> libraries;
};

struct SweepOptions {
  std::string cap;  // oneDNN's name: "AVX2"
  // as in machine files; no node is drawn if the host has less
  std::string isa;
  uint64_t seed = 1;
  int first = 0;  // first node, and their number
  int nodes = 0;
  std::vector<int> threads = {1, 2, 3, 4};
  int seconds = 180;    // the limit of one kernel, and of one query
  int most_deaths = 8;  // of children; then the sweep ends
  // Does not exclude kernels with known faults.
  bool with_known_faults = false;
  // Called in each child. Default: all of the host's kernels.
  std::function<SweepSource()> kernels;
};

struct Sweep {
  std::string isa;  // the children's
  int nodes = 0;    // drawn
  // Launched kernels, one for each number of threads.
  std::map<std::string, int> launched;  // by implementation
  // Excluded with one thread, by implementation.
  std::map<std::string, int> excluded;
  // "gradient by the weights 17 (seed 1), 2 threads, jit:avx2: signal 11 ...",
  // and the node.
  std::vector<std::string> failures;

  int Launched() const;
  int Excluded() const;
};

// The caller must not have started threads or used oneDNN. Launches, twice,
// every kernel that can be bound to a node. Operands must not be written, and
// no byte outside of them, the results and the requested workspace may be
// accessed; the results must be eval's, and the kernel must end within the
// limit. Stops testing a node at its first fault.
Sweep RunSweep(const NodeKind& kind, const SweepOptions& options);

// A line of a table in Markdown, and its head.
std::string TableHead();
std::string TableLine(const NodeKind& kind, const std::string& cap,
                      const Sweep& sweep);

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_GUARDED_SWEEP_H_
