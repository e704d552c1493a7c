# The manual page partita(1), from the program's help.
# SPDX-License-Identifier: Apache-2.0


def escaped(text):
    """Plain text as troff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.splitlines())


def flag_lines(flag):
    value = " \\fI%s\\fR" % escaped(flag.value) if flag.value else ""
    return ".TP\n\\fB\\-\\-%s\\fR%s\n%s\n" % (escaped(flag.name), value, escaped(flag.doc))


def command_lines(command):
    lines = ".SS partita %s\n.nf\n%s\n.fi\n" % (escaped(command.usage), escaped(command.doc))
    for heading, flags in command.groups:
        if len(command.groups) > 1:
            lines += ".PP\n%s:\n" % escaped(heading)
        lines += "".join(flag_lines(flag) for flag in flags)
    return lines


def page(program, version):
    name, _, summary = program.summary.partition(": ")
    text = '.TH PARTITA 1 "" "Partita %s" "User Commands"\n' % escaped(version)
    text += ".SH NAME\n%s \\- %s\n" % (name, escaped(summary.rstrip(".")))
    text += ".SH SYNOPSIS\n.B partita\n.I COMMAND\n.RI [ FLAG ...]\n"
    text += ".SH COMMANDS\n" + "".join(command_lines(command) for command in program.commands)
    text += (".SH EXIT STATUS\n0 if it did what was asked, 1 if it refused or failed, 2 if it was called wrongly.\n"
             ".SH FILES\nExamples and machine files are in \\fIshare/partita/examples\\fR of the installation.\n")
    return text
