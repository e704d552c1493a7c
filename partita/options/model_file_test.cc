// Tests models by name, and the flags of ONNX models.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/model_file.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "partita/options/compilation_flags.h"
#include "partita/options/import_flags.h"

namespace partita {
namespace {

using Texts = std::vector<absl::string_view>;

Arguments ArgumentsOf(const std::string& model, const Texts& options) {
  auto arguments = Arguments::ParseKeys(model, options, kCompilationFlags);
  EXPECT_TRUE(arguments.ok()) << arguments.status();
  return *arguments;
}

std::string FileOf(absl::string_view name, absl::string_view text) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// What an importer is asked for; imports nothing.
struct Asked {
  std::string path;
  ImportOptions options;
};
absl::Status StatusOf(const std::string& model, const Texts& options,
                      Asked* asked = nullptr) {
  return ReadModelFile(
             ArgumentsOf(model, options), nullptr,
             [&](const std::string& path,
                 const ImportOptions& import) -> absl::StatusOr<Module> {
               if (asked != nullptr) *asked = {path, import};
               return absl::UnimplementedError("imports nothing");
             })
      .status();
}

std::string Refusal(const std::string& model, const Texts& options) {
  const absl::Status status = StatusOf(model, options);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(ModelFileTest, WhatIsNoTextIsForTheImporter) {
  const std::string path = FileOf("damaged.onnx", "\x01\x02");
  Asked asked;
  const absl::Status status =
      StatusOf(path,
               {"dim=batch=8", "shape=x=1,3", "shape=s=scalar", "bind=n=4,2.5",
                "bind=none=", "strict-types=true"},
               &asked);
  EXPECT_EQ(status.message(), "imports nothing");
  EXPECT_EQ(asked.path, path);
  EXPECT_EQ(asked.options.dims.at("batch"), 8);
  EXPECT_EQ(asked.options.shapes.at("x"), (std::vector<int64_t>{1, 3}));
  EXPECT_TRUE(asked.options.shapes.at("s").empty());
  EXPECT_EQ(asked.options.values.at("n").size(), 2u);
  EXPECT_TRUE(asked.options.values.at("none").empty());
  EXPECT_TRUE(asked.options.strict_types);
}

// By its bytes: a text may begin with a byte order mark, and have any name.
TEST(ModelFileTest, AModuleAsTextIsParsed) {
  const std::string path =
      FileOf("text.txt",
             "\xef\xbb\xbf// sample\ngraph @f(%x: f32[2]) -> f32[2] {\n"
             "  %y = relu %x : f32[2]\n  return %y\n}\n");
  EXPECT_TRUE(StatusOf(path, {}).ok()) << StatusOf(path, {});
  const std::string bad = FileOf("bad.graph", "graph @f(");
  EXPECT_TRUE(absl::StartsWith(Refusal(bad, {}), absl::StrCat(bad, ":1:")));
}

TEST(ModelFileTest, BuiltInModelsAreFoundByName) {
  EXPECT_TRUE(StatusOf("builtin:two_layer_perceptron", {}).ok());
  EXPECT_EQ(Refusal("builtin:resnet5", {}),
            "builtin:resnet5: found no such model; expected one of: resnet50, "
            "small_conv_net, two_layer_perceptron; for the plan of a model to "
            "train: partita train MODEL --plan FILE; did you mean resnet50?");
  EXPECT_EQ(Refusal("resnet50", {}),
            "resnet50: found no such file; expected a model; did you mean "
            "builtin:resnet50?");
}

TEST(ModelFileTest, FixedShapesTakeNoFlags) {
  const char* const model = "builtin:small_conv_net";
  EXPECT_EQ(Refusal(model, {"dim=batch=4"}),
            absl::StrCat("dim: found with ", model,
                         ", whose shapes are fixed; expected an ONNX model; "
                         "leave it out"));
  EXPECT_TRUE(absl::StartsWith(Refusal(model, {"strict-types=true"}),
                               "strict-types: "));
  EXPECT_TRUE(StatusOf(model, {"strict-types=false"}).ok());
}

TEST(ModelFileTest, OtherFilesAreRefusedByWhatTheyAre) {
  const std::string page = FileOf("page.onnx", "<!DOCTYPE html>");
  EXPECT_TRUE(absl::StartsWith(
      Refusal(page, {}),
      absl::StrCat(page, ": found a text; expected an ONNX model, or ")));
  const std::string machine = FileOf("machine.json", "{\"devices\": []}");
  EXPECT_TRUE(absl::StartsWith(
      Refusal(machine, {}), absl::StrCat(machine, ": found a machine file; ")));
}

TEST(ModelFileTest, WrongBindingsAreRefused) {
  const std::string model = FileOf("any.onnx", "\x01\x02");
  const std::vector<std::pair<absl::string_view, std::string>> wrong = {
      {"dim=batch=many",
       "dim=batch: found many; expected one extent, an integer, as in "
       "batch=8"},
      {"shape=x=1,b", "shape: found 1,b; expected integers, as in 1,3,224,224"},
      {"shape=x=", "shape: found x=; expected NAME=VALUE"},
      {"bind=x=1,b", "bind: found b; expected numbers"},
  };
  for (const auto& [option, message] : wrong) {
    EXPECT_EQ(Refusal(model, {option}), message);
  }
}

}  // namespace
}  // namespace partita
