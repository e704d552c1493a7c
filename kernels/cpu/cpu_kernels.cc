// The catalog and library over our own families.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/cpu_kernels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/device_rates.h"
#include "graph/op_def.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/cpu_family_list.h"
#include "kernels/vector/block_product.h"

namespace partita {
namespace {

absl::Span<const CpuFamily* const> Families() {
  return {kCpuFamilies, static_cast<size_t>(kCpuFamiliesSize)};
}

// Row-major for values of another rank.
Layout LayoutFor(const TensorType& type, const std::string& text) {
  Layout layout;
  if (text.empty()) return layout;
  const absl::StatusOr<Layout> parsed = ParseLayout(text, type.rank());
  if (parsed.ok()) layout = *parsed;
  return layout;
}

Layout OperandLayout(const CpuFamily& family, const OpView& node, int operand,
                     const std::string& text) {
  return operand == family.row_major_operand
             ? Layout()
             : LayoutFor(node.operand_type(operand), text);
}

Layout ResultLayout(const CpuFamily& family, const TensorType& type,
                    const std::string& text) {
  return family.results_row_major ? Layout() : LayoutFor(type, text);
}

Arithmetic ArithmeticOf(const CpuFamily& family, bool fused_products) {
  if (family.exact) return ExactArithmetic();
  const bool fuses = family.fuses_products && fused_products;
  return {.source = absl::StrCat(family.kernel, " ", family.version),
          .implementation = fuses ? "fused products" : "",
          .violates = {.tiles = family.has_tiles}};
}

// True if our loops use fused multiply-add on a processor like the device's; if
// the device names no instruction set, on this host's.
bool FusesProducts(const DeviceTraits& device) {
  return device.isa.empty() ? HasFusedProducts() : device.isa != "sse4";
}

int64_t WorkspaceOf(const CpuFamily& family, const OpView& node,
                    const Layout& layout, int threads) {
  return family.workspace == nullptr ? 0
                                     : family.workspace(node, layout, threads);
}

std::vector<InPlacePair> PairsOf(const CpuFamily& family) {
  if (!family.in_place) return {};
  return {{.operand = 0, .result = 0}};
}

// The longer of moving and computing.
double Seconds(const CpuFamily& family, const OpView& node, double bytes,
               const DeviceTraits& device) {
  const Cost cost = family.cost == nullptr ? node.op().cost(node)
                                           : family.cost(node, device.threads);
  double seconds = std::max(bytes, cost.bytes) /
                   (MemoryBandwidth(device) * family.bandwidth);
  if (family.flops > 0) {
    seconds = std::max(
        seconds, cost.flops / (PeakFlops(device, DType::kF32) * family.flops));
  }
  return device.launch_seconds + seconds + 1e-7;
}

KernelChoice ChoiceFor(const OpView& node, const CpuFamily& family,
                       const std::string& layout, const DeviceTraits& device) {
  KernelChoice choice;
  choice.kernel = family.kernel;
  double bytes = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    choice.operands.push_back(OperandLayout(family, node, i, layout));
  }
  for (int i = 0; i < node.num_results(); ++i) {
    choice.results.push_back(ResultLayout(family, node.result_type(i), layout));
    // Read once and written once, whatever else the operands hold.
    bytes +=
        2.0 * static_cast<double>(node.result_type(i).RowMajor().num_bytes());
  }
  choice.seconds = Seconds(family, node, bytes, device);
  if (!choice.operands.empty()) {
    choice.workspace =
        WorkspaceOf(family, node, choice.operands[0], device.threads);
  }
  choice.in_place = PairsOf(family);
  choice.arithmetics = {ArithmeticOf(family, FusesProducts(device))};
  return choice;
}

// The family, if it accepts the node in the layouts of its types.
bool Takes(const CpuFamily& family, const OpView& node) {
  for (const std::string& text : family.layouts(node)) {
    bool same = true;
    for (int i = 0; i < node.num_operands(); ++i) {
      same &=
          node.operand_type(i).layout == OperandLayout(family, node, i, text);
    }
    for (int i = 0; i < node.num_results(); ++i) {
      const TensorType& type = node.result_type(i);
      same &= type.layout == ResultLayout(family, type, text);
    }
    if (same) return true;
  }
  return false;
}

int64_t NeededWorkspace(const CpuFamily& family, const OpView& node,
                        int threads) {
  if (node.num_operands() == 0) return 0;
  return WorkspaceOf(family, node, node.operand_type(0).layout, threads);
}

absl::Status TooLittleWorkspace(const BindRequest& request, int64_t needed) {
  return absl::ResourceExhaustedError(
      absl::StrCat(request.node.ToString(), ": found ", needed,
                   " bytes of workspace needed by ",
                   request.binding->kernel.ToString(), "; expected at most ",
                   request.binding->workspace, "; compile the plan again"));
}

}  // namespace

std::vector<KernelChoice> CpuCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  std::vector<KernelChoice> choices;
  if (!RunsHostCode(device)) return choices;
  for (const CpuFamily* family : Families()) {
    for (const std::string& layout : family->layouts(node)) {
      choices.push_back(ChoiceFor(node, *family, layout, device));
    }
    if (!choices.empty()) break;
  }
  return choices;
}

absl::StatusOr<BoundKernel> CpuLibrary::Bind(const BindRequest& request) const {
  for (const CpuFamily* family : Families()) {
    if (!RunsHostCode(*request.device) ||
        !KernelId(family->kernel).Is(request.binding->kernel) ||
        !Takes(*family, request.node)) {
      continue;
    }
    const int64_t needed =
        NeededWorkspace(*family, request.node, request.device->threads);
    if (needed > request.binding->workspace) {
      return TooLittleWorkspace(request, needed);
    }
    return BoundKernel{
        family->bind(request.node, request.device->threads), family->kernel,
        ArithmeticOf(*family, HasFusedProducts()), PairsOf(*family)};
  }
  return absl::UnimplementedError(absl::StrCat(
      request.node.ToString(), ": found kernel ",
      request.binding->kernel.ToString(),
      "; expected one that computes this node in these layouts on a cpu"));
}

}  // namespace partita
