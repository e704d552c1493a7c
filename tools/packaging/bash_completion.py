# Completion of commands, flags, their values and files in bash, from the program's help.
# SPDX-License-Identifier: Apache-2.0

SCRIPT = """# Completion for partita, made from its help.
_partita() {
  local word=${COMP_WORDS[COMP_CWORD]} first=$COMP_CWORD
  local flags= valued= operands= values= files=yes
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "%(commands)s --help --version" -- "$word"))
    return
  fi
  # Bash splits words at : and =, which models and flags have.
  local whole=$word
  while [ "$first" -gt 2 ] && [[ -n $whole && ( $whole == [:=]* || ${COMP_WORDS[first-1]} == [:=] ) ]]; do
    first=$((first - 1))
    whole=${COMP_WORDS[first]}$whole
  done
  [[ $word == [:=] ]] && word=
  local flag=${COMP_WORDS[first-1]}
  if [[ $whole == --*=* ]]; then
    flag=${whole%%%%=*} whole=${whole#*=}
  elif [[ $whole == -* ]]; then
    flag=
  fi
  case ${COMP_WORDS[1]} in
%(commands_cases)s
  esac
  case "${COMP_WORDS[1]} $flag" in
%(values_cases)s
    *" --"*) [[ " $valued " == *" $flag "* ]] || values=$operands ;;
    *) values=$operands ;;
  esac
  if [[ $whole == -* ]]; then
    COMPREPLY=($(compgen -W "$flags --help" -- "$whole"))
    return
  fi
  COMPREPLY=($(compgen -W "$values" -- "$whole"))
  # Bash replaces only what follows the colon.
  [[ $whole == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${whole%%:*}:"}")
  [[ -z $files || ( $whole == *:* && -n ${COMPREPLY[*]} ) ]] ||
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")  # names may have spaces
  # Else a : in a value would be quoted like one in the name of a file.
  [[ -n ${COMPREPLY[*]} && -z $(compgen -f -- "$word") ]] && compopt +o filenames 2> /dev/null
}
complete -o filenames -F _partita partita
"""


def words(names):
    return " ".join(sorted("--" + name for name in names))


def command_case(command):
    flags = {flag.name for flag in command.flags()}
    valued = {flag.name for flag in command.flags() if flag.value}
    return '    %s) flags="%s" valued="%s" operands="%s" ;;' % (
        command.name, words(flags), words(valued), " ".join(command.operands))


def values_cases(command):
    """One for each flag whose values are known."""
    for flag in command.flags():
        if flag.values:
            yield '    "%s --%s") values="%s" files=%s ;;' % (
                command.name, flag.name, " ".join(flag.values), "yes" if flag.file else "")


def script(program):
    return SCRIPT % {
        "commands": " ".join(command.name for command in program.commands),
        "commands_cases": "\n".join(map(command_case, program.commands)),
        "values_cases": "\n".join(case for command in program.commands for case in values_cases(command)),
    }
