// Measures what the CUDA driver and one GPU do, and prints a table of facts.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/fact_runner.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/rows.h"

namespace partita {
namespace {

constexpr char kUsage[] = R"(usage: driver_facts [options]
  --out FILE       also write the table as JSON
  --groups A,B     only these groups (--list names them)
  --seconds N      end after N seconds; what is not measured says so (150)
  --row-seconds N  the time of one fact (12)
  --libs FOLDER    where libcuda.so.1 is; default: the system's
  --list           print groups and facts, measure nothing
)";

struct CommandLine {
  FactOptions options;
  std::string out;
  std::vector<std::string> groups;
  bool list = false;
};

std::string ThisProgram() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return size > 0 ? std::string(path.data(), size) : std::string();
}

bool SetOption(const std::string& name, const std::string& value,
               CommandLine& line) {
  if (name == "--out") {
    line.out = value;
  } else if (name == "--groups") {
    line.groups = absl::StrSplit(value, ',');
  } else if (name == "--libs") {
    line.options.libraries = value;
  } else if (name == "--seconds") {
    return absl::SimpleAtod(value, &line.options.all_seconds);
  } else if (name == "--row-seconds") {
    return absl::SimpleAtod(value, &line.options.row_seconds);
  } else {
    return false;
  }
  return true;
}

bool ParseCommandLine(int argc, char** argv, CommandLine& line) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--list") {
      line.list = true;
    } else if (i + 1 >= argc || !SetOption(name, argv[++i], line)) {
      return false;
    }
  }
  return true;
}

const FactGroup* FindGroup(const std::string& name) {
  for (const FactGroup& group : AllFactGroups()) {
    if (name == group.name) return &group;
  }
  return nullptr;
}

bool FindGroups(const CommandLine& line, std::vector<const FactGroup*>& found) {
  for (const std::string& name : line.groups) {
    found.push_back(FindGroup(name));
    if (found.back() != nullptr) continue;
    std::cerr << "driver_facts: found no group " << name
              << "; --list names them\n";
    return false;
  }
  if (!found.empty()) return true;
  for (const FactGroup& group : AllFactGroups()) found.push_back(&group);
  return true;
}

void List(const std::vector<const FactGroup*>& groups) {
  for (const FactGroup* group : groups) {
    std::cout << group->name << "\n";
    for (const Fact& fact : group->facts) {
      std::cout << "  " << fact.id << ": " << fact.rule << " [" << fact.source
                << "]\n";
    }
  }
}

bool Write(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::ofstream file(path);
  file << text;
  file.close();
  if (file.good()) return true;
  std::cerr << "driver_facts: cannot write " << path << "\n";
  return false;
}

int MeasureAll(const CommandLine& line,
               const std::vector<const FactGroup*>& groups) {
  const double start = HostSeconds();
  const DriverHolder holder(line.options);
  std::vector<Row> rows;
  bool written = true;
  for (const FactGroup* group : groups) {
    const double group_start = HostSeconds();
    for (Row& row :
         RunGroup(*group, line.options, start + line.options.all_seconds)) {
      rows.push_back(std::move(row));
    }
    std::cerr << group->name << ": " << group->facts.size() << " facts, "
              << HostSeconds() - group_start << " s\n";
    // After each group: who ends this program early has the rows so far.
    written = Write(line.out, TableJson(rows, HostSeconds() - start));
  }
  std::cout << TableText(rows);
  return written ? 0 : 1;
}

// driver_facts --child GROUP FIRST LAST LIBRARIES
int RunChildOf(char** argv) {
  const FactGroup* group = FindGroup(argv[2]);
  size_t first = 0;
  size_t last = 0;
  if (group == nullptr || !absl::SimpleAtoi(argv[3], &first) ||
      !absl::SimpleAtoi(argv[4], &last) || last > group->facts.size()) {
    return 2;
  }
  return RunChild(*group, first, last, argv[5]);
}

int Main(int argc, char** argv) {
  if (argc == 6 && absl::string_view(argv[1]) == "--child") {
    return RunChildOf(argv);
  }
  if (argc == 3 && absl::string_view(argv[1]) == "--hold") {
    return HoldDriver(argv[2]);
  }
  CommandLine line;
  line.options.program = ThisProgram();
  if (!ParseCommandLine(argc, argv, line)) {
    std::cerr << kUsage;
    return 2;
  }
  std::vector<const FactGroup*> groups;
  if (!FindGroups(line, groups)) return 2;
  if (line.list) {
    List(groups);
    return 0;
  }
  return MeasureAll(line, groups);
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) { return partita::Main(argc, argv); }
