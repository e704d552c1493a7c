// The logarithm and the exponential, with equal bits on every host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_PORTABLE_EXP_H_
#define PARTITA_PLACEMENT_COST_PORTABLE_EXP_H_

namespace partita {

// Prices and bounds are written into plans, which are equal wherever they are
// made. The C library's functions are not: glibc takes variants with fused
// multiply-add where the processor has it, and these round differently. Here
// all is done by additions, products and quotients of IEEE 754. The relative
// errors are below 1e-13.

// The natural logarithm. Needs: a finite x > 0.
double PortableLog(double x);
// e to the power of x. Needs: |x| < 700.
double PortableExp(double x);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_PORTABLE_EXP_H_
