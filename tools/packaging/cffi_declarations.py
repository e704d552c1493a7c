# The declarations of partita/c_api.h as cffi reads them: C without preprocessor.
# SPDX-License-Identifier: Apache-2.0

import re


def declarations(header):
    """The text without comments, directives except numbers, and functions that the header defines."""
    text = re.sub(r"//[^\n]*", "", header)
    text = re.sub(r'extern "C" \{', "", text)
    text = re.sub(r"#ifdef __cplusplus\s*\}?\s*#endif", "", text)
    text = re.sub(r"^static inline .*?^\}\n", "", text, flags=re.M | re.S)
    lines = []
    for line in text.splitlines():
        number = re.fullmatch(r"#define (PARTITA_\w+) (\d+)", line.strip())
        if number:
            lines.append("#define %s %s" % number.groups())
        elif line.strip() and not line.startswith("#"):
            lines.append(line.replace("PARTITA_API ", ""))
    text = "\n".join(lines) + "\n"
    if "partita_api_version(void);" not in text or "{" in re.sub(r"(struct \w+|enum) \{[^}]*\}", "", text):
        raise ValueError("partita/c_api.h: found text that is neither declaration nor comment; "
                         "expected what tools/packaging/cffi_declarations.py reads")
    return text


def module(header):
    """A Python module that has them."""
    return ('"""The C API, made from partita/c_api.h."""\n\nDECLARATIONS = r"""\n%s"""\n' % declarations(header))
