// Loading of code: PTX accepted and refused, compile times, lazy loading.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

std::string ForTarget(const std::string& ptx, absl::string_view version,
                      absl::string_view target) {
  std::string text = absl::StrReplaceAll(
      ptx, {{".target sm_80", absl::StrCat(".target ", target)}});
  const size_t start = text.find(".version");
  const size_t end = text.find('\n', start);
  return text.replace(start, end - start, absl::StrCat(".version ", version));
}

// Code and first lines of what the driver says of this text.
void Load(const Gpu& gpu, const std::string& name, const std::string& ptx,
          Steps& steps) {
  std::string log(4096, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUlibrary library = nullptr;
  const double start = HostSeconds();
  const CUresult result = gpu.api().LibraryLoadData(
      &library, ptx.c_str(), options, values, 2, nullptr, nullptr, 0);
  const double loaded = HostSeconds();
  steps.Code(name, result);
  log.resize(log.find('\0'));
  if (!log.empty()) steps.Note(absl::StrCat("log \"", log, "\""));
  if (result != CUDA_SUCCESS) return;
  OwnedLibrary owner(gpu.api(), library);
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  steps.Code("get kernel",
             gpu.api().LibraryGetKernel(&kernel, library, "saxpy"));
  if (kernel == nullptr) return;
  const CUresult got = gpu.api().KernelGetFunction(&function, kernel);
  steps.Code("get function", got);
  if (got == CUDA_SUCCESS) steps.Code("load", gpu.api().FuncLoad(function));
  steps.Figure(name + "_load_ms", (loaded - start) * 1e3);
  steps.Figure(name + "_all_ms", (HostSeconds() - start) * 1e3);
}

absl::StatusOr<Reading> AcceptsLlvm(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory x, gpu.NewPinned(4000));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory y, gpu.NewPinned(4000));
  Steps steps(api);
  for (const char* target : {"sm_80", "sm_90"}) {
    for (int i = 0; i < 1000; ++i) {
      static_cast<float*>(x.get())[i] = static_cast<float>(i) * 0.1f;
      static_cast<float*>(y.get())[i] = static_cast<float>(i) * 0.7f;
    }
    const std::string ptx = ForTarget(kLlvmKernel, "8.0", target);
    PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                             LoadLibrary(api, ptx.c_str()));
    CUkernel kernel = nullptr;
    steps.Code("kernel", api.LibraryGetKernel(&kernel, library.get(), "saxpy"),
               CUDA_SUCCESS);
    void* to = y.get();
    void* from = x.get();
    float a = 1.3f;
    uint32_t n = 1000;
    void* parameters[] = {&to, &from, &a, &n};
    steps.Code("launch",
               gpu.LaunchKernel(stream.get(), kernel, {8, 128}, parameters),
               CUDA_SUCCESS);
    steps.Code("synchronize", api.StreamSynchronize(stream.get()),
               CUDA_SUCCESS);
    int equal = 0;
    for (int i = 0; i < 1000; ++i) {
      const volatile float product = a * (static_cast<float>(i) * 0.1f);
      const float sum = product + static_cast<float>(i) * 0.7f;
      if (static_cast<float*>(y.get())[i] == sum) ++equal;
    }
    steps.Is(absl::StrCat(target, ": bits equal to the host's, of 1000"), equal,
             1000);
  }
  return steps.End();
}

absl::StatusOr<Reading> Refused(Gpu& gpu) {
  Steps steps(gpu.api());
  const std::string good = kLlvmKernel;
  Load(gpu, "damaged", absl::StrReplaceAll(good, {{"mul.rn.f32", "mulrn.f32"}}),
       steps);
  Load(gpu, "cut", good.substr(0, good.size() * 2 / 3), steps);
  Load(gpu, "empty_text", "", steps);
  Load(gpu, "no_ptx", "this is no PTX", steps);
  Load(gpu, "version_99", ForTarget(good, "99.0", "sm_80"), steps);
  Load(gpu, "version_9_5", ForTarget(good, "9.5", "sm_80"), steps);
  Load(gpu, "target_sm_100", ForTarget(good, "8.7", "sm_100"), steps);
  Load(gpu, "target_sm_120", ForTarget(good, "8.7", "sm_120"), steps);
  Load(gpu, "target_sm_90a", ForTarget(good, "8.0", "sm_90a"), steps);
  Load(gpu, "target_sm_50", ForTarget(good, "8.0", "sm_50"), steps);
  return steps.End();
}

absl::StatusOr<Reading> Versions(Gpu& gpu) {
  Steps steps(gpu.api());
  for (const char* version : {"7.0", "7.8", "8.0", "8.5", "8.8", "9.0"}) {
    Load(gpu, absl::StrCat("ptx_", version),
         ForTarget(kLlvmKernel, version, "sm_80"), steps);
  }
  return steps.End();
}

// A text of many kernels: what a plan loads.
std::string ManyKernels(int count, int salt) {
  const std::string one = kLlvmKernel;
  const size_t body = one.find(".visible");
  std::string text = one.substr(0, body);
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text,
                    absl::StrReplaceAll(
                        one.substr(body),
                        {{"saxpy", i == 0 ? std::string("saxpy")
                                          : absl::StrCat("k", salt, "_", i)}}));
  }
  return text;
}

absl::StatusOr<Reading> CompileTimes(Gpu& gpu) {
  Steps steps(gpu.api());
  const int salt = static_cast<int>(getpid());
  for (const int count : {1, 20, 200}) {
    const std::string text = ManyKernels(count, salt);
    Load(gpu, absl::StrCat("first_of_", count), text, steps);
    Load(gpu, absl::StrCat("again_of_", count), text, steps);
  }
  return steps.End();
}

absl::StatusOr<Reading> LazyLoading(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  CUmoduleLoadingMode mode{};
  steps.Code("mode", api.ModuleGetLoadingMode(&mode), CUDA_SUCCESS);
  steps.Note(mode == CU_MODULE_LAZY_LOADING ? "lazy" : "eager");
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                           LoadLibrary(api, kTestKernels));
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  CUfunctionLoadingState state{};
  api.LibraryGetKernel(&kernel, library.get(), "empty");
  steps.Code("function", api.KernelGetFunction(&function, kernel));
  steps.Code("state", api.FuncIsLoaded(&state, function));
  steps.Note(state == CU_FUNCTION_LOADING_STATE_LOADED ? "loaded"
                                                       : "not loaded");
  steps.Code("load", api.FuncLoad(function), CUDA_SUCCESS);
  api.FuncIsLoaded(&state, function);
  steps.Is("loaded", static_cast<int>(state),
           int{CU_FUNCTION_LOADING_STATE_LOADED});
  return steps.End();
}

// The first launch of a kernel that is not loaded, while another stream's
// kernel runs for 300 ms.
absl::StatusOr<Reading> FirstLaunch(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream held, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  for (const char* name : {"not_loaded", "func_loaded", "launched_before"}) {
    PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                             LoadLibrary(api, kTestKernels));
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    api.LibraryGetKernel(&kernel, library.get(), "empty");
    const std::string how = name;
    if (how != "not_loaded") {
      api.KernelGetFunction(&function, kernel);
      api.FuncLoad(function);
    }
    if (how == "launched_before") {
      gpu.LaunchKernel(stream.get(), kernel, {}, nullptr);
      api.StreamSynchronize(stream.get());
    }
    PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
    gate.Block(held.get(), 0.3);
    usleep(5000);
    const double start = HostSeconds();
    steps.Code("launch", gpu.LaunchKernel(stream.get(), kernel, {}, nullptr));
    steps.Figure(how + "_launch_ms", (HostSeconds() - start) * 1e3);
    api.StreamSynchronize(stream.get());
    steps.Figure(how + "_done_ms", (HostSeconds() - start) * 1e3);
    gate.Open();
    api.StreamSynchronize(held.get());
  }
  return steps.End();
}

absl::StatusOr<Reading> FuncLoadBesideKernel(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream held, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  Steps steps(api);
  gate.Block(held.get(), 0.3);
  usleep(5000);
  double start = HostSeconds();
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                           LoadLibrary(api, kTestKernels));
  steps.Figure("library_ms", (HostSeconds() - start) * 1e3);
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  start = HostSeconds();
  api.LibraryGetKernel(&kernel, library.get(), "empty");
  steps.Code("function", api.KernelGetFunction(&function, kernel));
  steps.Figure("function_ms", (HostSeconds() - start) * 1e3);
  start = HostSeconds();
  steps.Code("load", api.FuncLoad(function));
  steps.Figure("func_load_ms", (HostSeconds() - start) * 1e3);
  gate.Open();
  start = HostSeconds();
  steps.Code("unload", api.LibraryUnload(library.release()));
  steps.Figure("unload_ms", (HostSeconds() - start) * 1e3);
  return steps.End();
}

absl::StatusOr<Reading> Attributes(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  const auto get = [&](const char* kernel, CUfunction_attribute name,
                       const char* what) {
    int value = -1;
    const CUresult result =
        api.KernelGetAttribute(&value, name, gpu.kernel(kernel), gpu.device());
    if (result != CUDA_SUCCESS) steps.Code(what, result);
    steps.Figure(absl::StrCat(kernel, "_", what), value);
    return value;
  };
  get("copy16", CU_FUNC_ATTRIBUTE_NUM_REGS, "registers");
  steps.Is("local bytes of copy16",
           get("copy16", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, "local_bytes"), 0);
  steps.Holds("local bytes of local_array are 256 or more",
              get("local_array", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                  "local_bytes") >= 256);
  steps.Is(
      "shared bytes of read_shared",
      get("read_shared", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, "shared_bytes"),
      49152);
  steps.Is("most threads of few_threads",
           get("few_threads", CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
               "most_threads"),
           64);
  get("empty", CU_FUNC_ATTRIBUTE_PTX_VERSION, "ptx_version");
  get("empty", CU_FUNC_ATTRIBUTE_BINARY_VERSION, "binary_version");
  size_t offset = 0;
  size_t size = 0;
  steps.Code("parameter 1 of set_word",
             api.KernelGetParamInfo(gpu.kernel("set_word"), 1, &offset, &size),
             CUDA_SUCCESS);
  steps.Is("its offset", offset, size_t{8});
  steps.Is("its size", size, size_t{4});
  steps.Code("parameter 2, which is not there",
             api.KernelGetParamInfo(gpu.kernel("set_word"), 2, &offset, &size),
             CUDA_ERROR_INVALID_VALUE);
  return steps.End();
}

absl::StatusOr<Reading> MissingKernel(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library, LoadLibrary(api, kLlvmKernel));
  CUkernel kernel = nullptr;
  Steps steps(api);
  steps.Code("a kernel of another name",
             api.LibraryGetKernel(&kernel, library.get(), "none"),
             CUDA_ERROR_NOT_FOUND);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"code.accepts_llvm",
     "The driver takes LLVM's PTX for sm_80 and sm_90; "
     "a * x + y is not contracted",
     "PTX ISA, mul and add with .rn", "bits equal", AcceptsLlvm},
    {"code.refused", "Codes and logs of PTX that is damaged or too new",
     "cuda.h:2717, 2739, 2665", "figure", Refused, Process::kOwn},
    {"code.ptx_versions", "PTX versions that this driver takes", "none",
     "figure", Versions},
    {"code.compile_times",
     "Time to compile PTX, first and again (the driver's "
     "cache)",
     "none", "figure", CompileTimes, Process::kOwn},
    {"code.compile_times_no_cache", "The same with CUDA_CACHE_DISABLE=1",
     "none", "figure", CompileTimes, Process::kOwn, "CUDA_CACHE_DISABLE=1"},
    {"code.lazy_loading", "A kernel is loaded by cuFuncLoad",
     "cuda.h:17398, 17416", "loaded afterwards", LazyLoading},
    {"code.first_launch",
     "A first launch may load code and so wait for running "
     "kernels",
     "CUDA guide, lazy loading", "figure", FirstLaunch, Process::kOwn},
    {"code.first_launch_eager", "The same with CUDA_MODULE_LOADING=EAGER",
     "CUDA guide, lazy loading", "figure", FirstLaunch, Process::kOwn,
     "CUDA_MODULE_LOADING=EAGER"},
    {"code.load_beside_kernel", "Does loading wait for running kernels?",
     "CUDA guide, lazy loading", "figure", FuncLoadBesideKernel, Process::kOwn},
    {"code.attributes", "Registers, local and shared bytes, parameters",
     "cuda.h:8334, 8519", "as written in the PTX", Attributes},
    {"code.missing_kernel", "A kernel that is not in the library is NOT_FOUND",
     "cuda.h:8027", "CUDA_ERROR_NOT_FOUND", MissingKernel},
};

}  // namespace

FactGroup CodeFacts() { return {"code", kFacts}; }

}  // namespace partita
