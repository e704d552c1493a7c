// The node's twin in f32, and conversions around its kernel.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/widened/widened_kernels.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/device_rates.h"
#include "graph/graph.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/widened/half_arrays.h"
#include "kernels/widened/half_cast.h"

namespace partita {
namespace {

constexpr char kPrefix[] = "widened.";

bool IsWidened(const OpView& node) {
  if (!node.is(kMatmul) && !node.is(kConv) && !node.is(kConvTranspose) &&
      !node.is(kConvWeightGradient)) {
    return false;
  }
  const DType dtype = node.result_type(0).dtype;
  if (dtype != DType::kBF16 && dtype != DType::kF16) return false;
  for (int i = 0; i < node.num_operands(); ++i) {
    if (node.operand_type(i).dtype != dtype) return false;
  }
  return true;
}

TensorType InF32(TensorType type) {
  type.dtype = DType::kF32;
  return type;
}

// The same op over f32, in the layouts that the node has.
class Twin {
 public:
  static absl::StatusOr<std::unique_ptr<Twin>> Of(const OpView& node) {
    auto twin = std::make_unique<Twin>();
    ValueIds operands;
    for (int i = 0; i < node.num_operands(); ++i) {
      operands.push_back(
          twin->graph_.AddInput("", InF32(node.operand_type(i).RowMajor())));
    }
    PARTITA_ASSIGN_OR_RETURN(
        twin->id_,
        twin->graph_.AddNode({.op = &node.op(),
                              .operands = operands,
                              .attributes = node.node().attributes}));
    for (int i = 0; i < node.num_operands(); ++i) {
      twin->graph_.value(operands[i]).type.layout = node.operand_type(i).layout;
    }
    const ValueId result = twin->node().node().results[0];
    twin->graph_.value(result).type.layout = node.result_type(0).layout;
    return twin;
  }

  Twin() : graph_("twin", &literals_) {}
  OpView node() const { return graph_.view(id_); }

 private:
  LiteralPool literals_;
  Graph graph_;
  NodeId id_;
};

int64_t RoomOf(TensorType type, const Layout& layout) {
  type.layout = layout;
  return (InF32(type).num_bytes() + kWorkspaceAlignment - 1) /
         kWorkspaceAlignment * kWorkspaceAlignment;
}

// Of the converted values, in the layouts given.
int64_t RoomOf(const OpView& node, absl::Span<const Layout> operands,
               const Layout& result) {
  int64_t bytes = RoomOf(node.result_type(0), result);
  for (int i = 0; i < node.num_operands(); ++i) {
    bytes += RoomOf(node.operand_type(i), operands[i]);
  }
  return bytes;
}

std::string Arithmetic(const std::string& of_product, DType dtype) {
  return absl::StrCat(of_product, " rounded to ", DTypeName(dtype));
}

// That of the product, or of each that the plan names.
std::string ProductArithmetic(const std::string& rounded, DType dtype) {
  return absl::StrReplaceAll(rounded, {{Arithmetic("", dtype), ""}});
}

class WidenedKernel : public BoundKernel {
 public:
  WidenedKernel(const OpView& node, std::unique_ptr<Twin> twin,
                std::unique_ptr<BoundKernel> product, int threads)
      : dtype_(node.result_type(0).dtype),
        twin_(std::move(twin)),
        product_(std::move(product)),
        threads_(threads) {
    for (int i = 0; i < node.num_operands(); ++i) {
      Reserve(node.operand_type(i));
    }
    Reserve(node.result_type(0));
    places_.resize(values_.size());
  }

  absl::Status Launch(const LaunchArgs& args) override {
    std::byte* const workspace = static_cast<std::byte*>(args.workspace);
    const size_t operands = args.operands.size();
    for (size_t i = 0; i < values_.size(); ++i) {
      places_[i] = workspace + values_[i].offset;
      if (i == operands) break;
      Widen(dtype_, args.operands[i], static_cast<float*>(places_[i]),
            values_[i].elements, threads_);
    }
    const absl::Span<void* const> places = places_;
    PARTITA_RETURN_IF_ERROR(
        product_->Launch({.stream = args.stream,
                          .operands = places.first(operands),
                          .results = places.subspan(operands),
                          .workspace = workspace + room_}));
    Narrow(dtype_, static_cast<const float*>(places_[operands]),
           args.results[0], values_[operands].elements, threads_);
    return absl::OkStatus();
  }

 private:
  struct Converted {
    int64_t elements;
    int64_t offset;  // in the workspace, in bytes
  };

  void Reserve(const TensorType& type) {
    values_.push_back({type.num_stored_elements(), room_});
    room_ += RoomOf(type, type.layout);
  }

  const DType dtype_;
  const std::unique_ptr<Twin> twin_;  // of which the product may keep views
  const std::unique_ptr<BoundKernel> product_;
  const int threads_;
  std::vector<Converted> values_;  // the operands, then the result
  std::vector<void*> places_;
  int64_t room_ = 0;
};

}  // namespace

std::vector<KernelChoice> WidenedCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (device.kind != DeviceKind::kCpu) return {};
  if (IsHalfCast(node)) return {ChooseHalfCast(node, device)};
  if (!IsWidened(node)) return {};
  const auto twin = Twin::Of(node);
  if (!twin.ok()) return {};
  std::vector<KernelChoice> choices =
      products_->Choices((*twin)->node(), device);
  for (KernelChoice& choice : choices) {
    const int64_t room = RoomOf(node, choice.operands, choice.results[0]);
    choice.kernel = absl::StrCat(kPrefix, choice.kernel);
    choice.workspace += room;
    choice.in_place.clear();
    // Half as much is read or written beside it in 16 bits.
    choice.seconds += 1.5 * static_cast<double>(room) / MemoryBandwidth(device);
    choice.arithmetic =
        Arithmetic(choice.arithmetic, node.result_type(0).dtype);
  }
  return choices;
}

absl::StatusOr<LibraryKernel> WidenedLibrary::Bind(
    const BindRequest& request) const {
  const OpView& node = request.node;
  const std::string& kernel = request.binding->kernel;
  const bool is_cpu = request.device->kind == DeviceKind::kCpu;
  if (is_cpu && IsHalfCast(node) &&
      node.operand_type(0).layout == node.result_type(0).layout) {
    return BindHalfCast(node, *request.device);
  }
  if (!is_cpu || !IsWidened(node)) {
    return absl::UnimplementedError(
        absl::StrCat(node.ToString(), ": found kernel ", kernel,
                     "; expected one that computes this node"));
  }
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Twin> twin, Twin::Of(node));
  std::vector<Layout> layouts;
  for (int i = 0; i < node.num_operands(); ++i) {
    layouts.push_back(node.operand_type(i).layout);
  }
  const int64_t room = RoomOf(node, layouts, node.result_type(0).layout);
  if (room > request.binding->workspace) {
    return absl::ResourceExhaustedError(absl::StrCat(
        node.ToString(), ": found ", room, " bytes of workspace needed by ",
        kernel, " for its values in f32; expected at most ",
        request.binding->workspace,
        "; compile the plan again on this machine"));
  }
  KernelBinding binding = *request.binding;
  binding.kernel = absl::StartsWith(kernel, kPrefix)
                       ? kernel.substr(sizeof(kPrefix) - 1)
                       : std::string(products_.name());
  binding.arithmetic =
      ProductArithmetic(binding.arithmetic, node.result_type(0).dtype);
  binding.workspace -= room;
  binding.in_place.clear();
  BindRequest wide = {twin->node(), &binding, request.device};
  wide.stands_in = request.stands_in;
  PARTITA_ASSIGN_OR_RETURN(LibraryKernel product, products_.Bind(wide));
  LibraryKernel bound;
  bound.identity = {
      absl::StrCat(kPrefix, product.identity.kernel),
      Arithmetic(product.identity.arithmetic, node.result_type(0).dtype)};
  bound.kernel = std::make_unique<WidenedKernel>(node, std::move(twin),
                                                 std::move(product.kernel),
                                                 request.device->threads);
  return bound;
}

}  // namespace partita
