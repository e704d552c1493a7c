// The vector instructions that this process may use.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_INSTRUCTION_SET_H_
#define PARTITA_GRAPH_INSTRUCTION_SET_H_

namespace partita {

enum class InstructionSet {
  kSse4,        // SSE 4.2 and POPCNT
  kF16c,        // conversions of f16
  kAvx2,        // with FMA
  kAvx512,      // F, BW, DQ and VL
  kAvx512Bf16,  // products of bf16
  kAvx512Amx,   // and int8 and bf16 tiles, if the system permits
};

// True if the processor has it and the environment allows it.
// ONEDNN_MAX_CPU_ISA or DNNL_MAX_CPU_ISA limits the instructions as in oneDNN
// (SSE41, AVX, AVX2, AVX512_CORE, ...). The limit holds for oneDNN's kernels,
// for ours and for the detected host, so the program behaves as on an older
// processor. AVX allows no more than SSE41 here.
bool MayUse(InstructionSet set);

}  // namespace partita

#endif  // PARTITA_GRAPH_INSTRUCTION_SET_H_
