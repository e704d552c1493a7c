// The roofline of a node on a device.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/roofline.h"

#include <algorithm>

#include "graph/device_rates.h"
#include "graph/op_def.h"

namespace partita {
namespace {

DType ArithmeticType(const OpView& node) {
  for (int i = 0; i < node.num_operands(); ++i) {
    if (IsFloat(node.operand_type(i).dtype)) return node.operand_type(i).dtype;
  }
  return node.num_results() > 0 ? node.result_type(0).dtype : DType::kF32;
}

Cost CostOf(const OpView& node) {
  if (node.op().cost != nullptr) return node.op().cost(node);
  Cost cost;
  for (int i = 0; i < node.num_operands(); ++i) {
    cost.bytes += node.operand_type(i).num_bytes();
  }
  for (int i = 0; i < node.num_results(); ++i) {
    cost.bytes += node.result_type(i).num_bytes();
    cost.flops += node.result_type(i).num_elements();
  }
  return cost;
}

}  // namespace

double RooflineSeconds(const OpView& node, const DeviceTraits& device) {
  const Cost cost = CostOf(node);
  return device.launch_seconds +
         std::max(cost.flops / PeakFlops(device, ArithmeticType(node)),
                  cost.bytes / MemoryBandwidth(device));
}

double LinkSeconds(const Link& link, int64_t bytes) {
  return link.latency + bytes / link.bandwidth;
}

}  // namespace partita
