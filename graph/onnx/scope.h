// The meaning of names during the translation of one body.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_SCOPE_H_
#define PARTITA_GRAPH_ONNX_SCOPE_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/ids.h"

namespace partita {

// The names of a model's graph, of one call of a function, or of one branch,
// which sees the names around it too. Not thread-safe.
class Scope {
 public:
  // The model's graph, with the opset of the standard's nodes.
  explicit Scope(int opset) : opset_(opset) {}
  // A function's body, which sees nothing around it. `prefix` ends in a slash.
  Scope(int opset, std::string prefix)
      : opset_(opset), prefix_(std::move(prefix)) {}
  // A branch inside `outer`, which must outlive it.
  Scope(const Scope* outer, std::string prefix)
      : opset_(outer->opset_), prefix_(std::move(prefix)), outer_(outer) {}

  int opset() const { return opset_; }
  // The prefix, in the graph, of names of nodes and values in the body.
  const std::string& prefix() const { return prefix_; }
  bool is_models_graph() const { return prefix_.empty(); }

  // False if the name is already defined here, or is empty.
  bool Define(const std::string& name, ValueId value);
  std::optional<ValueId> Find(const std::string& name) const;
  // In this body itself, not around it.
  bool Defines(const std::string& name) const { return values_.contains(name); }

  // An optional input of a function that the call omits.
  void LeaveOut(const std::string& name) { left_out_.insert(name); }
  bool IsLeftOut(const std::string& name) const;

  // A value of a refused node: its readers cannot be translated, which is no
  // error of their own.
  void Lose(const std::string& name) { lost_.insert(name); }
  bool IsLost(const std::string& name) const;

 private:
  int opset_;
  std::string prefix_;
  const Scope* outer_ = nullptr;
  absl::flat_hash_map<std::string, ValueId> values_;
  absl::flat_hash_set<std::string> left_out_;
  absl::flat_hash_set<std::string> lost_;
};

// Defines the name, or returns why that is not possible.
absl::Status DefineOnce(const std::string& name, ValueId value, Scope& scope);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_SCOPE_H_
