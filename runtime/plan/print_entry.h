// Prints one entry of a plan as text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PRINT_ENTRY_H_
#define PARTITA_RUNTIME_PLAN_PRINT_ENTRY_H_

#include <string>
#include <vector>

#include "runtime/plan/plan.h"
#include "runtime/plan/plan_names.h"
#include "runtime/plan/plan_text.h"
#include "runtime/plan/program_printer.h"
#include "runtime/plan/text_lines.h"

namespace partita {

// Appends one entry's text to `out`, line by line.
class EntryPrinter {
 public:
  EntryPrinter(const Plan& plan, size_t index, const PlanTextOptions& options,
               std::string& out);

  void Print();

 private:
  void PrintHead();
  void PrintPorts(absl::string_view word, const std::vector<Port>& ports);
  void PrintBuffers();
  void PrintPersistent();
  void PrintStreams();
  void PrintGroups();
  void PrintChannels();
  void PrintPrograms();
  void PrintSchedule();

  std::string Device(DeviceId id) const;
  std::string Initial(const PersistentValue& value) const;
  std::string ProgramName(ProgramId program) const;
  size_t NumCommands(ProgramId program) const;
  std::string InvocationNote(size_t index, size_t first) const;
  ProgramPrinter PrinterOf(const Program& program);

  const Plan& plan_;
  const Entry& entry_;
  const EntryNames names_;
  const std::vector<std::string> devices_;
  const std::vector<std::string> programs_;
  const EntryNotes* notes_ = nullptr;
  CommandNotes command_notes_;
  TextLines lines_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PRINT_ENTRY_H_
