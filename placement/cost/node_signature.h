// What a profile knows a kernel by.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_NODE_SIGNATURE_H_
#define PARTITA_PLACEMENT_COST_NODE_SIGNATURE_H_

#include <string>

#include "graph/device_traits.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "placement/machine/profile.h"

namespace partita {

// Equal exactly if the same kernel computes the same node alike: op,
// attributes, types and body (graph/node_key.h, by its hash); kernel,
// arithmetics and layouts of the choice; kind, instruction set and threads of
// the device. Layouts of a choice that takes any do not count. The text begins
// with what people look for, and has at most kMostSignatureBytes:
//
//   matmul f32[32, 784], f32[784, 256] -> f32[32, 256] #5c5e.. by onednn.matmul
//   (onednn 2.6.3 jit:avx2 threads 2) -, AB16b -> - on cpu avx2 threads 2
std::string SignatureOf(const OpView& node, const DeviceTraits& device,
                        const KernelChoice& choice);

// The family that the node is scaled with.
KernelFamily FamilyOf(const OpView& node, const DeviceTraits& device);

// The signatures of a node's choices on a device. Node and device are read and
// hashed once, for all choices: a body may have hundreds of nodes.
class NodeSignatures {
 public:
  NodeSignatures(const OpView& node, const DeviceTraits& device);

  // SignatureOf the node, the device and the choice.
  std::string Of(const KernelChoice& choice) const;
  // FamilyOf the node.
  const KernelFamily& family() const { return family_; }

 private:
  const KernelFamily family_;
  const std::string node_;
  const std::string device_;
};

// The version of the choice's kernel: the source of its first arithmetic, or
// the kernel's name if it states none.
std::string VersionOf(const KernelChoice& choice);

// What a profile says of the choice, with its roofline, before it is measured.
// Needs: a choice of a catalog without a profile.
MeasuredNode UnmeasuredNode(const OpView& node, const DeviceTraits& device,
                            const KernelChoice& choice);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_NODE_SIGNATURE_H_
