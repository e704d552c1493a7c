// The public API: build a graph, compile it for a machine, run the plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PARTITA_H_
#define PARTITA_PARTITA_PARTITA_H_

#include "graph/builder/graph_builder.h"    // GraphBuilder
#include "graph/builder/ops.h"              // Relu(MatMul(x, w) + b)
#include "graph/status_macros.h"            // PARTITA_RETURN_IF_ERROR
#include "partita/compile.h"                // Compile
#include "partita/session.h"                // Session and its reports
#include "placement/machine/detect_host.h"  // DetectHost
#include "placement/machine/machine.h"      // ReadMachine
#include "runtime/plan/plan_file.h"         // WritePlan

#endif  // PARTITA_PARTITA_PARTITA_H_
