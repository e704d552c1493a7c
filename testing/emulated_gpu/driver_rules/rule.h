// Rules of the CUDA driver that hold on a real one and on the emulated one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_RULES_RULE_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_RULES_RULE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita::driver_rules {

// A device with its primary context, which is current, and the test kernels;
// and what a rule saw otherwise than it says. Gives everything back at its end.
class Bench {
 public:
  explicit Bench(const DriverApi& driver);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  const DriverApi& api;
  CUcontext context = nullptr;
  // Two NON_BLOCKING streams.
  CUstream one = nullptr;
  CUstream two = nullptr;

  // The step returned this code; CUDA_SUCCESS unless said otherwise.
  void Is(absl::string_view step, CUresult seen,
          CUresult expected = CUDA_SUCCESS);
  void Holds(absl::string_view step, bool seen);
  template <typename T>
  void Equals(absl::string_view step, const T& seen, const T& expected) {
    if (seen != expected) {
      Note(absl::StrCat(step, ": found ", seen, "; expected ", expected));
    }
  }
  // Empty if all was as the rule says.
  const std::string& faults() const { return faults_; }

  // Device memory of `bytes` zeros, given back with the bench; in the context
  // that is current.
  CUdeviceptr Memory(size_t bytes);
  // Page-locked words, 0 at first.
  uint32_t* Pinned(size_t words);
  CUevent Event(unsigned flags = CU_EVENT_DISABLE_TIMING);
  // A second context of the device; the current one stays.
  CUcontext OtherContext();
  uint32_t Word(CUdeviceptr address);

  CUkernel Kernel(const char* name);
  // Launches one thread.
  template <typename... Args>
  CUresult Launch(CUstream stream, const char* kernel, Args... args) {
    void* parameters[] = {&args..., nullptr};
    return api.LaunchKernel(reinterpret_cast<CUfunction>(Kernel(kernel)), 1, 1,
                            1, 1, 1, 1, 0, stream, parameters, nullptr);
  }

  // Nodes of graphs.
  template <typename... Args>
  CUgraphNode AddKernel(CUgraph graph, const std::vector<CUgraphNode>& after,
                        const char* kernel, Args... args) {
    void* parameters[] = {&args..., nullptr};
    return AddKernelNode(graph, after, kernel, parameters, context);
  }
  CUgraphNode AddKernelNode(CUgraph graph,
                            const std::vector<CUgraphNode>& after,
                            const char* kernel, void** parameters,
                            CUcontext where);
  CUgraphNode AddCopy(CUgraph graph, const std::vector<CUgraphNode>& after,
                      CUdeviceptr to, CUdeviceptr from, size_t bytes);
  CUgraphNode AddEmpty(CUgraph graph, const std::vector<CUgraphNode>& after);
  CUgraph Graph();
  // Instantiates, launches in stream one and waits.
  void Run(CUgraph graph);
  // "kernel 2, memcpy 1".
  std::string NodesOf(CUgraph graph);
  size_t EdgesOf(CUgraph graph);

 private:
  void Note(const std::string& fault);

  std::string faults_;
  CUdevice device_ = 0;
  CUlibrary library_ = nullptr;
  std::map<std::string, CUkernel> kernels_;
  std::vector<CUdeviceptr> memory_;
  std::vector<void*> pinned_;
  std::vector<CUevent> events_;
  std::vector<CUgraph> graphs_;
  std::vector<CUcontext> contexts_;
};

struct Rule {
  const char* name;    // "event.wait_unrecorded"
  const char* source;  // "cuda.h:15963", or a fact of gpu_facts.md
  void (*check)(Bench& bench);
  int devices = 1;  // that it needs
  // The rule ends the device's contexts: it needs a process of its own.
  bool ends_contexts = false;
};

// All rules, in groups by file.
std::vector<Rule> AllRules();
absl::Span<const Rule> MemoryRules();
absl::Span<const Rule> StreamRules();
absl::Span<const Rule> ContextRules();
absl::Span<const Rule> CodeRules();
absl::Span<const Rule> CaptureRules();
absl::Span<const Rule> GraphRules();
absl::Span<const Rule> ErrorRules();

// The kernels, PTX for sm_80.
extern const char kRuleKernels[];

}  // namespace partita::driver_rules

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_RULES_RULE_H_
