// The folders, in search order.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/companion_file.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

// The folder of the shared library that has this code; "" if that is the
// program itself.
std::string LibraryFolder() {
  Dl_info found;
  void* entry = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&LibraryFolder), &found, &entry,
              RTLD_DL_LINKMAP) == 0) {
    return "";
  }
  // The loader's name of the program is empty.
  const std::filesystem::path library = static_cast<link_map*>(entry)->l_name;
  return library.parent_path().string();
}

}  // namespace

std::vector<std::string> CompanionFolders(const std::string& in_runfiles) {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PARTITA_LIBRARY_PATH")) {
    for (absl::string_view folder : absl::StrSplit(path, ':')) {
      if (!folder.empty()) folders.emplace_back(folder);
    }
  }
  const std::string library = LibraryFolder();
  if (!library.empty()) folders.push_back(absl::StrCat(library, "/partita"));
  std::error_code error;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error);
  // Those of a program that is not ours may be in /tmp, where anybody may put a
  // file.
  if (!error && library.empty()) {
    folders.push_back(program.parent_path().string());
    folders.push_back(
        (program.parent_path().parent_path() / "lib/partita").string());
    folders.push_back(
        absl::StrCat(program.string(), ".runfiles/", in_runfiles));
  }
  for (const char* variable : {"RUNFILES_DIR", "TEST_SRCDIR"}) {
    const char* root = std::getenv(variable);
    if (root != nullptr) {
      folders.push_back(absl::StrCat(root, "/", in_runfiles));
    }
  }
  return folders;
}

std::string FindCompanion(const std::string& file,
                          const std::string& in_runfiles) {
  for (const std::string& folder : CompanionFolders(in_runfiles)) {
    const std::string path = absl::StrCat(folder, "/", file);
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
  }
  return "";
}

}  // namespace partita
