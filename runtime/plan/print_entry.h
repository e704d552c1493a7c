// One entry of a plan as text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PRINT_ENTRY_H_
#define PARTITA_RUNTIME_PLAN_PRINT_ENTRY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_names.h"
#include "runtime/plan/plan_text.h"

namespace partita {

// Appends one entry's text to `out`, line by line.
class EntryPrinter {
 public:
  EntryPrinter(const Plan& plan, size_t index, const PlanTextOptions& options,
               std::string& out);

  void Print();

 private:
  bool HasOnlyMain() const;
  void Line(int indent, std::string text, const std::string& comment = "");
  void PrintPorts();
  void PrintBuffers();
  void PrintPersistent();
  void PrintStreams();
  void PrintGroups();
  void PrintChannels();
  void PrintPrograms();
  void PrintSchedule();
  void PrintCommands(const Program& program, const std::vector<int>& commands,
                     int indent);

  std::string Device(DeviceId id) const;
  std::string Buffers(const std::vector<BufferId>& ids, bool parens) const;
  std::string CommandText(const Command& command) const;
  std::string Comment(const Program& program, size_t index) const;
  std::string Subject(const Program& program, const Command& command) const;
  std::string Predicted(const Program& program, size_t index) const;
  std::string KernelOf(NodeId node) const;
  std::string ReasonOf(NodeId node) const;
  std::string Live(size_t buffer) const;
  void FindLiveRanges();
  void FindRecords(const Program& program);

  const Plan& plan_;
  const Entry& entry_;
  const PlanTextOptions& options_;
  const EntryNames names_;
  const std::vector<std::string> devices_;
  const std::vector<std::string> programs_;
  const EntryNotes* notes_ = nullptr;
  absl::flat_hash_map<NodeId, std::string> reasons_;
  absl::flat_hash_map<EventId, int> records_;  // of the program being printed
  std::vector<std::pair<int, int>> live_;  // first and last command, by buffer
  std::string& out_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PRINT_ENTRY_H_
