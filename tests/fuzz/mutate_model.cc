// The kinds of mutation of a model.
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/mutate_model.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

using Random = std::mt19937_64;
using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

constexpr int64_t kEdges[] = {0,  1,   -1,  2,         3,
                              4,  7,   -2,  INT32_MAX, INT64_MAX,
                              64, 255, 513, INT64_MIN, int64_t{1} << 40};
constexpr float kFloats[] = {0.0f,
                             -0.0f,
                             1.0f,
                             -1.0f,
                             0.5f,
                             1e30f,
                             -3.0f,
                             1e-30f,
                             std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
constexpr char kLetters[] = "abij.,->= forwadevsNCnxyz01";

int Below(int bound, Random& random) {
  return static_cast<int>(random() % static_cast<uint64_t>(bound));
}

bool Chance(int of, Random& random) { return Below(of, random) == 0; }

template <typename Sequence>
auto& OneOf(Sequence& sequence, Random& random) {
  return sequence[Below(static_cast<int>(std::size(sequence)), random)];
}

template <typename Element>
Element* AnyOf(google::protobuf::RepeatedPtrField<Element>& elements,
               Random& random) {
  if (elements.empty()) return nullptr;
  return elements.Mutable(Below(elements.size(), random));
}

void CollectLists(Nodes& nodes, std::vector<Nodes*>& lists) {
  lists.push_back(&nodes);
  for (onnx::NodeProto& node : nodes) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      CollectLists(*attribute.mutable_g()->mutable_node(), lists);
    }
  }
}

// Of the graph, of functions and of bodies. Seeds nest little, and a mutation
// adds one level.
std::vector<Nodes*> ListsOf(onnx::ModelProto& model) {
  std::vector<Nodes*> lists;
  CollectLists(*model.mutable_graph()->mutable_node(), lists);
  for (onnx::FunctionProto& function : *model.mutable_functions()) {
    CollectLists(*function.mutable_node(), lists);
  }
  return lists;
}

std::vector<std::string> NamesIn(const onnx::ModelProto& model,
                                 const Nodes& nodes) {
  std::vector<std::string> names = {""};
  for (const auto& input : model.graph().input()) names.push_back(input.name());
  for (const auto& weight : model.graph().initializer()) {
    names.push_back(weight.name());
  }
  for (const onnx::NodeProto& node : nodes) {
    names.insert(names.end(), node.output().begin(), node.output().end());
  }
  return names;
}

// One mutation of one node, with the parts of the model that it needs.
struct Place {
  const ModelParts& parts;
  Random& random;
  onnx::ModelProto& model;
  Nodes& nodes;           // a list of nodes
  onnx::NodeProto& node;  // one of them
};

void ChangeNumbers(Place& place, onnx::AttributeProto& attribute) {
  Random& random = place.random;
  if (attribute.has_i()) attribute.set_i(OneOf(kEdges, random));
  if (attribute.has_f()) attribute.set_f(OneOf(kFloats, random));
  if (attribute.ints_size() > 0) {
    const int at = Below(attribute.ints_size() + 1, random);
    if (at == attribute.ints_size())
      return attribute.add_ints(OneOf(kEdges, random));
    attribute.set_ints(at, OneOf(kEdges, random));
  }
  if (attribute.floats_size() > 0) {
    attribute.set_floats(Below(attribute.floats_size(), random),
                         OneOf(kFloats, random));
  }
}

void ChangeText(Place& place, std::string& text) {
  const char letter =
      kLetters[Below(static_cast<int>(sizeof(kLetters)) - 1, place.random)];
  const int at = Below(static_cast<int>(text.size()) + 1, place.random);
  if (at == static_cast<int>(text.size()) || Chance(3, place.random)) {
    text.insert(static_cast<size_t>(at), 1, letter);
  } else {
    text[static_cast<size_t>(at)] = letter;
  }
}

void ChangeAttribute(Place& place) {
  auto* attribute = AnyOf(*place.node.mutable_attribute(), place.random);
  if (attribute == nullptr) return;
  ChangeNumbers(place, *attribute);
  if (attribute->has_s()) ChangeText(place, *attribute->mutable_s());
}

void AddAttribute(Place& place) {
  if (place.parts.attributes.empty()) return;
  *place.node.add_attribute() = OneOf(place.parts.attributes, place.random);
}

void DropAttribute(Place& place) {
  auto& attributes = *place.node.mutable_attribute();
  if (attributes.empty()) return;
  attributes.DeleteSubrange(Below(attributes.size(), place.random), 1);
}

// To the op of some node of a previous model, with its attributes.
void ChangeOp(Place& place) {
  if (place.parts.nodes.empty()) return;
  const onnx::NodeProto& other = OneOf(place.parts.nodes, place.random);
  place.node.set_op_type(other.op_type());
  place.node.set_domain(other.domain());
  if (Chance(2, place.random)) return;
  *place.node.mutable_attribute() = other.attribute();
}

void ChangeInput(Place& place) {
  const std::vector<std::string> names = NamesIn(place.model, place.nodes);
  const int at = Below(place.node.input_size() + 1, place.random);
  if (at == place.node.input_size()) {
    place.node.add_input(OneOf(names, place.random));
  } else {
    place.node.set_input(at, OneOf(names, place.random));
  }
}

void DropOperand(Place& place) {
  if (Chance(4, place.random) && place.node.output_size() > 0) {
    place.node.mutable_output()->RemoveLast();
  } else if (place.node.input_size() > 0) {
    place.node.mutable_input()->RemoveLast();
  }
}

void AddOutput(Place& place) {
  place.node.add_output(absl::StrCat("more", place.random() % 1000));
}

// Its outputs replace inputs of other nodes.
void AddNode(Place& place) {
  const bool own = place.parts.nodes.empty() || Chance(2, place.random);
  onnx::NodeProto added =
      own ? place.node : OneOf(place.parts.nodes, place.random);
  const std::vector<std::string> names = NamesIn(place.model, place.nodes);
  for (std::string& input : *added.mutable_input()) {
    if (!own) input = OneOf(names, place.random);
  }
  for (std::string& output : *added.mutable_output()) {
    output = absl::StrCat("new", place.random() % 1000);
  }
  if (added.output_size() > 0 && place.node.input_size() > 0) {
    place.node.set_input(0, added.output(0));
  }
  Nodes rest;
  rest.Swap(&place.nodes);
  *place.nodes.Add() = added;
  place.nodes.MergeFrom(rest);
}

void DropNode(Place& place) {
  place.nodes.DeleteSubrange(Below(place.nodes.size(), place.random), 1);
}

void SwapNodes(Place& place) {
  place.nodes.SwapElements(Below(place.nodes.size(), place.random),
                           Below(place.nodes.size(), place.random));
}

void ChangeRawNumber(Place& place, std::string& bytes) {
  const int64_t number = OneOf(kEdges, place.random);
  if (bytes.size() < sizeof(number)) return;
  const int slots = static_cast<int>(bytes.size() / sizeof(number));
  std::memcpy(
      &bytes[sizeof(number) * static_cast<size_t>(Below(slots, place.random))],
      &number, sizeof(number));
}

void ChangeWeight(Place& place) {
  auto* weight =
      AnyOf(*place.model.mutable_graph()->mutable_initializer(), place.random);
  if (weight == nullptr) return;
  if (weight->dims_size() > 0 && Chance(3, place.random)) {
    return weight->set_dims(Below(weight->dims_size(), place.random),
                            OneOf(kEdges, place.random));
  }
  if (weight->has_raw_data()) {
    ChangeRawNumber(place, *weight->mutable_raw_data());
  } else if (weight->int64_data_size() > 0) {
    weight->set_int64_data(Below(weight->int64_data_size(), place.random),
                           OneOf(kEdges, place.random));
  }
}

// Makes an input known at import.
void FixInput(Place& place) {
  const auto* input =
      AnyOf(*place.model.mutable_graph()->mutable_input(), place.random);
  if (input == nullptr || !input->type().has_tensor_type()) return;
  onnx::TensorProto& weight = *place.model.mutable_graph()->add_initializer();
  weight.set_name(input->name());
  weight.set_data_type(input->type().tensor_type().elem_type());
  int64_t elements = 1;
  for (const auto& dim : input->type().tensor_type().shape().dim()) {
    weight.add_dims(dim.dim_value());
    elements = std::min<int64_t>(
        512, elements * std::clamp<int64_t>(dim.dim_value(), 0, 512));
  }
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t number =
        Chance(16, place.random) ? OneOf(kEdges, place.random) : i % 5;
    if (weight.data_type() == onnx::TensorProto::FLOAT) {
      weight.add_float_data(static_cast<float>(number));
    } else if (weight.data_type() == onnx::TensorProto::INT64) {
      weight.add_int64_data(number);
    } else {
      weight.add_int32_data(static_cast<int32_t>(number));
    }
  }
}

void ChangePort(Place& place) {
  auto* input =
      AnyOf(*place.model.mutable_graph()->mutable_input(), place.random);
  if (input == nullptr) return;
  auto& tensor = *input->mutable_type()->mutable_tensor_type();
  if (Chance(3, place.random)) {
    return tensor.set_elem_type(Below(24, place.random));
  }
  auto* dim = AnyOf(*tensor.mutable_shape()->mutable_dim(), place.random);
  if (dim == nullptr || Chance(4, place.random))
    dim = tensor.mutable_shape()->add_dim();
  dim->set_dim_value(OneOf(kEdges, place.random));
}

void ChangeOpset(Place& place) {
  auto* opset = AnyOf(*place.model.mutable_opset_import(), place.random);
  if (opset != nullptr) opset->set_version(Below(28, place.random));
}

// Moves the node into a function of its own, which may call itself.
void MakeFunction(Place& place) {
  onnx::FunctionProto& function = *place.model.add_functions();
  function.set_domain("fuzz");
  function.set_name(absl::StrCat("f", place.model.functions_size()));
  *function.mutable_input() = place.node.input();
  *function.mutable_output() = place.node.output();
  *function.mutable_opset_import() = place.model.opset_import();
  *function.add_node() = place.node;
  place.node.clear_attribute();
  place.node.set_op_type(function.name());
  place.node.set_domain(function.domain());
  if (Chance(3, place.random)) *function.add_node() = place.node;
}

void CallFunction(Place& place) {
  const auto* function = AnyOf(*place.model.mutable_functions(), place.random);
  if (function == nullptr) return;
  place.node.set_op_type(function->name());
  place.node.set_domain(function->domain());
}

void MoveIntoIf(Place& place) {
  onnx::NodeProto inside = place.node;
  onnx::TensorProto& condition =
      *place.model.mutable_graph()->add_initializer();
  condition.set_name(absl::StrCat("condition", place.random() % 1000));
  condition.set_data_type(onnx::TensorProto::BOOL);
  condition.add_int32_data(Below(2, place.random));
  place.node.Clear();
  place.node.set_op_type("If");
  place.node.add_input(condition.name());
  *place.node.mutable_output() = inside.output();
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& branch = *place.node.add_attribute();
    branch.set_name(name);
    branch.set_type(onnx::AttributeProto::GRAPH);
    *branch.mutable_g()->add_node() = inside;
    for (const std::string& output : inside.output()) {
      branch.mutable_g()->add_output()->set_name(output);
    }
  }
}

constexpr void (*kChanges[])(Place&) = {
    ChangeAttribute, ChangeAttribute, AddAttribute, DropAttribute, ChangeOp,
    ChangeInput,     ChangeInput,     DropOperand,  AddOutput,     AddNode,
    DropNode,        SwapNodes,       ChangeWeight, ChangeWeight,  FixInput,
    ChangePort,      ChangeOpset,     MakeFunction, CallFunction,  MoveIntoIf};

void ChangeOnce(const ModelParts& parts, Random& random,
                onnx::ModelProto& model) {
  const std::vector<Nodes*> lists = ListsOf(model);
  Nodes& nodes = *OneOf(lists, random);
  if (nodes.empty()) return;
  Place place{parts, random, model, nodes,
              *nodes.Mutable(Below(nodes.size(), random))};
  OneOf(kChanges, random)(place);
}

template <typename Element>
void Keep(const Element& element, std::vector<Element>& kept) {
  if (kept.size() < ModelParts::kMost) kept.push_back(element);
}

}  // namespace

void ModelParts::Learn(const onnx::ModelProto& model) {
  for (const onnx::NodeProto& node : model.graph().node()) {
    Keep(node, nodes);
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      Keep(attribute, attributes);
    }
  }
}

void MutateModel(const ModelParts& parts, Random& random,
                 onnx::ModelProto& model) {
  for (int i = 0, count = 1 + Below(4, random); i < count; ++i) {
    ChangeOnce(parts, random, model);
  }
}

}  // namespace partita
