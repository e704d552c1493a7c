// A small instance of an op. An op declares its own (OpDef::samples), and the
// tests that walk the table run them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_OP_SAMPLE_H_
#define PARTITA_GRAPH_OPS_OP_SAMPLE_H_

#include <vector>

#include "graph/attributes.h"
#include "graph/dtype.h"
#include "graph/tensor_type.h"

namespace partita {

struct OpDef;

// An operand of random elements between low and high, inclusive.
struct SampleOperand {
  DType dtype = DType::kF32;
  Shape dims;
  double low = -2;
  double high = 2;
};

struct OpSample {
  std::vector<SampleOperand> operands;
  Attributes attributes;
  const OpDef* op = nullptr;  // set by OpSamples()
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_OP_SAMPLE_H_
