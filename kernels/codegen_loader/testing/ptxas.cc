// A process, and what it prints.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/testing/ptxas.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

// What a command prints; its status is in `status`.
std::string OutputOf(const std::string& command, int& status) {
  FILE* pipe = popen(absl::StrCat(command, " 2>&1").c_str(), "r");
  std::string output;
  char bytes[4096];
  size_t size = 0;
  while (pipe != nullptr &&
         (size = std::fread(bytes, 1, sizeof bytes, pipe)) > 0) {
    output.append(bytes, size);
  }
  status = pipe == nullptr ? -1 : pclose(pipe);
  return output;
}

}  // namespace

std::string FindPtxas() {
  const char* home = std::getenv("CUDA_HOME");
  const std::string path =
      absl::StrCat(home == nullptr ? "/usr/local/cuda" : home, "/bin/ptxas");
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

Assembled ReadReport(const std::string& output) {
  Assembled read{.output = output};
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    int stack = 0, stores = 0, loads = 0, registers = 0;
    const std::string text(line);
    if (std::sscanf(text.c_str(),
                    " %d bytes stack frame, %d bytes spill stores, %d bytes "
                    "spill loads",
                    &stack, &stores, &loads) == 3) {
      ++read.kernels;
      read.with_stack_or_spills += stack + stores + loads > 0;
    }
    const size_t used = text.find("Used ");
    if (used != std::string::npos &&
        std::sscanf(text.c_str() + used, "Used %d registers", &registers) ==
            1) {
      read.most_registers = std::max(read.most_registers, registers);
    }
  }
  return read;
}

absl::StatusOr<Assembled> Assemble(const std::string& ptxas,
                                   const std::string& text,
                                   const std::string& architecture) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            absl::StrCat("generated_", getpid(), ".ptx"))
                               .string();
  std::ofstream(path) << text;
  int status = 0;
  const std::string output = OutputOf(
      absl::StrCat(ptxas, " -v --warn-on-spills --warning-as-error -arch=",
                   architecture, " -o /dev/null ", path),
      status);
  std::remove(path.c_str());
  if (status == 0) return ReadReport(output);
  return absl::InternalError(
      absl::StrCat(architecture, ": ", output.substr(0, 2000)));
}

}  // namespace partita
