// Whether something fits a machine, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_FITS_TEXT_H_
#define PARTITA_TOOLS_PARTITA_FITS_TEXT_H_

#include <string>

#include "partita/plan_fit.h"

namespace partita {

// A line for the machine, one for each device with its margin, and the faults.
std::string FitText(const PlanFit& fit);
std::string FitJson(const PlanFit& fit);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_FITS_TEXT_H_
