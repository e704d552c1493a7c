// For every attribute of the ONNX standard there is a converter that reads it,
// or a row among those without an effect; the list is the standard's.
// SPDX-License-Identifier: Apache-2.0

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/onnx/node_attributes.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/opsets.h"
#include "gtest/gtest.h"
#include "onnx/defs/schema.h"

namespace partita {
namespace {

struct StandardAttribute {
  const char* op_type;
  const char* name;
  const char* type;
  const char* presence;  // "required", "optional" or "= DEFAULT"
  int first;             // opset, at least kOldestOpset
  int last;
};

constexpr StandardAttribute kStandard[] = {
#include "graph/onnx/standard_attributes.inc"
};

std::string Dotted(absl::string_view op_type, absl::string_view name) {
  return absl::StrCat(op_type, ".", name);
}

std::set<std::string> Neutral() {
  std::set<std::string> names;
  for (const NeutralAttribute& row : NeutralAttributes()) {
    EXPECT_TRUE(names.insert(Dotted(row.op_type, row.name)).second) << row.name;
  }
  return names;
}

TEST(StandardAttributes, EachIsReadOrInTheTableOfThoseWithoutEffect) {
  const std::set<std::string> neutral = Neutral();
  for (const StandardAttribute& row : kStandard) {
    EXPECT_LE(row.last, kNewestOpset);
    const ConverterRow* converter = FindConverter(row.op_type);
    if (converter == nullptr) continue;
    const std::string name = Dotted(row.op_type, row.name);
    EXPECT_NE(ReadsAttribute(*converter, row.name), neutral.contains(name))
        << name << ": list it in its ConverterRow or in node_attributes.cc";
  }
}

// Except those of older opsets that files still have.
TEST(StandardAttributes, NoOthersAreTaken) {
  std::set<std::string> known = {"BatchNormalization.is_test",
                                 "Dropout.is_test", "Gemm.broadcast"};
  for (const StandardAttribute& row : kStandard) {
    known.insert(Dotted(row.op_type, row.name));
  }
  for (const std::string& name : Neutral()) {
    EXPECT_TRUE(known.contains(name)) << name;
  }
  for (const ConverterRow* row : AllConverters()) {
    for (absl::string_view name :
         absl::StrSplit(row->attributes, ' ', absl::SkipEmpty())) {
      EXPECT_TRUE(known.contains(Dotted(row->op_type, name)))
          << row->op_type << " " << name;
    }
  }
}

std::string DefaultText(const onnx::AttributeProto& value) {
  switch (value.type()) {
    case onnx::AttributeProto::INT:
      return absl::StrCat(value.i());
    case onnx::AttributeProto::FLOAT: {
      char text[32];
      std::snprintf(text, sizeof(text), "%.9g", value.f());
      return text;
    }
    case onnx::AttributeProto::STRING:
      return value.s();
    case onnx::AttributeProto::INTS:
      return absl::StrJoin(value.ints(), " ");
    case onnx::AttributeProto::STRINGS:
      return absl::StrJoin(value.strings(), " ");
    default:
      return "a default of another kind";
  }
}

std::string PresenceOf(const onnx::OpSchema::Attribute& attribute) {
  if (attribute.default_value.has_name()) {
    return absl::StrCat("= ", DefaultText(attribute.default_value));
  }
  return attribute.required ? "required" : "optional";
}

std::string Text(absl::string_view op_type, absl::string_view name,
                 absl::string_view type, absl::string_view presence,
                 int opset) {
  return absl::StrCat(op_type, ".", name, " ", type, " ", presence,
                      " in opset ", opset);
}

// The newest opset that Debian's library has.
int LibraryOpset() {
  return onnx::OpSchemaRegistry::DomainToVersionRange::Instance()
      .Map()
      .at("")
      .second;
}

std::set<std::string> FromLibrary() {
  std::set<std::string> texts;
  for (int opset = kOldestOpset; opset <= LibraryOpset(); ++opset) {
    std::set<std::string> names;
    for (const onnx::OpSchema& schema :
         onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
      if (schema.domain().empty()) names.insert(schema.Name());
    }
    for (const std::string& name : names) {
      const onnx::OpSchema* schema =
          onnx::OpSchemaRegistry::Schema(name, opset, "");
      if (schema == nullptr) continue;
      for (const auto& [key, attribute] : schema->attributes()) {
        texts.insert(Text(name, key,
                          onnx::AttributeProto::AttributeType_Name(
                              static_cast<onnx::AttributeProto::AttributeType>(
                                  attribute.type)),
                          PresenceOf(attribute), opset));
      }
    }
  }
  return texts;
}

std::set<std::string> FromList() {
  std::set<std::string> texts;
  for (const StandardAttribute& row : kStandard) {
    for (int opset = row.first; opset <= std::min(row.last, LibraryOpset());
         ++opset) {
      texts.insert(Text(row.op_type, row.name, row.type, row.presence, opset));
    }
  }
  return texts;
}

TEST(StandardAttributes, TheListIsTheLibrarysAsFarAsThatGoes) {
  const std::set<std::string> library = FromLibrary();
  const std::set<std::string> list = FromList();
  EXPECT_GT(library.size(), 2000u);
  for (const std::string& text : library) {
    EXPECT_TRUE(list.contains(text)) << "not in the list: " << text;
  }
  for (const std::string& text : list) {
    EXPECT_TRUE(library.contains(text)) << "not in the library: " << text;
  }
}

}  // namespace
}  // namespace partita
