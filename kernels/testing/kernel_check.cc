// Launches kernels over guarded memory and compares them with eval.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/testing/kernel_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"
#include "kernels/testing/guarded_buffer.h"
#include "kernels/testing/rounding.h"
#include "kernels/thread_pool/openmp_calls.h"

namespace partita {
namespace {

using Side = GuardedBuffer::Side;

HostTensor Random(const TensorType& type, const KernelCheckOptions& options,
                  std::mt19937_64& random) {
  HostTensor tensor(type.RowMajor());
  std::uniform_real_distribution<double> values(options.low, options.high);
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    const double value = values(random);
    SetFromDouble(tensor, i,
                  type.dtype == DType::kBool ? static_cast<double>(value > 0)
                  : IsFloat(type.dtype)      ? value
                  : IsSignedInteger(type.dtype)
                      ? std::round(value * 7)
                      : std::round(std::abs(value) * 7));
  }
  return tensor;
}

std::string Describe(const KernelChoice& choice, int threads) {
  const auto layout = [](std::string* out, const Layout& l) {
    absl::StrAppend(out, l.is_row_major() ? "-" : l.ToString());
  };
  return absl::StrCat(choice.kernel.ToString(), " (",
                      absl::StrJoin(choice.operands, " ", layout), ") -> (",
                      absl::StrJoin(choice.results, " ", layout), ") threads ",
                      threads);
}

double RelativeTolerance(const OpView& node, const KernelCheckOptions& options,
                         DType dtype) {
  if (options.tolerance > 0) return options.tolerance;
  const double unit = UnitInTheLastPlace(dtype);
  const double terms = std::max(1.0, FlopsPerResult(node));
  switch (node.op().tolerance) {
    case Tolerance::kExact:
      return 0;
    case Tolerance::kRounding:
      return 16 * unit;
    case Tolerance::kReduction:
      return (16 + std::sqrt(terms)) * unit;
    case Tolerance::kApproximate:
      return (256 + std::sqrt(terms)) * unit;
  }
  return 0;
}

// One unit in the last place of a value of this type. It does not shrink below
// 32 times the least normal number: composed functions lose digits if an
// intermediate value is denormal.
double UnitOf(double value, DType dtype) {
  const bool wide = dtype == DType::kBF16 || dtype == DType::kF32;
  const int least = dtype == DType::kF64 ? -1017 : wide ? -121 : -9;
  const int digits = dtype == DType::kF64   ? 52
                     : dtype == DType::kF32 ? 23
                     : dtype == DType::kF16 ? 10
                                            : 7;
  const int exponent = value == 0 ? least : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, least) - digits);
}

bool IsWithinUnits(double have, double want, double units, DType dtype) {
  if (std::isnan(want) || std::isnan(have)) {
    return std::isnan(want) && std::isnan(have);
  }
  if (have == want) return std::signbit(have) == std::signbit(want);
  if (!std::isfinite(want) || !std::isfinite(have)) return false;
  return std::abs(have - want) <= units * UnitOf(want, dtype);
}

// oneDNN blocks its transformed weights by the number of threads.
bool HasLayoutForThreads(const KernelId& kernel) {
  return kernel.Is("onednn.winograd") || kernel.Is("upcast.onednn.winograd");
}

// A process that may not have so many threads binds a kernel for fewer, which
// may need more workspace or another layout.
bool IsForTooManyThreads(const absl::Status& status, const KernelId& kernel,
                         int threads) {
  if (WithinThreadLimit(threads) == threads) return false;
  return absl::IsResourceExhausted(status) ||
         (absl::IsUnimplemented(status) && HasLayoutForThreads(kernel));
}

class Check {
 public:
  Check(const OpView& node, const KernelCatalog& catalog,
        const KernelLibrary& library, const KernelCheckOptions& options)
      : node_(node), catalog_(catalog), library_(library), options_(options) {}

  absl::Status Run(std::vector<std::string>& kernels) {
    std::mt19937_64 random(options_.seed);
    operands_ = Draw(random);
    PARTITA_ASSIGN_OR_RETURN(expected_, EvaluateNode(node_, operands_));
    PARTITA_RETURN_IF_ERROR(FindLargest(random));
    for (int threads : options_.threads) {
      for (const KernelChoice& choice :
           catalog_.Choices(node_, Device(threads))) {
        if (!choice.kernel.Is(library_.name())) continue;
        const std::string what = Describe(choice, threads);
        kernels.push_back(what);
        if (options_.before) options_.before(choice, threads);
        if (absl::Status status = RunChoice(choice, threads); !status.ok()) {
          return absl::Status(status.code(),
                              absl::StrCat(what, ": ", status.message()));
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  std::vector<HostTensor> Draw(std::mt19937_64& random) const {
    std::vector<HostTensor> operands;
    for (int i = 0; i < node_.num_operands(); ++i) {
      const bool given = i < static_cast<int>(options_.operands.size()) &&
                         options_.operands[i] != nullptr;
      operands.push_back(given
                             ? options_.operands[i]->Clone()
                             : Random(node_.operand_type(i), options_, random));
    }
    return operands;
  }

  // A sum may be small by chance, but its error is that of its terms. For a
  // result of few elements, the largest is therefore taken over other operands
  // too.
  absl::Status FindLargest(std::mt19937_64& random) {
    constexpr int64_t kEnough = 16;
    largest_.assign(expected_.size(), options_.tolerance > 0 ? 1 : 1e-30);
    NoteLargest(expected_);
    for (int64_t seen = node_.result_type(0).num_elements();
         seen > 0 && seen < kEnough;
         seen += node_.result_type(0).num_elements()) {
      PARTITA_ASSIGN_OR_RETURN(const std::vector<HostTensor> results,
                               EvaluateNode(node_, Draw(random)));
      NoteLargest(results);
    }
    return absl::OkStatus();
  }

  void NoteLargest(absl::Span<const HostTensor> results) {
    for (size_t i = 0; i < results.size(); ++i) {
      for (int64_t e = 0; e < results[i].type().num_elements(); ++e) {
        const double size = std::abs(GetAsDouble(results[i], e));
        if (std::isfinite(size)) largest_[i] = std::max(largest_[i], size);
      }
    }
  }

  DeviceTraits Device(int threads) const {
    DeviceTraits device = TestCpu(threads);
    device.isa = options_.isa;
    return device;
  }

  absl::Status RunChoice(const KernelChoice& choice, int threads) {
    if (choice.operands.size() != operands_.size() ||
        choice.results.size() != expected_.size()) {
      return absl::InternalError("found layouts for other operands or results");
    }
    if (choice.workspace < 0 || !(choice.seconds > 0) ||
        choice.arithmetics.size() != 1) {
      return absl::InternalError("found a choice without cost or arithmetic");
    }
    OneNode bound = WithLayouts(node_, choice);
    const DeviceTraits device = Device(threads);
    const KernelBinding& binding = choice;
    if (choice.workspace > 0) {
      PARTITA_RETURN_IF_ERROR(RunInLess(bound.node(), choice, device));
    }
    bound.graph().node(bound.node().id()).kernel = binding;
    auto code_objects = catalog_.BuildCode({bound.node()}, device);
    if (!code_objects.ok() && !absl::IsUnimplemented(code_objects.status())) {
      return code_objects.status();
    }
    const bool has_code = code_objects.ok() && !code_objects->empty();
    absl::StatusOr<BoundKernel> bound_kernel =
        library_.Bind({bound.node(), &binding, &device,
                       has_code ? &code_objects->front() : nullptr});
    if (IsForTooManyThreads(bound_kernel.status(), choice.kernel, threads)) {
      return absl::OkStatus();
    }
    PARTITA_ASSIGN_OR_RETURN(BoundKernel answer, std::move(bound_kernel));
    // The kernel or a variant of it, as for plans
    // (runtime/executor/kernel_binder.cc).
    if (answer.arithmetic != choice.arithmetics[0] ||
        !answer.id.Is(choice.kernel)) {
      return absl::InternalError(absl::StrCat(
          "found ", answer.id.ToString(), " (", answer.arithmetic.ToString(),
          ") bound; expected ", choice.kernel.ToString(), " (",
          ArithmeticsText(choice.arithmetics), ")"));
    }
    if (answer.in_place != choice.in_place) {
      return absl::InternalError("found other in-place pairs bound");
    }
    const std::unique_ptr<Kernel> kernel = std::move(answer.kernel);
    std::vector<std::string> first;
    std::vector<std::string> second;
    PARTITA_RETURN_IF_ERROR(
        LaunchOnce(bound.node(), choice, *kernel, Side::kAtEnd, {}, first));
    PARTITA_RETURN_IF_ERROR(
        LaunchOnce(bound.node(), choice, *kernel, Side::kAtStart, {}, second));
    if (first != second) {
      return absl::InternalError("found other bits in the second launch");
    }
    for (const InPlacePair& pair : choice.in_place) {
      std::vector<std::string> in_place;
      PARTITA_RETURN_IF_ERROR(LaunchOnce(bound.node(), choice, *kernel,
                                         Side::kAtEnd, pair, in_place));
      if (first != in_place) {
        return absl::InternalError("found other bits when in place");
      }
    }
    return absl::OkStatus();
  }

  // With less workspace the library must bind nothing, or a kernel that needs
  // no more.
  absl::Status RunInLess(const OpView& node, KernelChoice choice,
                         const DeviceTraits& device) {
    --choice.workspace;
    const auto other = library_.Bind({node, &choice, &device});
    if (absl::IsResourceExhausted(other.status()) ||
        IsForTooManyThreads(other.status(), choice.kernel, device.threads)) {
      return absl::OkStatus();
    }
    PARTITA_RETURN_IF_ERROR(other.status());
    std::vector<std::string> bits;
    return LaunchOnce(node, choice, *other->kernel, Side::kAtEnd, {}, bits);
  }

  absl::Status LaunchOnce(const OpView& node, const KernelChoice& choice,
                          Kernel& kernel, Side side,
                          std::optional<InPlacePair> in_place,
                          std::vector<std::string>& bits) {
    std::vector<GuardedBuffer> memory;
    std::vector<void*> operands;
    std::vector<void*> results;
    for (int i = 0; i < node.num_operands(); ++i) {
      const TensorType& type = node.operand_type(i);
      GuardedBuffer& buffer =
          memory.emplace_back(type.num_bytes(), side, std::byte{0});
      HostTensor view = HostTensor::View(type, buffer.data());
      ConvertLayout(operands_[i], view);
      if (!in_place.has_value() || in_place->operand != i) {
        buffer.MakeReadOnly();
      }
      operands.push_back(buffer.data());
    }
    for (int i = 0; i < node.num_results(); ++i) {
      if (in_place.has_value() && in_place->result == i) {
        results.push_back(operands[in_place->operand]);
        continue;
      }
      results.push_back(memory
                            .emplace_back(node.result_type(i).num_bytes(), side,
                                          std::byte{0x5a})
                            .data());
    }
    memory.emplace_back(choice.workspace, side, std::byte{0xff});
    PARTITA_RETURN_IF_ERROR(kernel.Launch({.operands = operands,
                                           .results = results,
                                           .workspace = memory.back().data()}));
    for (const GuardedBuffer& buffer : memory) {
      if (!buffer.GapIntact()) {
        return absl::InternalError("found bytes written past a buffer's end");
      }
    }
    for (int i = 0; i < node.num_results(); ++i) {
      const TensorType& type = node.result_type(i);
      bits.emplace_back(static_cast<const char*>(results[i]),
                        static_cast<size_t>(type.num_bytes()));
      PARTITA_RETURN_IF_ERROR(Compare(i, HostTensor::View(type, results[i])));
    }
    return absl::OkStatus();
  }

  absl::Status Compare(int result, const HostTensor& found) {
    HostTensor plain(found.type().RowMajor());
    ConvertLayout(found, plain);
    HostTensor again(found.type());
    ConvertLayout(plain, again);
    if (std::memcmp(again.bytes(), found.bytes(), found.byte_span().size()) !=
        0) {
      return absl::InternalError("found padding of a layout that is not zero");
    }
    const HostTensor& expected = expected_[result];
    if (options_.units > 0 && IsFloat(expected.type().dtype)) {
      return CompareEach(result, plain, expected);
    }
    const double tolerance =
        RelativeTolerance(node_, options_, expected.type().dtype);
    if (tolerance == 0 && !IsFloat(expected.type().dtype)) {
      if (std::memcmp(plain.bytes(), expected.bytes(),
                      plain.byte_span().size()) == 0) {
        return absl::OkStatus();
      }
    }
    const double within = tolerance * largest_[result];
    for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
      const double want = GetAsDouble(expected, i);
      const double have = GetAsDouble(plain, i);
      if (want == have || (std::isnan(want) && std::isnan(have))) continue;
      if (std::abs(want - have) <= within) continue;
      return absl::InternalError(absl::StrCat("result ", result, " element ", i,
                                              ": found ", have, "; expected ",
                                              want, " within ", within));
    }
    return absl::OkStatus();
  }

  absl::Status CompareEach(int result, const HostTensor& found,
                           const HostTensor& expected) {
    for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
      const double want = GetAsDouble(expected, i);
      const double have = GetAsDouble(found, i);
      if (IsWithinUnits(have, want, options_.units, expected.type().dtype)) {
        continue;
      }
      std::string from;
      for (const HostTensor& operand : operands_) {
        if (operand.type().num_elements() == expected.type().num_elements()) {
          absl::StrAppend(&from, " ", GetAsDouble(operand, i));
        }
      }
      return absl::InternalError(absl::StrCat(
          "result ", result, " element ", i, " of", from, ": found ", have,
          "; expected ", want, " within ", options_.units, " units"));
    }
    return absl::OkStatus();
  }

  OpView node_;
  const KernelCatalog& catalog_;
  const KernelLibrary& library_;
  const KernelCheckOptions& options_;
  std::vector<HostTensor> operands_;
  std::vector<HostTensor> expected_;
  std::vector<double> largest_;  // for each result
};

NodeId MustAdd(Graph& graph, NodeSpec spec) {
  absl::StatusOr<NodeId> id = graph.AddNode(std::move(spec));
  if (!id.ok()) {
    std::fprintf(stderr, "%s\n", id.status().ToString().c_str());
    std::abort();
  }
  const ValueIds& results = graph.node(*id).results;
  graph.SetOutputs({results.begin(), results.end()});
  return *id;
}

}  // namespace

OneNode::OneNode(const OpDef& op, std::vector<TensorType> operands,
                 Attributes attributes)
    : pool_(std::make_unique<LiteralPool>()),
      graph_(std::make_unique<Graph>("one", pool_.get())) {
  NodeSpec spec{.op = &op, .operands = {}, .attributes = std::move(attributes)};
  for (TensorType& type : operands) {
    spec.operands.push_back(graph_->AddInput("", std::move(type)));
  }
  id_ = MustAdd(*graph_, std::move(spec));
}

OneNode::OneNode(std::unique_ptr<LiteralPool> pool, std::unique_ptr<Graph> body)
    : pool_(std::move(pool)),
      graph_(std::make_unique<Graph>("one", &body->literals())) {
  NodeSpec spec{.op = &kFused, .operands = {}, .attributes = {}};
  for (ValueId input : body->inputs()) {
    spec.operands.push_back(graph_->AddInput("", body->type(input).RowMajor()));
  }
  spec.regions.push_back(std::move(body));
  id_ = MustAdd(*graph_, std::move(spec));
}

OneNode WithLayouts(const OpView& node, const KernelChoice& choice) {
  LiteralPool* literals = &node.graph().literals();
  std::vector<TensorType> operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    operands.push_back(node.operand_type(i).RowMajor());
  }
  OneNode copy = [&] {
    if (node.is(kFused))
      return OneNode(nullptr, node.region(0).Clone(literals));
    return OneNode(node.op(), std::move(operands), node.node().attributes);
  }();
  const Node& twin = copy.node().node();
  for (size_t i = 0; i < twin.operands.size(); ++i) {
    copy.graph().value(twin.operands[i]).type.layout = choice.operands[i];
  }
  for (size_t i = 0; i < twin.results.size(); ++i) {
    copy.graph().value(twin.results[i]).type.layout = choice.results[i];
  }
  return copy;
}

DeviceTraits TestCpu(int threads) {
  DeviceTraits device;
  device.name = "cpu:0";
  device.threads = threads;
  device.peak_flops.fill(200e9 * threads);
  device.memory_bandwidth = 20e9;
  device.launch_seconds = 1e-6;
  return device;
}

CheckReport CheckKernels(const OpView& node, const KernelCatalog& catalog,
                         const KernelLibrary& library,
                         const KernelCheckOptions& options) {
  CheckReport report;
  Check check(node, catalog, library, options);
  report.status = check.Run(report.kernels);
  return report;
}

}  // namespace partita
