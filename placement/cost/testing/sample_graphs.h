// Small graphs and a small kernel catalog for tests of placement.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_TESTING_SAMPLE_GRAPHS_H_
#define PARTITA_PLACEMENT_COST_TESTING_SAMPLE_GRAPHS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/kernel_catalog.h"

namespace partita {

// A sample op: any operands to one f32[elements].
extern const OpDef kSampleWork;

// Writes a graph @sample of kSampleWork nodes. Sizes are in f32 elements.
class SampleGraph {
 public:
  SampleGraph();
  ValueId Input(const std::string& name, int64_t elements);
  ValueId Weight(const std::string& name, int64_t elements);
  ValueId Variable(const std::string& name, int64_t elements);
  ValueId Work(const std::string& name, const std::vector<ValueId>& operands,
               int64_t elements, const std::string& scope = "");
  void Return(const std::vector<ValueId>& outputs);
  void Update(const std::string& variable, ValueId value);

  Module& module() { return module_; }
  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  NodeId node(ValueId value) const {
    return graph_->value(value).defining_node;
  }

 private:
  Module module_;
  Graph* graph_;
};

// Seconds of a node on a device, by its first result's name. Negative: no
// kernel.
using SampleSeconds =
    std::function<double(const std::string& name, const DeviceTraits& device)>;

class SampleCatalog : public KernelCatalog {
 public:
  // One second for every node on every device.
  SampleCatalog();
  explicit SampleCatalog(SampleSeconds seconds, int64_t workspace = 0);
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;

 private:
  SampleSeconds seconds_;
  int64_t workspace_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_TESTING_SAMPLE_GRAPHS_H_
