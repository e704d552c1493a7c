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

struct CodegenLibrary {
  CodegenFunction build_shared_object;
  PtxFunction build_ptx;
  LlvmVersionFunction llvm_version;
};

absl::StatusOr<CodegenLibrary> Open() {
  PARTITA_RETURN_IF_ERROR(FindCodegen());
  const std::string path = FindFile();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto symbol = [&](const char* name) {
    return library == nullptr ? nullptr : dlsym(library, name);
  };
  void* build_shared_object = symbol(kCodegenSymbol);
  void* build_ptx =
      build_shared_object == nullptr ? nullptr : symbol(kPtxSymbol);
  void* llvm_version =
      build_ptx == nullptr ? nullptr : symbol(kLlvmVersionSymbol);
  if (llvm_version == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "codegen: found ", path, ", which does not open: ", dlerror(),
        "; expected the one of this build"));
  }
  return CodegenLibrary{reinterpret_cast<CodegenFunction>(build_shared_object),
                        reinterpret_cast<PtxFunction>(build_ptx),
                        reinterpret_cast<LlvmVersionFunction>(llvm_version)};
}

const absl::StatusOr<CodegenLibrary>& Codegen() {
  static const absl::StatusOr<CodegenLibrary>& library =
      *new absl::StatusOr<CodegenLibrary>(Open());
  return library;
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

absl::StatusOr<std::string> LlvmVersion() {
  const absl::StatusOr<CodegenLibrary>& library = Codegen();
  if (!library.ok()) return library.status();
  return std::string(library->llvm_version());
}

absl::StatusOr<std::string> BuildSharedObject(
    const std::vector<AnyProgram>& programs, absl::string_view isa) {
  const absl::StatusOr<CodegenLibrary>& library = Codegen();
  if (!library.ok()) return library.status();
  std::string object;
  std::string error;
  if (library->build_shared_object(&programs, VectorIsa(MeantIsa(isa)).c_str(),
                                   &object, &error)) {
    return object;
  }
  return absl::UnavailableError(
      absl::StrCat("native code for fused kernels: ", error));
}

absl::StatusOr<std::string> BuildPtx(const std::vector<AnyProgram>& programs,
                                     absl::string_view target) {
  const absl::StatusOr<CodegenLibrary>& library = Codegen();
  if (!library.ok()) return library.status();
  std::string ptx;
  std::string error;
  if (library->build_ptx(&programs, std::string(target).c_str(), &ptx,
                         &error)) {
    return ptx;
  }
  return absl::UnavailableError(
      absl::StrCat("GPU code for fused kernels: ", error));
}

}  // namespace partita
