// Writes a graph as bytes without ambiguity, and hashes them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/fingerprint.h"

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// Every item has a fixed width or its length before it, so that no two
// different sequences give the same bytes.
class Digest {
 public:
  void Add(int64_t value) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    bytes_.append(bytes, sizeof(bytes));
  }
  void Add(absl::string_view text) {
    Add(static_cast<int64_t>(text.size()));
    bytes_.append(text.data(), text.size());
  }
  void Add(const ContentHash& hash) {
    Add(static_cast<int64_t>(hash.high));
    Add(static_cast<int64_t>(hash.low));
  }
  void Add(const TensorType& type) {
    Add(static_cast<int64_t>(type.dtype));
    AddList(type.dims);
    Add(type.layout.ToString());
  }
  void Add(const Sharding& sharding) {
    Add(static_cast<int64_t>(sharding.kind));
    Add(int64_t{sharding.dim});
    Add(sharding.unit);
    Add(static_cast<int64_t>(sharding.reduction));
  }
  void Add(const Placement& placement) {
    AddList(placement.devices);
    AddList(placement.operands);
    AddList(placement.results);
  }
  void Add(const InPlacePair& pair) {
    Add(int64_t{pair.operand});
    Add(int64_t{pair.result});
  }
  void Add(const std::optional<KernelBinding>& kernel) {
    Add(int64_t{kernel.has_value()});
    if (!kernel.has_value()) return;
    Add(kernel->kernel.ToString());
    Add(kernel->workspace);
    AddList(kernel->in_place);
    Add(ArithmeticsText(kernel->arithmetics));
  }
  void Add(double value) { Add(std::bit_cast<int64_t>(value)); }
  template <typename List>
  void AddList(const List& list) {
    Add(static_cast<int64_t>(list.size()));
    for (const auto& item : list) Add(item);
  }

  ContentHash Finish() const {
    return HashBytes(
        {reinterpret_cast<const std::byte*>(bytes_.data()), bytes_.size()});
  }

 private:
  std::string bytes_;
};

class GraphDigest {
 public:
  explicit GraphDigest(const Graph& graph)
      : graph_(graph), numbers_(graph.value_id_bound(), -1) {}

  Fingerprint Finish() {
    digest_.Add(static_cast<int64_t>(graph_.inputs().size()));
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      Define(graph_.inputs()[i]);
      digest_.Add(graph_.input_placement(static_cast<int>(i)));
    }
    for (const OpView& op : graph_.ops()) AddNode(op);
    digest_.Add("outputs");
    AddValues(graph_.outputs());
    digest_.Add(static_cast<int64_t>(graph_.updates().size()));
    for (const VariableUpdate& update : graph_.updates()) {
      digest_.Add(update.variable);
      digest_.Add(NumberOf(update.value));
    }
    return digest_.Finish();
  }

 private:
  // Values are numbered in the order of their definitions.
  void Define(ValueId id) {
    numbers_[id.index] = next_++;
    digest_.Add(graph_.type(id));
  }

  int64_t NumberOf(ValueId id) const {
    return id.valid() && id.index < graph_.value_id_bound() ? numbers_[id.index]
                                                            : -1;
  }

  template <typename Ids>
  void AddValues(const Ids& ids) {
    digest_.Add(static_cast<int64_t>(ids.size()));
    for (ValueId id : ids) digest_.Add(NumberOf(id));
  }

  void AddNode(const OpView& op) {
    const Node& node = op.node();
    digest_.Add(absl::string_view(op.op_name()));
    AddValues(node.operands);
    const Attributes attributes = WithoutDefaults(op.op(), node.attributes);
    digest_.Add(static_cast<int64_t>(attributes.entries().size()));
    for (const auto& [name, value] : attributes.entries()) {
      digest_.Add(name);
      AddAttribute(value);
    }
    digest_.Add(static_cast<int64_t>(node.regions.size()));
    for (const auto& region : node.regions) {
      digest_.Add(FingerprintOf(*region));
    }
    digest_.Add(node.placement);
    digest_.Add(node.kernel);
    digest_.Add(static_cast<int64_t>(node.results.size()));
    for (ValueId result : node.results) Define(result);
  }

  void AddAttribute(const AttributeValue& value) {
    digest_.Add(static_cast<int64_t>(value.index()));
    std::visit([this](const auto& held) { AddHeld(held); }, value);
  }
  void AddHeld(int64_t value) { digest_.Add(value); }
  void AddHeld(double value) { digest_.Add(value); }
  void AddHeld(bool value) { digest_.Add(int64_t{value}); }
  void AddHeld(const std::string& value) { digest_.Add(value); }
  void AddHeld(DType value) { digest_.Add(static_cast<int64_t>(value)); }
  void AddHeld(const std::vector<int64_t>& list) { digest_.AddList(list); }
  void AddHeld(const std::vector<double>& list) { digest_.AddList(list); }
  void AddHeld(const Number& value) {
    digest_.Add(static_cast<int64_t>(value.held().index()));
    if (value.is_integer()) {
      digest_.Add(static_cast<int64_t>(value.ToWrapped()));
    } else {
      digest_.Add(value.ToDouble());
    }
  }
  void AddHeld(LiteralId id) {
    if (!id.valid() || id.index >= graph_.literals().size()) return;
    digest_.Add(graph_.literals().type(id));
    digest_.Add(graph_.literals().hash(id));
  }

  const Graph& graph_;
  std::vector<int64_t> numbers_;  // by value id
  int64_t next_ = 0;
  Digest digest_;
};

}  // namespace

Fingerprint FingerprintOf(const Graph& graph) {
  return GraphDigest(graph).Finish();
}

Fingerprint FingerprintOf(const Module& module) {
  Digest digest;
  for (const Variable& variable : module.variables()) {
    digest.Add("variable");
    digest.Add(variable.name);
    digest.Add(variable.type);
    digest.Add(int64_t{variable.trainable});
    digest.Add(variable.initial.valid()
                   ? module.literals().hash(variable.initial)
                   : ContentHash());
  }
  for (const auto& function : module.functions()) {
    digest.Add("graph");
    digest.Add(function->name());
    digest.Add(FingerprintOf(*function));
  }
  return digest.Finish();
}

}  // namespace partita
