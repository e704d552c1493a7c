// Optimizers: updates of parameters from their gradients.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_OPTIMIZERS_H_
#define PARTITA_GRAPH_BUILDER_OPTIMIZERS_H_

#include "absl/types/span.h"
#include "graph/builder/graph_builder.h"

namespace partita {

// Each optimizer stores its state in variables that are not trainable
// ("w.momentum" for a parameter "w") and start from zeros. It updates them and
// the parameters, in the scopes in which the parameters were read. The learning
// rate is a scalar of any float type. Formulas and defaults are those of
// PyTorch's optimizers of the same names.

struct SgdOptions {
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;  // Sutskever et al. 2013
};
void Sgd(absl::Span<const Parameter> parameters, Tensor learning_rate,
         SgdOptions options = {}, CallSite site = CallSite::current());

// Kingma and Ba 2015; `step` counts from 0, for the correction of the first
// moments.
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};
void Adam(absl::Span<const Parameter> parameters, Tensor learning_rate,
          Tensor step, AdamOptions options = {},
          CallSite site = CallSite::current());

// Loshchilov and Hutter 2019: the decay does not enter the moments.
void AdamW(absl::Span<const Parameter> parameters, Tensor learning_rate,
           Tensor step, AdamOptions options = {.weight_decay = 0.01},
           CallSite site = CallSite::current());

// Duchi et al. 2011.
struct AdagradOptions {
  double epsilon = 1e-10;
  double weight_decay = 0;
};
void Adagrad(absl::Span<const Parameter> parameters, Tensor learning_rate,
             AdagradOptions options = {}, CallSite site = CallSite::current());

// Tieleman and Hinton 2012.
struct RmsPropOptions {
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
};
void RmsProp(absl::Span<const Parameter> parameters, Tensor learning_rate,
             RmsPropOptions options = {}, CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_OPTIMIZERS_H_
