// One test for each example of the golden files on the command line; with
// --update the files are rewritten instead.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/golden/golden_runner.h"

namespace partita {
namespace {

const std::vector<Pass>& AllPasses() {
  static const auto& all = *new std::vector<Pass>([] {
    std::vector<Pass> passes(SourcePasses().begin(), SourcePasses().end());
    for (const Pass& pass : MicroBatchPasses()) passes.push_back(pass);
    return passes;
  }());
  return all;
}

class Example : public testing::Test {
 public:
  Example(const GoldenFile& file, size_t index) : file_(file), index_(index) {}
  void TestBody() override {
    const absl::Status status =
        CheckExample(file_, file_.examples[index_], AllPasses());
    EXPECT_TRUE(status.ok()) << status.message();
  }

 private:
  const GoldenFile& file_;
  const size_t index_;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int Update(const std::string& path, const GoldenFile& file) {
  // `bazel run` starts in another folder; this is the source folder.
  const char* folder = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string target =
      folder == nullptr ? path : absl::StrCat(folder, "/", path);
  std::ofstream out(target, std::ios::binary);
  out << PrintGolden(Updated(file, AllPasses()));
  out.close();
  if (out) return 0;
  std::fprintf(stderr, "%s: cannot be written\n", target.c_str());
  return 1;
}

// The registered tests share the file.
void AddTests(const std::string& path, GoldenFile file) {
  const auto kept = std::make_shared<const GoldenFile>(std::move(file));
  for (size_t i = 0; i < kept->examples.size(); ++i) {
    testing::RegisterTest(
        path.c_str(), kept->examples[i].title.c_str(), nullptr, nullptr,
        path.c_str(), static_cast<int>(i),
        [kept, i]() -> Example* { return new Example(*kept, i); });
  }
}

int Run(int argc, char** argv) {
  bool update = false;
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    if (path == "--update") {
      update = true;
      continue;
    }
    absl::StatusOr<GoldenFile> file = ParseGolden(ReadFile(path));
    if (!file.ok()) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(),
                   std::string(file.status().message()).c_str());
      ++failures;
    } else if (update) {
      failures += Update(path, *file);
    } else {
      AddTests(path, *std::move(file));
    }
  }
  if (failures > 0 || update) return failures;
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Flags may follow the files, but the order of updating matters.
  for (int i = 2; i < argc; ++i) {
    if (std::string(argv[i]) == "--update") std::swap(argv[1], argv[i]);
  }
  return partita::Run(argc, argv);
}
