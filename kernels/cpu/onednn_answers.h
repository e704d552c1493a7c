// What this process's oneDNN offers for a node.
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

// The families that may compute the node, simplest first. Independent of the
// instructions that oneDNN uses.
std::vector<const OnednnFamily*> OnednnFamiliesFor(const OpView& node);
// The family of a kernel; null if there is none.
const OnednnFamily* OnednnFamilyOf(const KernelId& kernel);

// Queries primitive descriptors for the device's number of threads, without
// generating code, and for the instructions that this process uses, whatever
// the device's are. Best first.
std::vector<KernelChoice> AskOnednn(const OpView& node,
                                    const DeviceTraits& device);

// The family's recipe for these layouts, with oneDNN's exceptions as a Status.
// Every choice and every binding calls this, so it excludes what is known to be
// wrong.
absl::StatusOr<OnednnRecipe> Describe(const OnednnFamily& family,
                                      const OpView& node,
                                      const LayoutWish& wish);

// The recipe's layouts.
LayoutWish Exactly(const OnednnRecipe& recipe);

// For a node with the layouts `given`.
Arithmetic ArithmeticIn(const LayoutWish& given, const OnednnRecipe& recipe,
                        int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_ANSWERS_H_
