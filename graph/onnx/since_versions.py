#!/usr/bin/env python3
# Writes since_versions.inc: the opset that introduced each op of the ONNX standard,
# from the schemas of the PyPI package `onnx`. Run it beside this file, in
# an environment that has the package:
#   python3 since_versions.py > since_versions.inc
# SPDX-License-Identifier: Apache-2.0
import onnx
import onnx.defs


def main():
    since = {}
    newest = 0
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain != "":
            continue
        version = schema.since_version
        since[schema.name] = min(version, since.get(schema.name, version))
        newest = max(newest, version)
    print(f"// Made by since_versions.py from onnx {onnx.__version__}, which knows opsets up to {newest}.")
    print("// SPDX-License-Identifier: Apache-2.0")
    for name, version in sorted(since.items()):
        print(f'{{"{name}", {version}}},')


main()
