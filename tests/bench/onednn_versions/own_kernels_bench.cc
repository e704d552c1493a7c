// Times our own kernels (kernels/cpu without oneDNN) on the nodes of nodes.tsv,
// beside onednn_bench.cc.
// SPDX-License-Identifier: Apache-2.0
//
//   own_kernels_bench NODES FIRST MS THREADS    times the nodes from the
//                                               FIRST-th, MS milliseconds each
//
// A line is a node: its number, the median in microseconds of our fastest
// kernel, its layouts, and its name; or "none". ONEDNN_MAX_CPU_ISA limits the
// instructions.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/graph.h"
#include "graph/op_def.h"
#include "graph/ops/op_set.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/testing/kernel_check.h"
#include "tests/bench/onednn_versions/median.h"

namespace partita {
namespace {

// The columns of nodes.tsv.
enum Column {
  kModels,
  kKind,
  kX,
  kW,
  kY,
  kStrides,
  kDilations,
  kBefore,
  kAfter
};
constexpr int kGroups = kAfter + 1;
constexpr int kFlags = kAfter + 2;
using Row = std::vector<std::string>;
using Ints = std::vector<int64_t>;

Ints ParseDims(absl::string_view text) {
  Ints dims;
  for (absl::string_view extent : absl::StrSplit(text, 'x')) {
    int64_t value;
    if (absl::SimpleAtoi(extent, &value)) dims.push_back(value);
  }
  return dims;
}

TensorType F32(const Ints& dims) {
  return {DType::kF32, Shape(dims.begin(), dims.end()), {}};
}

Attributes WindowOf(const Row& row) {
  Attributes window;
  window.Set("strides", ParseDims(row[kStrides]));
  window.Set("dilations", ParseDims(row[kDilations]));
  window.Set("pads_before", ParseDims(row[kBefore]));
  window.Set("pads_after", ParseDims(row[kAfter]));
  return window;
}

// The rows and columns of a transposed convolution's result that no element of
// its operand reaches.
Ints OutputPadding(const OpDef& op, const std::vector<TensorType>& operands,
                   const Attributes& attributes, const Ints& y) {
  const OneNode without(op, operands, attributes);
  const Shape& dims = without.node().result_type(0).dims;
  Ints padding;
  for (size_t i = 2; i < y.size(); ++i) padding.push_back(y[i] - dims[i]);
  return padding;
}

// Null if none of our kernels can be chosen for the row: for products, and for
// convolutions of constant weights, whose kernels are oneDNN's.
std::unique_ptr<OneNode> NodeOf(const Row& row) {
  const std::string& kind = row[kKind];
  const OpDef& op = *OpSet::BuiltIn().Find(kind);
  const TensorType x = F32(ParseDims(row[kX]));
  if (kind == "matmul" || absl::StrContains(row[kFlags], "constant")) {
    return nullptr;
  }
  if (kind == "softmax") return std::make_unique<OneNode>(op, std::vector{x});
  if (kind == "layer_norm") {
    const TensorType scale = F32({x.dims.back()});
    return std::make_unique<OneNode>(op, std::vector{x, scale, scale});
  }
  Attributes window = WindowOf(row);
  const Ints w = ParseDims(row[kW]);
  if (absl::EndsWith(kind, "_pool")) {
    window.Set("kernel", w);
    return std::make_unique<OneNode>(op, std::vector{x}, window);
  }
  int64_t groups = 1;
  if (!absl::SimpleAtoi(row[kGroups], &groups)) std::abort();
  window.Set("groups", groups);
  if (kind == "conv_weight_gradient") {
    window.Set("kernel", Ints(w.begin() + 2, w.end()));
    return std::make_unique<OneNode>(
        op, std::vector{x, F32(ParseDims(row[kY]))}, window);
  }
  const std::vector<TensorType> operands = {x, F32(w)};
  if (kind == "conv_transpose") {
    window.Set("output_padding",
               OutputPadding(op, operands, window, ParseDims(row[kY])));
  }
  return std::make_unique<OneNode>(op, operands, window);
}

// Memory of a value or a workspace, aligned.
class Bytes {
 public:
  explicit Bytes(int64_t size)
      : bytes_(std::aligned_alloc(kAlignment, Rounded(size))) {
    std::memset(bytes_.get(), 0x3c, Rounded(size));  // 0.0115
  }
  void* get() const { return bytes_.get(); }

 private:
  static constexpr size_t kAlignment = 4096;
  static size_t Rounded(int64_t size) {
    return (static_cast<size_t>(size) / kAlignment + 1) * kAlignment;
  }
  struct Free {
    void operator()(void* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<void, Free> bytes_;
};

// A kernel with its memory.
class Launch {
 public:
  Launch(const OpView& node, int64_t workspace, Kernel& kernel)
      : kernel_(kernel) {
    for (int i = 0; i < node.num_operands(); ++i) {
      operands_.push_back(Add(node.operand_type(i).num_bytes()));
    }
    for (int i = 0; i < node.num_results(); ++i) {
      results_.push_back(Add(node.result_type(i).num_bytes()));
    }
    workspace_ = Add(workspace);
  }
  void operator()() const {
    const absl::Status status = kernel_.Launch(
        {.operands = operands_, .results = results_, .workspace = workspace_});
    if (!status.ok()) std::abort();
  }

 private:
  void* Add(int64_t size) { return memory_.emplace_back(size).get(); }

  Kernel& kernel_;
  std::vector<Bytes> memory_;
  std::vector<void*> operands_, results_;
  void* workspace_;
};

std::string LayoutsOf(const KernelChoice& choice) {
  return choice.results[0].is_row_major() && choice.operands[0].is_row_major()
             ? "row-major"
             : absl::StrJoin(choice.operands, " ",
                             [](std::string* out, const Layout& layout) {
                               out->append(layout.is_row_major()
                                               ? "-"
                                               : layout.ToString());
                             });
}

void TimeNode(const Row& row, double budget, int threads) {
  const std::unique_ptr<OneNode> one = NodeOf(row);
  double best = 1e9;
  std::string text = "none\tnone\tnone";
  DeviceTraits device = TestCpu(threads);
  device.isa = std::string(IsaOfOnednn());
  for (const KernelChoice& choice :
       one == nullptr ? std::vector<KernelChoice>{}
                      : CpuCatalog().Choices(one->node(), device)) {
    OneNode bound = WithLayouts(one->node(), choice);
    bound.graph().node(bound.node().id()).kernel = choice;
    absl::StatusOr<BoundKernel> kernel =
        CpuLibrary().Bind({bound.node(), &choice, &device});
    if (!kernel.ok()) {
      std::cerr << kernel.status() << std::endl;
      std::exit(1);
    }
    const std::optional<double> seconds = MedianSeconds(
        Launch(bound.node(), choice.workspace, *kernel->kernel), budget, best);
    if (!seconds.has_value() || *seconds >= best) continue;
    best = *seconds;
    text = absl::StrCat(best * 1e6, "\t", LayoutsOf(choice), "\t",
                        choice.kernel.ToString());
  }
  std::cout << text << std::endl;
}

int Run(const char* path, size_t first, double budget, int threads) {
  CapOnednn();
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::cout << "version\tours" << std::endl;
  for (size_t i = 0; std::getline(file, line); ++i) {
    if (i < first) continue;
    std::cout << i << '\t' << std::flush;
    TimeNode(absl::StrSplit(line, '\t'), budget, threads);
  }
  return 0;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: own_kernels_bench NODES FIRST MS THREADS\n";
    return 2;
  }
  return partita::Run(argv[1], std::strtoull(argv[2], nullptr, 10),
                      std::atof(argv[3]) * 1e-3, std::atoi(argv[4]));
}
