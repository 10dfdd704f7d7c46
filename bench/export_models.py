#!/usr/bin/env python3
"""Networks as PyTorch's two exporters write them, with random weights from a fixed seed.

    python bench/export_models.py --list
    python bench/export_models.py -o FOLDER [NAME ...]           FOLDER/NAME.onnx and FOLDER/NAME.npz (its inputs)
    python bench/export_models.py -o FOLDER --small [NAME ...]   two layers and few channels; tensors of weights empty

Nothing is downloaded: every network is made from its configuration. The packages are those of bench/requirements.txt.
A name ends in its exporter: `_dyn` is torch.export's (with the opset, if it is not 18), `_tsN` the TorchScript one at
opset N; `_dynb` and `_dynseq` have a symbolic batch or sequence. The small ones, without their weights, are the graphs
in test/Models/Inputs: the tests fill them with random numbers.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

# --- The networks. Each builder takes `small` and gives the module, its arguments, and the names of inputs and outputs.


def vision(name, size=224, small_name=None, outputs=("logits",), small_size=64, **arguments):
    def build(small):
        import torch
        import torchvision

        torch.backends.mha.set_fastpath_enabled(False)  # the exporters cannot translate the fused form
        model = torchvision.models.get_model(small_name or name if small else name, weights=None, **arguments)
        edge = small_size if small else size
        return model, [torch.randn(1, 3, edge, edge)], ["input"], list(outputs)

    return build


def _flatten(model, pick):
    import torch

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *arguments):
            return pick(self.model, *arguments)

    return Flat()


def detector(name, edge, small_edge=64, outputs=("boxes", "scores", "labels")):
    """What it finds: several thousand nodes, control flow, NonMaxSuppression."""

    def build(small):
        import torch
        import torchvision

        class First(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = torchvision.models.get_model(name, weights=None, weights_backbone=None)

            def forward(self, image):
                found = self.model([image[0]])[0]
                return tuple(found[output] for output in outputs)

        size = small_edge if small else edge
        return First(), [torch.rand(1, 3, size, size)], ["input"], list(outputs)

    return build


def graph_network(small):
    """Three layers of graph convolutions: messages are gathered along the edges, and summed with ScatterND."""
    import torch

    nodes, edges, width = (50, 200, 16) if small else (1000, 5000, 64)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(3))
            self.head = torch.nn.Linear(width, 7)

        def forward(self, x, edge):
            source, target = edge[0], edge[1]
            degree = torch.ones(nodes).scatter_add(0, target, torch.ones(edges)).rsqrt()
            weight = (degree[source] * degree[target])[:, None]
            for layer in self.layers:
                y = layer(x)
                x = torch.zeros_like(y).index_add(0, target, y[source] * weight) + y * (degree * degree)[:, None]
                x = torch.relu(x)
            return self.head(x)

    return Network(), [torch.randn(nodes, width), torch.randint(0, nodes, (2, edges))], ["input", "edges"], ["logits"]


def video(name, shape, small_shape):
    def build(small):
        import torch
        import torchvision

        model = torchvision.models.get_model(name, weights=None)
        return model, [torch.randn(*(small_shape if small else shape))], ["input"], ["logits"]

    return build


def _tokens(count, vocabulary):
    import torch

    return torch.randint(0, vocabulary, (1, count))


def bert(small):
    import torch
    import transformers

    sizes = dict(num_hidden_layers=2, hidden_size=64, num_attention_heads=4, intermediate_size=128, vocab_size=1000)
    config = transformers.BertConfig(**(sizes if small else {}), attn_implementation="sdpa")
    model = _flatten(
        transformers.BertModel(config),
        lambda m, ids, mask: tuple(m(input_ids=ids, attention_mask=mask)[k] for k in ("last_hidden_state", "pooler_output")),
    )
    length = 16 if small else 128
    mask = torch.ones(1, length, dtype=torch.int64)
    return model, [_tokens(length, config.vocab_size), mask], ["input_ids", "attention_mask"], ["last_hidden_state", "pooler_output"]


def _decoder(model, config, layers, heads, width, past, new):
    """A causal language model whose cache goes in and out as one tensor per layer for keys and one for values."""
    import torch
    from transformers import DynamicCache

    def call(m, ids, mask, positions, *tensors):
        cache = DynamicCache()
        for layer in range(len(tensors) // 2):
            cache.update(tensors[2 * layer], tensors[2 * layer + 1], layer)
        result = m(input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True)
        return (result.logits, *(t for layer in result.past_key_values.layers for t in (layer.keys, layer.values)))

    inputs, outputs = ["input_ids", "attention_mask", "position_ids"], ["logits"]
    arguments = [_tokens(new, config.vocab_size), torch.ones(1, past + new, dtype=torch.int64),
                 torch.arange(past, past + new)[None]]
    for layer in range(layers):
        outputs += [f"present.{layer}.key", f"present.{layer}.value"]
        if past:
            inputs += [f"past.{layer}.key", f"past.{layer}.value"]
            arguments += [torch.randn(1, heads, past, width), torch.randn(1, heads, past, width)]
    return _flatten(model, call), arguments, inputs, outputs


def gpt2(decode):
    def build(small):
        import transformers

        sizes = dict(n_layer=2, n_embd=64, n_head=4, vocab_size=1000, n_positions=128) if small else {}
        config = transformers.GPT2Config(**sizes, attn_implementation="sdpa")
        length = 16 if small else 128
        past, new = (length, 1) if decode else (0, length)
        width = config.n_embd // config.n_head
        return _decoder(transformers.GPT2LMHeadModel(config), config, config.n_layer, config.n_head, width, past, new)

    return build


def llama(decode, kind="Llama"):
    def build(small):
        import transformers

        sizes = dict(vocab_size=32000, hidden_size=768, intermediate_size=2048, num_hidden_layers=6,
                     num_attention_heads=12, num_key_value_heads=4, max_position_embeddings=2048)
        if small or kind != "Llama":
            sizes = dict(vocab_size=1000, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128)
        # Its scores are bounded by a tanh, which PyTorch's attention does not have.
        attention = "eager" if kind == "Gemma2" else "sdpa"
        config = getattr(transformers, kind + "Config")(**sizes, pad_token_id=None, attn_implementation=attention)
        model = getattr(transformers, kind + "ForCausalLM")(config)
        length = 16 if small else 128
        past, new = (length, 1) if decode else (0, length)
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        return _decoder(model, config, config.num_hidden_layers, config.num_key_value_heads, width, past, new)

    return build


def recurrent(kind):
    def build(small):
        import torch

        width = 32 if small else 256
        net = getattr(torch.nn, kind)(width, width, num_layers=2, batch_first=True, bidirectional=True)
        head = torch.nn.Linear(2 * width, 10)
        model = _flatten(torch.nn.ModuleList([net, head]), lambda m, x: m[1](m[0](x)[0]))
        return model, [torch.randn(1, 16, width)], ["input"], ["logits"]

    return build


def transformer(small):
    import torch

    torch.backends.mha.set_fastpath_enabled(False)
    model = torch.nn.Transformer(64, 4, 2, 2, 128, batch_first=True)
    return model, [torch.randn(1, 12, 64), torch.randn(1, 7, 64)], ["source", "target"], ["output"]


def t5(small):
    import transformers

    config = transformers.T5Config(vocab_size=1000, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)
    model = _flatten(transformers.T5ForConditionalGeneration(config),
                     lambda m, a, b: m(input_ids=a, decoder_input_ids=b, use_cache=False).logits)
    return model, [_tokens(16, 1000), _tokens(5, 1000)], ["input_ids", "decoder_input_ids"], ["logits"]


def whisper(small):
    import torch
    import transformers

    config = transformers.WhisperConfig(vocab_size=1000, d_model=64, encoder_layers=2, decoder_layers=2,
                                        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
                                        decoder_ffn_dim=128, max_source_positions=100, num_mel_bins=80, pad_token_id=0)
    model = _flatten(transformers.WhisperForConditionalGeneration(config),
                     lambda m, a, b: m(input_features=a, decoder_input_ids=b, use_cache=False).logits)
    return model, [torch.randn(1, 80, 200), _tokens(5, 1000)], ["input_features", "decoder_input_ids"], ["logits"]


def clip(small):
    import torch
    import transformers

    text = dict(vocab_size=1000, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                eos_token_id=999)
    image = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=64,
                 patch_size=16)
    config = transformers.CLIPConfig(text_config=text, vision_config=image, projection_dim=32)
    model = _flatten(transformers.CLIPModel(config),
                     lambda m, a, b: m(input_ids=a, pixel_values=b).logits_per_image)
    return model, [_tokens(16, 1000), torch.randn(1, 3, 64, 64)], ["input_ids", "pixel_values"], ["logits"]


MASKS = ("boxes", "scores", "labels", "masks")
BATCH = {"input": {0: "batch"}, "logits": {0: "batch"}}
SEQUENCE = {name: {0: "batch", 1: "seq"} for name in ("input_ids", "attention_mask", "last_hidden_state")}
SEQUENCE["pooler_output"] = {0: "batch"}
CACHE = {"input_ids": {1: "seq"}, "attention_mask": {1: "total"}, "position_ids": {1: "seq"}, "logits": {1: "seq"}}
for _layer in range(12):
    for _part in ("key", "value"):
        CACHE[f"past.{_layer}.{_part}"] = {2: "past"}
        CACHE[f"present.{_layer}.{_part}"] = {2: "total"}

# name: builder, opset of torch.export's exporter or None, opset of the TorchScript exporter or None, symbolic dimensions
MODELS = {
    "resnet50_dyn": (vision("resnet50", small_name="resnet18"), 18, None, None),
    "resnet50_ts13": (vision("resnet50", small_name="resnet18"), None, 13, None),
    "resnet50_ts17_dynb": (vision("resnet50", small_name="resnet18"), None, 17, BATCH),
    "mobilenet_v3_large_dyn": (vision("mobilenet_v3_large", small_name="mobilenet_v3_small"), 18, None, None),
    "mobilenet_v3_large_ts17": (vision("mobilenet_v3_large", small_name="mobilenet_v3_small"), None, 17, None),
    "efficientnet_b0_dyn": (vision("efficientnet_b0"), 18, None, None),
    "bert_base_dyn": (bert, 18, None, None),
    "bert_base_dyn_dynseq": (bert, 20, None, SEQUENCE),
    "bert_base_ts17_dynseq": (bert, None, 17, SEQUENCE),
    "bert_base_dyn23": (bert, 23, None, None),
    "gpt2_prefill_dyn": (gpt2(False), 18, None, None),
    "gpt2_decode_dyn": (gpt2(True), 18, None, None),
    "gpt2_decode_ts17_dynseq": (gpt2(True), None, 17, CACHE),
    "llama6_prefill_dyn": (llama(False), 18, None, None),
    "llama6_decode_dyn": (llama(True), 18, None, None),
    "llama6_decode_dyn23": (llama(True), 23, None, None),
    # Other families, to find what the six above do not use.
    "vgg11_dyn": (vision("vgg11", small_size=224), 18, None, None),
    "densenet121_dyn": (vision("densenet121"), 18, None, None),
    "googlenet_dyn": (vision("googlenet", init_weights=False), 18, None, None),
    "inception_v3_dyn": (vision("inception_v3", size=299, small_size=128, init_weights=False), 18, None, None),
    "shufflenet_v2_dyn": (vision("shufflenet_v2_x1_0"), 18, None, None),
    "squeezenet1_1_dyn": (vision("squeezenet1_1"), 18, None, None),
    "regnet_y_400mf_dyn": (vision("regnet_y_400mf"), 18, None, None),
    "convnext_tiny_dyn": (vision("convnext_tiny"), 18, None, None),
    "vit_b_16_dyn": (vision("vit_b_16", small_size=224), 18, None, None),
    "swin_t_dyn": (vision("swin_t", small_size=224), 18, None, None),
    "swin_v2_t_dyn": (vision("swin_v2_t", small_size=224), 18, None, None),
    "maxvit_t_dyn": (vision("maxvit_t", small_size=224), 18, None, None),
    "deeplabv3_dyn": (vision("deeplabv3_mobilenet_v3_large", weights_backbone=None, outputs=("out",)), 18, None, None),
    "fcn_resnet50_dyn": (vision("fcn_resnet50", weights_backbone=None, outputs=("out",)), 18, None, None),
    "lraspp_dyn": (vision("lraspp_mobilenet_v3_large", weights_backbone=None, outputs=("out",)), 18, None, None),
    "ssdlite320_ts17": (detector("ssdlite320_mobilenet_v3_large", 320), None, 17, None),
    "fasterrcnn_ts17": (detector("fasterrcnn_resnet50_fpn", 480), None, 17, None),
    "retinanet_ts17": (detector("retinanet_resnet50_fpn", 320), None, 17, None),
    "maskrcnn_ts17": (detector("maskrcnn_resnet50_fpn", 320, outputs=MASKS), None, 17, None),
    "s3d_dyn": (video("s3d", (1, 3, 16, 224, 224), (1, 3, 14, 224, 224)), 18, None, None),
    "gcn_dyn": (graph_network, 18, None, None),
    "lstm_dyn": (recurrent("LSTM"), 18, None, None),
    "lstm_ts17_dynb": (recurrent("LSTM"), None, 17, BATCH),
    "gru_ts17": (recurrent("GRU"), None, 17, None),
    "transformer_dyn": (transformer, 18, None, None),
    "t5_dyn": (t5, 18, None, None),
    "whisper_dyn": (whisper, 18, None, None),
    "clip_dyn": (clip, 18, None, None),
    "qwen2_decode_dyn": (llama(True, "Qwen2"), 18, None, None),
    "qwen3_decode_dyn": (llama(True, "Qwen3"), 18, None, None),
    "mistral_prefill_dyn": (llama(False, "Mistral"), 18, None, None),
    "phi3_decode_dyn": (llama(True, "Phi3"), 18, None, None),
    "gemma2_decode_dyn": (llama(True, "Gemma2"), 18, None, None),
}  # fmt: skip


def strip(path):
    """Empties the tensors of weights: of floats, two dimensions or more, over 256 elements. Their shapes stay."""
    import onnx

    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) > 1 and np.prod(tensor.dims) > 256:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
    for node in model.graph.node:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output]:
        value.ClearField("metadata_props")
    model.ClearField("metadata_props")
    model.graph.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    onnx.save(model, path)


def export(name, network, folder, small, program):
    import torch

    builder, export_opset, script_opset, axes = network
    torch.manual_seed(0)
    model, arguments, inputs, outputs = builder(small)
    path = folder / f"{name}.onnx"
    options = dict(input_names=inputs, output_names=outputs)
    with torch.no_grad():
        if export_opset:
            shapes = None
            if axes:
                dims = {}
                shapes = tuple({d: dims.setdefault(s, torch.export.Dim(s, min=1, max=512))
                                for d, s in axes.get(i, {}).items()} or None for i in inputs)  # fmt: skip
                if isinstance(model, torch.nn.Module) and type(model).__name__ == "Flat":
                    shapes = (shapes,)
            torch.onnx.export(model.eval(), tuple(arguments), path, dynamo=True, opset_version=export_opset,
                              dynamic_shapes=shapes, external_data=False, **options)
        else:
            axes = {k: v for k, v in (axes or {}).items() if k in inputs + outputs}
            torch.onnx.export(model.eval(), tuple(arguments), path, dynamo=False, opset_version=script_opset,
                              dynamic_axes=axes or None, do_constant_folding=True, **options)
        if program:
            torch.export.save(torch.export.export(model.eval(), tuple(arguments)), folder / f"{name}.pt2")
    np.savez(folder / f"{name}.npz", **{i: a.numpy() for i, a in zip(inputs, arguments, strict=True)})
    if small:
        strip(path)
    print(f"{name}: {path.stat().st_size / 1e6:.2f} MB", flush=True)


def main(networks, description, script, has_small=False):
    """The command line of `script`, which exports `networks`. `has_small`: their builders know small ones."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks (all)")
    parser.add_argument("-o", "--output", type=Path, default=Path("."), metavar="FOLDER")
    if has_small:
        parser.add_argument("--small", action="store_true", help="two layers, few channels, weights left out")
    parser.add_argument("--program", action="store_true", help="FOLDER/NAME.pt2, too: the network for PyTorch itself")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for a network (%(default)s)")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    small = has_small and options.small
    if options.list:
        print("\n".join(networks))
        return
    names = options.names or list(networks)
    if unknown := [name for name in names if name not in networks]:
        parser.error(f"no network {', '.join(unknown)}; --list shows the names")
    options.output.mkdir(parents=True, exist_ok=True)
    if options.here:
        for name in names:
            export(name, networks[name], options.output, small, options.program)
        return
    # A process for each: the exporters leave state behind, and large networks their memory.
    failed = False
    flags = ["--small"] * small + ["--program"] * options.program
    for name in names:
        command = [sys.executable, script, "--here", "-o", options.output, *flags, name]
        log = options.output / f"{name}.log"
        try:
            with open(log, "w") as errors:
                done = subprocess.run(
                    command, stdout=subprocess.PIPE, stderr=errors, text=True, timeout=options.timeout, check=True
                )
            print(next(line for line in done.stdout.splitlines() if line.startswith(f"{name}:")), flush=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, StopIteration):
            failed = True
            print(f"{name}: failed, see {log}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(MODELS, __doc__, __file__, has_small=True)
