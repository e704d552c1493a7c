// dlopen of libcuda.so.1, and the table's functions.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_loader/driver_api.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

absl::StatusOr<void*> OpenDriver(const CudaSearchPath& path) {
  absl::StatusOr<void*> library = OpenCudaLibrary(path, kLibrary);
  if (library.ok()) return library;
  return absl::Status(
      library.status().code(),
      absl::StrCat("found no CUDA driver: ", library.status().message(),
                   "; install NVIDIA's driver, or name its folder with "
                   "--cuda-libs"));
}

absl::Status CheckVersion(void* library) {
  auto* get = reinterpret_cast<decltype(&::cuDriverGetVersion)>(
      dlsym(library, "cuDriverGetVersion"));
  if (get == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        kLibrary, ": found no cuDriverGetVersion; expected a CUDA driver"));
  }
  int version = 0;
  if (const CUresult result = get(&version); result != CUDA_SUCCESS) {
    return absl::FailedPreconditionError(
        absl::StrCat(kLibrary, ": cuDriverGetVersion returned error ",
                     static_cast<int>(result), "; expected a CUDA driver"));
  }
  return CheckDriverVersion(version);
}

absl::StatusOr<DriverApi> FillTable(void* library) {
  DriverApi api;
// `PARTITA_TEXT` expands cuda.h's macros first and gives the exported name, the
// one whose type cuda.h declares: cuMemAlloc_v2 for cuMemAlloc. The name before
// the macro is another function at times: for cuGraphInstantiate,
// cuGetProcAddress gives one of five parameters, and not
// cuGraphInstantiateWithFlags.
#define PARTITA_TEXT(name) #name
#define PARTITA_DRIVER_CALL(member, function)                                \
  api.member = reinterpret_cast<decltype(api.member)>(                       \
      dlsym(library, PARTITA_TEXT(function)));                               \
  if (api.member == nullptr) {                                               \
    return absl::NotFoundError(absl::StrCat(                                 \
        kLibrary, ": found no ", #function, "; expected a driver for CUDA ", \
        DriverVersionText(kOldestDriver), " or later"));                     \
  }
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL
#undef PARTITA_TEXT
  return api;
}

bool EndsContext(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

// Each load of the same bytes by this driver ends so. A compiler that is
// missing or switched off (JIT_COMPILER_NOT_FOUND, JIT_COMPILATION_DISABLED)
// says nothing about the code.
bool IsOfCode(CUresult result) {
  switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC:
    case CUDA_ERROR_INVALID_SOURCE:
      return true;
    default:
      return false;
  }
}

absl::StatusCode CodeFor(CUresult result) {
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return absl::StatusCode::kResourceExhausted;
  }
  if (IsOfCode(result)) return absl::StatusCode::kInvalidArgument;
  return EndsContext(result) ? absl::StatusCode::kUnavailable
                             : absl::StatusCode::kInternal;
}

}  // namespace

absl::StatusOr<DriverApi> LoadCudaDriver(const CudaSearchPath& path) {
  absl::StatusOr<void*> library = OpenDriver(path);
  if (!library.ok()) return library.status();
  if (absl::Status status = CheckVersion(*library); !status.ok()) {
    return status;
  }
  return FillTable(*library);
}

std::string CudaCodeName(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  if (api.GetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    return absl::StrCat(static_cast<int>(result));
  }
  return name;
}

absl::Status CudaStatus(const DriverApi& api, CUresult result,
                        absl::string_view call) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* text = nullptr;
  if (api.GetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) {
    text = "the driver has no text for it";
  }
  return absl::Status(CodeFor(result),
                      absl::StrCat(call, ": ", CudaCodeName(api, result), " (",
                                   static_cast<int>(result), "), ", text));
}

}  // namespace partita
