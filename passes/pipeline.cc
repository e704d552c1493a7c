// The list of passes, and running it with checks and records.
// SPDX-License-Identifier: Apache-2.0

#include "passes/pipeline.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>

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

constexpr Pass kSourcePasses[] = {
    {"remove_dead", RemoveDead},        // importers leave dead shape arithmetic
    {"fold_shapes", FoldShapes},        // makes constants for the next one
    {"fold_constants", FoldConstants},  // the passes below match constants
    {"remove_identities", RemoveIdentities},
    {"recognise_attention", RecogniseAttention},  // adds transposes to cancel
    {"cancel_transpose_pair", CancelTransposePair},
    {"merge_reshapes", MergeReshapes},
    {"remove_identities", RemoveIdentities},    // of merged transposes
    {"simplify_attention", SimplifyAttention},  // operands are merged now
    {"merge_duplicates", MergeDuplicates},
    {"drop_expands", DropExpands},  // of gradients
    {"remove_dead", RemoveDead},    // dead ops count as readers in the next
    {"factor_sums", FactorSums},
    {"merge_duplicates", MergeDuplicates},     // sums that differed by a factor
    {"pair_sums", PairSums},                   // before products are fused
    {"recognise_rms_norm", RecogniseRmsNorm},  // before their ops
    {"recognise_activations", RecogniseActivations},  // are fused
    {"decompose_batch_norm", DecomposeBatchNorm},     // makes mul and add for
    {"fold_affine_into_conv", FoldAffineIntoConv},    // the next one
    {"unfold_conv_transpose", UnfoldConvTranspose},   // with its final bias
    {"remove_dead", RemoveDead},  // dead ops count as readers in fusions
    {"fuse_epilogue", FuseEpilogue, FuseEpilogue},
    {"repeat_cheap_ops", RepeatCheapOps},   // for clusters of the next one
    {"fuse_elementwise", FuseElementwise},  // ops outside of epilogues
    {"remove_dead", RemoveDead},            // last: others leave dead ops
};

constexpr Pass kMicroBatchPasses[] = {
    {"batch_rows_first", BatchRowsFirst, BatchRowsFirst},
    {"cancel_transpose_pair", CancelTransposePair},
    {"remove_identities", RemoveIdentities},
    {"remove_dead", RemoveDead},
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

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      folder, ": cannot be made a folder to dump into: ", error.message()));
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
  PARTITA_RETURN_IF_ERROR(pass.run_on_batch != nullptr
                              ? pass.run_on_batch(graph, options.batch_inputs)
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
