// What a family of oneDNN primitives says of a node: the primitive and how the
// node's values are its arguments.
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
#include "kernels/team/openmp_calls.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {

// Layouts asked for, one per operand and result; nullopt leaves it to oneDNN.
struct LayoutWish {
  std::vector<std::optional<Layout>> operands;
  std::vector<std::optional<Layout>> results;
  // How many of oneDNN's implementations, in its order, to leave out.
  int skipped = 0;
  friend bool operator==(const LayoutWish&, const LayoutWish&) = default;
};

struct OnednnRecipe {
  struct Argument {
    int id;  // DNNL_ARG_...
    bool is_result;
    int index;  // operand or result of the node
    dnnl::memory::desc desc;
  };

  // An operand that the primitive reads transformed: see winograd_weights.h.
  struct Winograd {
    int operand;
    int64_t pairs;  // of input and output channels
  };

  // An operand that the primitive reads from the workspace, where zeros stand
  // before and behind it along the last dimension.
  struct Padded {
    int operand;
    dnnl::memory::desc image;  // as the operand has it
    dnnl::memory::desc whole;
    int64_t before;
  };

  dnnl::primitive_desc primitive;
  std::vector<Argument> arguments;
  std::vector<Layout> operands;
  std::vector<Layout> results;
  // An operand that the primitive expects in result 0: it is copied there
  // unless the plan lets them share bytes.
  std::optional<int> summed_operand;
  std::vector<InPlacePair> in_place;
  // The implementation's order of summation may depend on the threads.
  bool bits_depend_on_threads = true;
  // False if a post-op treats a NaN or an infinity otherwise than eval: see
  // docs/internals/numerics.md.
  bool ieee = true;
  // The processor's instructions for the dtype take denormals for zero.
  bool flushes = false;
  std::optional<Winograd> winograd;
  std::optional<Padded> padded;
  // Results along a side of a tile of Winograd's; 0 if it is not by his
  // algorithm, which has sums of its own: see docs/internals/numerics.md.
  int tile = 0;
};

struct OnednnFamily {
  const char* kernel;  // "onednn.conv"
  // Whether `describe` may be asked at all: the op, dtypes and attributes. The
  // same whatever instructions oneDNN uses.
  bool (*accepts)(const OpView& node);
  // The layouts to try for Choices.
  std::vector<LayoutWish> (*wishes)(const OpView& node);
  // Unimplemented if oneDNN cannot do it like that.
  absl::StatusOr<OnednnRecipe> (*describe)(const OpView& node,
                                           const LayoutWish& wish);
  // Its results may lie otherwise than wished for: they are reordered behind
  // the primitive.
  bool relays_results = false;
  // Heeds LayoutWish::skipped; others have one implementation only.
  bool has_alternatives = false;
};

extern const OnednnFamily kOnednnConv;
extern const OnednnFamily kOnednnWinograd;
extern const OnednnFamily kOnednnWinogradTraining;
extern const OnednnFamily kOnednnPaddedConv;
extern const OnednnFamily kOnednnConvTranspose;
extern const OnednnFamily kOnednnConvWeightGradient;
extern const OnednnFamily kOnednnMatmul;
extern const OnednnFamily kOnednnMatmulByConv;
extern const OnednnFamily kOnednnPool;
extern const OnednnFamily kOnednnPoolGradient;
extern const OnednnFamily kOnednnBinary;
extern const OnednnFamily kOnednnNorm;
extern const OnednnFamily kOnednnResample;

const dnnl::engine& CpuEngine();

// f32 in, strict arithmetic, scratchpad from the caller.
dnnl::primitive_attr StrictAttributes();

absl::Status NotOffered(absl::string_view why);

// Every value row-major.
LayoutWish RowMajorWish(const OpView& node);
bool IsRowMajor(const LayoutWish& wish);
// The recipe's layouts are those wished for, all of which are given.
void TakeLayouts(const LayoutWish& wish, OnednnRecipe& recipe);
// Every value in one layout, "" for row-major.
LayoutWish UniformWish(const OpView& node, absl::string_view layout);
// Nothing asked for.
LayoutWish AnyWish(const OpView& node);
// The layouts that the node's types have.
LayoutWish GivenWish(const OpView& node);
// Channels that oneDNN keeps together in its blocked layouts: a vector of f32.
int VectorChannels();
// Row-major and, for images, channels last and blocks of VectorChannels().
std::vector<LayoutWish> ImageWishes(const OpView& node);

// True if all operands and results are of the dtype and none is empty.
bool AllAre(const OpView& node, DType dtype);
inline bool AllF32(const OpView& node) { return AllAre(node, DType::kF32); }
// A product of bf16 values: by itself, as oneDNN would compute what stands
// behind it in other digits than eval does.
bool IsBf16Product(const OpView& node);

// The descriptor of a value's type in the layout wished for, or in any.
std::optional<dnnl::memory::desc> WishedDesc(
    const TensorType& type, const std::optional<Layout>& layout);

// Bytes of transformed weights or of a padded image, at the beginning of the
// workspace; 0 if there are none.
int64_t TransformedBytes(const OnednnRecipe& recipe);

// Bytes that a launch needs: these, and the scratchpad of the primitive.
int64_t WorkspaceBytes(const OnednnRecipe& recipe);

// What is left behind `skipped` implementations; empty if nothing is.
dnnl::primitive_desc WithoutFirst(dnnl::primitive_desc primitive, int skipped);

// "brgconv:avx512_core"
std::string ImplementationName(const dnnl::primitive_desc& primitive);
// One of oneDNN's own loops, thousands of times slower than what it generates,
// by the name of an implementation or by an arithmetic, which holds one.
bool IsReferenceLoop(absl::string_view named);

// The device's threads, or as many as OMP_THREAD_LIMIT leaves of them: a
// primitive that is made for more threads than its team has leaves out their
// part of the work.
int TeamOf(const DeviceTraits& device);

// Gives the number of threads of every oneDNN call in its scope: what oneDNN
// offers depends on it. OMP_THREAD_LIMIT does not count, as a plan is for its
// devices; what runs is made for a TeamOf them. oneDNN's loops run on our own
// threads (kernels/team).
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
