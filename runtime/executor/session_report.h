// Reports of a session as plain data, for programs that include only
// partita/partita.h.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_SESSION_REPORT_H_
#define PARTITA_RUNTIME_EXECUTOR_SESSION_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace partita {

// Memory of a session on one device, in bytes. Allocated, peak and reserved are
// PyTorch's figures (torch.cuda.memory_allocated and so on) of an allocator
// that takes all at load. Without what reference runs take for a moment.
struct DeviceMemory {
  std::string device;
  int64_t arena = 0;  // persistent + depth * step, as the plan states
  int64_t persistent = 0;
  int64_t step = 0;  // one copy
  int depth = 1;
  // Of the arena, now: persistent values, and those of the steps in flight.
  int64_t allocated = 0;
  int64_t peak = 0;  // the most that was allocated since the session began
  // Taken for the arena from the driver or the system (Arena::ReservedBytes).
  int64_t reserved = 0;
  // Page-locked memory of the host that inputs, outputs, collectives and copies
  // between devices pass through; likewise.
  int64_t staging = 0;
  int64_t in_place = 0;   // constants read outside the arena
  int64_t committed = 0;  // pages of the arena that were accessed
  int64_t limit = 0;      // the most that the plan may use of the device
  // Of memory that is the device's own, as the driver reports it; 0 for arenas
  // in host memory. `outside` is in use outside the arena, by all processes:
  // what a machine file's `reserve` must cover.
  int64_t total = 0;
  int64_t free = 0;
  int64_t outside = 0;
};

// What bytes are used for.
enum class MemoryKind : uint8_t {
  kWeights,     // a constant
  kVariable,    // a value that steps update
  kActivation,  // a value of a step
  kWorkspace,   // scratch memory of a kernel
  kStaging,     // page-locked memory of the host
  kCode,        // a code object, loaded by the driver or the system
};

// Bytes with an owner. Blocks overlap if their values are never alive together,
// are views of each other, or belong to different entries.
struct MemoryBlock {
  std::string entry;  // empty: all entries use it
  MemoryKind kind = MemoryKind::kActivation;
  // The first byte in the arena; 0 for staging and code, which are outside.
  int64_t offset = 0;
  int64_t bytes = 0;
  int copies = 1;  // one for each step in flight
  // Those that access it, by number in launch order; -1: not known by commands.
  int first_command = -1;
  int last_command = -1;
  // Values ("%h"), ports ("input x"), nodes ("softmax %p"), collectives,
  // copies.
  std::vector<std::string> owners;
  bool in_place = false;  // read where the plan stores it, outside the arena
};

// A device's memory, block by block, in the order of kinds and offsets.
struct MemorySnapshot {
  DeviceMemory memory;
  std::vector<MemoryBlock> blocks;
};

// "weights", "staging".
const char* MemoryKindName(MemoryKind kind);

// One command of a measured step, in seconds since the step's first start.
struct MeasuredCommand {
  int command = 0;  // number in launch order, as in the plan's text
  double start_seconds = 0;
  double end_seconds = 0;
};

// Where a step failed. `command` is -1 if no command caused the failure, as a
// deadline or a cancelled run, or if a GPU does not say which one did.
struct FailedCommand {
  std::string entry;
  std::string device;
  std::string stream;  // empty: any of the device's
  int command = -1;    // number in launch order
  // "command 7", or "command 7 of program forward0 (invocation 8, batch 2)".
  std::string place;
  std::string kind;  // "kernel", "copy", ...
  std::string node;  // "softmax %p"; empty for records, feeds, fetches
};

// How the commands of an entry's GPUs are launched in each step. Records and
// waits are not counted.
struct StepLaunches {
  std::string entry;
  int graphs = 0;
  int in_graphs = 0;  // commands
  int issued = 0;     // commands one by one
  std::string why_no_graphs;
};

// The commands of a kernel that was bound instead of the plan's: another
// kernel, or the same kernel in another arithmetic
// (docs/reference/glossary.md). Their results may differ in rounding from those
// of the plan's machine. Host kernels that emulate GPU kernels on virtual
// devices are not listed.
struct ReplacedKernel {
  std::string planned;  // "onednn.conv"
  std::string planned_arithmetic;
  std::string bound;
  std::string bound_arithmetic;
  int commands = 0;  // of all entries
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_SESSION_REPORT_H_
