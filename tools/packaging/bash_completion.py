# Completion of commands, flags and files in bash, from the program's help.
# SPDX-License-Identifier: Apache-2.0

SCRIPT = """# Completion for partita, made from its --help.
_partita() {
  local current=${COMP_WORDS[COMP_CWORD]} flags=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "%(commands)s --help --version" -- "$current"))
    return
  fi
  if [[ $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")  # names may have spaces
    return
  fi
  case ${COMP_WORDS[1]} in
%(cases)s
  esac
  COMPREPLY=($(compgen -W "$flags --help" -- "$current"))
}
complete -o filenames -F _partita partita
"""


def script(program):
    cases = []
    for command in program.commands:
        flags = sorted({"--" + flag.name for flag in command.flags()})
        cases.append('    %s) flags="%s" ;;' % (command.name, " ".join(flags)))
    return SCRIPT % {"commands": " ".join(command.name for command in program.commands), "cases": "\n".join(cases)}
