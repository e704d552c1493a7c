// dlopen, and the search for the file.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/codegen_loader.h"

#include <dlfcn.h>

#include <future>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/host_capacity.h"
#include "graph/status_macros.h"
#include "kernels/codegen/codegen.h"
#include "kernels/companion_file.h"

namespace partita {
namespace {

constexpr char kFile[] = "libpartita_codegen.so";
// The build's folder, below the root of the runfiles.
constexpr char kInRunfiles[] = "partita/kernels/codegen";

std::string FindFile() { return FindCompanion(kFile, kInRunfiles); }

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

const absl::StatusOr<CodegenFunction>& Codegen() {
  static const absl::StatusOr<CodegenFunction>& function =
      *new absl::StatusOr<CodegenFunction>(Open());
  return function;
}

}  // namespace

std::future<void> OpenCodegenSoon() {
  try {
    return std::async(std::launch::async, [] { Codegen().IgnoreError(); });
  } catch (const std::system_error&) {
    return {};  // the first caller that generates code opens it
  }
}

const absl::Status& FindCodegen() {
  static const absl::Status& status = *new absl::Status(
      !FindFile().empty()
          ? absl::OkStatus()
          : absl::UnavailableError(absl::StrCat(
                "codegen: found no ", kFile, " in ",
                absl::StrJoin(CompanionFolders(kInRunfiles), ", "),
                "; expected it in one of them; set PARTITA_LIBRARY_PATH")));
  return status;
}

absl::StatusOr<std::string> BuildSharedObject(
    const std::vector<ElementwiseProgram>& programs, absl::string_view isa) {
  const absl::StatusOr<CodegenFunction>& function = Codegen();
  if (!function.ok()) return function.status();
  std::string object;
  std::string error;
  if ((*function)(&programs, VectorIsa(MeantIsa(isa)).c_str(), &object,
                  &error)) {
    return object;
  }
  return absl::UnavailableError(
      absl::StrCat("native code for fused kernels: ", error));
}

}  // namespace partita
