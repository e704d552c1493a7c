// The catalog and library over all families.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_kernels.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/node_key.h"
#include "graph/status_macros.h"
#include "kernels/cpu/onednn_answers.h"
#include "kernels/cpu/onednn_child.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/cpu/onednn_primitive.h"
#include "kernels/cpu/onednn_question.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/onednn_seconds.h"
#include "kernels/cpu/relaid_primitive.h"

namespace partita {
namespace {

// True if the device's instruction set is this process's.
bool IsOfThisProcess(const DeviceTraits& device) {
  return !RunsHostCode(device) || device.isa.empty() ||
         device.isa == IsaOfOnednn();
}

absl::StatusOr<std::vector<KernelChoice>> AskFor(const OpView& node,
                                                 const DeviceTraits& device) {
  if (IsOfThisProcess(device)) return AskOnednn(node, device);
  PARTITA_ASSIGN_OR_RETURN(
      const std::string answer,
      OnednnChild::For(device.isa).Ask(OnednnQuestionText(node, device)));
  return ParseOnednnAnswer(answer, node);
}

std::string AnswerKey(const OpView& node, const DeviceTraits& device) {
  return absl::StrCat(NodeKey(node), ConstantOperands(node), "@", device.isa,
                      " ", device.threads, " ",
                      device.peak_flops[static_cast<int>(DType::kF32)], " ",
                      device.peak_flops[static_cast<int>(DType::kBF16)], " ",
                      device.memory_bandwidth, " ", device.launch_seconds);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakePrimitive(
    const OnednnRecipe& recipe, int threads) {
  try {
    return std::make_unique<OnednnPrimitive>(recipe, threads);
  } catch (const dnnl::error& error) {
    return OnednnStatus(error.status, "making a primitive");
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeRelaid(const OpView& node,
                                                   const OnednnRecipe& recipe,
                                                   int threads) {
  try {
    return std::make_unique<RelaidPrimitive>(node, recipe, threads);
  } catch (const dnnl::error& error) {
    return OnednnStatus(error.status, "making a primitive in its own layouts");
  }
}

absl::Status TooLittleWorkspace(const BindRequest& request, int64_t needed) {
  const int granted = GrantedThreads(*request.device);
  if (granted < request.device->threads) {
    return absl::ResourceExhaustedError(absl::StrCat(
        request.node.ToString(), ": found ", needed,
        " bytes of workspace needed by ", request.binding->kernel.ToString(),
        " with ", granted,
        " threads, which are all that OMP_THREAD_LIMIT allows; expected ",
        "at most ", request.binding->workspace, " with ",
        request.device->threads, "; raise the limit, or compile the plan for ",
        granted, " threads"));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      request.node.ToString(), ": found ", needed,
      " bytes of workspace needed by ", request.binding->kernel.ToString(),
      " with ", request.device->threads, " threads; expected at most ",
      request.binding->workspace, "; compile the plan again on this machine"));
}

absl::Status NoKernel(const BindRequest& request) {
  return absl::UnimplementedError(
      absl::StrCat(request.node.ToString(), ": found kernel ",
                   request.binding->kernel.ToString(),
                   "; expected one that computes this node"));
}

LayoutWish WishOf(const KernelChoice& choice) {
  LayoutWish wish;
  wish.operands.assign(choice.operands.begin(), choice.operands.end());
  wish.results.assign(choice.results.begin(), choice.results.end());
  return wish;
}

// One way to compute the node here, in its layouts or in others.
struct Way {
  const OnednnFamily* family = nullptr;
  OnednnRecipe recipe;
  Arithmetic arithmetic;
  int64_t workspace = 0;
  double seconds = 0;  // including reorders
};
using Ways = std::vector<Way>;

// More than oneDNN has for any primitive.
constexpr int kMostImplementations = 16;

Way WayOf(const OnednnFamily& family, const OpView& node, OnednnRecipe recipe,
          const DeviceTraits& device, double seconds) {
  const LayoutWish given = GivenWish(node);
  Way way;
  way.family = &family;
  way.arithmetic = ArithmeticIn(given, recipe, device.threads);
  way.workspace = RelaidWorkspace(node, given, recipe);
  way.seconds = seconds;
  way.recipe = std::move(recipe);
  return way;
}

// In the node's layouts, with oneDNN's implementation of this number.
absl::StatusOr<Way> GivenWay(const OnednnFamily& family, const OpView& node,
                             const DeviceTraits& device, int number) {
  LayoutWish wish = GivenWish(node);
  wish.skipped = number;
  PARTITA_ASSIGN_OR_RETURN(OnednnRecipe recipe, Describe(family, node, wish));
  std::vector<Layout> results;
  for (const auto& layout : wish.results) results.push_back(*layout);
  const double seconds = OnednnSeconds(node, recipe, device) +
                         ReorderSeconds(node, recipe.results, results, device);
  return WayOf(family, node, std::move(recipe), device, seconds);
}

bool IsPlans(const Way& way, const KernelBinding& binding) {
  if (binding.arithmetics.empty()) {
    return !IsReferenceLoop(way.recipe.primitive);
  }
  return absl::c_linear_search(binding.arithmetics, way.arithmetic);
}

// Reference loops, and post-ops that are slower than a loop of their own, are
// bound only if the plan names them; another library is better.
void DropSlow(const BindRequest& request, Ways& ways) {
  std::erase_if(ways, [&](const Way& way) {
    const bool is_slow = IsReferenceLoop(way.recipe.primitive) ||
                         IsSlowFused(request.node, way.recipe, *request.device);
    const bool is_plans =
        !request.binding->arithmetics.empty() && IsPlans(way, *request.binding);
    return is_slow && !is_plans;
  });
}

// The plan's own way, or else the fastest, among those that fit.
const Way* BestWithin(const Ways& ways, const KernelBinding& binding) {
  const Way* best = nullptr;
  for (const Way& way : ways) {
    if (way.workspace > binding.workspace) continue;
    if (!binding.arithmetics.empty() && IsPlans(way, binding)) return &way;
    if (best == nullptr || way.seconds < best->seconds) best = &way;
  }
  return best;
}

absl::StatusOr<BoundKernel> BindWay(const OpView& node, const Way& way,
                                    int threads) {
  BoundKernel bound;
  bound.id = way.family->kernel;
  bound.arithmetic = way.arithmetic;
  if (Exactly(way.recipe) == GivenWish(node)) {
    bound.in_place = way.recipe.in_place;
    PARTITA_ASSIGN_OR_RETURN(bound.kernel, MakePrimitive(way.recipe, threads));
  } else {
    PARTITA_ASSIGN_OR_RETURN(bound.kernel,
                             MakeRelaid(node, way.recipe, threads));
  }
  return bound;
}

}  // namespace

std::vector<KernelChoice> OnednnCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (!RunsHostCode(device) || OnednnFamiliesFor(node).empty()) {
    return {};
  }
  const std::string key = AnswerKey(node, device);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto it = answers_.find(key); it != answers_.end()) return it->second;
  }
  absl::StatusOr<std::vector<KernelChoice>> choices = AskFor(node, device);
  if (!choices.ok()) return {};  // CheckOnednn has the reason
  const std::lock_guard<std::mutex> lock(mutex_);
  return answers_.try_emplace(key, *std::move(choices)).first->second;
}

absl::Status CheckOnednn(const DeviceTraits& device) {
  if (IsOfThisProcess(device)) return absl::OkStatus();
  return OnednnChild::For(device.isa).Check();
}

namespace {

// The family that the plan names. If it names none: all that may compute the
// node with sums of its own elements (see OnednnRecipe::tile).
std::vector<const OnednnFamily*> FamiliesFor(const BindRequest& request,
                                             absl::string_view library) {
  if (request.binding->kernel == library) {
    return OnednnFamiliesFor(request.node);
  }
  const OnednnFamily* family = OnednnFamilyOf(request.binding->kernel);
  if (family == nullptr || !family->accepts(request.node)) return {};
  return {family};
}

// All of oneDNN's ways in the node's layouts, then those in others, with
// reorders.
Ways AllWays(const OnednnCatalog& catalog,
             absl::Span<const OnednnFamily* const> families, const OpView& node,
             const DeviceTraits& device) {
  Ways ways;
  for (const OnednnFamily* family : families) {
    for (int i = 0; i < kMostImplementations; ++i) {
      auto way = GivenWay(*family, node, device, i);
      if (way.ok()) ways.push_back(*std::move(way));
    }
  }
  DeviceTraits here = device;
  here.isa.clear();
  for (const KernelChoice& choice : catalog.Choices(node, here)) {
    const OnednnFamily* const family = OnednnFamilyOf(choice.kernel);
    if (!absl::c_linear_search(families, family)) continue;
    auto recipe = Describe(*family, node, WishOf(choice));
    if (!recipe.ok()) continue;
    ways.push_back(WayOf(*family, node, *std::move(recipe), device,
                         RelaidSeconds(node, choice, device)));
  }
  if (families.size() > 1) {
    std::erase_if(ways, [](const Way& way) { return way.recipe.tile > 0; });
  }
  return ways;
}

}  // namespace

absl::StatusOr<BoundKernel> OnednnLibrary::Bind(
    const BindRequest& request) const {
  const OpView& node = request.node;
  const auto families = FamiliesFor(request, name());
  if (families.empty() || !RunsHostCode(*request.device)) {
    return NoKernel(request);
  }
  const int threads = GrantedThreads(*request.device);
  const ThreadScope scope(threads);
  const KernelBinding& binding = *request.binding;
  const auto first = GivenWay(*families[0], node, *request.device, 0);
  if (first.ok() && !request.emulates && IsPlans(*first, binding) &&
      first->workspace <= binding.workspace) {
    return BindWay(node, *first, threads);
  }
  Ways ways = AllWays(catalog_, families, node, *request.device);
  DropSlow(request, ways);
  if (ways.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        "while binding ", binding.kernel.ToString(), " to ", node.ToString(),
        ": ",
        first.ok() ? "onednn: nothing that is faster than the node in parts"
                   : first.status().message()));
  }
  if (request.emulates) {
    const Way& fastest = *absl::c_min_element(
        ways, [](const Way& a, const Way& b) { return a.seconds < b.seconds; });
    if (fastest.workspace <= binding.workspace) {
      return BindWay(node, fastest, threads);
    }
    return TooLittleWorkspace(request, fastest.workspace);
  }
  const Way* best = BestWithin(ways, binding);
  if (best == nullptr) {
    return TooLittleWorkspace(request, ways.front().workspace);
  }
  return BindWay(node, *best, threads);
}

}  // namespace partita
