// The catalog and library over all families.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_kernels.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_rates.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"
#include "kernels/cpu/node_key.h"
#include "kernels/cpu/onednn_faults.h"
#include "kernels/cpu/onednn_primitive.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/cpu/relaid_primitive.h"
#include "oneapi/dnnl/dnnl_debug.h"

namespace partita {
namespace {

const OnednnFamily* const kFamilies[] = {
    &kOnednnConv,
    &kOnednnWinograd,
    &kOnednnConvTranspose,
    &kOnednnConvWeightGradient,
    &kOnednnMatmul,
    &kOnednnPool,
    &kOnednnPoolGradient,
    &kOnednnNorm,
    &kOnednnResample,
    &kOnednnBinary,
    &kOnednnWinogradTraining,
};

absl::string_view IsaName() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "other";
  }
}

std::string Arithmetic(const OnednnRecipe& recipe, int threads) {
  const dnnl_version_t* version = dnnl_version();
  std::string text = absl::StrCat(
      "onednn ", version->major, ".", version->minor, ".", version->patch, " ",
      ImplementationName(recipe.primitive), " ", IsaName());
  if (recipe.bits_depend_on_threads) {
    absl::StrAppend(&text, " threads ", threads);
  }
  if (recipe.tile > 0) absl::StrAppend(&text, " tiles not ieee");
  if (!recipe.ieee) absl::StrAppend(&text, " epilogue not ieee");
  if (recipe.flushes) absl::StrAppend(&text, " denormals not ieee");
  return text;
}

// The share of the device's rates that kinds of implementation reach.
struct Efficiency {
  const char* name;
  double flops;
  double bandwidth;
};
constexpr Efficiency kEfficiencies[] = {
    {"ref", 0.0001, 0.02}, {"simple", 0.02, 0.3},  {"brg", 0.75, 0.8},
    {"wino", 0.65, 0.8},   {"jit_1x1", 0.75, 0.8}, {"gemm", 0.45, 0.5},
    {"nchw", 0.1, 0.4},    {"jit", 0.73, 0.8},
};

// Vectors of AVX2 are fed as fast as they multiply.
constexpr Efficiency kNarrowGemm = {"gemm", 0.8, 0.5};

const Efficiency& EfficiencyOf(const std::string& implementation) {
  const bool narrow = VectorChannels() < 16;
  if (narrow && absl::StrContains(implementation, "gemm")) return kNarrowGemm;
  for (const Efficiency& entry : kEfficiencies) {
    if (absl::StrContains(implementation, entry.name)) return entry;
  }
  static constexpr Efficiency kOther = {"", 0.1, 0.3};
  return kOther;
}

double StoredBytes(TensorType type, const Layout& layout) {
  type.layout = layout;
  return static_cast<double>(type.num_bytes());
}

// What a launch does.
struct Work {
  double flops = 0;      // multiplications and additions of the sums
  double moving = 0;     // additions of transforms, bound by loads and stores
  double streaming = 0;  // bytes that pass before and after the sums
};

bool IsConvolution(const OnednnRecipe& recipe) {
  const dnnl::primitive::kind kind = recipe.primitive.get_kind();
  return kind == dnnl::primitive::kind::convolution ||
         kind == dnnl::primitive::kind::deconvolution;
}

bool IsConvolutionByGemm(const OnednnRecipe& recipe) {
  return IsConvolution(recipe) &&
         absl::StrContains(ImplementationName(recipe.primitive), "gemm");
}

const dnnl::memory::desc* DescOf(const OnednnRecipe& recipe, int id) {
  for (const OnednnRecipe::Argument& argument : recipe.arguments) {
    if (argument.id == id) return &argument.desc;
  }
  return nullptr;
}

// F(m x m, 3x3): (m + 2)^2 products in place of 9 m^2 a tile and pair of
// channels, and additions to transform a tile there and back. Of 2x2 tiles a
// core keeps what it transformed in its caches, but reads, transforms, writes
// and reads weights again; tiles of 4x4 pass through memory too.
Work WinogradWork(const OnednnRecipe& recipe) {
  const bool small = recipe.tile == 2;
  const auto channels = DescOf(recipe, DNNL_ARG_WEIGHTS)->dims();
  const auto image = DescOf(recipe, DNNL_ARG_DST)->dims();
  const auto tiles_along = [&](int axis) {
    return (image[axis] + recipe.tile - 1) / recipe.tile;
  };
  const double tiles =
      static_cast<double>(image[0] * tiles_along(2) * tiles_along(3));
  const double pairs = static_cast<double>(channels[0] * channels[1]);
  const double out = static_cast<double>(channels[0]);
  const double in = static_cast<double>(channels[1]);
  const double taps = (recipe.tile + 2) * (recipe.tile + 2);
  const double transformed = taps * sizeof(float) * pairs;
  Work work = {
      .flops = 2 * taps * tiles * pairs,
      .moving = tiles * (small ? 24 * out + 32 * in : 100 * out + 144 * in),
      .streaming = 9 * sizeof(float) * pairs + 2 * transformed};
  if (!small) work.streaming += 2 * taps * sizeof(float) * tiles * (out + in);
  return work;
}

// Weights that no cache of a core keeps.
constexpr double kLargeWeights = 1 << 20;

// Bytes that a convolution by gemm moves beside its operands. It is a product
// for each image, of a matrix that has a column of all taps' elements for each
// position, which is written and read; each product reads large weights anew,
// or adds to their gradient.
double GemmTraffic(const OpView& node, const OnednnRecipe& recipe) {
  const auto* source = DescOf(recipe, DNNL_ARG_SRC);
  const auto* weights = DescOf(recipe, DNNL_ARG_WEIGHTS);
  if (weights == nullptr) weights = DescOf(recipe, DNNL_ARG_DIFF_WEIGHTS);
  const dnnl::memory::dims dims = weights->dims();
  const size_t grouped = dims.size() - source->dims().size();
  double taps = 1;
  for (size_t i = grouped + 2; i < dims.size(); ++i) {
    taps *= static_cast<double>(dims[i]);
  }
  const double products = node.op().cost(node).flops / 2;
  double bytes = 0;
  if (taps > 1) {
    bytes += 2 * sizeof(float) * products / static_cast<double>(dims[grouped]);
  }
  const double weight_bytes = static_cast<double>(weights->get_size());
  if (weight_bytes > kLargeWeights) {
    bytes += weight_bytes * static_cast<double>(source->dims()[0] - 1);
  }
  return bytes;
}

double RoundedUp(dnnl::memory::dim extent, int multiple) {
  return static_cast<double>((extent + multiple - 1) / multiple * multiple);
}

// What brgconv does for fewer input channels takes as long as for so many: it
// sums over them in its innermost loop.
constexpr int kBrgconvDepth = 4;

bool HasChannelsLast(const dnnl::memory::desc& desc) {
  const dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
  return blocking.inner_nblks == 0 && blocking.strides[1] == 1;
}

// What a gradient by the weights takes longer of images with channels last, of
// which it reads each position's channels apart.
constexpr double kChannelsLastExcess = 1.35;

// Multiplications and additions for each that a gradient by the weights asks
// for: whole blocks on both sides, or on that of the output channels where
// channels are last; and shorter vectors.
double GradientExcess(const OpView& node, const OnednnRecipe& recipe) {
  const bool half =
      VectorChannels() == 16 &&
      absl::StrContains(ImplementationName(recipe.primitive), "avx2");
  const int width = half ? 2 : 1;
  const auto* gradient = DescOf(recipe, DNNL_ARG_DIFF_DST);
  if (HasChannelsLast(*gradient)) {
    const dnnl::memory::dim channels = gradient->dims()[1];
    return width * kChannelsLastExcess *
           RoundedUp(channels, VectorChannels() / width) /
           static_cast<double>(channels);
  }
  const TensorType& dw = node.result_type(0);
  return width * StoredBytes(dw, recipe.results[0]) /
         static_cast<double>(dw.num_bytes());
}

// The same for other convolutions: output channels fill whole vectors.
// Depthwise ones have groups there.
double VectorExcess(const OpView& node, const OnednnRecipe& recipe) {
  const auto* weights = DescOf(recipe, DNNL_ARG_WEIGHTS);
  if (weights == nullptr) return GradientExcess(node, recipe);
  const dnnl::memory::dims dims = weights->dims();
  if (dims.size() > DescOf(recipe, DNNL_ARG_SRC)->dims().size()) return 1;
  double excess =
      RoundedUp(dims[0], VectorChannels()) / static_cast<double>(dims[0]);
  if (absl::StrContains(ImplementationName(recipe.primitive), "brgconv")) {
    excess *= RoundedUp(dims[1], kBrgconvDepth) / static_cast<double>(dims[1]);
  }
  return excess;
}

Work WorkOf(const OpView& node, const OnednnRecipe& recipe) {
  if (recipe.tile > 0) return WinogradWork(recipe);
  Work work = {.flops = node.op().cost(node).flops};
  if (IsConvolutionByGemm(recipe)) {
    work.streaming = GemmTraffic(node, recipe);
  } else if (IsConvolution(recipe)) {
    work.flops *= VectorExcess(node, recipe);
  }
  return work;
}

// The share of the peak that additions between loads and stores reach.
constexpr double kMovingEfficiency = 0.1;

double Seconds(const OpView& node, const OnednnRecipe& recipe,
               const DeviceTraits& device) {
  const Efficiency& efficiency =
      EfficiencyOf(ImplementationName(recipe.primitive));
  const Work work = WorkOf(node, recipe);
  double bytes = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    bytes += StoredBytes(node.operand_type(i), recipe.operands[i]);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    bytes += StoredBytes(node.result_type(i), recipe.results[i]);
  }
  const double peak = PeakFlops(device, node.operand_type(0).dtype);
  const double bandwidth = MemoryBandwidth(device);
  return device.launch_seconds +
         std::max(work.flops / (peak * efficiency.flops),
                  bytes / (bandwidth * efficiency.bandwidth)) +
         work.moving / (peak * kMovingEfficiency) +
         work.streaming / (bandwidth * efficiency.bandwidth) + 1e-7;
}

// Reading and writing each result whose layouts differ.
double ReorderSeconds(const OpView& node, absl::Span<const Layout> from,
                      absl::Span<const Layout> to, const DeviceTraits& device) {
  double bytes = 0;
  for (int i = 0; i < node.num_results(); ++i) {
    if (from[i] == to[i]) continue;
    bytes += StoredBytes(node.result_type(i), from[i]) +
             StoredBytes(node.result_type(i), to[i]);
  }
  return bytes / MemoryBandwidth(device);
}

// oneDNN takes extents of 64 bits and counts in 32 in places: it divides by
// what is left of 2^32 elements.
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

// Describe, with oneDNN's exceptions as a Status. Whatever is chosen or bound
// comes by here: nothing that is known to be wrong does.
absl::StatusOr<OnednnRecipe> Describe(const OnednnFamily& family,
                                      const OpView& node,
                                      const LayoutWish& wish) {
  if (!IsCountedIn32Bits(node)) return NotOffered("more than 2^31 elements");
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

// The layouts that a node has which is bound to this choice.
LayoutWish Offered(const OnednnFamily& family, const LayoutWish& wish,
                   const OnednnRecipe& recipe) {
  LayoutWish offered = Exactly(recipe);
  if (!family.relays_results) return offered;
  for (size_t i = 0; i < offered.results.size(); ++i) {
    if (wish.results[i].has_value()) offered.results[i] = wish.results[i];
  }
  return offered;
}

std::string ArithmeticIn(const LayoutWish& given, const OnednnRecipe& recipe,
                         int threads) {
  std::string text = Arithmetic(recipe, threads);
  if (Exactly(recipe) != given) {
    absl::StrAppend(&text, " in layouts of its own");
  }
  return text;
}

// The choice that a binding with the same layouts will find again.
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
  const std::string implementation = ImplementationName(recipe.primitive);
  if (node.is(kFused) && absl::StrContains(implementation, "ref")) {
    return NotOffered("a fused node by reference loops");
  }
  KernelChoice choice;
  choice.kernel = family.kernel;
  choice.operands = recipe.operands;
  for (const auto& layout : offered.results) choice.results.push_back(*layout);
  choice.workspace = RelaidWorkspace(node, offered, recipe);
  choice.in_place = recipe.in_place;
  choice.seconds = Seconds(node, recipe, device) +
                   ReorderSeconds(node, recipe.results, choice.results, device);
  choice.arithmetic = ArithmeticIn(offered, recipe, device.threads);
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

// They are thousands of times slower: only where there is nothing else.
void DropReferenceLoops(std::vector<KernelChoice>& choices) {
  const auto is_reference = [](const KernelChoice& choice) {
    return absl::StrContains(choice.arithmetic, " ref");
  };
  if (std::all_of(choices.begin(), choices.end(), is_reference)) return;
  choices.erase(std::remove_if(choices.begin(), choices.end(), is_reference),
                choices.end());
}

std::vector<KernelChoice> AskAll(const OpView& node,
                                 const DeviceTraits& device) {
  const ThreadScope threads(device.threads);
  std::vector<KernelChoice> choices;
  for (const OnednnFamily* family : kFamilies) {
    if (!family->accepts(node)) continue;
    for (const LayoutWish& wish : family->wishes(node)) {
      absl::StatusOr<KernelChoice> choice = Ask(*family, node, wish, device);
      if (choice.ok()) AddIfNew(*std::move(choice), choices);
    }
  }
  DropReferenceLoops(choices);
  std::stable_sort(choices.begin(), choices.end(),
                   [](const KernelChoice& a, const KernelChoice& b) {
                     return a.seconds < b.seconds;
                   });
  return choices;
}

// Weights that are being trained have kernels of their own.
std::string ConstantOperands(const OpView& node) {
  std::string constants;
  for (int i = 0; i < node.num_operands(); ++i) {
    constants += node.operand(i).is_constant() ? 'c' : '-';
  }
  return constants;
}

std::string AnswerKey(const OpView& node, const DeviceTraits& device) {
  return absl::StrCat(NodeKey(node), ConstantOperands(node), "@",
                      device.threads, " ",
                      device.peak_flops[static_cast<int>(DType::kF32)], " ",
                      device.peak_flops[static_cast<int>(DType::kBF16)], " ",
                      device.memory_bandwidth, " ", device.launch_seconds);
}

const OnednnFamily* FamilyFor(const OpView& node) {
  for (const OnednnFamily* family : kFamilies) {
    if (family->accepts(node)) return family;
  }
  return nullptr;
}

const OnednnFamily* FamilyOf(absl::string_view kernel) {
  for (const OnednnFamily* family : kFamilies) {
    if (kernel == family->kernel) return family;
  }
  return nullptr;
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

// What the choice takes with all reorders around it, which read and write each
// value once.
double RelaidSeconds(const OpView& node, const KernelChoice& choice,
                     const DeviceTraits& device) {
  double bytes = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    const TensorType& type = node.operand_type(i);
    if (type.layout == choice.operands[i]) continue;
    if (node.operand(i).constant() != nullptr) continue;
    bytes += 2 * StoredBytes(type, choice.operands[i]);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType& type = node.result_type(i);
    if (type.layout == choice.results[i]) continue;
    bytes += 2 * StoredBytes(type, choice.results[i]);
  }
  return choice.seconds + bytes / MemoryBandwidth(device);
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
  if (device.kind != DeviceKind::kCpu) return {};
  const std::string key = AnswerKey(node, device);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto it = answers_.find(key); it != answers_.end()) return it->second;
  }
  std::vector<KernelChoice> choices = AskAll(node, device);
  const std::lock_guard<std::mutex> lock(mutex_);
  return answers_.try_emplace(key, std::move(choices)).first->second;
}

absl::StatusOr<LibraryKernel> OnednnLibrary::Bind(
    const BindRequest& request) const {
  const OpView& node = request.node;
  const OnednnFamily* family = request.binding->kernel == name()
                                   ? FamilyFor(node)
                                   : FamilyOf(request.binding->kernel);
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
