// The CUDA driver as a table of functions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_THIRD_PARTY_CUDA_LOADER_DRIVER_API_H_
#define PARTITA_THIRD_PARTY_CUDA_LOADER_DRIVER_API_H_

#include <cuda.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "third_party/cuda_search/driver_version.h"
#include "third_party/cuda_search/library_path.h"

namespace partita {

// The driver's calls, named as in cuda.h without `cu`. Types are those of the
// header that this was compiled with. Nothing links against libcuda.
struct DriverApi {
#define PARTITA_DRIVER_CALL(member, function) \
  decltype(&::function) member = nullptr;
#include "third_party/cuda_loader/driver_calls.inc"
#undef PARTITA_DRIVER_CALL
  // Software in this process computes what GPUs would.
  bool emulated = false;
};

// Opens libcuda.so.1 and fills the table; does not call cuInit. The library
// stays open. Errors are one sentence: NotFound if there is no library, with
// every file that was tried, or a function is missing, FailedPrecondition if
// the driver is too old or reports no version.
absl::StatusOr<DriverApi> LoadCudaDriver(const CudaSearchPath& path);

// OK, or the driver's own name and text of `result`: "cuMemAlloc:
// CUDA_ERROR_OUT_OF_MEMORY (2), out of memory". The code is ResourceExhausted
// for lack of memory, Unavailable for errors that end a context,
// InvalidArgument for those that speak of the code that is loaded, else
// Internal.
absl::Status CudaStatus(const DriverApi& api, CUresult result,
                        absl::string_view call);

// The driver's name of a code, e.g. CUDA_SUCCESS; its number if it has none.
std::string CudaCodeName(const DriverApi& api, CUresult result);

}  // namespace partita

#endif  // PARTITA_THIRD_PARTY_CUDA_LOADER_DRIVER_API_H_
