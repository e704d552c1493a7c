// Compares the fetched blocks of each output with its bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/output_coverage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace partita {

void OutputCoverage::Fetched(CommandId c, MicroBatchId micro_batch,
                             const Range& shard) {
  const int port = view_.commands[c].port;
  const ValueId value = view_.graph().outputs()[port];
  const int64_t base =
      view_.graph().type(value).num_bytes() * micro_batch.index;
  ForEachBlock(shard, base, [&](ByteSpan bytes) {
    fetched_[port].push_back({bytes, c});
  });
}

void OutputCoverage::CheckCovered(Findings& findings) {
  for (size_t port = 0; port < fetched_.size(); ++port) {
    std::vector<Block>& blocks = fetched_[port];
    std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
      return a.bytes.begin < b.bytes.begin;
    });
    int64_t at = 0;
    CommandId last;
    for (const Block& block : blocks) {
      if (block.bytes.begin != at) break;
      at = block.bytes.end;
      last = block.command;
    }
    const Port& output = view_.entry->outputs[port];
    int64_t bytes = 0;
    for (const Block& block : blocks) {
      bytes += block.bytes.end - block.bytes.begin;
    }
    // A gap, a byte that is fetched twice, or a byte beyond the end makes these
    // differ.
    if (at == output.type.num_bytes() && bytes == at) continue;
    Finding finding = view_.Found(
        Rule::kOutputs, last,
        absl::StrCat(
            "output ", port, " ", output.name, ": found ", bytes,
            " bytes fetched, ", at,
            " of them in a row from the first; expected each of its ",
            output.type.num_bytes(),
            " bytes once; fetch every shard of every micro-batch once"));
    findings.Add(std::move(finding));
  }
}

}  // namespace partita
