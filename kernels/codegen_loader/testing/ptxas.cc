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
#include "absl/strings/match.h"
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

// Of the toolkit; empty if there is none.
std::string FindTool(const char* name) {
  const char* home = std::getenv("CUDA_HOME");
  const std::string path =
      absl::StrCat(home == nullptr ? "/usr/local/cuda" : home, "/bin/", name);
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

// A file of this process that goes with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const char* ending)
      : path_((std::filesystem::temp_directory_path() /
               absl::StrCat("generated_", getpid(), ending))
                  .string()) {}
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

absl::Status Failed(const std::string& architecture,
                    const std::string& output) {
  return absl::InternalError(
      absl::StrCat(architecture, ": ", output.substr(0, 2000)));
}

// Into the file `code`; what the assembler prints.
absl::StatusOr<std::string> AssembleInto(const std::string& code,
                                         const std::string& ptxas,
                                         const std::string& text,
                                         const std::string& architecture) {
  const TemporaryFile ptx(".ptx");
  std::ofstream(ptx.path()) << text;
  int status = 0;
  const std::string output = OutputOf(
      absl::StrCat(ptxas, " -v --warning-as-error -arch=", architecture, " -o ",
                   code, " ", ptx.path()),
      status);
  if (status != 0) return Failed(architecture, output);
  return output;
}

// The word between the first two quotes.
std::string Quoted(absl::string_view line) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, '\'');
  return words.size() > 1 ? std::string(words[1]) : "";
}

}  // namespace

std::string FindPtxas() { return FindTool("ptxas"); }
std::string FindDisassembler() { return FindTool("nvdisasm"); }

int Assembled::most_registers() const {
  int most = 0;
  for (const AssembledKernel& kernel : kernels) {
    most = std::max(most, kernel.registers);
  }
  return most;
}

std::string Assembled::StackAndSpills() const {
  std::string lines;
  for (const AssembledKernel& kernel : kernels) {
    if (kernel.stack_bytes + kernel.spill_bytes == 0) continue;
    absl::StrAppend(&lines, kernel.name, ": ", kernel.spill_bytes,
                    " bytes of spills, ", kernel.stack_bytes,
                    " bytes of stack, ", kernel.registers, " registers\n");
  }
  return lines;
}

Assembled ReadReport(const std::string& output) {
  Assembled read{.output = output};
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    if (absl::StrContains(line, "Compiling entry function")) {
      read.kernels.push_back({.name = Quoted(line)});
    }
    if (read.kernels.empty()) continue;
    AssembledKernel& kernel = read.kernels.back();
    int stack = 0, stores = 0, loads = 0;
    const std::string text(line);
    if (std::sscanf(text.c_str(),
                    " %d bytes stack frame, %d bytes spill stores, %d bytes "
                    "spill loads",
                    &stack, &stores, &loads) == 3) {
      kernel.stack_bytes = stack;
      kernel.spill_bytes = stores + loads;
    }
    const size_t used = text.find("Used ");
    if (used != std::string::npos) {
      std::sscanf(text.c_str() + used, "Used %d registers", &kernel.registers);
    }
  }
  return read;
}

absl::StatusOr<Assembled> Assemble(const std::string& ptxas,
                                   const std::string& text,
                                   const std::string& architecture) {
  auto output = AssembleInto("/dev/null", ptxas, text, architecture);
  if (!output.ok()) return output.status();
  return ReadReport(*output);
}

absl::StatusOr<std::map<std::string, std::string>> Disassemble(
    const std::string& ptxas, const std::string& disassembler,
    const std::string& text, const std::string& architecture) {
  const TemporaryFile code(".cubin");
  const auto assembled = AssembleInto(code.path(), ptxas, text, architecture);
  if (!assembled.ok()) return assembled.status();
  int status = 0;
  const std::string output =
      OutputOf(absl::StrCat(disassembler, " -c ", code.path()), status);
  if (status != 0) return Failed(architecture, output);
  // "//--------------------- .text.f --------------------------"
  std::map<std::string, std::string> kernels;
  std::string* kernel = nullptr;
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    const size_t name = line.find(".text.");
    if (absl::StartsWith(line, "//---")) {
      kernel = nullptr;
      if (name == absl::string_view::npos) continue;
      const absl::string_view rest = line.substr(name + 6);
      kernel = &kernels[std::string(rest.substr(0, rest.find_first_of(" \t")))];
    } else if (kernel != nullptr) {
      absl::StrAppend(kernel, line, "\n");
    }
  }
  return kernels;
}

}  // namespace partita
