// Parses the flags and prints rows.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/row_bench.h"

#include <iostream>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/status_macros.h"
#include "tools/partita/flags_help.h"

namespace partita {
namespace {

constexpr FlagDef kKeysFlag = {"keys", nullptr, "print the keys of all rows"};
constexpr FlagDef kHelpFlag = {"help", nullptr, "print this text"};

std::vector<FlagDef> AllFlags(const RowBench& bench) {
  std::vector<FlagDef> flags(bench.flags.begin(), bench.flags.end());
  flags.push_back(kKeysFlag);
  flags.push_back(kHelpFlag);
  return flags;
}

std::string Usage(const RowBench& bench) {
  return absl::StrCat("usage: ", bench.name, " [FLAGS] KEY ...\n       ",
                      bench.name, " [FLAGS] --keys\n\n", bench.doc, "\n\n",
                      FlagsHelp(AllFlags(bench)));
}

void PrintCells(const std::string& first, const RowCells& others,
                std::ostream& out) {
  out << first;
  for (const std::string& cell : others) {
    out << '\t' << absl::StrReplaceAll(cell, {{"\t", " "}, {"\n", " "}});
  }
  out << std::endl;  // flushes: who reads the rows stores each at once
}

absl::Status CheckKeys(const RowTable& table,
                       absl::Span<const std::string> keys) {
  const absl::flat_hash_set<std::string> known(table.keys.begin(),
                                               table.keys.end());
  for (const std::string& key : keys) {
    if (known.contains(key)) continue;
    return absl::NotFoundError(absl::StrCat(
        "found no row ", key, "; expected one of those that --keys prints"));
  }
  return absl::OkStatus();
}

absl::Status Run(const RowBench& bench, absl::Span<const char* const> words) {
  PARTITA_ASSIGN_OR_RETURN(const Arguments arguments,
                           Arguments::Parse(words, AllFlags(bench)));
  if (arguments.has("help")) {
    std::cout << Usage(bench);
    return absl::OkStatus();
  }
  const std::vector<std::string>& keys = arguments.positional();
  if (arguments.has("keys") != keys.empty()) {
    return CalledWrongly(absl::StrCat(
        "found ", keys.size(), " keys", keys.empty() ? "" : " beside --keys",
        "; expected keys of rows, or --keys, which prints them"));
  }
  PARTITA_ASSIGN_OR_RETURN(const RowTable table, bench.open(arguments));
  if (!keys.empty()) return PrintRows(table, keys, std::cout);
  for (const std::string& key : table.keys) std::cout << key << '\n';
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintRows(const RowTable& table,
                       absl::Span<const std::string> keys, std::ostream& out) {
  PARTITA_RETURN_IF_ERROR(CheckKeys(table, keys));
  PrintCells("key", table.columns, out);
  for (const std::string& key : keys) {
    PARTITA_ASSIGN_OR_RETURN(const RowCells cells, table.measure(key));
    if (cells.size() != table.columns.size()) {
      return absl::InternalError(
          absl::StrCat("bug: found ", cells.size(), " cells in row ", key,
                       "; expected ", table.columns.size()));
    }
    PrintCells(key, cells, out);
  }
  return absl::OkStatus();
}

int RunRowBench(const RowBench& bench, int argc, char** argv) {
  const absl::Status status =
      Run(bench, absl::MakeConstSpan(const_cast<const char* const*>(argv + 1),
                                     static_cast<size_t>(argc - 1)));
  if (status.ok()) return 0;
  std::cerr << bench.name << ": " << status.message() << std::endl;
  if (!IsCalledWrongly(status)) return 1;
  std::cerr << "see " << bench.name << " --help" << std::endl;
  return 2;
}

std::string Microseconds(std::optional<double> seconds) {
  return seconds.has_value() ? absl::StrFormat("%.6f", *seconds * 1e6) : "";
}

}  // namespace partita
