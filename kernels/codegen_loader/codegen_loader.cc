// dlopen, and where to find the file.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/codegen_loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/status_macros.h"
#include "kernels/codegen/codegen.h"

namespace partita {
namespace {

constexpr char kFile[] = "libpartita_codegen.so";
// Where the build puts it, below the root of the runfiles.
constexpr char kInRunfiles[] = "partita/kernels/codegen";

std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PARTITA_LIBRARY_PATH")) {
    for (absl::string_view folder : absl::StrSplit(path, ':')) {
      if (!folder.empty()) folders.emplace_back(folder);
    }
  }
  std::error_code error;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path().string());
    folders.push_back(
        absl::StrCat(program.string(), ".runfiles/", kInRunfiles));
  }
  for (const char* variable : {"RUNFILES_DIR", "TEST_SRCDIR"}) {
    const char* root = std::getenv(variable);
    if (root != nullptr)
      folders.push_back(absl::StrCat(root, "/", kInRunfiles));
  }
  return folders;
}

std::string FindFile() {
  for (const std::string& folder : Folders()) {
    const std::string path = absl::StrCat(folder, "/", kFile);
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
  }
  return "";
}

absl::StatusOr<CodegenFunction> Open() {
  PARTITA_RETURN_IF_ERROR(FindCodegen());
  const std::string path = FindFile();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, kCodegenSymbol);
  if (symbol == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "codegen: found ", path, ", which does not open: ", dlerror(),
        "; expected the one of this build"));
  }
  return reinterpret_cast<CodegenFunction>(symbol);
}

}  // namespace

const absl::Status& FindCodegen() {
  static const absl::Status& status = *new absl::Status(
      !FindFile().empty()
          ? absl::OkStatus()
          : absl::UnavailableError(absl::StrCat(
                "codegen: found no ", kFile, " in ",
                absl::StrJoin(Folders(), ", "),
                "; expected it in one of them; set PARTITA_LIBRARY_PATH")));
  return status;
}

absl::StatusOr<std::string> BuildSharedObject(
    const std::vector<ElementwiseProgram>& programs, absl::string_view isa) {
  static const absl::StatusOr<CodegenFunction>& function =
      *new absl::StatusOr<CodegenFunction>(Open());
  if (!function.ok()) return function.status();
  std::string object;
  std::string error;
  if ((*function)(&programs, std::string(isa).c_str(), &object, &error)) {
    return object;
  }
  return absl::UnavailableError(
      absl::StrCat("native code for fused kernels: ", error));
}

}  // namespace partita
