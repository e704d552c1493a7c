// The list of passes, and running it with checks and records.
// SPDX-License-Identifier: Apache-2.0

#include "passes/pipeline.h"

#include <chrono>
#include <memory>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/atomic_file.h"
#include "graph/fingerprint.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "passes/batch_rows_first.h"
#include "passes/cancel_transpose_pair.h"
#include "passes/decompose_batch_norm.h"
#include "passes/drop_expands.h"
#include "passes/factor_sums.h"
#include "passes/fold_affine_into_conv.h"
#include "passes/fold_constants.h"
#include "passes/fold_shapes.h"
#include "passes/fuse_elementwise.h"
#include "passes/fuse_epilogue.h"
#include "passes/merge_duplicates.h"
#include "passes/merge_reshapes.h"
#include "passes/pair_sums.h"
#include "passes/recognise_activations.h"
#include "passes/recognise_attention.h"
#include "passes/recognise_rms_norm.h"
#include "passes/remove_dead.h"
#include "passes/remove_identities.h"
#include "passes/repeat_cheap_ops.h"
#include "passes/simplify_attention.h"
#include "passes/unfold_conv_transpose.h"

namespace partita {
namespace {

// The order rests on four rules.
//   1. What makes patterns alike runs before what matches patterns, and what
//      matches the ops of a pattern runs before what takes them away.
//   2. Passes that ask for the only reader of a value count dead readers too,
//      so a remove_dead runs before a group of such passes.
//   3. A fused node hides its ops from all passes that match ops, so fusions
//      run last.
//   4. A pass may occur again where others make new work for it.
constexpr Pass kSourcePasses[] = {
    // Importers leave dead shape arithmetic and unused initializers. Later
    // passes would fold them, and count them as readers.
    {"remove_dead", RemoveDead},
    // Shapes are static: `shape` and `size` become constants. Before
    // fold_constants, which then folds the arithmetic on them.
    {"fold_shapes", FoldShapes},
    // Most passes below match constants: scales, epsilons, statistics, masks,
    // neutral operands. An exporter may write each as a small subgraph. No pass
    // that matches a number may come before this.
    {"fold_constants", FoldConstants},
    // Ops without effect hide patterns, as they are between the ops of one.
    // After fold_constants, as a neutral operand of add or mul must be a
    // constant.
    {"remove_identities", RemoveIdentities},
    // Attention is matched as exporters write it: products, scale, mask,
    // softmax. Before all passes that rewrite or fuse one of these ops. Keys
    // that the pattern reads transposed get a transpose back, which the next
    // pass cancels.
    {"recognise_attention", RecogniseAttention},
    // Leaves one transpose of each chain, the pattern that simplify_attention
    // matches. After recognise_attention, which reads the keys' transpose as
    // the exporter wrote it and adds its own.
    {"cancel_transpose_pair", CancelTransposePair},
    // Leaves one reshape of each chain: simplify_attention matches repeated
    // heads as one expand between two reshapes.
    {"merge_reshapes", MergeReshapes},
    // The merged transposes and reshapes may do nothing now. Between the two
    // passes above and simplify_attention, which looks for the maker of each
    // operand.
    {"remove_identities", RemoveIdentities},
    // Heads that repeat, transposes and causal masks become attributes of
    // attention. Needs constant masks and merged makers of operands. The next
    // pass merges what is left of the masks of several layers.
    {"simplify_attention", SimplifyAttention},
    // Equal ops have equal operands only after identities, transposes and
    // reshapes are merged. Before pair_sums, which looks for two sums of one
    // value.
    {"merge_duplicates", MergeDuplicates},
    // Gradients of sums and means expand what elementwise ops broadcast anyway.
    // Before factor_sums, which takes only a factor that broadcasts, not one
    // that was expanded to the product's extents.
    {"drop_expands", DropExpands},
    // Expands, transposes and reshapes that nobody reads any more would count
    // as second readers of products (rule 2).
    {"remove_dead", RemoveDead},
    // Moves factors that are constant in a sum behind it, so that a product
    // over all elements is not computed. Before pair_sums and the fusions,
    // which take the product as it is.
    {"factor_sums", FactorSums},
    // Sums that differed by a factor are equal now. Before pair_sums, which
    // pairs a sum with one other sum.
    {"merge_duplicates", MergeDuplicates},
    // A sum and a sum of products over one value share one pass over memory.
    // No fusion may come before: the product would be inside of a fused node.
    {"pair_sums", PairSums},
    // RMS norm becomes a layer norm, which is one command. Before its mul, add
    // and sqrt are fused with others.
    {"recognise_rms_norm", RecogniseRmsNorm},
    // hard_swish, silu and gelu become one op, which fuse_epilogue knows as an
    // activation of libraries. Before fusions take the ops of the pattern.
    {"recognise_activations", RecogniseActivations},
    // Inference batch norm becomes a mul and an add with constants, for the
    // next pass. Nothing that fuses or moves them may come in between.
    {"decompose_batch_norm", DecomposeBatchNorm},
    // Such a mul or add becomes part of the convolution's weights and bias.
    // Before fuse_epilogue, which would take them as an epilogue and compute
    // them in every step.
    {"fold_affine_into_conv", FoldAffineIntoConv},
    // Copies the weights and bias into another form, so they must be final:
    // after fold_affine_into_conv, which would not find a convolution behind
    // depth_to_space. Before fuse_epilogue, which takes the new convolution.
    {"unfold_conv_transpose", UnfoldConvTranspose},
    // The matched patterns left dead ops, which are readers for both fusions
    // (rule 2).
    {"remove_dead", RemoveDead},
    // Libraries apply bias, residual and activation before they write a result.
    // What none of the machine's can is left for fuse_elementwise. Before it,
    // which would take these ops into clusters of their own, and then the
    // result would be written and read once more.
    {"fuse_epilogue", FuseEpilogue, FuseEpilogue},
    // Copies cheap ops to each reader, so that fuse_elementwise can take in all
    // readers. After fuse_epilogue: a bias with copies would be several readers
    // of the product, which then has no epilogue. No merge_duplicates may come
    // after this, as it would merge the copies again.
    {"repeat_cheap_ops", RepeatCheapOps},
    // One pass over memory for each cluster of the remaining elementwise ops.
    {"fuse_elementwise", FuseElementwise, FuseElementwise},
    // A planner would place dead ops, and count their seconds and bytes.
    {"remove_dead", RemoveDead},
};

// After the source passes: the new transposes would hide patterns from them.
// Fused nodes are no obstacle: they have the dimension rule of their body.
constexpr Pass kMicroBatchPasses[] = {
    // A micro-batch is a slice of rows, and is contiguous only if the batch is
    // the outermost part of merged rows.
    {"batch_rows_first", BatchRowsFirst, BatchRowsFirst},
    // Merges the new transposes with those of the model, and with each other.
    {"cancel_transpose_pair", CancelTransposePair},
    {"remove_identities", RemoveIdentities},  // of cancelled transposes
    {"remove_dead", RemoveDead},              // the two passes leave dead ops
};

absl::Status CheckSkips(absl::Span<const Pass> passes,
                        const PipelineOptions& options) {
  for (const std::string& name : options.skip) {
    const bool known = absl::c_any_of(
        passes, [&](const Pass& pass) { return name == pass.name; });
    if (known) continue;
    std::string names;
    for (const Pass& pass : passes) absl::StrAppend(&names, " ", pass.name);
    return absl::InvalidArgumentError(
        absl::StrCat("skipped pass ", name,
                     ": found no such pass; expected one of:", names));
  }
  return absl::OkStatus();
}

absl::Status Dump(const Graph& graph, const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->WriteText(PrintGraph(graph)));
  return file->Commit();
}

absl::Status InContext(const absl::Status& status, const Pass& pass,
                       const Graph& graph) {
  return absl::Status(status.code(),
                      absl::StrCat("while running ", pass.name, " on @",
                                   graph.name(), ": ", status.message()));
}

absl::Status RunOne(const Pass& pass, const PipelineOptions& options,
                    Graph& graph, PassRecord& record) {
  const Fingerprint before = FingerprintOf(graph);
  const auto start = std::chrono::steady_clock::now();
  PARTITA_RETURN_IF_ERROR(pass.run_in != nullptr
                              ? pass.run_in(graph, options.context)
                              : pass.run(graph));
  record.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  record.changed = FingerprintOf(graph) != before;
  if (options.verify && record.changed) return Verify(graph);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Pass> SourcePasses() { return kSourcePasses; }
absl::Span<const Pass> MicroBatchPasses() { return kMicroBatchPasses; }

std::string DumpPath(const PipelineOptions& options, int number,
                     const Pass& pass, const Graph& graph) {
  return absl::StrFormat("%s/%02d_%s.%s.graph", options.dump_folder, number,
                         pass.name, FileName(graph.name()));
}

absl::Status RunPipeline(absl::Span<const Pass> passes,
                         const PipelineOptions& options, Graph& graph,
                         std::vector<PassRecord>* records) {
  PARTITA_RETURN_IF_ERROR(CheckSkips(passes, options));
  if (!options.dump_folder.empty()) {
    PARTITA_RETURN_IF_ERROR(MakeFolder(options.dump_folder));
  }
  int number = 0;
  for (const Pass& pass : passes) {
    if (number == options.stop_after) break;
    ++number;
    if (absl::c_linear_search(options.skip, pass.name)) continue;
    PassRecord record{.pass = pass.name};
    if (absl::Status status = RunOne(pass, options, graph, record);
        !status.ok()) {
      return InContext(status, pass, graph);
    }
    if (!options.dump_folder.empty()) {
      PARTITA_RETURN_IF_ERROR(
          Dump(graph, DumpPath(options, number, pass, graph)));
    }
    if (records != nullptr) records->push_back(std::move(record));
  }
  return absl::OkStatus();
}

}  // namespace partita
