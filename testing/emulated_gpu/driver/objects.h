// What the driver's handles stand for.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_OBJECTS_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_OBJECTS_H_

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "testing/emulated_gpu/driver/code.h"
#include "testing/emulated_gpu/driver/command.h"

namespace partita::emulated_gpu {

// Owns the objects of one kind. A handle is an object's address; objects stay
// where they are after their end, so that no handle is given twice.
template <typename Object, typename Handle>
class Registry {
 public:
  Object* Add(std::unique_ptr<Object> object) {
    Object* added = object.get();
    all_.push_back(std::move(object));
    live_.insert(added);
    return added;
  }
  static Handle HandleOf(Object* object) {
    return reinterpret_cast<Handle>(object);
  }
  // Null if it is not one that exists.
  Object* Find(Handle handle) const {
    Object* object = reinterpret_cast<Object*>(handle);
    return live_.contains(object) ? object : nullptr;
  }
  void End(Object* object) { live_.erase(object); }
  // The live ones, in the order of their making.
  std::vector<Object*> live() const {
    std::vector<Object*> found;
    for (const std::unique_ptr<Object>& object : all_) {
      if (live_.contains(object.get())) found.push_back(object.get());
    }
    return found;
  }
  // Whether it was one, and is no more.
  bool HasEnded(Handle handle) const {
    for (const std::unique_ptr<Object>& object : all_) {
      if (object.get() == reinterpret_cast<Object*>(handle)) {
        return !live_.contains(object.get());
      }
    }
    return false;
  }

 private:
  std::vector<std::unique_ptr<Object>> all_;
  absl::flat_hash_set<Object*> live_;
};

struct Capture;
struct Kernel;

struct Device {
  int number = 0;
  CUresult sticky = CUDA_SUCCESS;  // the error that ended its contexts
  uint64_t large_bytes = 0;        // of blocks of 2 MiB and more
  uint64_t small_bytes = 0;        // of smaller ones
  uint64_t context_bytes = 0;
  int contexts = 0;  // that were ever made
};

struct Stream {
  Context* context = nullptr;
  std::string name;
  bool blocking = false;  // waits for the legacy stream, and that for it
  bool legacy = false;
  int priority = 0;
  ChainId chain = 0;
  CommandRef last;
  VectorClock clock;   // of the last command
  bool waits = false;  // for an event, since its last work
  Capture* capture = nullptr;
};

struct Context {
  Device* device = nullptr;
  std::string name;
  bool primary = false;
  bool alive = false;
  int retained = 0;
  std::unique_ptr<Stream> legacy;
  absl::flat_hash_set<Context*> peers;  // whose memory it may access
  int64_t pending = 0;                  // commands that are not done
  VectorClock clock;                    // of all its commands
  int streams = 0;                      // that were ever made
  absl::flat_hash_set<const Kernel*> loaded;
};

struct GraphNode;

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::string name;
  CommandRef record;           // null if it was never recorded
  Capture* capture = nullptr;  // that it was last recorded in
  bool captured = false;       // recorded in a capture, and not since
  std::vector<GraphNode*> captured_tail;
};

struct Library {
  CompiledText text;
  std::map<std::string, CUkernel> kernels;
};

struct Kernel {
  Library* library = nullptr;
  std::shared_ptr<const KernelCode> code;
  std::map<Context*, CUfunction> functions;
  int most_dynamic_shared = 49152;  // bytes
};

struct Function {
  Kernel* kernel = nullptr;
  Context* context = nullptr;
};

struct Graph;

// What a node does, except nodes that only order others.
struct GraphNode {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Graph* graph = nullptr;
  Context* context = nullptr;
  Action action;
  Graph* child = nullptr;  // a clone, owned by the node
  Event* event = nullptr;  // that it records
  std::vector<GraphNode*> after;
  // As they were given; none for nodes of captures and of clones.
  std::optional<CUDA_KERNEL_NODE_PARAMS> kernel;
  std::optional<CUDA_MEMCPY3D> copy;
  std::vector<void*> parameters;  // those of the kernel, which `action` owns
};

struct Graph {
  std::string name;
  std::vector<GraphNode*> nodes;
  Capture* capture = nullptr;  // that fills it
  bool is_child = false;
};

// One node of an exec: child graphs are laid flat.
struct ExecNode {
  const GraphNode* source = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Context* context = nullptr;
  Action action;
  Event* event = nullptr;     // that it records
  std::vector<size_t> after;  // earlier nodes
  ChainId chain = 0;
};

struct GraphExec {
  std::string name;
  Context* context = nullptr;   // current when it was made
  std::vector<ExecNode> nodes;  // in an order of its edges
  CommandRef last_launch;       // the end of
  VectorClock last_clock;
};

struct Capture {
  cuuint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  Stream* origin = nullptr;
  Graph* graph = nullptr;
  bool invalidated = false;
  // The nodes that the next one of each stream follows.
  std::map<Stream*, std::vector<GraphNode*>> tails;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_OBJECTS_H_
