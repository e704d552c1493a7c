// Where this process looks for NVIDIA's libraries. Needs no header of CUDA.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_THIRD_PARTY_CUDA_SEARCH_LIBRARY_PATH_H_
#define PARTITA_THIRD_PARTY_CUDA_SEARCH_LIBRARY_PATH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace partita {

// Folders to look for libraries in, first to last, before the system's own
// search (LD_LIBRARY_PATH, the loader's cache).
struct CudaSearchPath {
  std::vector<std::string> folders;
};

// Folders separated by colons. InvalidArgument, naming the first that is wrong,
// if one is empty, relative, or no folder.
absl::StatusOr<CudaSearchPath> ParseCudaFolders(absl::string_view text);

// `first`, then the folders of the environment: CUDA_HOME/lib64 and
// CUDA_HOME/lib; nvidia/*/lib of the Python packages in VIRTUAL_ENV,
// CONDA_PREFIX, HOME/.local, /usr/local and /usr, as far as these exist. A
// variable that holds a relative path is ignored.
CudaSearchPath WithEnvironment(CudaSearchPath first);

// Opens the library `name`, such as "libcuda.so.1", of the first folder that
// has one that can be opened, else of the system's search; it stays open.
// Nothing is opened from a relative folder, also not for the system's search.
// NotFound, with every file that was tried and why it was not taken:
// "tried /a/libcuda.so.1 (no such file) and libcuda.so.1 by the system's loader
// (..)".
absl::StatusOr<void*> OpenCudaLibrary(const CudaSearchPath& path,
                                      const std::string& name);

// The path of this process: the folders set here (--cuda-libs), then those of
// the environment. Set it before the first library is opened, while no other
// thread asks.
void SetProcessCudaFolders(CudaSearchPath folders);
CudaSearchPath ProcessCudaPath();

}  // namespace partita

#endif  // PARTITA_THIRD_PARTY_CUDA_SEARCH_LIBRARY_PATH_H_
