// Debian's ONNX test data with each of their integers as large and as small as
// can be: attributes, constants, and inputs that decide shapes. The importer
// refuses or computes; the sanitizers see sums that overflow.
// SPDX-License-Identifier: Apache-2.0

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/host_tensor.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/onnx/tested_model.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/conformance/onnx_case.h"

namespace partita {
namespace {

constexpr char kRoot[] = "/usr/share/libonnx-testdata/data";
constexpr int64_t kExtremes[] = {0,
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 INT32_MAX,
                                 int64_t{1} << 40,
                                 -(int64_t{1} << 40),
                                 int64_t{1} << 62,
                                 INT64_MAX,
                                 INT64_MIN};
// Lists of more are data, not sizes.
constexpr int64_t kMostElements = 16;

using Inputs = std::map<std::string, HostTensor>;

// Where a model and its inputs hold an integer.
struct Place {
  std::function<int64_t()> get;
  std::function<void(int64_t)> set;
};

void AddTensor(onnx::TensorProto& tensor, std::vector<Place>& places) {
  if (tensor.data_type() != onnx::TensorProto::INT64) return;
  for (int k = 0; k < tensor.int64_data_size() && k < kMostElements; ++k) {
    places.push_back(
        {[&tensor, k] { return tensor.int64_data(k); },
         [&tensor, k](int64_t to) { tensor.set_int64_data(k, to); }});
  }
  const size_t raw = tensor.raw_data().size() / sizeof(int64_t);
  for (size_t k = 0; k < raw && k < kMostElements; ++k) {
    char* const at = tensor.mutable_raw_data()->data() + k * sizeof(int64_t);
    places.push_back({[at] {
                        int64_t value = 0;
                        std::memcpy(&value, at, sizeof(value));
                        return value;
                      },
                      [at](int64_t to) { std::memcpy(at, &to, sizeof(to)); }});
  }
}

void AddNode(onnx::NodeProto& node, std::vector<Place>& places) {
  for (onnx::AttributeProto& a : *node.mutable_attribute()) {
    if (a.has_i()) {
      places.push_back(
          {[&a] { return a.i(); }, [&a](int64_t to) { a.set_i(to); }});
    }
    for (int k = 0; k < a.ints_size(); ++k) {
      places.push_back({[&a, k] { return a.ints(k); },
                        [&a, k](int64_t to) { a.set_ints(k, to); }});
    }
    if (a.has_t()) AddTensor(*a.mutable_t(), places);
    if (!a.has_g()) continue;
    for (auto& inner : *a.mutable_g()->mutable_node()) AddNode(inner, places);
  }
}

std::vector<Place> PlacesOf(onnx::ModelProto& model, Inputs& inputs) {
  std::vector<Place> places;
  for (auto& node : *model.mutable_graph()->mutable_node()) {
    AddNode(node, places);
  }
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    AddTensor(tensor, places);
  }
  for (auto& [_, tensor] : inputs) {
    if (tensor.type().dtype != DType::kI64) continue;
    for (int64_t k = 0; k < tensor.type().num_elements() && k < kMostElements;
         ++k) {
      int64_t* const at = &tensor.data<int64_t>()[k];
      places.push_back({[at] { return *at; }, [at](int64_t to) { *at = to; }});
    }
  }
  return places;
}

onnx::ModelProto ReadModel(const OnnxCase& c) {
  onnx::ModelProto model;
  std::ifstream file(c.folder + "/model.onnx", std::ios::binary);
  EXPECT_TRUE(model.ParseFromIstream(&file)) << c.name;
  return model;
}

// Those that are tensors.
Inputs ReadInputs(const OnnxCase& c, const onnx::ModelProto& model) {
  Inputs inputs;
  for (int i = 0; i < model.graph().input_size(); ++i) {
    auto tensor =
        ReadTensorFile(TestDataPath(c.folder + "/test_data_set_0", "input", i));
    if (tensor.ok()) {
      inputs.emplace(model.graph().input(i).name(), *std::move(tensor));
    }
  }
  return inputs;
}

absl::Status Import(const onnx::ModelProto& model, Inputs& inputs) {
  const std::string bytes = model.SerializeAsString();
  const int fd = memfd_create("model", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  Inputs views;
  for (auto& [name, tensor] : inputs) {
    views.emplace(name, HostTensor::View(tensor.type(), tensor.bytes()));
  }
  const absl::Status status =
      ImportForInputs(absl::StrCat("/proc/self/fd/", fd), {}, std::move(views))
          .status();
  close(fd);
  return status;
}

// All of them with PARTITA_FULL, else some of each integer.
TEST(ExtremeIntegers, AreRefusedOrImported) {
  const std::vector<OnnxCase> cases = FindOnnxCases(kRoot);
  ASSERT_GT(cases.size(), 1000u) << "install libonnx-testdata";
  const bool all = std::getenv("PARTITA_FULL") != nullptr;
  const char* const seed = std::getenv("PARTITA_SEED");
  std::mt19937_64 random(seed == nullptr ? 1
                                         : std::strtoull(seed, nullptr, 10));
  int imports = 0;
  for (const OnnxCase& c : cases) {
    if (!c.name.starts_with("node/")) continue;
    onnx::ModelProto model = ReadModel(c);
    Inputs inputs = ReadInputs(c, model);
    for (const Place& place : PlacesOf(model, inputs)) {
      const int64_t before = place.get();
      for (const int64_t extreme : kExtremes) {
        if (!all && random() % 3 != 0) continue;
        SCOPED_TRACE(absl::StrCat(c.name, ": ", before, " is ", extreme));
        place.set(extreme);
        EXPECT_FALSE(absl::IsInternal(Import(model, inputs)));
        ++imports;
      }
      place.set(before);
    }
  }
  std::cout << imports << " imports\n";
  EXPECT_GT(imports, 3000);
}

}  // namespace
}  // namespace partita
