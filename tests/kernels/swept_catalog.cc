// Asks oneDNN for its further implementations.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/swept_catalog.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "graph/op_def.h"
#include "kernels/cpu/onednn_answers.h"
#include "kernels/cpu/onednn_faults.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/cpu/relaid_primitive.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

// The most that oneDNN has for any node: jit, gemm and its reference, with and
// without AVX-512.
constexpr int kMostImplementations = 6;
constexpr double kSoonDone = 2e5;  // operations

bool IsSoonDone(const OpView& node, const KernelChoice& choice, int threads) {
  const bool is_loop =
      choice.fallback || IsReferenceLoop(choice.arithmetics[0]);
  if (!is_loop) return true;
  return node.op().cost(node).flops < kSoonDone &&
         (threads == 1 || !choice.fallback);
}

bool IsSame(const KernelChoice& a, const KernelChoice& b) {
  return a.kernel == b.kernel && a.operands == b.operands &&
         a.results == b.results && a.arithmetics == b.arithmetics;
}

bool Contains(const std::vector<KernelChoice>& choices,
              const KernelChoice& choice) {
  return std::any_of(
      choices.begin(), choices.end(),
      [&](const KernelChoice& other) { return IsSame(choice, other); });
}

// oneDNN's other implementations for a choice's layouts, as the library binds
// them to a plan that names them.
void AddOthers(const OpView& node, const KernelChoice& choice,
               const DeviceTraits& device, std::vector<KernelChoice>& all) {
  const OnednnFamily& family = *OnednnFamilyOf(choice.kernel);
  const OneNode bound = WithLayouts(node, choice);
  const ThreadScope threads(device.threads);
  LayoutWish wish = GivenWish(bound.node());
  const LayoutWish given = wish;
  for (; wish.skipped < kMostImplementations; ++wish.skipped) {
    const auto recipe = Describe(family, bound.node(), wish);
    if (!recipe.ok()) continue;
    KernelChoice other = choice;
    other.workspace = RelaidWorkspace(bound.node(), given, *recipe);
    other.arithmetics = {ArithmeticIn(given, *recipe, device.threads)};
    other.in_place.clear();
    if (Exactly(*recipe) == given) other.in_place = recipe->in_place;
    if (!Contains(all, other)) all.push_back(std::move(other));
  }
}

std::vector<KernelChoice> WithOthers(const OpView& node,
                                     std::vector<KernelChoice> choices,
                                     const DeviceTraits& device) {
  std::vector<KernelChoice> all = choices;
  for (const KernelChoice& choice : choices) {
    if (choice.kernel.library == "onednn") {
      AddOthers(node, choice, device, all);
    }
  }
  return all;
}

}  // namespace

std::vector<KernelChoice> SweptCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  std::vector<KernelChoice> all =
      WithOthers(node, all_.Choices(node, device), device);
  std::erase_if(all, [&](const KernelChoice& choice) {
    return !IsSoonDone(node, choice, device.threads);
  });
  return all;
}

absl::StatusOr<std::vector<CodeObject>> SweptCatalog::BuildCode(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  return all_.BuildCode(nodes, device);
}

std::string ImplementationOf(const KernelChoice& choice) {
  if (choice.kernel.library != "onednn") return choice.kernel.ToString();
  // "gemm:jit avx2"
  const std::string& name = choice.arithmetics[0].implementation;
  return name.substr(0, name.find(' '));
}

std::vector<std::string> ExcludedOf(const OpView& node,
                                    const DeviceTraits& device) {
  const auto ask = [&] {
    return WithOthers(node, OnednnCatalog().Choices(node, device), device);
  };
  const std::vector<KernelChoice> sound = ask();
  const IgnoreKnownFaults scope;
  std::vector<std::string> names;
  for (const KernelChoice& choice : ask()) {
    if (!Contains(sound, choice)) names.push_back(ImplementationOf(choice));
  }
  return names;
}

}  // namespace partita
