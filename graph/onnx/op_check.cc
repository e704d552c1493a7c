// Functions are in a worklist, since calls may nest deeper than the stack.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/op_check.h"

#include <map>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/opsets.h"

namespace partita {
namespace {

// Models nest as deep as protobuf allows, which is 100.
void CountOps(const onnx::GraphProto& body, std::map<std::string, int>& ops) {
  for (const onnx::NodeProto& node : body.node()) {
    ++ops[OpTypeText(node)];
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CountOps(attribute.g(), ops);
    }
  }
}

// "; its body has 3 nodes: Add 2, Mul 1": the contents of a refused Loop.
std::string InsideText(const onnx::NodeProto& node) {
  std::string text;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    absl::StrAppend(&text, "; its ", attribute.name(), " has ",
                    BodyText(attribute.g()));
  }
  return text;
}

class OpCheck {
 public:
  explicit OpCheck(const ModelFunctions& functions) : functions_(functions) {}

  void Check(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
             int64_t opset, absl::string_view place) {
    for (int i = 0; i < nodes.size(); ++i) {
      const onnx::FunctionProto* function = functions_.Find(nodes[i]);
      if (function == nullptr) {
        AddFault(nodes[i], i, opset, place);
      } else if (seen_.insert(function).second) {
        pending_.push_back({function, opset});
      }
    }
  }

  std::vector<std::string> Run() && {
    while (!pending_.empty()) {
      const Pending next = pending_.back();
      pending_.pop_back();
      Check(next.function->node(), OpsetOf(*next.function, next.opset),
            absl::StrCat(" in the function ", FunctionName(*next.function)));
    }
    return std::move(faults_);
  }

 private:
  struct Pending {
    const onnx::FunctionProto* function;
    int64_t opset;  // of the body around the call
  };

  void AddFault(const onnx::NodeProto& node, int index, int64_t opset,
                absl::string_view place) {
    const std::string op = OpTypeText(node);
    const std::string where =
        absl::StrCat(" (node ", NodeText(node, index), ")", place);
    if (!IsStandardDomain(node.domain())) {
      faults_.push_back(absl::StrCat(op, " of domain ", node.domain(), where));
      return;
    }
    const int since = SinceOpset(node.op_type());
    if (since > opset) {
      faults_.push_back(absl::StrCat(op, where, ", which came with opset ",
                                     since, ", in a model of opset ", opset));
    } else if (!IsSupported(node)) {
      faults_.push_back(absl::StrCat(op, where, InsideText(node)));
    }
  }

  const ModelFunctions& functions_;
  absl::flat_hash_set<const onnx::FunctionProto*> seen_;
  std::vector<Pending> pending_;
  std::vector<std::string> faults_;
};

}  // namespace

std::string BodyText(const onnx::GraphProto& body) {
  std::map<std::string, int> ops;
  CountOps(body, ops);
  int nodes = 0;
  for (const auto& [op, count] : ops) nodes += count;
  if (nodes == 0) return "no node";
  return absl::StrCat(nodes, nodes == 1 ? " node: " : " nodes: ",
                      absl::StrJoin(ops, ", ", absl::PairFormatter(" ")));
}

bool IsSupported(const onnx::NodeProto& node) {
  return IsStandardDomain(node.domain()) &&
         (node.op_type() == "If" || FindConverter(node.op_type()) != nullptr);
}

std::vector<std::string> FindUnsupported(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, int opset,
    const ModelFunctions& functions) {
  OpCheck check(functions);
  check.Check(nodes, opset, "");
  return std::move(check).Run();
}

}  // namespace partita
