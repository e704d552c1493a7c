"""Pictures to tensors, tensors to text, for the demo: the standard library alone.

    ocr.py tensor PICTURE.png OUT.npy       a picture as the PP-OCR models take it: f32 [1, 3, H, W]
    ocr.py read OUTPUT.npy MODEL.onnx       the text that a recognition output spells
    ocr.py compare OUTPUT.npy EXPECTED.json a detection output against ONNX Runtime's
    ocr.py models FOLDER EXPECTED.json      whether the models are those that were recorded
"""

import array
import hashlib
import json
import pathlib
import struct
import sys
import zlib

DETECTION = "ch_PP-OCRv4_det_infer.onnx"
RECOGNITION = "ch_PP-OCRv4_rec_infer.onnx"


def pixels_of_png(path):
    """Width, height and rows of an 8-bit grey PNG without interlacing."""
    data = pathlib.Path(path).read_bytes()
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            if (depth, colour, interlace) != (8, 0, 0):
                sys.exit(f"{path}: found another kind of PNG; expected 8-bit grey without interlacing")
            size = width, height
        if kind == b"IDAT":
            packed += body
        at += length + 12
    width, height = size
    raw, rows, above = zlib.decompress(packed), [], bytes(width)
    for y in range(height):
        start = y * (width + 1)
        above = unfilter(raw[start], bytearray(raw[start + 1 : start + 1 + width]), above)
        rows.append(above)
    return width, height, rows


def unfilter(kind, row, above):
    """One row of a PNG with its filter undone (PNG specification, section 9)."""
    for x in range(len(row)):
        left = row[x - 1] if x else 0
        up = above[x]
        corner = above[x - 1] if x else 0
        if kind == 1:
            row[x] = (row[x] + left) & 255
        elif kind == 2:
            row[x] = (row[x] + up) & 255
        elif kind == 3:
            row[x] = (row[x] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            near = min((left, up, corner), key=lambda v: abs(guess - v))
            row[x] = (row[x] + near) & 255
    return bytes(row)


def tensor_of_png(path):
    """Three equal channels of values in -1..1, as PP-OCR was trained."""
    width, height, rows = pixels_of_png(path)
    plane = [(value / 255.0 - 0.5) / 0.5 for row in rows for value in row]
    return [1, 3, height, width], array.array("f", plane * 3)


def write_npy(path, dims, values):
    shape = "".join(f"{d}," for d in dims)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}"
    header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes())


def read_npy(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    header = data[10 : 10 + length].decode()
    dims = [int(d) for d in header.split("(")[1].split(")")[0].split(",") if d.strip()]
    values = array.array("f")
    values.frombytes(data[10 + length :])
    return dims, values


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """The length-delimited fields of a protobuf message, as (number, bytes)."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            _, at = varint(data, at)
            continue
        if key & 7 != 2:
            sys.exit("found a field of another wire type; expected an ONNX model")
        length, at = varint(data, at)
        yield key >> 3, data[at : at + length]
        at += length


def characters(model):
    """The alphabet that the recognition model carries in its metadata: blank first, space last."""
    for number, body in fields(memoryview(pathlib.Path(model).read_bytes())):
        if number != 14:  # ModelProto.metadata_props
            continue
        entry = dict((n, bytes(b).decode()) for n, b in fields(body))
        if entry.get(1) == "character":
            return [""] + entry[2].splitlines() + [" "]
    sys.exit(f"{model}: found no alphabet in its metadata")


def decode(dims, values, alphabet):
    """Greedy CTC (Graves et al., 2006): the best class a step, repeats and blanks dropped."""
    steps, classes = dims[1], dims[2]
    text, last = [], 0
    for step in range(steps):
        row = values[step * classes : (step + 1) * classes]
        best = max(range(classes), key=row.__getitem__)
        if best not in (0, last):
            text.append(alphabet[best])
        last = best
    return "".join(text).strip()


def compare(output, expected_path):
    expected = json.loads(pathlib.Path(expected_path).read_text())
    dims, values = read_npy(output)
    height, width = dims[2], dims[3]
    step = expected["sample"]
    sampled = [values[y * width + x] for y in range(0, height, step) for x in range(0, width, step)]
    worst = max(abs(a - b) for a, b in zip(sampled, expected["detection"], strict=True))
    limit = 1e-3 * expected["detection_largest"]
    print(f"{len(sampled)} positions compared with {expected['recorded_with']}: largest difference {worst:.2e}")
    if worst > limit:
        sys.exit(f"found a difference of {worst:.2e}; expected at most {limit:.2e}")


def check_models(folder, expected_path):
    expected = json.loads(pathlib.Path(expected_path).read_text())["models_sha256"]
    for name, digest in expected.items():
        if hashlib.sha256((pathlib.Path(folder) / name).read_bytes()).hexdigest() != digest:
            sys.exit(f"{name}: found another file than the recorded one")


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    command, first, second = arguments
    if command == "tensor":
        write_npy(second, *tensor_of_png(first))
    elif command == "read":
        print(decode(*read_npy(first), characters(second)))
    elif command == "compare":
        compare(first, second)
    elif command == "models":
        check_models(first, second)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
