// Numbers as text that reads back to the same bits.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_NUMBER_TEXT_H_
#define PARTITA_GRAPH_TEXT_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "graph/host_tensor.h"

namespace partita {

// The shortest decimal form; "inf", "-inf", "nan" and "-nan" by name; a NaN
// with other bits as "nan:" and its hexadecimal bits.
std::string DoubleText(double value);
// False if `text` is not such a number, or too large.
bool ParseDouble(absl::string_view text, double& value);
// Decimal, with an optional '-'; no spaces, no '+', nothing out of range.
bool ParseInt64(absl::string_view text, int64_t& value);
// Decimal for integers, as DoubleText for others.
std::string NumberText(const Number& number);
// Signed and unsigned 64-bit integers exactly; others as ParseDouble.
bool ParseNumber(absl::string_view text, Number& number);

// One element, by its index in memory order: floats as DoubleText (the shortest
// form for their width), integers in decimal, bools as true or false.
std::string ElementText(const HostTensor& tensor, int64_t index);
bool ParseElement(absl::string_view text, HostTensor& tensor, int64_t index);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_NUMBER_TEXT_H_
