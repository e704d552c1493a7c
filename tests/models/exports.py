"""Exports small transformers, vision and audio models with seeded random weights, at three opsets of ONNX.

    exports.py FOLDER [NAME ..]     writes FOLDER/NAME_WAY/model.onnx, test_data_set_0 and exact, where not there yet

Needs torch, transformers, onnxscript, onnx and numpy. Opset 17 is written by the exporter that traces, newer ones by
the one that captures the program; `open` leaves batches and lengths open. test_data_set_0 holds inputs and what
PyTorch makes of them; exact the same of a model and inputs in f64.
"""
# SPDX-License-Identifier: Apache-2.0

import copy
import dataclasses
import pathlib
import sys
import warnings

import tensor_files
import torch
import transformers
from torch import nn


@dataclasses.dataclass
class Way:
    """How a model is exported."""

    opset: int
    traced: bool = False
    open: bool = False


WAYS = {"17": Way(17, traced=True), "20": Way(20), "23": Way(23), "23_open": Way(23, open=True)}
WORDS = 100
KEY_HEADS = 2  # of grouped heads
TOKENS = dict(vocab_size=WORDS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4)
DECODER = dict(TOKENS, intermediate_size=128, max_position_embeddings=64)
ENCODER = dict(TOKENS, intermediate_size=96, max_position_embeddings=64)
IMAGE = dict(hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=32)


class Called(nn.Module):
    """A model with positional inputs and a tuple of tensors as outputs."""

    def __init__(self, model, names, outputs, **fixed):
        super().__init__()
        self.model, self.names, self.outputs, self.fixed = model, names, outputs, fixed

    def forward(self, *inputs):
        found = self.model(**dict(zip(self.names, inputs, strict=True)), **self.fixed)
        return tuple(found[name] for name in self.outputs)


class Cached(nn.Module):
    """A decoder with the keys and values of previous tokens as inputs, which returns them with the new ones."""

    def __init__(self, model, layers):
        super().__init__()
        self.model, self.layers = model, layers

    def forward(self, *inputs):
        ids, mask, *past = inputs
        pairs = [(past[2 * i], past[2 * i + 1]) for i in range(self.layers)]
        cache = transformers.DynamicCache(pairs)
        found = self.model(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True)
        present = found.past_key_values.layers
        return found.logits, *(state for layer in present for state in (layer.keys, layer.values))


class Tagger(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.words = nn.Embedding(WORDS, 24)
        self.rnn = nn.LSTM(24, width, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(2 * width, 9)

    def forward(self, *inputs):
        (ids,) = inputs
        return self.tags(self.rnn(self.words(ids))[0])


def ids(batch=2, length=12):
    return torch.randint(0, WORDS, (batch, length))


def mask(batch=2, length=12, padded=3):
    """The last tokens of the second row are padding: every token sees one that is not, itself or a previous one."""
    found = torch.ones(batch, length, dtype=torch.int64)
    found[1, length - padded :] = 0
    return found


def decoder(name, head="ForCausalLM", **config):
    """A causal language model over a padded batch."""
    model = getattr(transformers, name + head)(getattr(transformers, f"{name}Config")(**config))
    return Called(model, ["input_ids", "attention_mask"], ["logits"], use_cache=False), (ids(), mask())


def llama(**changed):
    config = transformers.LlamaConfig(num_key_value_heads=KEY_HEADS, **{**DECODER, **changed})
    past = [torch.randn(2, KEY_HEADS, 7, config.head_dim) for _ in range(2 * config.num_hidden_layers)]
    return Cached(transformers.LlamaForCausalLM(config), config.num_hidden_layers), (ids(2, 3), mask(2, 10), *past)


def encoder(model, inputs, names, outputs=("last_hidden_state",), **fixed):
    return Called(model, names, outputs, **fixed), inputs


def mamba():
    config = transformers.MambaConfig(
        vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, state_size=8, time_step_rank=4
    )
    return encoder(transformers.MambaForCausalLM(config), (ids(),), ["input_ids"], ["logits"], use_cache=False)


def t5():
    config = transformers.T5Config(
        vocab_size=WORDS, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    model = transformers.T5ForConditionalGeneration(config)
    names = ["input_ids", "attention_mask", "decoder_input_ids"]
    return encoder(model, (ids(), mask(), ids(2, 5)), names, ["logits"], use_cache=False)


def deberta():
    config = transformers.DebertaV2Config(
        **ENCODER, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, norm_rel_ebd="layer_norm",
        share_att_key=True, type_vocab_size=0,
    )
    return encoder(transformers.DebertaV2Model(config), (ids(), mask()), ["input_ids", "attention_mask"])


def bert():
    return encoder(transformers.BertModel(transformers.BertConfig(**ENCODER)), (ids(), mask()),
                   ["input_ids", "attention_mask"])


def clip_text():
    model = transformers.CLIPTextModel(transformers.CLIPTextConfig(**ENCODER, eos_token_id=WORDS - 1))
    return encoder(model, (ids(),), ["input_ids"], ["last_hidden_state", "pooler_output"])


def picture(size=32):
    return (torch.randn(2, 3, size, size),)


def vit():
    return encoder(transformers.ViTModel(transformers.ViTConfig(**IMAGE, patch_size=8)), picture(), ["pixel_values"])


def swin():
    config = transformers.SwinConfig(
        image_size=32, patch_size=2, embed_dim=24, depths=[2, 2], num_heads=[2, 4], window_size=4
    )
    return encoder(transformers.SwinModel(config), picture(), ["pixel_values"])


def convnext():
    config = transformers.ConvNextConfig(hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 2, 1])
    return encoder(transformers.ConvNextForImageClassification(config), picture(64), ["pixel_values"], ["logits"])


def segformer():
    config = transformers.SegformerConfig(
        hidden_sizes=[16, 32, 40, 64], depths=[1, 1, 1, 1], decoder_hidden_size=32, num_attention_heads=[1, 2, 2, 4]
    )
    model = transformers.SegformerForSemanticSegmentation(config)
    return encoder(model, picture(64), ["pixel_values"], ["logits"])


def dpt():
    config = transformers.DPTConfig(
        **{**IMAGE, "num_hidden_layers": 4}, patch_size=8, backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[16, 24, 32, 32], fusion_hidden_size=32, reassemble_factors=[4, 2, 1, 0.5], is_hybrid=False,
    )
    return encoder(transformers.DPTForDepthEstimation(config), picture(), ["pixel_values"], ["predicted_depth"])


def whisper():
    config = transformers.WhisperConfig(
        d_model=64, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=128, num_mel_bins=16,
        max_source_positions=50,
    )
    model = transformers.models.whisper.modeling_whisper.WhisperEncoder(config)
    return encoder(model, (torch.randn(1, 16, 100),), ["input_features"])


def wav2vec2():
    config = transformers.Wav2Vec2Config(
        vocab_size=32, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        conv_dim=[32] * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
    )
    return encoder(transformers.Wav2Vec2Model(config), (torch.randn(1, 4000),), ["input_values"])


MODELS = {
    "gpt2": lambda: decoder("GPT2", "LMHeadModel", vocab_size=WORDS, n_embd=64, n_layer=2, n_head=4, n_positions=64),
    "llama_cache": llama,
    "qwen3": lambda: decoder("Qwen3", num_key_value_heads=KEY_HEADS, head_dim=16, **DECODER),
    "gemma2": lambda: decoder("Gemma2", num_key_value_heads=KEY_HEADS, head_dim=16, sliding_window=4, **DECODER),
    "mamba": mamba,
    "t5": t5,
    "deberta": deberta,
    "bert": bert,
    "clip_text": clip_text,
    "vit": vit,
    "swin": swin,
    "convnext": convnext,
    "segformer": segformer,
    "dpt": dpt,
    "whisper_encoder": whisper,
    "wav2vec2_encoder": wav2vec2,
    "bi_lstm": lambda: (Tagger(), (ids(),)),
}


def made(make):
    """The model and its inputs. All weights are random and small, since zeros and ones test little."""
    torch.manual_seed(0)
    model, inputs = make()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() < 2:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval(), inputs


def tuple_of(found):
    return found if isinstance(found, tuple) else (found,)


def names(kind, tensors):
    return [f"{kind}_{i}" for i in range(len(tensors))]


def write_tensors(folder, kind, tensors):
    arrays = {name: tensor.detach().numpy() for name, tensor in zip(names(kind, tensors), tensors)}
    tensor_files.write(folder, kind, arrays)


def exact_of(model, inputs):
    wide = copy.deepcopy(model).double()
    return tuple_of(wide(*(x.double() if x.is_floating_point() else x for x in inputs)))


def open_dims(tensor):
    """The batch; the tokens of [batch, tokens], and of keys and values, which are [batch, heads, tokens, size]."""
    dims = {2: [0, 1], 3: [0], 4: [0, 2] if tensor.shape[1] == KEY_HEADS else [0]}[tensor.dim()]
    return {dim: torch.export.Dim.AUTO for dim in dims}


def write_model(model, inputs, outputs, way, path):
    flags = dict(dynamo=False)
    if not way.traced:
        flags = dict(dynamo=True, external_data=False, verbose=False)
    if way.open:
        flags["dynamic_shapes"] = (tuple(map(open_dims, inputs)),)
    torch.onnx.export(
        model, inputs, str(path), input_names=names("input", inputs), output_names=names("output", outputs),
        opset_version=way.opset, **flags,
    )


def export(model, inputs, way, folder):
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / "model.onnx.part"
    with torch.no_grad():
        outputs = tuple_of(model(*inputs))
        exact = exact_of(model, inputs)
        write_model(model, inputs, outputs, way, partial)
    write_tensors(folder / "test_data_set_0", "input", inputs)
    write_tensors(folder / "test_data_set_0", "output", outputs)
    write_tensors(folder / "exact", "output", exact)
    partial.rename(folder / "model.onnx")


def reason(error):
    return " ".join(str(error).split())[:300]


def export_all(folder, wanted=None):
    """From the name of each model to its folder, or to why there is none."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    found = {}
    for name, make in MODELS.items():
        for label, way in WAYS.items():
            case = f"{name}_{label}"
            if wanted and name not in wanted and case not in wanted:
                continue
            found[case] = folder / case
            if (folder / case / "model.onnx").exists():
                continue
            try:
                export(*made(make), way, folder / case)
            except Exception as error:  # noqa: BLE001 (exporters raise what they like; the table says what)
                found[case] = f"the export fails: {reason(error)}"
            print(case, "exported" if isinstance(found[case], pathlib.Path) else found[case], flush=True)
    return found


if __name__ == "__main__":
    export_all(pathlib.Path(sys.argv[1]), sys.argv[2:])
