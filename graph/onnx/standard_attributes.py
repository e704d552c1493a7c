#!/usr/bin/env python3
# Writes standard_attributes.inc: the attributes of the ops of the ONNX standard, from opset 7 on, from the schemas of
# the PyPI package `onnx`. Run it beside this file, in an environment that has the package:
#   python3 standard_attributes.py > standard_attributes.inc
# SPDX-License-Identifier: Apache-2.0
import onnx
import onnx.defs
import onnx.helper

OLDEST = 7  # kOldestOpset


def text_of(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return " ".join(text_of(v) for v in value)
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def presence(attribute):
    """The default of a missing attribute."""
    if attribute.default_value.name:
        return "= " + text_of(onnx.helper.get_attribute_value(attribute.default_value))
    return "required" if attribute.required else "optional"


def main():
    schemas = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            schemas.setdefault(schema.name, []).append(schema)
    newest = max(s.since_version for versions in schemas.values() for s in versions)
    print(f"// Made by standard_attributes.py from onnx {onnx.__version__}, which knows opsets up to {newest}.")
    print("// SPDX-License-Identifier: Apache-2.0")
    for name, versions in sorted(schemas.items()):
        versions.sort(key=lambda s: s.since_version)
        rows = []  # [attribute, type, presence, first, last], one for each unbroken run of versions
        for i, schema in enumerate(versions):
            last = versions[i + 1].since_version - 1 if i + 1 < len(versions) else newest
            if last < OLDEST:
                continue
            first = max(schema.since_version, OLDEST)
            for key, attribute in sorted(schema.attributes.items()):
                kind = str(attribute.type).split(".")[-1]
                same = [r for r in rows if r[:3] == [key, kind, presence(attribute)] and r[4] == first - 1]
                if same:
                    same[0][4] = last
                else:
                    rows.append([key, kind, presence(attribute), first, last])
        for key, kind, default, first, last in sorted(rows, key=lambda r: (r[0], r[3])):
            print(f'{{"{name}", "{key}", "{kind}", "{default}", {first}, {last}}},')


main()
