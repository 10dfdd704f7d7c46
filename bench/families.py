#!/usr/bin/env python3
"""Networks of many families, that nothing is tuned for, as PyTorch's exporter writes them, with random weights.

    python bench/families.py --list
    python bench/families.py -o FOLDER [NAME ...]        FOLDER/NAME.onnx and FOLDER/NAME.npz (its inputs)

`bench.py --models FOLDER` shows with them how the code does on what it was not written for. Transformers have few
layers of their real width, convolutional networks all their layers. Nothing is downloaded: every network is made from
its configuration, by timm, transformers and diffusers, or by hand. A name that ends in `_dynb`, `_dynseq` or `_dynhw`
is the network before it with a symbolic batch, sequence or image size; in `_bN`, with N inputs at once.
"""

from functools import partial

import export_models
import torch
from export_models import _decoder, _flatten
from torch import nn
from torch.nn import functional as F
from torchvision.models.segmentation.deeplabv3 import DeepLabHead

# --- What makes a network, its inputs, and the names of inputs and outputs.


@torch.no_grad()
def _finished(model, inputs, outputs):
    """Replaces what is constant before training, as scales of one: nothing may be simplified for it. And the statistics
    become those of the inputs: with others, values vanish or grow without end."""
    for p in model.parameters():
        if p.is_floating_point() and p.numel() and p.min() == p.max():
            p.add_(torch.randn_like(p) * (0.1 if p.ndim < 2 else p[0].numel() ** -0.5))

    def measure(norm, arguments):
        rows = arguments[0].transpose(0, 1).flatten(1)
        if rows.shape[1] > 1:
            variance = rows.var(1)
            norm.running_mean.copy_(rows.mean(1))
            norm.running_var.copy_(variance + 0.05 * variance.mean() + 1e-4)

    norms = [module for module in model.eval().modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    hooks = [norm.register_forward_pre_hook(measure) for norm in norms]
    if hooks:
        model(*inputs.values())
    for hook in hooks:
        hook.remove()
    return model, list(inputs.values()), list(inputs), outputs.split()


def _value(name, shape):
    if name == "bbox":
        return torch.randint(0, 1000, shape).sort(-1).values
    if name.endswith("mask"):
        return torch.ones(shape, dtype=torch.int64)
    return torch.randint(0, 1000, shape) if name.endswith(("ids", "timestep", "labels")) else torch.randn(shape)


def _values(shapes):
    return {name: _value(name, shape) for name, shape in shapes.items()}


def by_hand(make, outputs="output", **shapes):
    return lambda small: _finished(make(), _values(shapes), outputs)


def image(name, batch=1, **sizes):
    """A network of timm, at the size of images it was trained with."""

    def build(small):
        import timm

        model = timm.create_model(name, pretrained=False, **sizes)
        return _finished(model, _values({"input": (batch, *model.pretrained_cfg["input_size"])}), "logits")

    return build


def field(kind, inputs, outputs="last_hidden_state", part="Model", library="transformers", **sizes):
    """A network of transformers or diffusers; outputs are those fields of its result. `part` is the end of its class's
    name, and perhaps the path of a module in it. Functions among the sizes make configurations in the configuration."""

    def build(small):
        package = __import__(library)
        suffix, *path = part.split(".")
        values = {key: value(package) if callable(value) else value for key, value in sizes.items()}
        if library == "diffusers":
            model = getattr(package, kind)(**values)
        else:
            model = getattr(package, kind + suffix)(getattr(package, kind + "Config")(**values))
        for step in path:
            model = getattr(model, step)

        def call(m, *tensors):
            result = m(*tensors) if path else m(**dict(zip(inputs, tensors)))
            return result if torch.is_tensor(result) else tuple(result[name] for name in outputs.split())

        fields = " ".join(f"new_{name}" if name in inputs else name for name in outputs.split())
        return _finished(_flatten(model, call), _values(inputs), fields)

    return build


def encoder(kind, batch=1, length=128, layers="num_hidden_layers", **sizes):
    return field(kind, {"input_ids": (batch, length), "attention_mask": (batch, length)}, **{layers: 2, **sizes})


def causal(kind, past, new, sizes):
    """A language model with `past` tokens in its cache and `new` ones to read."""

    def build(small):
        import transformers

        config = getattr(transformers, kind + "Config")(**{"vocab_size": 16000, "pad_token_id": None, **sizes})
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        heads = 1 if getattr(config, "multi_query", False) else heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        model = transformers.AutoModelForCausalLM.from_config(config)
        model, arguments, inputs, outputs = _decoder(model, config, config.num_hidden_layers, heads, width, past, new)
        return _finished(model, dict(zip(inputs, arguments)), " ".join(outputs))

    return build


# --- Networks by hand.


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def _run(conv, norm, act, *steps):
    return [layer for step in steps for layer in (conv(*step), norm(step[1]), act())]


def _dense(*widths):
    return nn.Sequential(*[layer for ab in zip(widths, widths[1:]) for layer in (nn.Linear(*ab), nn.ReLU())][:-1])


class UNet(nn.Module):
    def __init__(self, conv, up, norm, pool, channels, widths, classes):
        super().__init__()
        steps = list(zip(widths, widths[1:]))

        def blocks(pairs):
            return nn.ModuleList(
                nn.Sequential(*_run(conv, norm, nn.LeakyReLU, (a, b, 3, 1, 1), (b, b, 3, 1, 1))) for a, b in pairs
            )

        self.pool, self.head = pool(2), conv(widths[0], classes, 1)
        self.down = blocks([(channels, widths[0]), *steps])
        self.up = nn.ModuleList(up(b, a, 2, 2) for a, b in steps[::-1])
        self.merge = blocks([(2 * a, a) for a, b in steps[::-1]])  # fmt: skip

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(self.pool(x) if kept else x)
            kept.append(x)
        kept.pop()
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


class GraphStep(nn.Module):
    """ST-GCN's: a graph convolution over joints in three partitions, and a convolution over frames."""

    def __init__(self, a, b, stride=1):
        super().__init__()
        self.graph = nn.Parameter(torch.rand(3, 25, 25) / 25)
        self.conv, self.norm = nn.Conv2d(a, 3 * b, 1), nn.BatchNorm2d(b)
        self.frames = nn.Sequential(nn.Conv2d(b, b, (9, 1), (stride, 1), (4, 0)), nn.BatchNorm2d(b))
        self.short = nn.Identity() if a == b else nn.Sequential(nn.Conv2d(a, b, 1, (stride, 1)), nn.BatchNorm2d(b))

    def forward(self, x):
        y = torch.einsum("nkctv,kvw->nctw", self.conv(x).unflatten(1, (3, -1)), self.graph)
        return F.relu(self.frames(F.relu(self.norm(y))) + self.short(x))


class Causal(nn.Module):
    """Dilated causal convolutions: gated with sums of skips as WaveNet's, or plain as a TCN's."""

    def __init__(self, width, dilations, classes, gated):
        super().__init__()
        self.first, self.gated = nn.Conv1d(1, width, 1), gated
        self.conv = nn.ModuleList(nn.Conv1d(width, (1 + gated) * width, 3 - gated, dilation=d) for d in dilations)
        self.mix = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in dilations)
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(width, 256, 1), nn.ReLU(), nn.Conv1d(256, classes, 1))

    def forward(self, x):
        x, skips = self.first(x), 0
        for conv, mix in zip(self.conv, self.mix):
            y = conv(F.pad(x, ((conv.kernel_size[0] - 1) * conv.dilation[0], 0)))
            a, b = y.chunk(2, 1) if self.gated else (None, None)
            y = mix(torch.tanh(a) * torch.sigmoid(b) if self.gated else F.relu(y))
            x, skips = x + y, skips + y
        return self.head(skips if self.gated else x)


class PointNet(nn.Module):
    """PointNet++: around some of the points, the 32 nearest ones, a network for each, and the maximum."""

    def __init__(self):
        super().__init__()
        sizes = [(512, 3, 64, 128), (128, 131, 128, 256), (1, 259, 256, 1024)]
        self.counts, self.head = [size[0] for size in sizes], nn.Linear(1024, 40)
        self.steps = nn.ModuleList(
            nn.Sequential(*_run(nn.Conv2d, nn.BatchNorm2d, nn.ReLU, (a, b, 1), (b, c, 1))) for _, a, b, c in sizes
        )

    def forward(self, points):
        at, features = points, None
        for count, step in zip(self.counts, self.steps):
            near = torch.cdist(at[:, :count], at).topk(32 if count > 1 else at.shape[1], largest=False).indices
            group = at[0][near] - at[:, :count, None]
            group = group if features is None else torch.cat([group, features[0][near]], -1)
            at, features = at[:, :count], step(group.permute(0, 3, 1, 2)).amax(3).transpose(1, 2)
        return self.head(features[:, 0])


class Recommender(nn.Module):
    """DLRM: 26 tables, and the products of all pairs of what was found in them."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(10000, 64) for _ in range(26))
        self.bottom, self.top = _dense(13, 512, 256, 64), _dense(64 + 351, 512, 256, 1)
        self.register_buffer("pairs", torch.tril_indices(27, 27, -1))

    def forward(self, dense, ids):
        x = self.bottom(dense).relu()
        rows = torch.stack([x, *(table(ids[:, i]) for i, table in enumerate(self.tables))], 1)
        products = rows @ rows.transpose(1, 2)
        return self.top(torch.cat([x, products[:, self.pairs[0], self.pairs[1]]], 1)).sigmoid()


class DeepAR(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.mean, self.deviation = nn.LSTM(6, 40, batch_first=True), nn.Linear(40, 1), nn.Linear(40, 1)

    def forward(self, x, hidden, cell):
        y, (hidden, cell) = self.lstm(x, (hidden, cell))
        return self.mean(y), F.softplus(self.deviation(y)), hidden, cell


class NBeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(_dense(60, 256, 256, 256, 256, 60 + 12) for _ in range(30))

    def forward(self, x):
        forecast = 0
        for block in self.blocks:
            back, step = block(x).split([60, 12], 1)
            x, forecast = x - back, forecast + step
        return forecast


def _graph_network():
    steps = [(3, 64), (64, 64), (64, 64), (64, 64), (64, 128, 2), (128, 128), (128, 128), (128, 256, 2), (256, 256)]
    return nn.Sequential(*(GraphStep(*s) for s in steps), nn.AdaptiveAvgPool2d(1), nn.Conv2d(256, 60, 1), nn.Flatten())


def _super_resolution():
    step = (64, 64, 3, 1, 1)
    body = [Residual(*_run(nn.Conv2d, nn.BatchNorm2d, nn.PReLU, step, step)[:-1]) for _ in range(16)]
    grow = [layer for _ in range(2) for layer in (nn.Conv2d(64, 256, 3, 1, 1), nn.PixelShuffle(2), nn.PReLU())]
    return nn.Sequential(nn.Conv2d(3, 64, 9, 1, 4), nn.PReLU(), Residual(*body), *grow, nn.Conv2d(64, 3, 9, 1, 4))


def _small_super_resolution():
    return nn.Sequential(nn.Conv2d(1, 64, 5, 1, 2), nn.Tanh(), nn.Conv2d(64, 32, 3, 1, 1), nn.Tanh(),
                         nn.Conv2d(32, 9, 3, 1, 1), nn.PixelShuffle(3))  # fmt: skip


def _dcgan():
    steps = [(100, 512, 4), (512, 256, 4, 2, 1), (256, 128, 4, 2, 1), (128, 64, 4, 2, 1)]
    return nn.Sequential(*_run(nn.ConvTranspose2d, nn.BatchNorm2d, nn.ReLU, *steps),
                         nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh())  # fmt: skip


def _cyclegan():
    conv, step = partial(nn.Conv2d, padding_mode="reflect"), (256, 256, 3, 1, 1)
    return nn.Sequential(
        *_run(conv, nn.InstanceNorm2d, nn.ReLU, (3, 64, 7, 1, 3)),
        *_run(nn.Conv2d, nn.InstanceNorm2d, nn.ReLU, (64, 128, 3, 2, 1), (128, 256, 3, 2, 1)),
        *(Residual(*_run(conv, nn.InstanceNorm2d, nn.ReLU, step, step)[:-1]) for _ in range(9)),
        *_run(nn.ConvTranspose2d, nn.InstanceNorm2d, nn.ReLU, (256, 128, 3, 2, 1, 1), (128, 64, 3, 2, 1, 1)),
        conv(64, 3, 7, 1, 3), nn.Tanh())  # fmt: skip


# --- The tables.

_WHOLE = """lcnet_100 mobilenetv4_conv_small mobilenetv2_100 resnet18 mnasnet_100 tinynet_a ghostnetv2_100
    mobileone_s0 repvgg_a0 rexnet_100 tf_efficientnetv2_b0 fbnetv3_b starnet_s1 shvit_s1 hgnetv2_b0 mambaout_femto
    repvit_m1 dpn68 selecsls42b regnety_008 regnetz_b16 resnetv2_50 res2net50_26w_4s seresnext26d_32x4d skresnet18
    ecaresnet26t dla34 resnest14d hrnet_w18_small cspdarknet53 vovnet39a xception41 bat_resnext26ts lambda_resnet26t
    botnet26t_256 halonet26t gcresnext26ts nfnet_l0 edgenext_small mobilevit_s mobilevitv2_100 fastvit_t8
    efficientformer_l1 efficientformerv2_s0 efficientvit_b1 efficientvit_m2 levit_128 swiftformer_xs tiny_vit_5m_224
    poolformer_s12 caformer_s18 coatnet_0_rw_224 coat_lite_tiny crossvit_9_240 cait_xxs24_224 xcit_nano_12_p16_224
    pvt_v2_b0 twins_pcpvt_small tnt_s_legacy_patch16_224 visformer_tiny volo_d1_224 mixer_s32_224 resmlp_12_224
    gmlp_s16_224 convmixer_768_32 convnextv2_atto inception_next_tiny focalnet_tiny_srf davit_tiny
    maxxvit_rmlp_nano_rw_256 nextvit_small vitamin_small_224 rdnet_tiny eva02_tiny_patch14_224
    vit_small_patch16_224"""
_BASE = dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
_LARGE = dict(num_hidden_layers=2, hidden_size=1024, num_attention_heads=16, intermediate_size=4096)
_GEMMA = dict(num_attention_heads=4, num_key_value_heads=1, head_dim=256)
_LOCAL = dict(sliding_window=64, layer_types=["sliding_attention"] * 3 + ["full_attention"])
_EXPERTS = dict(_LARGE, experts_implementation="batched_mm")

# name: class, whether to decode and to prefill, sizes
_DECODERS = {
    "gpt_neox": ("GPTNeoX", "both", dict(_BASE, num_hidden_layers=4)),
    "opt": ("OPT", "decode", dict(num_hidden_layers=4)),
    "bloom": ("Bloom", "both", dict(n_layer=2, hidden_size=1024, n_head=16)),
    "falcon": ("Falcon", "both", dict(num_hidden_layers=2, hidden_size=2048, num_attention_heads=32, vocab_size=8000)),
    "gptj": ("GPTJ", "decode", dict(n_layer=2, n_embd=1024, n_head=16, rotary_dim=32)),
    "gemma": ("Gemma", "decode", dict(_GEMMA, num_hidden_layers=2, hidden_size=1152, intermediate_size=6912)),
    "gemma3": ("Gemma3Text", "both", dict(_GEMMA, **_LOCAL, num_hidden_layers=4, hidden_size=640,
                                          intermediate_size=2048)),
    "mixtral": ("Mixtral", "decode", dict(_EXPERTS, intermediate_size=1408, num_key_value_heads=4)),
    "qwen2_moe": ("Qwen2Moe", "decode", dict(_EXPERTS, num_key_value_heads=16, moe_intermediate_size=512,
                                             num_experts=16, shared_expert_intermediate_size=2048)),
    "olmo": ("Olmo", "decode", _LARGE),
    "olmo2": ("Olmo2", "both", _LARGE),
    "phi": ("Phi", "both", _LARGE),
    "starcoder2": ("Starcoder2", "decode", dict(_LARGE, num_key_value_heads=2)),
    "cohere": ("Cohere", "decode", _LARGE),
    "granite": ("Granite", "prefill", dict(_LARGE, intermediate_size=2048, num_key_value_heads=4)),
    "stablelm": ("StableLm", "prefill", dict(num_hidden_layers=1, hidden_size=2048, intermediate_size=5632,
                                             num_attention_heads=32, num_key_value_heads=32, vocab_size=8000)),
}  # fmt: skip


def _pixels(height, width, channels=3):
    return {"pixel_values": (1, channels, height, width)}


_IMAGE, _SOUND, _DETECTED = _pixels(224, 224), {"input_values": (1, 16000)}, ("logits pred_boxes", "ForObjectDetection")

BUILDERS = {
    **{name: image(name) for name in _WHOLE.split()},
    "beit_base": image("beit_base_patch16_224", depth=3),
    "deit3_small": image("deit3_small_patch16_224", depth=4),
    "vit_relpos_small": image("vit_relpos_small_patch16_224", depth=4),
    "siglip_base": image("vit_base_patch16_siglip_224", depth=3),
    "mobilenetv2_100_b4": image("mobilenetv2_100", batch=4),
    "resnet18_b8": image("resnet18", batch=8),
    # Encoders of text.
    "electra": encoder("Electra"),
    "albert": encoder("Albert", **_BASE),
    "roberta": encoder("Roberta"),
    "bert_b8": encoder("Bert", batch=8, length=64),
    "distilbert": encoder("DistilBert", layers="n_layers"),
    "mpnet": encoder("MPNet"),
    "mobilebert": encoder("MobileBert"),
    "squeezebert": encoder("SqueezeBert"),
    "convbert": encoder("ConvBert"),
    "roformer": encoder("RoFormer"),
    "rembert": encoder("RemBert", vocab_size=30000),
    "fnet": field("FNet", {"input_ids": (1, 128)}, num_hidden_layers=2),
    "esm": encoder("Esm", vocab_size=1000, hidden_size=320, num_attention_heads=20, intermediate_size=1280,
                   position_embedding_type="rotary", pad_token_id=1, mask_token_id=32, token_dropout=False),
    "modernbert": encoder("ModernBert", num_hidden_layers=3),
    "deberta_v2": encoder("DebertaV2", **_BASE, vocab_size=30000, relative_attention=True, position_buckets=256,
                          norm_rel_ebd="layer_norm", share_att_key=True, position_biased_input=False,
                          pos_att_type=["p2c", "c2p"]),
    "xlnet": field("XLNet", {"input_ids": (1, 128)}, n_layer=2, d_model=768, n_head=12, d_inner=3072),
    "funnel": encoder("Funnel", layers="num_decoder_layers", block_sizes=[1, 1, 1]),
    "bigbird": encoder("BigBird", attention_type="original_full"),
    "layoutlmv3": field("LayoutLMv3", {"input_ids": (1, 128), "bbox": (1, 128, 4), **_IMAGE}, num_hidden_layers=2),
    "bart": field("Bart", {"input_ids": (1, 128), "decoder_input_ids": (1, 32)}, encoder_layers=2, decoder_layers=2,
                  d_model=768, encoder_ffn_dim=3072, decoder_ffn_dim=3072, use_cache=False),
    # Language models, with their caches.
    **{f"{name}_{way}": causal(kind, *tokens, sizes) for name, (kind, ways, sizes) in _DECODERS.items()
       for way, tokens in (("decode", (128, 1)), ("prefill", (0, 128))) if ways in (way, "both")},
    "mamba": field("Mamba", {"input_ids": (1, 32)}, num_hidden_layers=2, use_cache=False),
    "mamba2": field("Mamba2", {"input_ids": (1, 128)}, num_hidden_layers=2, hidden_size=768, num_heads=24,
                    use_cache=False),
    # Sound.
    "wav2vec2": field("Wav2Vec2", _SOUND, num_hidden_layers=2),
    "hubert": field("Hubert", _SOUND, num_hidden_layers=2),
    "conformer": field("Wav2Vec2Conformer", _SOUND, num_hidden_layers=2, hidden_size=512, num_attention_heads=8,
                       intermediate_size=2048),
    "whisper_encoder": field("Whisper", {"input_features": (1, 80, 3000)}, part="Model.encoder", d_model=384,
                             encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536),
    "ast": field("AST", {"input_values": (1, 1024, 128)}, num_hidden_layers=2),
    "hifigan": field("SpeechT5HifiGan", {"spectrogram": (100, 80)}, "waveform", ""),
    "dac_decoder": field("Dac", {"codes": (1, 1024, 50)}, "audio", "Model.decoder", decoder_hidden_size=768),
    "mimi_decoder": field("Mimi", {"codes": (1, 512, 50)}, "audio_values", "Model.decoder"),
    # Images, and images with text.
    "segformer": field("Segformer", _pixels(512, 512), "logits", "ForSemanticSegmentation"),
    "mobilevitv2_seg": field("MobileViTV2", _pixels(512, 512), "logits", "ForSemanticSegmentation",
                             initializer_range=0.1),
    "mask2former": field("Mask2Former", _pixels(384, 384), "transformer_decoder_last_hidden_state"),
    "detr": field("Detr", _pixels(512, 512), *_DETECTED, use_timm_backbone=False, use_pretrained_backbone=False,
                  backbone=None, backbone_config=lambda t: t.ResNetConfig(out_features=["stage4"])),
    "yolos": field("Yolos", _pixels(512, 864), *_DETECTED, num_hidden_layers=4, hidden_size=192,
                   num_attention_heads=3, intermediate_size=768),
    "rt_detr": field("RTDetr", _pixels(640, 640), *_DETECTED),
    "dpt": field("DPT", _pixels(384, 384), "logits", "ForSemanticSegmentation", num_hidden_layers=4,
                 backbone_out_indices=[0, 1, 2, 3]),
    "glpn": field("GLPN", _pixels(480, 640), "predicted_depth", "ForDepthEstimation"),
    "vitmatte": field("VitMatte", _pixels(512, 512, 4), "alphas", "ForImageMatting", hidden_size=384,
                      fusion_hidden_sizes=[256, 128, 64, 32], convstream_hidden_sizes=[48, 96, 192],
                      backbone_config=lambda t: t.VitDetConfig(
                          num_channels=4, hidden_size=384, num_hidden_layers=4, num_attention_heads=6, image_size=512,
                          use_relative_position_embeddings=True, window_size=14, window_block_indices=[0, 1, 2],
                          residual_block_indices=[3], out_features=["stage4"])),
    "swin2sr": field("Swin2SR", _pixels(64, 64), "reconstruction", "ForImageSuperResolution", depths=[2, 2],
                     num_heads=[6, 6], embed_dim=180, upsampler="pixelshuffle", image_size=64),
    "superpoint": field("SuperPoint", _pixels(480, 640), "keypoints scores descriptors", "ForKeypointDetection",
                        initializer_range=0.06),
    "owlvit": field("OwlViT", {"input_ids": (2, 16), **_pixels(768, 768)}, *_DETECTED,
                    text_config=dict(num_hidden_layers=2, vocab_size=1000), vision_config=dict(num_hidden_layers=2)),
    "blip": field("Blip", {"input_ids": (1, 32), **_IMAGE}, "itm_score", "ForImageTextRetrieval",
                  text_config=dict(num_hidden_layers=2, encoder_hidden_size=768),
                  vision_config=dict(num_hidden_layers=2, image_size=224, initializer_range=0.02)),
    "clipseg": field("CLIPSeg", {"input_ids": (1, 77), **_pixels(352, 352)}, "logits", "ForImageSegmentation",
                     text_config=dict(num_hidden_layers=2, eos_token_id=999), extract_layers=[0, 1, 2],
                     vision_config=dict(num_hidden_layers=3, image_size=352)),
    "videomae": field("VideoMAE", {"pixel_values": (1, 16, 3, 224, 224)}, num_hidden_layers=2, hidden_size=384,
                      num_attention_heads=6, intermediate_size=1536),
    # Diffusion.
    "vae_decoder": field("AutoencoderKL", {"latents": (1, 4, 32, 32)}, "image", ".decoder", "diffusers",
                         block_out_channels=(64, 128, 256), down_block_types=("DownEncoderBlock2D",) * 3,
                         up_block_types=("UpDecoderBlock2D",) * 3, layers_per_block=1, latent_channels=4),
    "unet_condition": field("UNet2DConditionModel", {"sample": (1, 4, 32, 32), "timestep": (1,),
                                                     "encoder_hidden_states": (1, 77, 768)},
                            "sample", library="diffusers", block_out_channels=(128, 256, 512, 512),
                            layers_per_block=1, cross_attention_dim=768),
    "dit": field("DiTTransformer2DModel", {"hidden_states": (1, 4, 32, 32), "timestep": (1,), "class_labels": (1,)},
                 "sample", library="diffusers", num_layers=2, num_attention_heads=16, attention_head_dim=72),
    # By hand.
    "unet2d": by_hand(partial(UNet, nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d, nn.MaxPool2d, 3,
                              (32, 64, 128, 256), 2), input=(1, 3, 256, 256)),
    "unet3d": by_hand(partial(UNet, nn.Conv3d, nn.ConvTranspose3d, partial(nn.InstanceNorm3d, affine=True),
                              nn.MaxPool3d, 1, (16, 32, 64, 128), 3), input=(1, 1, 64, 64, 64)),
    "stgcn": by_hand(_graph_network, input=(1, 3, 300, 25)),
    "tcn": by_hand(partial(Causal, 64, [2**i for i in range(8)], 10, False), input=(1, 1, 1024)),
    "wavenet": by_hand(partial(Causal, 64, [2**i for i in range(10)] * 3, 256, True), input=(1, 1, 8000)),
    "aspp": by_hand(partial(DeepLabHead, 960, 21), input=(1, 960, 33, 33)),
    "dlrm": by_hand(Recommender, dense=(128, 13), ids=(128, 26)),
    "deepar_1": by_hand(DeepAR, "mean deviation h c", input=(1, 1, 6), hidden=(1, 1, 40), cell=(1, 1, 40)),
    "deepar_200": by_hand(DeepAR, "mean deviation h c", input=(1, 200, 6), hidden=(1, 1, 40), cell=(1, 1, 40)),
    "nbeats": by_hand(NBeats, input=(1, 60)),
    "pointnet2": by_hand(PointNet, input=(1, 1024, 3)),
    "espcn": by_hand(_small_super_resolution, input=(1, 1, 224, 224)),
    "srresnet": by_hand(_super_resolution, input=(1, 3, 96, 96)),
    "dcgan": by_hand(_dcgan, input=(1, 100, 1, 1)),
    "cyclegan": by_hand(_cyclegan, input=(1, 3, 256, 256)),
}  # fmt: skip

_SYMBOLIC = {
    "dynb": "mobilenetv2_100 resnet18 regnety_008 vit_small_patch16_224 levit_128",
    "dynhw": "mobilenetv2_100 unet2d espcn segformer",
    "dynseq": """albert roberta modernbert deepar_200 gpt_neox_prefill phi_prefill gpt_neox_decode
                 gemma3_decode opt_decode""",
}
_DIMENSIONS = {"dynb": {0: "batch"}, "dynhw": {2: "height", 3: "width"}, "dynseq": {1: "seq"}}
_PAST = {f"past.{layer}.{part}": {2: "past"} for layer in range(4) for part in ("key", "value")}


def _axes(name, suffix):
    if name.endswith("_decode"):
        return {"attention_mask": {1: "total"}, **_PAST}
    data = ("input", "pixel_values", "input_ids", "attention_mask", "position_ids")
    return dict.fromkeys(data, _DIMENSIONS[suffix])


NETWORKS = {name: (build, 18, None, None) for name, build in BUILDERS.items()}
for _suffix, _names in _SYMBOLIC.items():
    for _name in _names.split():
        NETWORKS[f"{_name}_{_suffix}"] = (BUILDERS[_name], 18, None, _axes(_name, _suffix))


if __name__ == "__main__":
    export_models.main(NETWORKS, __doc__, __file__)
