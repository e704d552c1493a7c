// The catalog and library over all families.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_kernels.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "kernels/cpu/isa_process.h"
#include "kernels/cpu/node_key.h"
#include "kernels/cpu/onednn_answers.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/cpu/onednn_primitive.h"
#include "kernels/cpu/onednn_question.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/onednn_seconds.h"
#include "kernels/cpu/relaid_primitive.h"

namespace partita {
namespace {

// True if the device's instructions are those of this process.
bool IsOfThisProcess(const DeviceTraits& device) {
  return device.kind != DeviceKind::kCpu || device.isa.empty() ||
         device.isa == IsaOfOnednn();
}

absl::StatusOr<std::vector<KernelChoice>> AskFor(const OpView& node,
                                                 const DeviceTraits& device) {
  if (IsOfThisProcess(device)) return AskOnednn(node, device);
  PARTITA_ASSIGN_OR_RETURN(
      const std::string answer,
      IsaProcess::For(device.isa).Ask(OnednnQuestionText(node, device)));
  return ParseOnednnAnswer(answer, node);
}

std::string AnswerKey(const OpView& node, const DeviceTraits& device) {
  return absl::StrCat(NodeKey(node), ConstantOperands(node), "@", device.isa,
                      " ", device.threads, " ",
                      device.peak_flops[static_cast<int>(DType::kF32)], " ",
                      device.peak_flops[static_cast<int>(DType::kBF16)], " ",
                      device.memory_bandwidth, " ", device.launch_seconds);
}

absl::StatusOr<std::unique_ptr<BoundKernel>> MakePrimitive(
    const OnednnRecipe& recipe, int threads) {
  try {
    return std::make_unique<OnednnPrimitive>(recipe, threads);
  } catch (const dnnl::error& error) {
    return OnednnStatus(error.status, "making a primitive");
  }
}

absl::StatusOr<std::unique_ptr<BoundKernel>> MakeRelaid(
    const OpView& node, const OnednnRecipe& recipe, int threads) {
  try {
    return std::make_unique<RelaidPrimitive>(node, recipe, threads);
  } catch (const dnnl::error& error) {
    return OnednnStatus(error.status, "making a primitive in its own layouts");
  }
}

absl::Status TooLittleWorkspace(const BindRequest& request, int64_t needed) {
  return absl::ResourceExhaustedError(absl::StrCat(
      request.node.ToString(), ": found ", needed,
      " bytes of workspace needed by ", request.binding->kernel, " with ",
      request.device->threads, " threads; expected at most ",
      request.binding->workspace, "; compile the plan again on this machine"));
}

absl::Status NoKernel(const BindRequest& request) {
  return absl::UnimplementedError(absl::StrCat(
      request.node.ToString(), ": found kernel ", request.binding->kernel,
      "; expected one that computes this node"));
}

LayoutWish WishOf(const KernelChoice& choice) {
  LayoutWish wish;
  wish.operands.assign(choice.operands.begin(), choice.operands.end());
  wish.results.assign(choice.results.begin(), choice.results.end());
  return wish;
}

}  // namespace

std::vector<KernelChoice> OnednnCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (device.kind != DeviceKind::kCpu || OnednnFamilyFor(node) == nullptr) {
    return {};
  }
  const std::string key = AnswerKey(node, device);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto it = answers_.find(key); it != answers_.end()) return it->second;
  }
  absl::StatusOr<std::vector<KernelChoice>> choices = AskFor(node, device);
  if (!choices.ok()) return {};  // CheckOnednn says why
  const std::lock_guard<std::mutex> lock(mutex_);
  return answers_.try_emplace(key, *std::move(choices)).first->second;
}

absl::Status CheckOnednn(const DeviceTraits& device) {
  if (IsOfThisProcess(device)) return absl::OkStatus();
  return IsaProcess::For(device.isa).Check();
}

absl::StatusOr<LibraryKernel> OnednnLibrary::Bind(
    const BindRequest& request) const {
  const OpView& node = request.node;
  const OnednnFamily* family = request.binding->kernel == name()
                                   ? OnednnFamilyFor(node)
                                   : OnednnFamilyOf(request.binding->kernel);
  if (family == nullptr || !family->accepts(node)) return NoKernel(request);
  const ThreadScope threads(request.device->threads);
  const LayoutWish given = GivenWish(node);
  absl::StatusOr<OnednnRecipe> recipe = Describe(
      *family, node, request.stands_in ? FastestWish(request, *family) : given);
  if (!recipe.ok()) {
    return absl::Status(
        recipe.status().code(),
        absl::StrCat("while binding ", request.binding->kernel, " to ",
                     node.ToString(), ": ", recipe.status().message()));
  }
  const int64_t needed = RelaidWorkspace(node, given, *recipe);
  if (needed > request.binding->workspace) {
    return TooLittleWorkspace(request, needed);
  }
  const int team = request.device->threads;
  LibraryKernel bound;
  bound.identity = {family->kernel, ArithmeticIn(given, *recipe, team)};
  if (Exactly(*recipe) == given) {
    bound.in_place = recipe->in_place;
    PARTITA_ASSIGN_OR_RETURN(bound.kernel, MakePrimitive(*recipe, team));
  } else {
    PARTITA_ASSIGN_OR_RETURN(bound.kernel, MakeRelaid(node, *recipe, team));
  }
  return bound;
}

LayoutWish OnednnLibrary::FastestWish(const BindRequest& request,
                                      const OnednnFamily& family) const {
  const OpView& node = request.node;
  const KernelChoice* fastest = nullptr;
  double least = 0;
  const std::vector<KernelChoice> choices =
      catalog_.Choices(node, *request.device);
  for (const KernelChoice& choice : choices) {
    if (choice.kernel != family.kernel) continue;
    const double seconds = RelaidSeconds(node, choice, *request.device);
    if (fastest != nullptr && seconds >= least) continue;
    fastest = &choice;
    least = seconds;
  }
  return fastest == nullptr ? GivenWish(node) : WishOf(*fastest);
}

}  // namespace partita
