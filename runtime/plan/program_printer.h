// Prints the commands of one program with their comments.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PROGRAM_PRINTER_H_
#define PARTITA_RUNTIME_PLAN_PROGRAM_PRINTER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_names.h"
#include "runtime/plan/text_lines.h"

namespace partita {

// Additional data for comments.
struct CommandNotes {
  absl::flat_hash_map<NodeId, std::string> reasons;  // where the node runs
  absl::Span<const CommandNote> predicted;           // by command; or none
};

// "2.5 ms"
std::string Milliseconds(double seconds);

class ProgramPrinter {
 public:
  // All must outlive this.
  ProgramPrinter(const Program& program, const Entry& entry,
                 const EntryNames& names, const CommandNotes& notes,
                 TextLines& lines);

  // The numbers of the commands by stream, in launch order.
  std::map<StreamId, std::vector<int>> ByStream() const;
  void Print(const std::vector<int>& commands, int indent) const;

 private:
  std::string Text(const Command& command) const;
  std::string Parts(const Command& command) const;
  std::string Buffers(const std::vector<BufferId>& ids) const;
  std::string Comment(size_t index) const;
  std::string Subject(const Command& command) const;
  std::string PortName(const Command& command) const;
  std::string Recorder(EventId event) const;
  bool Exists(NodeId node) const;
  std::string CollectiveText(NodeId node) const;
  std::string KernelOf(NodeId node) const;
  std::string ReasonOf(NodeId node) const;
  std::string Predicted(size_t index) const;

  const Program& program_;
  const Entry& entry_;
  const EntryNames& names_;
  const CommandNotes& notes_;
  TextLines& lines_;
  absl::flat_hash_map<EventId, int> records_;  // by event: its first record
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PROGRAM_PRINTER_H_
