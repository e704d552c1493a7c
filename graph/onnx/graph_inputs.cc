// Types of inputs, from the model's declarations and the caller's bindings.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/graph_inputs.h"

#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/host_tensor.h"
#include "graph/onnx/declared_type.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

using Dimension = onnx::TensorShapeProto::Dimension;

std::string NameOf(const std::string& input, int position,
                   const Dimension& dim) {
  if (IsNamed(dim)) return dim.dim_param();
  return absl::StrCat(input, ".", position);
}

// A shape without dimensions is a scalar's.
bool HasShape(const onnx::ValueInfoProto& input) {
  return input.type().tensor_type().has_shape();
}

void AddOnce(const std::string& name, std::vector<std::string>& names) {
  if (!absl::c_linear_search(names, name)) names.push_back(name);
}

class InputReader {
 public:
  InputReader(const onnx::GraphProto& graph, const ImportOptions& options)
      : options_(options), inputs_(InputsOf(graph)) {}

  absl::StatusOr<std::vector<GraphInput>> Read() {
    PARTITA_RETURN_IF_ERROR(CheckNames());
    std::vector<GraphInput> inputs;
    for (const onnx::ValueInfoProto* input : inputs_) {
      PARTITA_ASSIGN_OR_RETURN(TensorType type, TypeOf(*input));
      inputs.push_back({input->name(), std::move(type)});
    }
    if (!unbound_.empty() || !shapeless_.empty()) return Unbound();
    for (GraphInput& input : inputs) PARTITA_RETURN_IF_ERROR(BindValues(input));
    return inputs;
  }

 private:
  // A name that the model does not have is a typo.
  absl::Status CheckNames() const {
    std::vector<std::string> inputs, dims;
    for (const onnx::ValueInfoProto* input : inputs_) {
      AddOnce(input->name(), inputs);
      for (const std::string& name : OpenDimsOf(*input)) AddOnce(name, dims);
    }
    PARTITA_RETURN_IF_ERROR(CheckKnown(options_.dims, ImportOption::kDims,
                                       "extent of", "symbolic dimension",
                                       dims));
    PARTITA_RETURN_IF_ERROR(CheckKnown(options_.shapes, ImportOption::kShapes,
                                       "shape of", "input", inputs));
    return CheckKnown(options_.values, ImportOption::kValues, "value of",
                      "input", inputs);
  }

  // How a model would get the given option.
  static absl::string_view ToHave(ImportOption option) {
    if (option != ImportOption::kDims) return "";
    return ": the file fixes each extent; export it with open ones, in PyTorch "
           "by dynamic_axes";
  }

  template <typename Value>
  static absl::Status CheckKnown(const std::map<std::string, Value>& given,
                                 ImportOption option, const char* what,
                                 const char* kind,
                                 const std::vector<std::string>& known) {
    for (const auto& [name, _] : given) {
      if (absl::c_linear_search(known, name)) continue;
      return GivenWrongly(
          option, name,
          absl::StrCat(
              what, " ", name, ": found no such ", kind, "; expected ",
              known.empty()
                  ? absl::StrCat("none, as the model has none", ToHave(option))
                  : absl::StrCat("one of: ", absl::StrJoin(known, ", "),
                                 Nearest(name, known))));
    }
    return absl::OkStatus();
  }

  static std::string Nearest(const std::string& name,
                             const std::vector<std::string>& known) {
    const std::optional<std::string> meant = ProbablyMeant(name, known);
    return meant.has_value() ? absl::StrCat("; did you mean ", *meant, "?")
                             : "";
  }

  absl::StatusOr<TensorType> TypeOf(const onnx::ValueInfoProto& input) {
    const std::optional<DType> dtype =
        input.type().has_tensor_type()
            ? DTypeOfOnnx(input.type().tensor_type().elem_type())
            : std::nullopt;
    if (!dtype.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("input ", input.name(),
                       ": found a type that is no tensor of numbers; expected "
                       "one"));
    }
    const auto& shape = input.type().tensor_type().shape();
    PARTITA_RETURN_IF_ERROR(
        CheckExtents(shape, absl::StrCat("input ", input.name())));
    TensorType type{*dtype, {}, {}};
    const auto given = options_.shapes.find(input.name());
    if (given != options_.shapes.end()) {
      PARTITA_RETURN_IF_ERROR(CheckGivenShape(input, given->second));
      type.dims.assign(given->second.begin(), given->second.end());
    } else if (!HasShape(input)) {
      shapeless_.push_back(input.name());
    } else {
      for (int i = 0; i < shape.dim_size(); ++i) {
        type.dims.push_back(Extent(input.name(), i, shape.dim(i)));
      }
    }
    if (options_.batch.has_value() && !type.dims.empty() &&
        (!HasShape(input) || !IsFixed(shape.dim(0)))) {
      type.dims[0] = *options_.batch;
    }
    if (absl::Status status = CheckType(type); !status.ok()) {
      return WrongType(
          input, type,
          absl::StrCat("input ", input.name(), ": ", status.message()));
    }
    return type;
  }

  // The names of those dimensions of the type that have their extents from
  // options_.dims: of all, or of the first that is negative.
  std::vector<std::string> GivenDimsAtFault(const onnx::ValueInfoProto& input,
                                            const TensorType& type) const {
    const auto negative =
        absl::c_find_if(type.dims, [](int64_t dim) { return dim < 0; });
    const int only = negative == type.dims.end()
                         ? -1
                         : static_cast<int>(negative - type.dims.begin());
    const auto& shape = input.type().tensor_type().shape();
    std::vector<std::string> names;
    for (int i = options_.batch.has_value(); i < shape.dim_size(); ++i) {
      const std::string name = NameOf(input.name(), i, shape.dim(i));
      if (IsFixed(shape.dim(i)) || !options_.dims.contains(name)) continue;
      if (only < 0 || i == only) AddOnce(name, names);
    }
    return names;
  }

  // The error of an option if one gave the extents at fault, otherwise of the
  // file.
  absl::Status WrongType(const onnx::ValueInfoProto& input,
                         const TensorType& type,
                         const std::string& message) const {
    if (options_.shapes.contains(input.name())) {
      return GivenWrongly(ImportOption::kShapes, input.name(), message);
    }
    const std::vector<std::string> given = GivenDimsAtFault(input, type);
    if (given.empty()) return absl::InvalidArgumentError(message);
    if (given.size() == 1) {
      return GivenWrongly(ImportOption::kDims, given[0], message);
    }
    return GivenWrongly(ImportOption::kDims, given[0],
                        absl::StrCat(message, " by the extents of ",
                                     absl::StrJoin(given, ", ")));
  }

  absl::Status CheckGivenShape(const onnx::ValueInfoProto& input,
                               const std::vector<int64_t>& given) const {
    const auto& shape = input.type().tensor_type().shape();
    bool fits = shape.dim_size() == static_cast<int>(given.size());
    for (int i = 0; fits && i < shape.dim_size(); ++i) {
      fits = !IsFixed(shape.dim(i)) || shape.dim(i).dim_value() == given[i];
    }
    if (!HasShape(input)) return absl::OkStatus();
    if (fits) return CheckDimsAgree(input.name(), shape, given);
    return GivenWrongly(
        ImportOption::kShapes, input.name(),
        absl::StrCat(
            "shape of ", input.name(), ": found [", absl::StrJoin(given, ", "),
            "]; expected [", ShapeText(shape),
            "], where numbers are fixed in the file; to give others, export ",
            "it with open dimensions, in PyTorch by dynamic_axes"));
  }

  // The dimension may also be given by name.
  absl::Status CheckDimsAgree(const std::string& input,
                              const onnx::TensorShapeProto& shape,
                              const std::vector<int64_t>& given) const {
    for (int i = 0; i < shape.dim_size(); ++i) {
      const std::string name = NameOf(input, i, shape.dim(i));
      const auto bound = options_.dims.find(name);
      if (bound == options_.dims.end() || IsFixed(shape.dim(i)) ||
          bound->second == given[i]) {
        continue;
      }
      return GivenWrongly(
          ImportOption::kDims, name,
          absl::StrCat("dimension ", name, ": found ", bound->second,
                       " and, in the shape of ", input, ", ", given[i],
                       "; expected one of them"));
    }
    return absl::OkStatus();
  }

  int64_t Extent(const std::string& input, int position, const Dimension& dim) {
    if (IsFixed(dim)) return dim.dim_value();
    const std::string name = NameOf(input, position, dim);
    const auto bound = options_.dims.find(name);
    if (bound != options_.dims.end()) return bound->second;
    if (dim.has_dim_value() && dim.dim_value() == 0) return 0;
    AddOnce(name, unbound_);
    return 1;
  }

  absl::Status Unbound() const {
    if (shapeless_.empty()) {
      return WithRemedyOption(
          ImportOption::kDims,
          absl::InvalidArgumentError(absl::StrCat(
              "found symbolic dimensions without a value: ",
              absl::StrJoin(unbound_, ", "),
              "; expected an extent for each, or whole shapes of the inputs")));
    }
    std::string found = absl::StrCat("found inputs without a shape: ",
                                     absl::StrJoin(shapeless_, ", "));
    if (!unbound_.empty()) {
      absl::StrAppend(&found, ", and symbolic dimensions without a value: ",
                      absl::StrJoin(unbound_, ", "));
    }
    return WithRemedyOption(
        unbound_.empty() ? ImportOption::kShapes : ImportOption::kDims,
        absl::InvalidArgumentError(absl::StrCat(
            found, "; expected the whole shape of each input without one",
            unbound_.empty() ? "" : ", and an extent for each dimension")));
  }

  absl::Status BindValues(GraphInput& input) const {
    const auto bound = options_.values.find(input.name);
    if (bound == options_.values.end()) return absl::OkStatus();
    input.values = &bound->second;
    const int64_t found = static_cast<int64_t>(bound->second.size());
    if (found == input.type.num_elements()) return CheckHeld(input);
    return GivenWrongly(ImportOption::kValues, input.name,
                        absl::StrCat("value of ", input.name, ": found ", found,
                                     found == 1 ? " number" : " numbers",
                                     "; expected ", input.type.num_elements(),
                                     " for ", input.type.ToString()));
  }

  static absl::Status CheckHeld(const GraphInput& input) {
    const DType dtype = input.type.dtype;
    for (const Number& value : *input.values) {
      if (Holds(dtype, value)) continue;
      return GivenWrongly(
          ImportOption::kValues, input.name,
          absl::StrCat("value of ", input.name, ": found ", NumberText(value),
                       "; expected numbers of type ", DTypeName(dtype)));
    }
    return absl::OkStatus();
  }

  const ImportOptions& options_;
  std::vector<const onnx::ValueInfoProto*> inputs_;
  std::vector<std::string> unbound_;    // dimensions
  std::vector<std::string> shapeless_;  // inputs
};

}  // namespace

std::vector<const onnx::ValueInfoProto*> InputsOf(
    const onnx::GraphProto& graph) {
  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) {
    initializers.insert(tensor.name());
  }
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!initializers.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

bool HasOpenShape(const onnx::ValueInfoProto& input) {
  return !HasShape(input) ||
         absl::c_any_of(input.type().tensor_type().shape().dim(),
                        [](const Dimension& dim) { return !IsFixed(dim); });
}

std::vector<std::string> OpenDimsOf(const onnx::ValueInfoProto& input) {
  std::vector<std::string> names;
  const auto& shape = input.type().tensor_type().shape();
  for (int i = 0; i < shape.dim_size(); ++i) {
    if (IsFixed(shape.dim(i))) continue;
    AddOnce(NameOf(input.name(), i, shape.dim(i)), names);
  }
  return names;
}

absl::StatusOr<std::vector<GraphInput>> ReadGraphInputs(
    const onnx::GraphProto& graph, const ImportOptions& options) {
  return InputReader(graph, options).Read();
}

}  // namespace partita
