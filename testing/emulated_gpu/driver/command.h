// Work for an emulated GPU: what is done, and after what.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_COMMAND_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_COMMAND_H_

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "testing/emulated_gpu/driver/timeline.h"
#include "testing/emulated_gpu/ptx/executor.h"

namespace partita::emulated_gpu {

struct Context;
struct KernelCode;

// A place in the order, without work: a record, a wait, a graph's ends.
struct Marker {
  const char* what = "";
  bool waits = false;
};

struct KernelLaunch {
  std::shared_ptr<const KernelCode> code;
  ptx::Extents grid;
  ptx::Extents block;
  std::vector<uint64_t> parameters;  // as bits
};

struct Copy {
  uint64_t to = 0;
  uint64_t from = 0;
  uint64_t bytes = 0;
  // Memory of the host that is not page-locked.
  bool to_pageable = false;
  bool from_pageable = false;
  // The source as it was when the call returned, if that was pageable.
  std::shared_ptr<const std::vector<std::byte>> staged;
  // Of a page-locked source, when the call was made: its bytes, and how many
  // commands and host functions may have written it.
  bool is_watched = false;
  uint64_t source_hash = 0;
  uint64_t source_writes = 0;
};

struct Fill {
  uint64_t to = 0;
  uint32_t value = 0;
  uint32_t element_bytes = 1;  // 1, 2 or 4
  uint64_t width = 0;          // elements of a row
  uint64_t height = 1;
  uint64_t pitch = 0;  // bytes from row to row
};

struct HostCall {
  CUhostFn function = nullptr;
  void* argument = nullptr;
};

using Action = std::variant<Marker, KernelLaunch, Copy, Fill, HostCall>;

// "kernel add", "copy of 64 bytes", ...
std::string Describe(const Action& action);

struct Command {
  CommandId id = 0;
  ChainId chain = 0;
  Context* context = nullptr;
  Action action;
  VectorClock clock;
  bool behind_wait = false;
  bool done = false;
  double seconds = 0;  // of the host's clock, when it was done
  int open_dependencies = 0;
  std::vector<std::shared_ptr<Command>> successors;
};

using CommandRef = std::shared_ptr<Command>;

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_COMMAND_H_
