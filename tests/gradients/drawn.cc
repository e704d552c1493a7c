// Inputs, tables, and steps by eval.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gradients/drawn.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>

#include "graph/evaluate.h"
#include "gtest/gtest.h"

namespace partita {

HostTensor Drawn(Shape dims, int number) {
  HostTensor tensor({DType::kF64, std::move(dims), {}});
  int64_t i = 0;
  for (double& value : tensor.data<double>()) {
    value =
        static_cast<double>((i++ * 7919 + number * 3571 + 17) % 1009 - 504) /
        256;
  }
  return tensor;
}

HostTensor DrawnWeights(Shape dims, int number) {
  const HostTensor drawn = Drawn(dims, number);
  HostTensor weights({DType::kF32, std::move(dims), {}});
  for (int64_t i = 0; i < weights.type().num_elements(); ++i) {
    SetFromDouble(weights, i, GetAsDouble(drawn, i) / 4);
  }
  return weights;
}

HostTensor DrawnIndices(Shape dims, int64_t below) {
  HostTensor tensor({DType::kI64, std::move(dims), {}});
  int64_t i = 0;
  for (int64_t& value : tensor.data<int64_t>()) value = (i++ * 7 + 3) % below;
  return tensor;
}

Numbers ToNumbers(const HostTensor& tensor) {
  Numbers numbers;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    numbers.push_back(GetAsDouble(tensor, i));
  }
  return numbers;
}

Numbers ToNumbers(absl::Span<const HostTensor> tensors) {
  Numbers numbers;
  for (const HostTensor& tensor : tensors) {
    const Numbers more = ToNumbers(tensor);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return numbers;
}

void ExpectNear(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-10 * (1 + std::fabs(expected[i])))
        << "number " << i;
  }
}

std::string ReadTable(const std::string& name) {
  std::ifstream file("tests/gradients/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

std::map<std::string, Numbers> ReadLists(const std::string& name) {
  std::map<std::string, Numbers> lists;
  std::istringstream lines(ReadTable(name));
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    lists[line.substr(0, colon)] = ParseNumbers(line.substr(colon + 2));
  }
  return lists;
}

Numbers ParseNumbers(const std::string& text) {
  std::istringstream words(text);
  Numbers numbers;
  for (double number; words >> number;) numbers.push_back(number);
  return numbers;
}

State::State(const Module& module) {
  for (const Variable& variable : module.variables()) {
    values_[variable.name] = module.literals().tensor(variable.initial).Clone();
  }
}

std::vector<HostTensor> State::Step(const Graph& function,
                                    absl::Span<const HostTensor> inputs) {
  VariableValues variables;
  for (const auto& [name, value] : values_) variables[name] = &value;
  auto values = Evaluate(function, inputs, variables);
  EXPECT_TRUE(values.ok()) << values.status();
  if (!values.ok()) return {};
  const size_t outputs = function.outputs().size();
  for (size_t i = 0; i < function.updates().size(); ++i) {
    values_[function.updates()[i].variable] = std::move((*values)[outputs + i]);
  }
  values->erase(values->begin() + outputs, values->end());
  return *std::move(values);
}

}  // namespace partita
