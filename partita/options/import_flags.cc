// Reads the bindings of dimensions, shapes and values.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/import_flags.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/onnx/import.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

absl::StatusOr<std::vector<Number>> ParseNumbers(absl::string_view named,
                                                 absl::string_view text) {
  std::vector<Number> values;
  if (text.empty()) return values;  // an input without elements
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    if (ParseNumber(absl::StripAsciiWhitespace(part), values.emplace_back())) {
      continue;
    }
    return CalledWrongly(
        absl::StrCat(named, ": found ", part, "; expected numbers"));
  }
  return values;
}

// The importer bounds it by the size of a tensor.
absl::StatusOr<int64_t> ParseExtent(const Arguments& arguments,
                                    const std::string& name,
                                    const std::string& text) {
  int64_t extent = 0;
  if (absl::SimpleAtoi(text, &extent)) return extent;
  return CalledWrongly(
      absl::StrCat(arguments.Named("dim", name), ": found ", text,
                   "; expected one extent, an integer, as in ", name, "=8"));
}

// The flags that fix an error of the importer.
std::string FlagHint(const Arguments& arguments, ImportOption option) {
  const std::string dims = arguments.Named("dim", "NAME=N");
  const std::string shape = arguments.Named("shape", "INPUT=N,N,..");
  switch (option) {
    case ImportOption::kDims:
      return absl::StrCat("; bind them by ", dims, " or ", shape);
    case ImportOption::kShapes:
      return absl::StrCat("; bind it by ", shape);
    case ImportOption::kValues:
      return absl::StrCat("; bind it by ",
                          arguments.Named("bind", "INPUT=V,V,.."));
    case ImportOption::kGivenExtents:
      return absl::StrCat(
          "; the inputs' extents were given: if the model computes with others "
          "only, give those by ",
          dims, " or ", shape);
    case ImportOption::kStrictTypes:
      return absl::StrCat("; without ", arguments.NamedSwitch("strict-types"),
                          " it is a warning");
    case ImportOption::kInputs:
      return "";
  }
  return "";
}

// The flag that gave what an error is about, with its value: "--dim batch=8".
// Shapes come from files too.
std::string GivingFlag(const GivenOption& given, const Arguments& arguments) {
  const char* flag = given.option == ImportOption::kDims     ? "dim"
                     : given.option == ImportOption::kValues ? "bind"
                     : given.option == ImportOption::kShapes ? "shape"
                                                             : "input";
  for (const char* candidate : {flag, "input"}) {
    for (const std::string& text : arguments.GetAll(candidate)) {
      if (!absl::StartsWith(text, absl::StrCat(given.name, "="))) continue;
      return arguments.Named(candidate, text);
    }
  }
  return arguments.Named("test-data", arguments.Get("test-data", ""));
}

}  // namespace

absl::StatusOr<ImportOptions> ReadImportOptions(const Arguments& arguments) {
  ImportOptions options;
  PARTITA_ASSIGN_OR_RETURN(const auto dims, arguments.GetBindings("dim"));
  for (const auto& [name, text] : dims) {
    PARTITA_ASSIGN_OR_RETURN(options.dims[name],
                             ParseExtent(arguments, name, text));
  }
  PARTITA_ASSIGN_OR_RETURN(const auto shapes, arguments.GetBindings("shape"));
  for (const auto& [input, text] : shapes) {
    // A missing number must differ from an empty list.
    PARTITA_ASSIGN_OR_RETURN(
        options.shapes[input],
        ParseInts(arguments.Named("shape"),
                  text == "scalar" ? "" : absl::string_view(text)));
  }
  PARTITA_ASSIGN_OR_RETURN(const auto values,
                           arguments.GetBindings("bind", BindingValue::kList));
  for (const auto& [input, text] : values) {
    PARTITA_ASSIGN_OR_RETURN(options.values[input],
                             ParseNumbers(arguments.Named("bind"), text));
  }
  options.strict_types = arguments.has("strict-types");
  return options;
}

absl::Status RefuseImportFlags(const std::string& path,
                               const Arguments& arguments) {
  for (const char* flag : {"dim", "shape", "bind", "strict-types"}) {
    if (!arguments.has(flag)) continue;
    return CalledWrongly(absl::StrCat(
        arguments.Named(flag), ": found with ", path,
        ", whose shapes are fixed; expected an ONNX model; leave ", "it out"));
  }
  return absl::OkStatus();
}

absl::Status WithFlagHint(const Arguments& arguments,
                          const absl::Status& status) {
  if (const auto given = GivenOptionOf(status); given.has_value()) {
    return CalledWrongly(
        absl::StrCat(GivingFlag(*given, arguments), ": ", status.message()));
  }
  const std::optional<ImportOption> option = RemedyOption(status);
  if (!option.has_value()) return status;
  return ReplaceMessage(
      status, absl::StrCat(status.message(), FlagHint(arguments, *option)));
}

}  // namespace partita
