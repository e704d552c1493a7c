// Loading of code, and launches.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <string>

#include "absl/strings/str_replace.h"
#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::driver_rules {
namespace {

// The load succeeds, its log says what is wrong, and to get a kernel fails.
void IsRefused(Bench& bench, const char* what, const std::string& text,
               CUresult code) {
  const DriverApi& api = bench.api;
  std::string log(2048, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  bench.Is(what, api.LibraryLoadData(&library, text.c_str(), options, values, 2,
                                     nullptr, nullptr, 0));
  if (library == nullptr) return;
  bench.Is(what, api.LibraryGetKernel(&kernel, library, "set_word"), code);
  bench.Holds("the log says why", log[0] != '\0');
  bench.Is("unload", api.LibraryUnload(library));
}

void Refused(Bench& bench) {
  const std::string good = kRuleKernels;
  IsRefused(bench, "a cut text", good.substr(0, good.size() / 2),
            CUDA_ERROR_INVALID_PTX);
  IsRefused(bench, "a damaged text",
            absl::StrReplaceAll(good, {{"add.s32", "adds.32"}}),
            CUDA_ERROR_INVALID_PTX);
  IsRefused(bench, "no PTX", "this is no PTX", CUDA_ERROR_INVALID_IMAGE);
  IsRefused(bench, "an empty text", "", CUDA_ERROR_INVALID_IMAGE);
  IsRefused(bench, "a version to come",
            absl::StrReplaceAll(good, {{".version 7.8", ".version 99.0"}}),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  IsRefused(bench, "a target to come",
            absl::StrReplaceAll(good, {{".target sm_80", ".target sm_999"}}),
            CUDA_ERROR_INVALID_PTX);
}

void Kernels(Bench& bench) {
  const DriverApi& api = bench.api;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  bench.Is("load", api.LibraryLoadData(&library, kRuleKernels, nullptr, nullptr,
                                       0, nullptr, nullptr, 0));
  bench.Is("a kernel that is not there",
           api.LibraryGetKernel(&kernel, library, "none"),
           CUDA_ERROR_NOT_FOUND);
  bench.Is("a kernel", api.LibraryGetKernel(&kernel, library, "set_word"));
  size_t offset = 0;
  size_t size = 0;
  bench.Is("parameter 1", api.KernelGetParamInfo(kernel, 1, &offset, &size));
  bench.Equals("offset", offset, size_t{8});
  bench.Equals("size", size, size_t{4});
  bench.Is("parameter 2", api.KernelGetParamInfo(kernel, 2, &offset, &size),
           CUDA_ERROR_INVALID_VALUE);
  CUfunction function = nullptr;
  CUfunctionLoadingState state{};
  bench.Is("function", api.KernelGetFunction(&function, kernel));
  bench.Is("load", api.FuncLoad(function));
  bench.Is("state", api.FuncIsLoaded(&state, function));
  bench.Equals("state", int{state}, int{CU_FUNCTION_LOADING_STATE_LOADED});
  int value = -1;
  bench.Is("attribute",
           api.KernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                                  kernel, 0));
  bench.Equals("local bytes", value, 0);
  bench.Is("attribute", api.KernelGetAttribute(
                            &value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                            bench.Kernel("few_threads"), 0));
  bench.Equals("threads of .maxntid 64", value, 64);
  bench.Is("unload", api.LibraryUnload(library));
}

void BadShapes(Bench& bench) {
  const auto launch = [&](const char* what, const char* kernel, unsigned blocks,
                          unsigned rows, unsigned threads, unsigned shared) {
    bench.Is(what,
             bench.api.LaunchKernel(
                 reinterpret_cast<CUfunction>(bench.Kernel(kernel)), blocks,
                 rows, 1, threads, 1, 1, shared, bench.one, nullptr, nullptr),
             CUDA_ERROR_INVALID_VALUE);
  };
  launch("0 blocks", "empty", 0, 1, 1, 0);
  launch("0 threads", "empty", 1, 1, 0, 0);
  launch("1025 threads", "empty", 1, 1, 1025, 0);
  launch("2^31 blocks", "empty", 0x80000000u, 1, 1, 0);
  launch("65536 rows", "empty", 1, 65536, 1, 0);
  launch("65 threads where .maxntid is 64", "few_threads", 1, 1, 65, 0);
  launch("49153 shared bytes", "empty", 1, 1, 1, 49153);
  launch("no parameters", "set_word", 1, 1, 1, 0);
  bench.Is("a null kernel",
           bench.api.LaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, bench.one,
                                  nullptr, nullptr),
           CUDA_ERROR_INVALID_HANDLE);
  bench.Is("a good launch", bench.Launch(bench.one, "empty"));
  bench.Is("synchronize", bench.api.StreamSynchronize(bench.one));
}

void ParameterBuffer(Bench& bench) {
  const CUdeviceptr word = bench.Memory(4);
  char bytes[48] = {};
  const uint32_t value = 31;
  std::memcpy(bytes, &word, 8);
  std::memcpy(bytes + 8, &value, 4);
  const auto launch = [&](size_t size) {
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return bench.api.LaunchKernel(
        reinterpret_cast<CUfunction>(bench.Kernel("set_word")), 1, 1, 1, 1, 1,
        1, 0, bench.one, nullptr, extra);
  };
  bench.Is("12 bytes", launch(12));
  bench.Is("48 bytes", launch(48), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  bench.Equals("word", bench.Word(word), 31u);
}

void LaunchEx(Bench& bench) {
  CUdeviceptr word = bench.Memory(4);
  uint32_t value = 8;
  void* parameters[] = {&word, &value};
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = bench.one;
  bench.Is("launch",
           bench.api.LaunchKernelEx(
               &config, reinterpret_cast<CUfunction>(bench.Kernel("set_word")),
               parameters, nullptr));
  bench.Equals("word", bench.Word(word), 8u);
}

constexpr Rule kRules[] = {
    {"code.refused", "cuda.h:2717, 2739, 2665", Refused},
    {"code.kernels", "cuda.h:8027, 8519", Kernels},
    {"launch.bad_shapes", "cuda.h:2523", BadShapes},
    {"launch.parameter_buffer", "cuda.h:17439", ParameterBuffer},
    {"launch.ex", "cuda.h:17820", LaunchEx},
};

}  // namespace

absl::Span<const Rule> CodeRules() { return kRules; }

}  // namespace partita::driver_rules
