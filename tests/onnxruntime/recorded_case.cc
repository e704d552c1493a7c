// Reads cases line by line; compares element by element.
// SPDX-License-Identifier: Apache-2.0

#include "tests/onnxruntime/recorded_case.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/onnx/tensor_proto.h"

namespace partita {
namespace {

using Words = std::vector<std::string>;

Words WordsOf(absl::string_view text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

// strtod parses "nan", "-nan" and "inf".
double NumberOf(const std::string& word) {
  return std::strtod(word.c_str(), nullptr);
}

// "f32[2, 3] 1 2 ...".
HostTensor TensorOf(absl::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  const auto dtype = ParseDType(text.substr(0, open));
  EXPECT_TRUE(dtype.has_value()) << text;
  TensorType type{dtype.value_or(DType::kF32), {}, {}};
  const absl::string_view dims = text.substr(open + 1, close - open - 1);
  for (absl::string_view dim : absl::StrSplit(dims, ", ", absl::SkipEmpty())) {
    int64_t extent = 0;
    EXPECT_TRUE(absl::SimpleAtoi(dim, &extent)) << text;
    type.dims.push_back(extent);
  }
  HostTensor tensor(type);
  const Words words = WordsOf(text.substr(close + 1));
  EXPECT_EQ(static_cast<int64_t>(words.size()), type.num_elements()) << text;
  for (size_t i = 0; i < words.size(); ++i) {
    SetFromDouble(tensor, static_cast<int64_t>(i), NumberOf(words[i]));
  }
  return tensor;
}

// "y f32[2] 1 2".
NamedTensor NamedTensorOf(absl::string_view text) {
  const std::pair<std::string, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(' ', 1));
  return {parts.first, TensorOf(parts.second)};
}

// "Clip x _ most -> y": a missing input is "_".
RecordedNode NodeOf(absl::string_view text) {
  RecordedNode node;
  Words words = WordsOf(text);
  absl::c_replace(words, std::string("_"), std::string());
  node.op = words[0];
  const auto arrow = absl::c_find(words, "->");
  node.inputs.assign(words.begin() + 1, arrow);
  node.outputs.assign(arrow + 1, words.end());
  return node;
}

void ReadLine(absl::string_view line, std::vector<RecordedCase>& cases) {
  if (line.empty() || line[0] == '#') return;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  const auto& [key, rest] = parts;
  if (key == "case") {
    cases.emplace_back().name = std::string(rest);
    return;
  }
  RecordedCase& last = cases.back();
  if (key == "opset") last.opset = std::stoi(std::string(rest));
  if (key == "bound") last.bound = NumberOf(std::string(rest));
  if (key == "input") last.inputs.push_back(NamedTensorOf(rest));
  if (key == "constant") last.constants.push_back(NamedTensorOf(rest));
  if (key == "output") last.outputs.push_back(NamedTensorOf(rest));
  if (key == "node") last.nodes.push_back(NodeOf(rest));
  if (key == "attribute") {
    last.nodes.back().attributes.push_back(std::string(rest));
  }
}

void AddAttribute(const std::string& text, SketchedModel& model) {
  const Words words = WordsOf(text);
  const std::string& name = words[0];
  if (words[1] == "f") model.Attr(name, static_cast<float>(NumberOf(words[2])));
  if (words[1] == "i") model.Attr(name, int64_t{std::stoll(words[2])});
  if (words[1] == "s") model.Attr(name, words[2]);
  if (words[1] == "strings") {
    model.Attr(name, Words(words.begin() + 2, words.end()));
  }
  if (words[1] == "floats") {
    std::vector<float> values;
    for (size_t i = 2; i < words.size(); ++i) {
      values.push_back(static_cast<float>(NumberOf(words[i])));
    }
    model.Attr(name, values);
  }
  if (words[1] != "ints") return;
  std::vector<int64_t> values;
  for (size_t i = 2; i < words.size(); ++i) {
    values.push_back(std::stoll(words[i]));
  }
  model.Attr(name, values);
}

int OnnxTypeOf(const HostTensor& tensor) {
  return OnnxOfDType(tensor.type().dtype);
}

bool IsFloat(const HostTensor& tensor) {
  return tensor.type().dtype == DType::kF32 ||
         tensor.type().dtype == DType::kF64;
}

void AddConstants(const RecordedCase& of, SketchedModel& model) {
  for (const auto& [name, value] : of.constants) {
    model.Constant(name, OnnxTypeOf(value), value);
  }
}

void AddInputs(const RecordedCase& of, SketchedModel& model) {
  for (const auto& [name, value] : of.inputs) {
    const Shape& dims = value.type().dims;
    model.Input(name, OnnxTypeOf(value), {dims.begin(), dims.end()});
  }
}

// These values get a suffix.
void AddNodes(const RecordedCase& of, const Words& renamed,
              SketchedModel& model) {
  const auto names = [&](Words words) {
    for (std::string& word : words) {
      if (absl::c_linear_search(renamed, word)) word += ".inner";
    }
    return words;
  };
  for (const RecordedNode& node : of.nodes) {
    model.Node(node.op, names(node.inputs), names(node.outputs));
    for (const std::string& text : node.attributes) AddAttribute(text, model);
  }
}

bool IsRight(double found, double expected, double bound) {
  if (std::isnan(expected)) return std::isnan(found);
  if (found == expected) {
    return bound > 0 || std::signbit(found) == std::signbit(expected);
  }
  return std::abs(found - expected) <=
         bound * std::max(1.0, std::abs(expected));
}

}  // namespace

SketchedModel RecordedCase::Model() const {
  SketchedModel model(opset);
  AddInputs(*this, model);
  AddConstants(*this, model);
  AddNodes(*this, {}, model);
  for (const auto& [name, value] : outputs) model.Output(name);
  return model;
}

SketchedModel RecordedCase::ModelInChain() const {
  SketchedModel model(opset);
  AddInputs(*this, model);
  model.Input("one", OnnxTypeOf(inputs[0].second), {});
  AddConstants(*this, model);
  Words renamed;
  for (const auto& [name, value] : inputs) {
    if (!IsFloat(value)) continue;
    renamed.push_back(name);
    model.Node("Mul", {name, "one"}, {name + ".inner"});
  }
  const DType dtype = inputs[0].second.type().dtype;
  for (const auto& [name, value] : outputs) {
    if (value.type().dtype == dtype) renamed.push_back(name);
  }
  AddNodes(*this, renamed, model);
  for (const auto& [name, value] : outputs) {
    if (value.type().dtype == dtype) {
      model.Node("Mul", {name + ".inner", "one"}, {name});
    }
    model.Output(name);
  }
  return model;
}

std::vector<HostTensor> RecordedCase::InputTensors() const {
  std::vector<HostTensor> tensors;
  for (const auto& [name, value] : inputs) tensors.push_back(value.Clone());
  return tensors;
}

std::vector<RecordedCase> ReadCases(const std::string& file) {
  std::vector<RecordedCase> cases;
  std::ifstream text("tests/onnxruntime/" + file);
  for (std::string line; std::getline(text, line);) ReadLine(line, cases);
  EXPECT_FALSE(cases.empty()) << file;
  return cases;
}

testing::AssertionResult AreAsRecorded(const std::vector<HostTensor>& found,
                                       const RecordedCase& expected) {
  if (found.size() != expected.outputs.size()) {
    return testing::AssertionFailure() << found.size() << " outputs";
  }
  testing::AssertionResult failure = testing::AssertionFailure();
  bool is_right = true;
  for (size_t n = 0; n < found.size(); ++n) {
    const HostTensor& right = expected.outputs[n].second;
    if (found[n].type().ToString() != right.type().ToString()) {
      return failure << "found " << found[n].type().ToString() << " for "
                     << right.type().ToString();
    }
    for (int64_t i = 0; i < right.type().num_elements(); ++i) {
      const double a = GetAsDouble(found[n], i), b = GetAsDouble(right, i);
      if (IsRight(a, b, expected.bound)) continue;
      failure << expected.outputs[n].first << "[" << i << "]: found " << a
              << ", recorded " << b << "\n";
      is_right = false;
    }
  }
  return is_right ? testing::AssertionSuccess() : failure;
}

}  // namespace partita
