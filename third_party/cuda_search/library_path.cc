// Lists candidates, and opens the first that the loader accepts.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_search/library_path.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

bool IsAbsolute(absl::string_view path) { return absl::StartsWith(path, "/"); }

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// An absolute path in the environment.
std::optional<std::string> FolderOf(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || !IsAbsolute(text)) return std::nullopt;
  return text;
}

// `text` as a pattern that matches only itself.
std::string Literally(absl::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (absl::StrContains("*?[\\", c)) pattern.push_back('\\');
    pattern.push_back(c);
  }
  return pattern;
}

// The paths, in the order of their names.
std::vector<std::string> Matches(const std::string& pattern, int flags) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), flags, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      paths.emplace_back(found.gl_pathv[i]);
    }
  }
  globfree(&found);
  return paths;
}

// Where Python installs packages: in environments, for a user, for the system.
std::vector<std::string> PythonRoots() {
  std::vector<std::string> roots;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (auto root = FolderOf(variable)) roots.push_back(*std::move(root));
  }
  if (const auto home = FolderOf("HOME")) {
    roots.push_back(absl::StrCat(*home, "/.local"));
  }
  roots.insert(roots.end(), {"/usr/local", "/usr"});
  return roots;
}

std::vector<std::string> PythonFolders() {
  std::vector<std::string> all;
  for (const std::string& root : PythonRoots()) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (std::string& folder :
           Matches(absl::StrCat(Literally(root), "/lib/python3*/", packages,
                                "/nvidia/*/lib"),
                   GLOB_ONLYDIR)) {
        all.push_back(std::move(folder));
      }
    }
  }
  return all;
}

// What dlopen said, without the name that it begins with.
std::string LoaderError(absl::string_view file) {
  const char* const text = dlerror();
  if (text == nullptr) return "no reason given";
  absl::string_view reason = text;
  if (absl::StartsWith(reason, absl::StrCat(file, ": "))) {
    reason.remove_prefix(file.size() + 2);
  }
  return std::string(reason);
}

// True if the loader could open the library from there: it also looks in
// sub-folders for the processor's features, one or two deep.
bool LoaderFinds(const std::string& folder, const std::string& name) {
  for (const char* depth : {"/", "/*/", "/*/*/"}) {
    if (!Matches(absl::StrCat(Literally(folder), depth, Literally(name)), 0)
             .empty()) {
      return true;
    }
  }
  return false;
}

// The relative folder of LD_LIBRARY_PATH, an empty one being the current
// folder, that the system's loader could open the library from: also behind an
// absolute one, whose library may be for other processors.
std::optional<std::string> RelativeSystemFolder(const std::string& name) {
  const char* const text = std::getenv("LD_LIBRARY_PATH");
  if (text == nullptr || *text == '\0') return std::nullopt;
  for (const absl::string_view entry :
       absl::StrSplit(text, absl::ByAnyChar(":;"))) {
    const std::string folder = entry.empty() ? "." : std::string(entry);
    if (!IsAbsolute(folder) && LoaderFinds(folder, name)) return folder;
  }
  return std::nullopt;
}

// The file, or why it cannot be opened.
void* OpenFile(const std::string& folder, const std::string& name,
               std::vector<std::string>& tried) {
  const std::string file = absl::StrCat(folder, "/", name);
  std::string why;
  if (!IsAbsolute(folder)) {
    why = "a relative folder";
  } else if (!Exists(file)) {
    why = "no such file";
  } else if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return handle;
  } else {
    why = LoaderError(file);
  }
  tried.push_back(absl::StrCat(file, " (", why, ")"));
  return nullptr;
}

void* OpenBySystem(const std::string& name, std::vector<std::string>& tried) {
  std::string why;
  if (const auto folder = RelativeSystemFolder(name)) {
    why =
        absl::StrCat("LD_LIBRARY_PATH has it in the relative folder ", *folder);
  } else if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return handle;
  } else {
    why = LoaderError(name);
  }
  tried.push_back(absl::StrCat(name, " by the system's loader (", why, ")"));
  return nullptr;
}

// What is wrong with a folder of the flag; "" if nothing is.
std::string FaultOf(const std::string& folder) {
  std::error_code error;
  if (folder.empty()) return "an empty folder";
  if (!IsAbsolute(folder)) return absl::StrCat("a relative folder, ", folder);
  if (!Exists(folder)) return absl::StrCat("no such folder, ", folder);
  if (fs::is_directory(folder, error)) return "";
  return absl::StrCat("no folder, ", folder);
}

CudaSearchPath& ProcessFolders() {
  static CudaSearchPath& folders = *new CudaSearchPath;
  return folders;
}

}  // namespace

absl::StatusOr<CudaSearchPath> ParseCudaFolders(absl::string_view text) {
  CudaSearchPath path;
  for (const absl::string_view part : absl::StrSplit(text, ':')) {
    std::string folder(part);
    if (const std::string fault = FaultOf(folder); !fault.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "found ", fault, "; expected absolute folders, separated by colons"));
    }
    path.folders.push_back(std::move(folder));
  }
  return path;
}

CudaSearchPath WithEnvironment(CudaSearchPath first) {
  if (const auto home = FolderOf("CUDA_HOME")) {
    first.folders.push_back(absl::StrCat(*home, "/lib64"));
    first.folders.push_back(absl::StrCat(*home, "/lib"));
  }
  for (std::string& folder : PythonFolders()) {
    first.folders.push_back(std::move(folder));
  }
  return first;
}

absl::StatusOr<void*> OpenCudaLibrary(const CudaSearchPath& path,
                                      const std::string& name) {
  std::vector<std::string> tried;
  for (const std::string& folder : path.folders) {
    if (void* handle = OpenFile(folder, name, tried)) return handle;
  }
  if (void* handle = OpenBySystem(name, tried)) return handle;
  const std::string last = std::move(tried.back());
  tried.pop_back();
  return absl::NotFoundError(absl::StrCat("tried ", absl::StrJoin(tried, ", "),
                                          tried.empty() ? "" : " and ", last));
}

void SetProcessCudaFolders(CudaSearchPath folders) {
  ProcessFolders() = std::move(folders);
}

CudaSearchPath ProcessCudaPath() { return WithEnvironment(ProcessFolders()); }

}  // namespace partita
