// A libcuda.so.1 for tests: accepts every call of the table, and does nothing.
// SPDX-License-Identifier: Apache-2.0

#include <cuda.h>

#include <cstdint>
#include <cstring>

// A function that this driver does not have.
#ifdef PARTITA_WITHOUT_GRAPH_UPLOAD
#undef cuGraphUpload
#define cuGraphUpload cuNoSuchFunction
#endif

// The macros of cuda.h are expanded first: the exported name.
#define PARTITA_TEXT(name) #name

namespace {

using Word = uint64_t;

CUresult Answer(const char* member, Word a, Word b);

}  // namespace

// Each function of the table by its exported name. All arguments of the
// driver's calls are integers and pointers: the first two are in registers.
#define PARTITA_DRIVER_CALL(member, function)                            \
  extern "C" __attribute__((visibility("default")))                      \
  CUresult Fake##member(Word a, Word b) __asm__(PARTITA_TEXT(function)); \
  CUresult Fake##member(Word a, Word b) { return Answer(#member, a, b); }
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL

namespace {

struct Call {
  const char* name;
  CUresult (*function)(Word a, Word b);
};

constexpr Call kCalls[] = {
#define PARTITA_DRIVER_CALL(member, function) {#function, Fake##member},
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL
};

CUresult InstantiateOfFiveParameters() { return CUDA_ERROR_NOT_SUPPORTED; }

// cuGetProcAddress(name, function, ..). As in NVIDIA's driver, the function of
// the name cuGraphInstantiate is not the one that cuda.h calls so.
CUresult Find(const char* name, void** function) {
  if (std::strcmp(name, "cuGraphInstantiate") == 0) {
    *function = reinterpret_cast<void*>(InstantiateOfFiveParameters);
    return CUDA_SUCCESS;
  }
  for (const Call& call : kCalls) {
    if (std::strcmp(call.name, name) != 0) continue;
#ifdef PARTITA_WITHOUT_GRAPH_UPLOAD
    if (std::strcmp(name, "cuGraphUpload") == 0) break;
#endif
    *function = reinterpret_cast<void*>(call.function);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

// cuGetErrorName and cuGetErrorString know three codes.
CUresult Describe(CUresult code, bool name, const char** text) {
  switch (code) {
    case CUDA_SUCCESS:
      *text = name ? "CUDA_SUCCESS" : "no error";
      return CUDA_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
      *text = name ? "CUDA_ERROR_OUT_OF_MEMORY" : "out of memory";
      return CUDA_SUCCESS;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      *text = name ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "an illegal address";
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Answer(const char* member, Word a, Word b) {
  if (std::strcmp(member, "DriverGetVersion") == 0) {
    *reinterpret_cast<int*>(a) = PARTITA_DRIVER_VERSION;
  } else if (std::strcmp(member, "GetProcAddress") == 0) {
    return Find(reinterpret_cast<const char*>(a), reinterpret_cast<void**>(b));
  } else if (std::strcmp(member, "GetErrorName") == 0) {
    return Describe(static_cast<CUresult>(a), true,
                    reinterpret_cast<const char**>(b));
  } else if (std::strcmp(member, "GetErrorString") == 0) {
    return Describe(static_cast<CUresult>(a), false,
                    reinterpret_cast<const char**>(b));
  }
  return CUDA_SUCCESS;
}

}  // namespace
