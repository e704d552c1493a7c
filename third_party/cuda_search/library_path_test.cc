// Which folders are searched, in which order, and what is said of each.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_search/library_path.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

// A name that no system has.
constexpr char kName[] = "libpartita_sample.so.1";

// A variable of the environment, set or unset until the end of the scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, std::optional<std::string> value)
      : name_(name) {
    if (const char* former = std::getenv(name)) former_ = former;
    Set(value);
  }
  ~ScopedVariable() { Set(former_); }

 private:
  void Set(const std::optional<std::string>& value) {
    if (value.has_value()) {
      setenv(name_, value->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

  const char* const name_;
  std::optional<std::string> former_;
};

// Folders of this test, and a library in some: a copy of the sample.
class LibraryPath : public ::testing::Test {
 protected:
  LibraryPath() {
    const std::string test =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = absl::StrCat(fs::absolute(::testing::TempDir()).string(), test,
                         getpid());
    fs::create_directories(root_);
  }

  std::string Folder(const std::string& name) {
    const std::string folder = absl::StrCat(root_, "/", name);
    fs::create_directories(folder);
    return folder;
  }
  std::string FolderWithLibrary(const std::string& name) {
    const std::string folder = Folder(name);
    fs::copy_file("third_party/cuda_search/libsample.so",
                  absl::StrCat(folder, "/", kName));
    return folder;
  }

  std::string root_;
  ScopedVariable cuda_home_{"CUDA_HOME", std::nullopt};
  ScopedVariable virtual_env_{"VIRTUAL_ENV", std::nullopt};
  ScopedVariable conda_{"CONDA_PREFIX", std::nullopt};
  ScopedVariable home_{"HOME", std::nullopt};
  ScopedVariable library_path_{"LD_LIBRARY_PATH", std::nullopt};
};

TEST_F(LibraryPath, FoldersOfTheFlagAreSeparatedByColons) {
  const std::string a = Folder("a"), b = Folder("b");
  const auto path = ParseCudaFolders(absl::StrCat(a, ":", b));
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_THAT(path->folders, ElementsAre(a, b));
}

TEST_F(LibraryPath, AFolderOfTheFlagExistsAndIsAbsolute) {
  const std::string a = Folder("a");
  const std::string file = absl::StrCat(a, "/file");
  std::ofstream(file) << "text";
  const auto error = [](const std::string& text) {
    return std::string(ParseCudaFolders(text).status().message());
  };
  const std::string expected =
      "; expected absolute folders, separated by colons";
  EXPECT_EQ(error(absl::StrCat(a, "/none")),
            absl::StrCat("found no such folder, ", a, "/none", expected));
  EXPECT_EQ(error(absl::StrCat(a, ":lib")),
            absl::StrCat("found a relative folder, lib", expected));
  EXPECT_EQ(error(absl::StrCat(a, "::", a)),
            absl::StrCat("found an empty folder", expected));
  EXPECT_EQ(error(""), absl::StrCat("found an empty folder", expected));
  EXPECT_EQ(error(file), absl::StrCat("found no folder, ", file, expected));
}

TEST_F(LibraryPath, TheFlagIsBeforeCudaHomeAndThatBeforePython) {
  const std::string home = Folder("cuda"), env = Folder("env");
  const std::string first =
      Folder("env/lib/python3.11/site-packages/nvidia/cublas/lib");
  const std::string second =
      Folder("env/lib/python3.11/site-packages/nvidia/cudnn/lib");
  const ScopedVariable cuda_home("CUDA_HOME", home);
  const ScopedVariable virtual_env("VIRTUAL_ENV", env);
  const CudaSearchPath path = WithEnvironment({{"/flag"}});
  ASSERT_GE(path.folders.size(), 5u);
  EXPECT_THAT(
      std::vector<std::string>(path.folders.begin(), path.folders.begin() + 5),
      ElementsAre("/flag", absl::StrCat(home, "/lib64"),
                  absl::StrCat(home, "/lib"), first, second));
}

TEST_F(LibraryPath, PackagesOfAUserAndOfCondaAreFound) {
  const std::string conda =
      Folder("conda/lib/python3.12/site-packages/nvidia/cu13/lib");
  const std::string user =
      Folder("home/.local/lib/python3.11/site-packages/nvidia/cu13/lib");
  const ScopedVariable prefix("CONDA_PREFIX", absl::StrCat(root_, "/conda"));
  const ScopedVariable home("HOME", absl::StrCat(root_, "/home"));
  EXPECT_THAT(WithEnvironment({}).folders, IsSupersetOf({conda, user}));
}

TEST_F(LibraryPath, RelativeVariablesAreIgnored) {
  Folder("env/lib/python3.11/site-packages/nvidia/cublas/lib");
  const std::string here = fs::current_path();
  fs::current_path(root_);
  const ScopedVariable cuda_home("CUDA_HOME", "cuda");
  const ScopedVariable virtual_env("VIRTUAL_ENV", "env");
  const CudaSearchPath path = WithEnvironment({});
  fs::current_path(here);
  EXPECT_THAT(path.folders, Not(Contains(Not(StartsWith("/")))));
  EXPECT_THAT(path.folders, Not(Contains(HasSubstr("env/lib"))));
}

// A folder's name is no pattern.
TEST_F(LibraryPath, NamesWithStarsStandForThemselves) {
  Folder("env1/lib/python3.11/site-packages/nvidia/cublas/lib");
  const ScopedVariable virtual_env("VIRTUAL_ENV", absl::StrCat(root_, "/env*"));
  EXPECT_THAT(WithEnvironment({}).folders, Not(Contains(HasSubstr("env1"))));
}

TEST_F(LibraryPath, TheFirstFolderWithALibraryIsTaken) {
  const auto library =
      OpenCudaLibrary({{Folder("empty"), FolderWithLibrary("with")}}, kName);
  EXPECT_TRUE(library.ok()) << library.status();
}

TEST_F(LibraryPath, AFileThatIsNoLibraryGivesWayToTheNext) {
  const std::string damaged = Folder("damaged");
  std::ofstream(absl::StrCat(damaged, "/", kName)) << "text";
  const auto library =
      OpenCudaLibrary({{damaged, FolderWithLibrary("with")}}, kName);
  EXPECT_TRUE(library.ok()) << library.status();
}

TEST_F(LibraryPath, EachCandidateIsInTheError) {
  const std::string empty = Folder("empty"), damaged = Folder("damaged");
  std::ofstream(absl::StrCat(damaged, "/", kName)) << "text";
  const absl::Status status =
      OpenCudaLibrary({{empty, damaged}}, kName).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(StartsWith(absl::StrCat("tried ", empty, "/", kName,
                                    " (no such file), ", damaged, "/", kName,
                                    " (")),
            HasSubstr(") and libpartita_sample.so.1 by the system's loader ("),
            EndsWith("cannot open shared object file: No such file or "
                     "directory)")));
}

TEST_F(LibraryPath, NothingIsOpenedFromTheCurrentFolder) {
  const std::string with = FolderWithLibrary("with");
  const std::string here = fs::current_path();
  fs::current_path(with);
  const absl::Status relative = OpenCudaLibrary({{"."}}, kName).status();
  std::vector<absl::Status> by_system;
  for (const char* value : {":/none", ".", "/none:"}) {
    const ScopedVariable library_path("LD_LIBRARY_PATH", value);
    by_system.push_back(OpenCudaLibrary({}, kName).status());
  }
  fs::current_path(here);
  EXPECT_THAT(
      std::string(relative.message()),
      StartsWith("tried ./libpartita_sample.so.1 (a relative folder) and "));
  for (const absl::Status& status : by_system) {
    EXPECT_EQ(status.message(),
              "tried libpartita_sample.so.1 by the system's loader "
              "(LD_LIBRARY_PATH has it in the relative folder .)");
  }
}

// Where the system's loader looks too: sub-folders for the processor, and
// behind a library that it cannot use.
TEST_F(LibraryPath, TheLoadersSubFoldersAreRelativeToo) {
  FolderWithLibrary("only/glibc-hwcaps/x86-64-v3");
  const std::string other = Folder("other");
  std::ofstream(absl::StrCat(other, "/", kName)) << "for another processor";
  const std::string here = fs::current_path();
  fs::current_path(root_);
  std::vector<absl::Status> found;
  for (const std::string& value : {std::string("only"), other + ":only"}) {
    const ScopedVariable library_path("LD_LIBRARY_PATH", value);
    found.push_back(OpenCudaLibrary({}, kName).status());
  }
  fs::current_path(here);
  for (const absl::Status& status : found) {
    EXPECT_EQ(status.message(),
              "tried libpartita_sample.so.1 by the system's loader "
              "(LD_LIBRARY_PATH has it in the relative folder only)");
  }
}

TEST_F(LibraryPath, TheFoldersOfTheProcessComeFirst) {
  SetProcessCudaFolders({{"/flag"}});
  const ScopedVariable cuda_home("CUDA_HOME", "/cuda");
  const CudaSearchPath path = ProcessCudaPath();
  SetProcessCudaFolders({});
  ASSERT_GE(path.folders.size(), 2u);
  EXPECT_EQ(path.folders[0], "/flag");
  EXPECT_EQ(path.folders[1], "/cuda/lib64");
}

}  // namespace
}  // namespace partita
