// What the oneDNN of this process offers for a node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_ANSWERS_H_
#define PARTITA_KERNELS_CPU_ONEDNN_ANSWERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// The families that may compute the node, the plainest first. The same whatever
// instructions oneDNN uses.
std::vector<const OnednnFamily*> OnednnFamiliesFor(const OpView& node);
// That which a kernel belongs to; null if there is none.
const OnednnFamily* OnednnFamilyOf(absl::string_view kernel);

// Asks for primitive descriptors at the device's number of threads, without
// generating code, and for the instructions that this process uses, whatever
// the device's are. Best first.
std::vector<KernelChoice> AskOnednn(const OpView& node,
                                    const DeviceTraits& device);

// The family's recipe for such layouts, with oneDNN's exceptions as a Status.
// Whatever is chosen or bound comes by here: nothing that is known to be wrong
// does.
absl::StatusOr<OnednnRecipe> Describe(const OnednnFamily& family,
                                      const OpView& node,
                                      const LayoutWish& wish);

// The layouts that the recipe has.
LayoutWish Exactly(const OnednnRecipe& recipe);

// See KernelBinding::arithmetic; of a node with the layouts `given`.
std::string ArithmeticIn(const LayoutWish& given, const OnednnRecipe& recipe,
                         int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_ANSWERS_H_
