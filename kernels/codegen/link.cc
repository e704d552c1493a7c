// Calls lld as a library, over two files of a private folder.
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/codegen/object_code.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace partita {
namespace {

// Removed with everything in it when it goes out of scope.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    std::string pattern =
        (std::filesystem::temp_directory_path(error) / "partita-XXXXXX")
            .string();
    if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// lld installs handlers for a dozen signals, to remove its file if one ends the
// process. LLVM leaves them installed, even for signals that the process
// ignored; this restores the handlers.
class SignalsGivenBack {
 public:
  SignalsGivenBack() = default;
  ~SignalsGivenBack() { llvm::sys::unregisterHandlers(); }
  SignalsGivenBack(const SignalsGivenBack&) = delete;
  SignalsGivenBack& operator=(const SignalsGivenBack&) = delete;
};

// Whole, or not at all: lld ends the process if it reads a partial file.
bool WriteObject(const std::string& path, const std::string& object,
                 std::string& error) {
  std::ofstream out(path, std::ios::binary);
  out << object;
  out.close();
  if (out.good()) return true;
  error = path + ": cannot be written: " + std::strerror(errno) +
          "; set TMPDIR to a folder with room";
  return false;
}

bool RunLinker(const std::string& from, const std::string& to,
               std::string& error) {
  const std::vector<const char*> arguments = {"ld.lld",
                                              "-shared",
                                              "-z",
                                              "defs",
                                              "-z",
                                              "noexecstack",
                                              "--build-id=none",
                                              "--strip-all",
                                              "--hash-style=gnu",
                                              "--threads=1",
                                              "-o",
                                              to.c_str(),
                                              from.c_str()};
  const SignalsGivenBack signals;
  llvm::raw_string_ostream output(error);
  const lld::Result result =
      lld::lldMain(arguments, output, output, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0;
}

}  // namespace

bool LinkSharedObject(const std::string& object, std::string& shared,
                      std::string& error) {
  const PrivateFolder folder;
  if (folder.path().empty()) {
    error = "found no folder for temporary files; expected one; set TMPDIR";
    return false;
  }
  const std::string from = folder.path() + "/kernels.o";
  const std::string to = folder.path() + "/kernels.so";
  if (!WriteObject(from, object, error)) return false;
  if (!RunLinker(from, to, error)) return false;
  std::ifstream in(to, std::ios::binary);
  shared.assign(std::istreambuf_iterator<char>(in), {});
  if (shared.empty()) error = "found no output of the linker at " + to;
  return !shared.empty();
}

}  // namespace partita
