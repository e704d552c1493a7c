// The node in f32, and conversions around its kernel.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/upcast/upcast_kernels.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/device_rates.h"
#include "graph/graph.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"
#include "kernels/upcast/half_arrays.h"
#include "kernels/upcast/half_cast.h"

namespace partita {
namespace {

constexpr char kUpcastLibrary[] = "upcast";

// "upcast.onednn.conv"
KernelId InF32Of(const KernelId& kernel) {
  return absl::StrCat(kUpcastLibrary, ".", kernel.ToString());
}

// Operand `i`; results come after all operands.
const TensorType& TypeOf(const OpView& node, int i) {
  const int operands = node.num_operands();
  return i < operands ? node.operand_type(i) : node.result_type(i - operands);
}
int NumValues(const OpView& node) {
  return node.num_operands() + node.num_results();
}

// The 16-bit type of the node's values; nullopt if they have two, or none.
std::optional<DType> HalfOf(const OpView& node) {
  std::optional<DType> half;
  for (int i = 0; i < NumValues(node); ++i) {
    const DType dtype = TypeOf(node, i).dtype;
    if (!IsHalf(dtype)) continue;
    if (half.has_value() && *half != dtype) return std::nullopt;
    half = dtype;
  }
  return half;
}

// Elementwise ops have generated kernels (kernels/codegen), alone and fused.
bool MayBeUpcast(const OpView& node) {
  return !node.op().traits.elementwise && node.node().regions.empty() &&
         !node.is(kReorder) && !node.is(kCopy) && node.num_operands() > 0 &&
         HalfOf(node).has_value();
}

TensorType InF32(TensorType type) {
  if (IsHalf(type.dtype)) type.dtype = DType::kF32;
  return type;
}

// The same op over f32 in place of the 16-bit type, in the node's layouts.
class Twin {
 public:
  // Unimplemented if that gives results of other types.
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
    for (int i = 0; i < node.num_results(); ++i) {
      const TensorType& type = node.result_type(i);
      TensorType& wide =
          twin->graph_.value(twin->node().node().results[i]).type;
      if (wide != InF32(type.RowMajor())) {
        return absl::UnimplementedError(
            absl::StrCat(node.ToString(), ": found ", wide.ToString(),
                         " as its result in f32"));
      }
      wide.layout = type.layout;
    }
    return twin;
  }

  Twin() : graph_("twin", &literals_) {}
  OpView node() const { return graph_.view(id_); }

 private:
  LiteralPool literals_;
  Graph graph_;
  NodeId id_;
};

// Bytes of the value in f32, if it is converted.
int64_t RoomOf(TensorType type, const Layout& layout) {
  if (!IsHalf(type.dtype)) return 0;
  type.layout = layout;
  return (InF32(type).num_bytes() + kWorkspaceAlignment - 1) /
         kWorkspaceAlignment * kWorkspaceAlignment;
}

int64_t RoomOf(const OpView& node, const KernelChoice& choice) {
  int64_t bytes = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    bytes += RoomOf(node.operand_type(i), choice.operands[i]);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    bytes += RoomOf(node.result_type(i), choice.results[i]);
  }
  return bytes;
}

// In the node's layouts.
int64_t RoomOf(const OpView& node) {
  int64_t bytes = 0;
  for (int i = 0; i < NumValues(node); ++i) {
    bytes += RoomOf(TypeOf(node, i), TypeOf(node, i).layout);
  }
  return bytes;
}

Arithmetic Rounded(Arithmetic of_f32, DType half) {
  of_f32.rounded_to = half;
  return of_f32;
}

class UpcastKernel : public Kernel {
 public:
  UpcastKernel(const OpView& node, std::unique_ptr<Twin> twin,
               std::unique_ptr<Kernel> kernel, int threads)
      : half_(*HalfOf(node)),
        num_operands_(static_cast<size_t>(node.num_operands())),
        twin_(std::move(twin)),
        kernel_(std::move(kernel)),
        threads_(threads) {
    for (int i = 0; i < NumValues(node); ++i) Reserve(TypeOf(node, i));
    places_.resize(values_.size());
  }

  absl::Status Launch(const LaunchArgs& args) override {
    std::byte* const workspace = static_cast<std::byte*>(args.workspace);
    for (size_t i = 0; i < values_.size(); ++i) {
      places_[i] =
          values_[i].is_half ? workspace + values_[i].offset : Given(args, i);
    }
    for (size_t i = 0; i < num_operands_; ++i) {
      if (!values_[i].is_half) continue;
      Upcast(half_, args.operands[i], static_cast<float*>(places_[i]),
             values_[i].elements, threads_);
    }
    const absl::Span<void* const> places = places_;
    PARTITA_RETURN_IF_ERROR(
        kernel_->Launch({.stream = args.stream,
                         .operands = places.first(num_operands_),
                         .results = places.subspan(num_operands_),
                         .workspace = workspace + room_}));
    for (size_t i = num_operands_; i < values_.size(); ++i) {
      if (!values_[i].is_half) continue;
      Narrow(half_, static_cast<const float*>(places_[i]), Given(args, i),
             values_[i].elements, threads_);
    }
    return absl::OkStatus();
  }

 private:
  struct Value {
    bool is_half;
    int64_t elements;
    int64_t offset;  // of its f32 in the workspace, in bytes
  };

  void Reserve(const TensorType& type) {
    values_.push_back({IsHalf(type.dtype), type.num_stored_elements(), room_});
    room_ += RoomOf(type, type.layout);
  }

  void* Given(const LaunchArgs& args, size_t i) const {
    return i < num_operands_ ? args.operands[i]
                             : args.results[i - num_operands_];
  }

  const DType half_;
  const size_t num_operands_;
  const std::unique_ptr<Twin> twin_;  // the kernel may keep views of it
  const std::unique_ptr<Kernel> kernel_;
  const int threads_;
  std::vector<Value> values_;  // the operands, then the results
  std::vector<void*> places_;
  int64_t room_ = 0;
};

bool IsExact(const KernelChoice& choice) {
  return choice.arithmetics == Arithmetics{ExactArithmetic()};
}

absl::Status NoKernel(const BindRequest& request) {
  return absl::UnimplementedError(
      absl::StrCat(request.node.ToString(), ": found kernel ",
                   request.binding->kernel.ToString(),
                   "; expected one that computes this node"));
}

absl::Status TooLittleWorkspace(const BindRequest& request, int64_t room) {
  return absl::ResourceExhaustedError(absl::StrCat(
      request.node.ToString(), ": found ", room,
      " bytes of workspace needed by ", request.binding->kernel.ToString(),
      " for its values in f32; expected at most ", request.binding->workspace,
      "; compile the plan again on this machine"));
}

// The part of the binding for the f32 kernel of `library`.
KernelBinding BindingOfF32(const KernelBinding& binding,
                           absl::string_view library, int64_t room) {
  KernelBinding wide = binding;
  const bool is_upcast = binding.kernel.Is(kUpcastLibrary);
  wide.kernel = is_upcast && !binding.kernel.name.empty()
                    ? KernelId(binding.kernel.name)
                    : KernelId(library);
  for (Arithmetic& arithmetic : wide.arithmetics) {
    arithmetic.rounded_to = std::nullopt;
  }
  wide.workspace -= room;
  wide.in_place.clear();
  return wide;
}

}  // namespace

// Each offers all or nothing, so the first that offers any decides.
std::vector<KernelChoice> UpcastCatalog::ChoicesInF32(
    const OpView& node, const DeviceTraits& device) const {
  const auto twin = Twin::Of(node);
  if (!twin.ok()) return {};
  for (const auto& catalog : catalogs_) {
    auto choices = catalog->Choices((*twin)->node(), device);
    if (!choices.empty()) return choices;
  }
  return {};
}

bool UpcastCatalog::IsMovedAsItIs(const OpView& node,
                                  const DeviceTraits& device) const {
  return absl::c_any_of(catalogs_, [&](const auto& catalog) {
    return absl::c_any_of(catalog->Choices(node, device), IsExact);
  });
}

std::vector<KernelChoice> UpcastCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (!RunsHostCode(device)) return {};
  if (IsHalfCast(node)) return {ChooseHalfCast(node, device)};
  if (!MayBeUpcast(node) || IsMovedAsItIs(node, device)) return {};
  std::vector<KernelChoice> choices = ChoicesInF32(node, device);
  for (KernelChoice& choice : choices) {
    const int64_t room = RoomOf(node, choice);
    choice.kernel = InF32Of(choice.kernel);
    choice.workspace += room;
    choice.in_place.clear();
    // The 16-bit side adds half as many bytes.
    choice.seconds += 1.5 * static_cast<double>(room) / MemoryBandwidth(device);
    for (Arithmetic& arithmetic : choice.arithmetics) {
      arithmetic = Rounded(arithmetic, *HalfOf(node));
    }
  }
  return choices;
}

absl::StatusOr<BoundKernel> UpcastLibrary::Bind(
    const BindRequest& request) const {
  const OpView& node = request.node;
  if (!RunsHostCode(*request.device)) return NoKernel(request);
  if (IsHalfCast(node) &&
      node.operand_type(0).layout == node.result_type(0).layout) {
    return BindHalfCast(node, *request.device);
  }
  if (!MayBeUpcast(node)) return NoKernel(request);
  const int64_t room = RoomOf(node);
  if (room > request.binding->workspace) {
    return TooLittleWorkspace(request, room);
  }
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Twin> twin, Twin::Of(node));
  PARTITA_ASSIGN_OR_RETURN(BoundKernel wide,
                           BindInF32(request, twin->node(), room));
  BoundKernel bound;
  bound.id = InF32Of(wide.id);
  bound.arithmetic = Rounded(wide.arithmetic, *HalfOf(node));
  bound.kernel = std::make_unique<UpcastKernel>(
      node, std::move(twin), std::move(wide.kernel), request.device->threads);
  return bound;
}

absl::StatusOr<BoundKernel> UpcastLibrary::BindInF32(const BindRequest& request,
                                                     const OpView& twin,
                                                     int64_t room) const {
  absl::Status fault = NoKernel(request);
  for (const KernelLibrary* library : libraries_) {
    const KernelBinding binding =
        BindingOfF32(*request.binding, library->name(), room);
    if (!binding.kernel.Is(library->name())) continue;
    BindRequest wide = {twin, &binding, request.device};
    wide.emulates = request.emulates;
    auto bound = library->Bind(wide);
    if (bound.ok() || absl::IsResourceExhausted(bound.status())) return bound;
    fault = bound.status();
  }
  return fault;
}

}  // namespace partita
