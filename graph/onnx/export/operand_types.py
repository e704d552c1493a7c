#!/usr/bin/env python3
# Writes operand_types.inc: the dtypes that each input of an ONNX op may have in
# the opset that export.h names, from the schemas of the PyPI package `onnx`.
# Run it beside this file, in an environment that has the package:
#   python3 operand_types.py > operand_types.inc
# SPDX-License-Identifier: Apache-2.0
import onnx
import onnx.defs

OPSET = 17
DTYPES = {
    "bfloat16": "bf16", "bool": "bool", "double": "f64", "float": "f32", "float16": "f16",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}


def dtypes(schema, type_str):
    """The dtypes of tensors that Partita has; `any` for all of them."""
    allowed = [type_str]
    for constraint in schema.type_constraints:
        if constraint.type_param_str == type_str:
            allowed = constraint.allowed_type_strs
    names = sorted(DTYPES[t[7:-1]] for t in allowed if t.startswith("tensor(") and t[7:-1] in DTYPES)
    return "any" if len(names) == len(DTYPES) else " ".join(names)


def main():
    print(f"// Made by operand_types.py from onnx {onnx.__version__}, of opset {OPSET}.")
    print("// SPDX-License-Identifier: Apache-2.0")
    newest = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain != "" or schema.since_version > OPSET or schema.deprecated:
            continue
        known = newest.get(schema.name)
        if known is None or known.since_version < schema.since_version:
            newest[schema.name] = schema
    for name, schema in sorted(newest.items()):
        inputs = [dtypes(schema, i.type_str) for i in schema.inputs]
        if inputs and all(inputs):
            print(f'{{"{name}", "{"|".join(inputs)}"}},')


main()
