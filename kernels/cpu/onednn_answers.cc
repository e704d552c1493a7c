// Queries the families in turn, with the layouts that each wants.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_answers.h"

#include <iterator>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "kernels/cpu/onednn_family_list.h"
#include "kernels/cpu/onednn_faults.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/cpu/onednn_seconds.h"
#include "kernels/cpu/relaid_primitive.h"
#include "oneapi/dnnl/dnnl_debug.h"

namespace partita {
namespace {

absl::Span<const OnednnFamily* const> Families() {
  return {kOnednnFamilies, static_cast<size_t>(kOnednnFamiliesSize)};
}

// Most implementations are named after the instructions that they use.
bool NamesInstructions(const std::string& implementation) {
  return absl::StrContains(implementation, "sse") ||
         absl::StrContains(implementation, "avx");
}

// oneDNN accepts 64-bit extents but counts in 32 bits in places, and divides by
// what remains of 2^32 elements.
bool IsCountedIn32Bits(const OpView& node) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (int i = 0; i < node.num_operands(); ++i) {
    if (node.operand_type(i).num_elements() > kMost) return false;
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (node.result_type(i).num_elements() > kMost) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<OnednnRecipe> Describe(const OnednnFamily& family,
                                      const OpView& node,
                                      const LayoutWish& wish) {
  if (!IsCountedIn32Bits(node)) return NotOffered("more than 2^31 elements");
  if (IsBf16Product(node) && VectorChannels() < 16) {
    return NotOffered("bf16 without AVX-512");
  }
  if (wish.skipped > 0 && !family.has_alternatives) {
    return NotOffered("no other implementation");
  }
  try {
    PARTITA_ASSIGN_OR_RETURN(OnednnRecipe recipe, family.describe(node, wish));
    const OnednnFault* fault = KnownFault(recipe.primitive);
    if (fault != nullptr) return NotOffered(fault->reason);
    return recipe;
  } catch (const dnnl::error& error) {
    return NotOffered(dnnl_status2str(error.status));
  }
}

LayoutWish Exactly(const OnednnRecipe& recipe) {
  LayoutWish wish;
  wish.operands.assign(recipe.operands.begin(), recipe.operands.end());
  wish.results.assign(recipe.results.begin(), recipe.results.end());
  return wish;
}

namespace {

// The layouts of a node that is bound to this choice.
LayoutWish Offered(const OnednnFamily& family, const LayoutWish& wish,
                   const OnednnRecipe& recipe) {
  LayoutWish offered = Exactly(recipe);
  if (!family.relays_results) return offered;
  for (size_t i = 0; i < offered.results.size(); ++i) {
    if (wish.results[i].has_value()) offered.results[i] = wish.results[i];
  }
  return offered;
}

}  // namespace

Arithmetic ArithmeticIn(const LayoutWish& given, const OnednnRecipe& recipe,
                        int threads) {
  std::string implementation = ImplementationName(recipe.primitive);
  if (!NamesInstructions(implementation)) {
    absl::StrAppend(&implementation, " ", InstructionsOf(recipe.flushes));
  }
  return {.source = absl::StrCat("onednn ", OnednnVersion()),
          .implementation = std::move(implementation),
          .threads = recipe.bits_depend_on_threads ? threads : 0,
          .violates = {.tiles = recipe.tile > 0,
                       .epilogue = !recipe.ieee,
                       .denormals = recipe.flushes},
          .relaid = Exactly(recipe) != given};
}

namespace {

// The choice that a later binding with the same layouts finds again.
absl::StatusOr<KernelChoice> Ask(const OnednnFamily& family, const OpView& node,
                                 const LayoutWish& wish,
                                 const DeviceTraits& device) {
  PARTITA_ASSIGN_OR_RETURN(const OnednnRecipe first,
                           Describe(family, node, wish));
  const LayoutWish offered = Offered(family, wish, first);
  PARTITA_ASSIGN_OR_RETURN(const OnednnRecipe recipe,
                           Describe(family, node, offered));
  if (first.operands != recipe.operands || first.results != recipe.results) {
    return NotOffered("a layout that does not stay");
  }
  if (IsSlowFused(node, recipe, device)) {
    return NotOffered("a fused node that is faster in parts");
  }
  KernelChoice choice;
  choice.kernel = family.kernel;
  choice.operands = recipe.operands;
  for (const auto& layout : offered.results) choice.results.push_back(*layout);
  choice.workspace = RelaidWorkspace(node, offered, recipe);
  choice.in_place = recipe.in_place;
  choice.seconds = OnednnSeconds(node, recipe, device) +
                   ReorderSeconds(node, recipe.results, choice.results, device);
  choice.arithmetics = {ArithmeticIn(offered, recipe, device.threads)};
  choice.fallback = IsReferenceLoop(recipe.primitive);
  return choice;
}

void AddIfNew(KernelChoice choice, std::vector<KernelChoice>& choices) {
  for (const KernelChoice& other : choices) {
    if (other.kernel == choice.kernel && other.operands == choice.operands &&
        other.results == choice.results) {
      return;
    }
  }
  choices.push_back(std::move(choice));
}

// They are thousands of times slower; kept only if there is nothing else.
void DropReferenceLoops(std::vector<KernelChoice>& choices) {
  const auto is_reference = [](const KernelChoice& choice) {
    return choice.fallback;
  };
  if (absl::c_all_of(choices, is_reference)) return;
  std::erase_if(choices, is_reference);
}

}  // namespace

std::vector<KernelChoice> AskOnednn(const OpView& node,
                                    const DeviceTraits& device) {
  const ThreadScope threads(device.threads);
  std::vector<KernelChoice> choices;
  for (const OnednnFamily* family : OnednnFamiliesFor(node)) {
    for (const LayoutWish& wish : family->wishes(node)) {
      absl::StatusOr<KernelChoice> choice = Ask(*family, node, wish, device);
      if (choice.ok()) AddIfNew(*std::move(choice), choices);
    }
  }
  DropReferenceLoops(choices);
  absl::c_stable_sort(choices,
                      [](const KernelChoice& a, const KernelChoice& b) {
                        return a.seconds < b.seconds;
                      });
  return choices;
}

std::vector<const OnednnFamily*> OnednnFamiliesFor(const OpView& node) {
  std::vector<const OnednnFamily*> families;
  absl::c_copy_if(
      Families(), std::back_inserter(families),
      [&](const OnednnFamily* family) { return family->accepts(node); });
  return families;
}

const OnednnFamily* OnednnFamilyOf(const KernelId& kernel) {
  for (const OnednnFamily* family : Families()) {
    if (kernel == family->kernel) return family;
  }
  return nullptr;
}

}  // namespace partita
