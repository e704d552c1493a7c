// The partita program: finds the subcommand and reports its errors.
// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/partita/arguments.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr const Subcommand* kCommands[] = {&kDevicesCommand, &kCompileCommand,
                                           &kCheckCommand,   &kSimulateCommand,
                                           &kRunCommand,     &kViewCommand};

// Exit codes: 0 done, 1 refused or failed, 2 called wrongly.
constexpr int kFailed = 1;
constexpr int kCalledWrongly = 2;

std::string Help() {
  std::string text =
      "partita: places a dataflow graph on devices, proves the plan, runs it.\n"
      "\nusage: partita COMMAND ...\n\n";
  for (const Subcommand* command : kCommands) {
    const std::string doc = command->doc;
    absl::StrAppend(&text, "  ", command->usage, "\n      ",
                    doc.substr(0, doc.find('\n')), "\n");
  }
  return text + "\n`partita COMMAND --help` says more.\n";
}

std::string HelpOf(const Subcommand& command) {
  return absl::StrCat("usage: partita ", command.usage, "\n\n", command.doc,
                      "\n\nflags:\n", FlagsHelp(command.flags));
}

bool AsksForHelp(absl::Span<const char* const> words) {
  for (const char* word : words) {
    if (absl::string_view(word) == "--help") return true;
  }
  return false;
}

int Report(const absl::Status& status, int code) {
  std::fprintf(stderr, "partita: %s\n", std::string(status.message()).c_str());
  return code;
}

int RunCommand(const Subcommand& command, absl::Span<const char* const> words) {
  if (AsksForHelp(words)) {
    std::fputs(HelpOf(command).c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<Arguments> arguments =
      Arguments::Parse(words, command.flags);
  if (!arguments.ok()) return Report(arguments.status(), kCalledWrongly);
  const absl::Status status = command.run(*arguments);
  return status.ok() ? 0 : Report(status, kFailed);
}

int Main(int argc, const char* const* argv) {
  const absl::string_view name = argc > 1 ? argv[1] : "";
  if (name.empty() || name == "--help" || name == "help") {
    std::fputs(Help().c_str(), name.empty() ? stderr : stdout);
    return name.empty() ? kCalledWrongly : 0;
  }
  for (const Subcommand* command : kCommands) {
    if (name != command->name) continue;
    return RunCommand(*command, absl::MakeConstSpan(argv + 2, argc - 2));
  }
  std::fprintf(stderr, "partita: found no command %s\n\n%s", argv[1],
               Help().c_str());
  return kCalledWrongly;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  // A file that may not grow is an error of the write, not the program's end.
  std::signal(SIGXFSZ, SIG_IGN);
  return partita::Main(argc, argv);
}
