// Writes PTX of generated kernels, and runs it on a GPU.
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "testing/gpu/ptx_corpus/corpus.h"
#include "testing/gpu/ptx_corpus/corpus_run.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {
namespace {

constexpr char kUsage[] = R"(usage: ptx_corpus --write FOLDER
       ptx_corpus --run FOLDER [--libs FOLDER]
  --write  writes sm_80.ptx and sm_90.ptx; needs libpartita_codegen.so
  --run    runs them on device 0 and compares all results; needs a driver
  --libs   where libcuda.so.1 is; default: the system's
)";

int Report(const absl::Status& status) {
  std::cerr << "ptx_corpus: " << status.message() << "\n";
  return 1;
}

int Run(const std::string& folder, const CudaSearchPath& libraries) {
  const absl::StatusOr<DriverApi> api = LoadCudaDriver(libraries);
  if (!api.ok()) return Report(api.status());
  const absl::StatusOr<CorpusCounts> counts =
      RunCorpus(*api, folder, std::cout);
  if (!counts.ok()) return Report(counts.status());
  std::cout << counts->runs << " runs, " << counts->wrong << " wrong\n";
  return counts->wrong == 0 ? 0 : 1;
}

int Main(const std::vector<std::string>& arguments) {
  const size_t count = arguments.size();
  if (count == 2 && arguments[0] == "--write") {
    const absl::Status status = WriteCorpus(arguments[1]);
    return status.ok() ? 0 : Report(status);
  }
  if (count == 2 && arguments[0] == "--run") return Run(arguments[1], {});
  if (count == 4 && arguments[0] == "--run" && arguments[2] == "--libs") {
    return Run(arguments[1], {{std::filesystem::absolute(arguments[3])}});
  }
  std::cerr << kUsage;
  return 2;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  return partita::Main({argv + 1, argv + argc});
}
