// Times oneDNN's primitives on the nodes of nodes.tsv, with whichever version,
// from 2.6 to 3.x, it is compiled against, without Partita.
// SPDX-License-Identifier: Apache-2.0
//
//   onednn_bench NODES FIRST MS    times the nodes from the FIRST-th, MS
//                                  milliseconds for each of their layouts
//   onednn_bench fault NAME        runs a known fault; dies, or says how it
//   went
//
// A line is a node: its number, the median in microseconds of its fastest
// layouts, these, and the implementation; "none" for each if the library does
// not offer the node. ONEDNN_MAX_CPU_ISA limits the
// instructions; the caller sets the threads.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"
#include "tests/bench/onednn_versions/median.h"

namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::primitive_attr;
using dnnl::primitive_desc;
using dnnl::prop_kind;
using Dims = memory::dims;
using Arguments = std::unordered_map<int, memory>;

const dnnl::engine& Cpu() {
  static const auto& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Version 3 has no descriptor beside the primitive's. Empty if the library
// cannot compute it in these layouts.
#if DNNL_VERSION_MAJOR >= 3
template <typename Primitive, typename... Args>
typename Primitive::primitive_desc Describe(const primitive_attr& attributes,
                                            const Args&... args) {
  return {Cpu(), args..., attributes, /*allow_empty=*/true};
}
template <typename Primitive, typename Hint, typename... Args>
typename Primitive::primitive_desc DescribeGradient(
    const primitive_attr& attributes, const Hint& hint, const Args&... args) {
  return {Cpu(), args..., hint, attributes, /*allow_empty=*/true};
}
using Pool = dnnl::pooling_forward;
using Softmax = dnnl::softmax_forward;
#else
template <typename Primitive, typename... Args>
typename Primitive::primitive_desc Describe(const primitive_attr& attributes,
                                            const Args&... args) {
  return {typename Primitive::desc(args...), attributes, Cpu(),
          /*allow_empty=*/true};
}
template <typename Primitive, typename Hint, typename... Args>
typename Primitive::primitive_desc DescribeGradient(
    const primitive_attr& attributes, const Hint& hint, const Args&... args) {
  return {typename Primitive::desc(args...), attributes, Cpu(), hint,
          /*allow_empty=*/true};
}
using Pool = dnnl::pooling_v2_forward;
using Softmax = dnnl::softmax_v2_forward;
#endif

// A row of nodes.tsv.
struct Node {
  std::string kind;
  Dims x, w, y, strides, dilations, before, after;
  int64_t groups = 1;
  std::string flags;

  bool Has(const char* flag) const {
    return flags.find(flag) != std::string::npos;
  }
};

Dims ParseDims(const std::string& text) {
  Dims dims;
  std::istringstream extents(text);
  for (std::string extent; text != "-" && std::getline(extents, extent, 'x');) {
    dims.push_back(std::stoll(extent));
  }
  return dims;
}

std::vector<Node> ReadNodes(const char* path) {
  std::ifstream file(path);
  std::vector<Node> nodes;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) {
      cells.push_back(cell);
    }
    Node node{.kind = cells.at(1),
              .x = ParseDims(cells.at(2)),
              .w = ParseDims(cells.at(3)),
              .y = ParseDims(cells.at(4)),
              .strides = ParseDims(cells.at(5)),
              .dilations = ParseDims(cells.at(6)),
              .before = ParseDims(cells.at(7)),
              .after = ParseDims(cells.at(8)),
              .flags = cells.at(10)};
    if (cells.at(9) != "-") node.groups = std::stoll(cells[9]);
    for (int64_t& dilation : node.dilations) --dilation;  // as oneDNN counts
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// Of images, or of everything else.
enum class Order { kAny, kRowMajor, kChannelsLast, kBlocks8, kBlocks16 };
const std::map<Order, const char*> kOrderNames = {
    {Order::kAny, "any"},
    {Order::kRowMajor, "row-major"},
    {Order::kChannelsLast, "channels last"},
    {Order::kBlocks8, "blocks of 8"},
    {Order::kBlocks16, "blocks of 16"}};

memory::desc Desc(const Dims& dims, Order order) {
  using Tag = memory::format_tag;
  const std::map<Order, std::vector<Tag>> tags = {
      {Order::kRowMajor, {Tag::abc, Tag::abcd, Tag::abcde}},
      {Order::kChannelsLast, {Tag::acb, Tag::acdb, Tag::acdeb}},
      {Order::kBlocks8, {Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b}},
      {Order::kBlocks16, {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b}}};
  const Tag tag =
      order == Order::kAny ? Tag::any : tags.at(order).at(dims.size() - 3);
  return {dims, memory::data_type::f32, tag};
}

memory::desc Strided(const Dims& dims, bool transposed) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;) {
    strides[i] = strides[i + 1] * dims[i + 1];
  }
  if (transposed) {
    strides[dims.size() - 1] = dims[dims.size() - 2];
    strides[dims.size() - 2] = 1;
  }
  return {dims, memory::data_type::f32, strides};
}

memory::desc Any(const Dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

// With the groups as a dimension of its own. A transposed convolution's weights
// are [inputs, outputs, ...] here and [outputs, inputs, ...] in oneDNN.
Dims WeightsOf(const Node& node) {
  Dims dims = node.w;
  const bool transposed = node.kind == "conv_transpose";
  if (node.groups > 1) {
    dims[0] /= node.groups;
    dims.insert(dims.begin(), node.groups);
  }
  if (transposed)
    std::swap(dims[dims.size() - node.x.size()],
              dims[dims.size() - node.x.size() + 1]);
  return dims;
}

// The operands of the primitive, as execution arguments.
struct Candidate {
  primitive_desc primitive;
  std::vector<std::pair<int, memory::desc>> arguments;
  std::string layouts;
};

template <typename PrimitiveDesc>
Candidate Forward(const PrimitiveDesc& primitive, bool has_weights) {
  Candidate candidate{.primitive = primitive};
  if (!primitive) return candidate;
  candidate.arguments = {{DNNL_ARG_SRC, primitive.src_desc()},
                         {DNNL_ARG_DST, primitive.dst_desc()}};
  if (has_weights) {
    candidate.arguments.emplace_back(
        DNNL_ARG_WEIGHTS, primitive.query_md(dnnl::query::weights_md));
  }
  return candidate;
}

Candidate Convolution(const Node& node, Order order,
                      algorithm how = algorithm::convolution_direct) {
  const memory::desc x = Desc(node.x, order), y = Desc(node.y, order);
  const memory::desc w = Any(WeightsOf(node));
  if (node.kind == "conv_transpose") {
    return Forward(
        Describe<dnnl::deconvolution_forward>(
            {}, prop_kind::forward_inference, algorithm::deconvolution_direct,
            x, w, y, node.strides, node.dilations, node.before, node.after),
        true);
  }
  const auto forward = Describe<dnnl::convolution_forward>(
      {},
      node.Has("constant") ? prop_kind::forward_inference
                           : prop_kind::forward_training,
      how, x, w, y, node.strides, node.dilations, node.before, node.after);
  if (node.kind == "conv" || !forward) return Forward(forward, true);
  const auto gradient = DescribeGradient<dnnl::convolution_backward_weights>(
      {}, forward, how, x, w, y, node.strides, node.dilations, node.before,
      node.after);
  Candidate candidate{.primitive = gradient};
  if (!gradient) return candidate;
  candidate.arguments = {{DNNL_ARG_SRC, gradient.src_desc()},
                         {DNNL_ARG_DIFF_DST, gradient.diff_dst_desc()},
                         {DNNL_ARG_DIFF_WEIGHTS, gradient.diff_weights_desc()}};
  return candidate;
}

Candidate PoolOf(const Node& node, Order order) {
  const algorithm kind = node.kind == "max_pool"
                             ? algorithm::pooling_max
                             : algorithm::pooling_avg_exclude_padding;
  const memory::desc x = Desc(node.x, order), y = Desc(node.y, order);
  return Forward(
      Describe<Pool>({}, prop_kind::forward_inference, kind, x, y, node.strides,
                     node.w, node.dilations, node.before, node.after),
      false);
}

Candidate Product(const Node& node, bool packed) {
  const memory::desc a = Strided(node.x, node.Has("transpose_a"));
  const memory::desc b =
      packed ? Any(node.w) : Strided(node.w, node.Has("transpose_b"));
  return Forward(
      Describe<dnnl::matmul>({}, a, b, Strided(node.y, /*transposed=*/false)),
      true);
}

Candidate Line(const Node& node) {
  const memory::desc x = Strided(node.x, /*transposed=*/false);
  const int axis = static_cast<int>(node.x.size()) - 1;
  if (node.kind == "softmax") {
    return Forward(Describe<Softmax>({}, prop_kind::forward_inference,
                                     algorithm::softmax_accurate, x, x, axis),
                   false);
  }
  const auto flags = dnnl::normalization_flags::none;
#if DNNL_VERSION_MAJOR >= 3
  return Forward(Describe<dnnl::layer_normalization_forward>(
                     {}, prop_kind::forward_inference, x, x, 1e-5f, flags),
                 false);
#else
  return Forward(Describe<dnnl::layer_normalization_forward>(
                     {}, prop_kind::forward_inference, x, 1e-5f, flags),
                 false);
#endif
}

// Weights may be packed in advance only if they are constant; the gradient's
// result may be unpacked later, which costs little.
std::vector<Candidate> CandidatesOf(const Node& node) {
  std::vector<Candidate> all;
  const auto add = [&](const char* layouts, const auto& describe) {
    try {
      Candidate candidate = describe();
      candidate.layouts = layouts;
      if (candidate.primitive) all.push_back(std::move(candidate));
    } catch (const dnnl::error&) {  // not in these layouts
    }
  };
  if (node.kind == "matmul") {
    add("row-major", [&] { return Product(node, /*packed=*/false); });
    if (node.Has("constant")) {
      add("packed weights", [&] { return Product(node, /*packed=*/true); });
    }
  } else if (node.kind == "softmax" || node.kind == "layer_norm") {
    add("row-major", [&] { return Line(node); });
  } else if (node.kind == "max_pool" || node.kind == "avg_pool") {
    for (Order order : {Order::kRowMajor, Order::kChannelsLast, Order::kBlocks8,
                        Order::kBlocks16}) {
      add(kOrderNames.at(order), [&] { return PoolOf(node, order); });
    }
  } else {
    for (Order order : {Order::kAny, Order::kChannelsLast, Order::kRowMajor}) {
      add(kOrderNames.at(order), [&] { return Convolution(node, order); });
    }
    if (node.kind != "conv_transpose") {
      add("any, Winograd", [&] {
        return Convolution(node, Order::kAny, algorithm::convolution_winograd);
      });
    }
  }
  return all;
}

memory Filled(const memory::desc& desc) {
  memory values(desc, Cpu());
  auto* const bytes = values.map_data<char>();
  std::memset(bytes, 0x3c, desc.get_size());  // 0.0115
  values.unmap_data(bytes);
  return values;
}

// A primitive with its memory.
class Launch {
 public:
  explicit Launch(const Candidate& candidate)
      : primitive_(candidate.primitive), stream_(Cpu()) {
    for (const auto& [argument, desc] : candidate.arguments) {
      arguments_.emplace(argument, Filled(desc));
    }
  }
  void operator()() const {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::primitive primitive_;
  mutable dnnl::stream stream_;
  Arguments arguments_;
};

void TimeNode(const Node& node, double budget) {
  double best = 1e9;
  std::string text = "none\tnone\tnone";
  for (const Candidate& candidate : CandidatesOf(node)) {
    const std::optional<double> seconds =
        partita::MedianSeconds(Launch(candidate), budget, best);
    if (!seconds.has_value() || *seconds >= best) continue;
    best = *seconds;
    std::ostringstream line;
    line << best * 1e6 << '\t' << candidate.layouts << '\t'
         << candidate.primitive.impl_info_str();
    text = line.str();
  }
  std::cout << text << std::endl;
}

constexpr char kNotOffered[] = "not offered";

// The gradient by the weights of a convolution with 1x1 kernels and strides,
// channels last, and the implementation at fault, if the library has it for
// this shape: oneDNN #6035.
constexpr int64_t kImagePeriod = 7, kGradientPeriod = 5;
struct StridedGradient {
  Dims x_dims, dy_dims;
  memory::desc x, dy;
  dnnl::convolution_backward_weights::primitive_desc primitive;
};

StridedGradient DescribeStrided(const Dims& x, const Dims& dy) {
  StridedGradient gradient = {
      x, dy, Desc(x, Order::kChannelsLast), Desc(dy, Order::kChannelsLast), {}};
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const Dims strides = {2, 2}, none = {0, 0};
  const memory::desc dw = Any({dy[1], x[1], 1, 1});
  const auto how = algorithm::convolution_direct;
  const auto forward = Describe<dnnl::convolution_forward>(
      attributes, prop_kind::forward_training, how, gradient.x, dw, gradient.dy,
      strides, none, none, none);
  if (!forward) return gradient;
  auto primitive = DescribeGradient<dnnl::convolution_backward_weights>(
      attributes, forward, how, gradient.x, dw, gradient.dy, strides, none,
      none, none);
  if (!primitive) return gradient;
  while (std::strncmp(primitive.impl_info_str(), "jit_1x1:", 8) != 0) {
    if (!primitive.next_impl()) return gradient;
  }
  gradient.primitive = primitive;
  return gradient;
}

// Small integers, so sums are exact.
memory Counted(const memory::desc& desc, int64_t period) {
  memory values(desc, Cpu());
  auto* const floats = values.map_data<float>();
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i) {
    floats[i] = static_cast<float>(static_cast<int64_t>(i) % period);
  }
  values.unmap_data(floats);
  return values;
}

// Of values as Counted makes them for channels last.
float ExpectedGradient(const Dims& x, const Dims& dy, int64_t output,
                       int64_t input) {
  int64_t sum = 0;
  for (int64_t n = 0; n < x[0]; ++n) {
    for (int64_t h = 0; h < dy[2]; ++h) {
      for (int64_t w = 0; w < dy[3]; ++w) {
        const int64_t from = ((n * x[2] + 2 * h) * x[3] + 2 * w) * x[1] + input;
        const int64_t at = ((n * dy[2] + h) * dy[3] + w) * dy[1] + output;
        sum += from % kImagePeriod * (at % kGradientPeriod);
      }
    }
  }
  return static_cast<float>(sum);
}

// What is wrong with the result, or with the bytes after the scratchpad.
std::string FaultOf(const StridedGradient& gradient) {
  constexpr int64_t kGuard = 1 << 16;
  constexpr char kUntouched = 0x5a;
  const auto asked =
      static_cast<int64_t>(gradient.primitive.scratchpad_desc().get_size());
  memory scratchpad(
      {{asked + kGuard}, memory::data_type::u8, memory::format_tag::a}, Cpu());
  auto* bytes = scratchpad.map_data<char>();
  std::memset(bytes, kUntouched, asked + kGuard);
  scratchpad.unmap_data(bytes);
  dnnl::stream stream(Cpu());
  memory packed = Filled(gradient.primitive.diff_weights_desc());
  dnnl::primitive(gradient.primitive)
      .execute(stream,
               {{DNNL_ARG_SRC, Counted(gradient.x, kImagePeriod)},
                {DNNL_ARG_DIFF_DST, Counted(gradient.dy, kGradientPeriod)},
                {DNNL_ARG_DIFF_WEIGHTS, packed},
                {DNNL_ARG_SCRATCHPAD, scratchpad}});
  memory plain = Filled(
      Desc({gradient.dy_dims[1], gradient.x_dims[1], 1, 1}, Order::kRowMajor));
  dnnl::reorder(packed, plain).execute(stream, packed, plain);
  stream.wait();
  std::string fault;
  bytes = scratchpad.map_data<char>();
  if (std::any_of(bytes + asked, bytes + asked + kGuard,
                  [](char byte) { return byte != kUntouched; })) {
    fault = "writes beyond its scratchpad";
  }
  scratchpad.unmap_data(bytes);
  auto* const results = plain.map_data<float>();
  for (int64_t i = 0; i < gradient.dy_dims[1] * gradient.x_dims[1]; ++i) {
    if (fault.empty() &&
        results[i] != ExpectedGradient(gradient.x_dims, gradient.dy_dims,
                                       i / gradient.x_dims[1],
                                       i % gradient.x_dims[1])) {
      fault = "gives wrong numbers";
    }
  }
  plain.unmap_data(results);
  return fault;
}

void RunStridedGradients() {
  int tried = 0;
  for (int64_t images : {1, 4}) {
    for (int64_t inputs : {1, 2, 3, 4, 6}) {
      for (int64_t outputs : {8, 16, 20, 32}) {
        for (int64_t extent : {5, 8, 14, 28}) {
          const int64_t results = (extent + 1) / 2;
          const StridedGradient gradient =
              DescribeStrided({images, inputs, extent, extent},
                              {images, outputs, results, results});
          if (!gradient.primitive) continue;
          ++tried;
          const std::string fault = FaultOf(gradient);
          if (fault.empty()) continue;
          std::cout << gradient.primitive.impl_info_str() << ' ' << fault
                    << std::endl;
          return;
        }
      }
    }
  }
  if (tried == 0) {
    std::cout << kNotOffered << std::endl;
    return;
  }
  std::cout << "right, and within its scratchpad, in " << tried << " shapes"
            << std::endl;
}

// A depthwise convolution with a sum after it, channels last.
void RunDepthwiseSums() {
  bool is_offered = false;
  for (int64_t channels : {5, 6, 7, 9}) {
    dnnl::post_ops sum;
    sum.append_sum();
    primitive_attr attributes;
    attributes.set_post_ops(sum);
    const memory::desc x = Desc({1, channels, 9, 9}, Order::kChannelsLast);
    const Dims one = {1, 1}, none = {0, 0};
    const auto primitive = Describe<dnnl::convolution_forward>(
        attributes, prop_kind::forward_inference, algorithm::convolution_direct,
        x, Any({channels, 1, 1, 3, 3}), x, one, none, one, one);
    if (!primitive) continue;
    is_offered = true;
    std::cout << primitive.impl_info_str() << std::endl;
    dnnl::stream stream(Cpu());
    dnnl::primitive(primitive).execute(
        stream, {{DNNL_ARG_SRC, Filled(x)},
                 {DNNL_ARG_WEIGHTS, Filled(primitive.weights_desc())},
                 {DNNL_ARG_DST, Filled(x)}});
    stream.wait();
  }
  std::cout << (is_offered ? "no crash" : kNotOffered) << std::endl;
}

int RunFault(const std::string& name) {
  if (name == "strided_gradient") {
    RunStridedGradients();
  } else if (name == "depthwise_sum") {
    RunDepthwiseSums();
  } else {
    std::cerr << "onednn_bench: found fault " << name
              << "; expected strided_gradient or depthwise_sum\n";
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const dnnl_version_t& version = *dnnl::version();
  if (argc == 3 && std::string(argv[1]) == "fault") return RunFault(argv[2]);
  if (argc != 4) {
    std::cerr << "usage: onednn_bench NODES FIRST MS | fault NAME\n";
    return 2;
  }
  std::cout << "version\t" << version.major << '.' << version.minor << '.'
            << version.patch << std::endl;
  const std::vector<Node> nodes = ReadNodes(argv[1]);
  const double budget = std::atof(argv[3]) * 1e-3;
  for (size_t i = std::strtoull(argv[2], nullptr, 10); i < nodes.size(); ++i) {
    std::cout << i << '\t' << std::flush;
    TimeNode(nodes[i], budget);
  }
  return 0;
}
