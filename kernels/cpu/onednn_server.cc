// The program partita_onednn: answers what oneDNN offers with one instruction
// set (onednn_child.h), until its input ends.
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/emulated_cpuid.h"
#include "kernels/cpu/framed_text.h"
#include "kernels/cpu/onednn_answers.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/cpu/onednn_question.h"

namespace partita {
namespace {

std::string AnswerTo(const std::string& text) {
  const auto question = ParseOnednnQuestion(text);
  if (!question.ok()) return std::string(question.status().message());
  return absl::StrCat(
      "+", OnednnAnswerText(AskOnednn(question->node(), question->device)));
}

int Serve() {
  // An interrupt is meant for the parent, whose end ends this process too.
  signal(SIGINT, SIG_IGN);
  std::string text = absl::StrCat("+", OnednnVersion(), " ", IsaOfOnednn());
  while (SendText(STDIN_FILENO, text) &&
         ReceiveText(STDIN_FILENO, /*milliseconds=*/-1, text)) {
    text = AnswerTo(text);
  }
  return 0;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  partita::StopEmulatingCpuid();
  if (argc != 2) {
    std::fprintf(stderr,
                 "partita_onednn: started by programs that compile plans for "
                 "other processors; expected an instruction set\n");
    return 2;
  }
  return partita::Serve();
}
