// How a family of oneDNN primitives computes a node: the primitive, and the
// node's values as its arguments.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_RECIPE_H_
#define PARTITA_KERNELS_CPU_ONEDNN_RECIPE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "kernels/kernel.h"
#include "kernels/thread_pool/openmp_calls.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// Requested layouts, one for each operand and result; nullopt lets oneDNN
// choose.
struct LayoutWish {
  std::vector<std::optional<Layout>> operands;
  std::vector<std::optional<Layout>> results;
  // The number of oneDNN's implementations to skip, in its order.
  int skipped = 0;
  friend bool operator==(const LayoutWish&, const LayoutWish&) = default;
};

struct OnednnRecipe {
  struct Argument {
    int id;  // DNNL_ARG_...
    bool is_result;
    int index;  // the node's operand or result
    dnnl::memory::desc desc;
  };

  // An operand that the primitive reads transformed: see
  // small_tile_weights.h.
  struct Winograd {
    int operand;
    int64_t pairs;  // pairs of input and output channels
  };

  // An operand that the primitive reads from the workspace, with zeros before
  // and after it along the last dimension.
  struct Padded {
    int operand;
    dnnl::memory::desc image;  // in the operand's memory
    dnnl::memory::desc whole;
    int64_t before;
  };

  dnnl::primitive_desc primitive;
  std::vector<Argument> arguments;
  std::vector<Layout> operands;
  std::vector<Layout> results;
  // An operand that the primitive expects in result 0. It is copied there
  // unless the plan lets them share bytes.
  std::optional<int> summed_operand;
  std::vector<InPlacePair> in_place;
  // The implementation's order of summation may depend on the threads.
  bool bits_depend_on_threads = true;
  // False if a post-op treats NaN or infinity differently from eval: see
  // docs/internals/numerics.md.
  bool ieee = true;
  // The processor's instructions for the dtype flush denormals to zero.
  bool flushes = false;
  std::optional<Winograd> winograd;
  std::optional<Padded> padded;
  // The side of a tile of Winograd's algorithm, in results; 0 for other
  // algorithms. Winograd's sums differ: see docs/internals/numerics.md.
  int tile = 0;
};

// `extern const OnednnFamily kOnednn<Name>` in kernels/cpu/<file>.cc. The build
// lists every such constant (onednn_family_list.h), by name. If several accept
// a node, that order decides among choices with equal seconds.
struct OnednnFamily {
  const char* kernel;  // "onednn.conv"
  // True if `describe` may be called: checks op, dtypes and attributes.
  // Independent of the instructions that oneDNN uses.
  bool (*accepts)(const OpView& node);
  // The layouts to try for Choices.
  std::vector<LayoutWish> (*wishes)(const OpView& node);
  // Unimplemented if oneDNN cannot compute the node with these layouts.
  absl::StatusOr<OnednnRecipe> (*describe)(const OpView& node,
                                           const LayoutWish& wish);
  // Its results may have other layouts than requested; reorders follow the
  // primitive.
  bool relays_results = false;
  // Uses LayoutWish::skipped; other families have one implementation.
  bool has_alternatives = false;
};

const dnnl::engine& CpuEngine();

// f32 in, strict arithmetic, scratchpad from the caller.
dnnl::primitive_attr StrictAttributes();

absl::Status NotOffered(absl::string_view why);

// Every value row-major.
LayoutWish RowMajorWish(const OpView& node);
bool IsRowMajor(const LayoutWish& wish);
// Sets the recipe's layouts to the requested ones. None may be left out.
void TakeLayouts(const LayoutWish& wish, OnednnRecipe& recipe);
// Every value in one layout; "" for row-major.
LayoutWish UniformWish(const OpView& node, absl::string_view layout);
// No layout requested.
LayoutWish AnyWish(const OpView& node);
// The layouts of the node's types.
LayoutWish GivenWish(const OpView& node);
// Channels in a block of oneDNN's blocked layouts: a vector of f32.
int VectorChannels();
// Row-major and, for images, channels last and blocks of VectorChannels().
std::vector<LayoutWish> ImageWishes(const OpView& node);

// True if all operands and results have the dtype and none is empty.
bool AllAre(const OpView& node, DType dtype);
inline bool AllF32(const OpView& node) { return AllAre(node, DType::kF32); }
// A product of bf16 values, not fused: oneDNN would compute an epilogue with
// another rounding than eval.
bool IsBf16Product(const OpView& node);

// The descriptor of a value's type in the requested layout, or in any.
std::optional<dnnl::memory::desc> WishedDesc(
    const TensorType& type, const std::optional<Layout>& layout);

// Bytes of transformed weights or of a padded image, at the start of the
// workspace; 0 if there are none.
int64_t TransformedBytes(const OnednnRecipe& recipe);

// Workspace bytes of a launch: these, and the primitive's scratchpad.
int64_t WorkspaceBytes(const OnednnRecipe& recipe);

// Without its first `skipped` implementations, and without known faults; empty
// if none is left. `primitive` is of an operation descriptor that must be
// alive.
dnnl::primitive_desc WithoutFirst(dnnl::primitive_desc primitive, int skipped);

// oneDNN's implementation of the operation that has no known fault, after
// `skipped` others; empty if there is none. A gradient needs the descriptor of
// its `forward` primitive.
//
// oneDNN 2 keeps the address of the operation's descriptor and reads it when it
// advances to the next implementation. Only this function advances, while
// `operation` is alive.
template <typename Primitive, typename... Forward>
dnnl::primitive_desc SoundPrimitive(const typename Primitive::desc& operation,
                                    const dnnl::primitive_attr& attributes,
                                    int skipped, const Forward&... forward) {
  return WithoutFirst(
      typename Primitive::primitive_desc(operation, attributes, CpuEngine(),
                                         forward..., /*allow_empty=*/true),
      skipped);
}

// "brgconv:avx512_core"
std::string ImplementationName(const dnnl::primitive_desc& primitive);
// True for oneDNN's own loops, thousands of times slower than its generated
// code.
bool IsReferenceLoop(const dnnl::primitive_desc& primitive);
bool IsReferenceLoop(const Arithmetic& arithmetic);

// The device's threads, limited by OMP_THREAD_LIMIT. A primitive made for more
// threads than run skips the work of the missing ones.
int GrantedThreads(const DeviceTraits& device);

// Sets the number of threads of all oneDNN calls in its scope, on which
// oneDNN's offers depend. OMP_THREAD_LIMIT does not apply to queries, since a
// plan is for its devices; primitives that run are made for GrantedThreads of
// them. oneDNN's loops run on our own threads (kernels/thread_pool).
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
  int dynamic_;
  OwnThreadsScope own_threads_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_RECIPE_H_
