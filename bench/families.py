#!/usr/bin/env python3
"""Networks of many families, that nothing is tuned for, as PyTorch's exporter writes them, with random weights.

    python bench/families.py --list
    python bench/families.py -o FOLDER [NAME ...]        FOLDER/NAME.onnx and FOLDER/NAME.npz (its inputs)

`bench.py --models FOLDER` shows with them how the code does on what it was not written for. Transformers have few
layers of their real width, convolutional networks all their layers. Nothing is downloaded: every network is made from
its configuration, by timm, torchvision, transformers and diffusers, or by hand. A name that ends in `_dynb`, `_dynseq`
or `_dynhw` is the network before it with a symbolic batch, sequence or image size; in `_bN`, with N inputs at once.
"""

from functools import partial

import export_models
import networks
import torch
from export_models import _decoder, _flatten
from torch import nn
from torchvision.models import get_model
from torchvision.models.segmentation.deeplabv3 import DeepLabHead

# --- What makes a network, its inputs, and the names of inputs and outputs.


@torch.no_grad()
def _finished(model, inputs, outputs):
    """Gives different values to parameters that are all equal, as scales of one, which compilers would fold away, and
    the statistics of the inputs to norms: with others, values vanish or grow without end."""
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
    whole = name.rstrip("s").endswith(("id", "timestep", "label"))
    return torch.randint(0, 1000, shape) if whole else torch.randn(shape)


def _values(shapes):
    return {name: _value(name, shape) for name, shape in shapes.items()}


def by_hand(make, outputs="output", **shapes):
    return lambda small: _finished(make(), _values(shapes), outputs)


def image(name, batch=1, fused=True, **sizes):
    """A network of timm, at the size of images it was trained with. `fused`: with PyTorch's attention."""

    def build(small):
        import timm

        timm.layers.set_fused_attn(fused)
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


def seen(name, call=lambda m, *x: m(*x), **options):
    """A network of torchvision, and perhaps what is called of it."""

    def make():
        torch.backends.mha.set_fastpath_enabled(False)  # the exporter cannot translate the fused form
        return _flatten(get_model(name, weights=None, **options), call)

    return make


def _found(model, image):
    return tuple(model.head(list(model.backbone(image).values())).values())


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
    vit_small_patch16_224 convit_tiny cpubone_b0_bfrobust csatv2 cspnext_s efficientvim_m1 fasternet_s
    gcvit_tiny iformer_s inception_resnet_v2 inception_v4 lcnetv2_small lowformer_b0 mvitv2_tiny pit_s_224
    repghostnet_050 legacy_seresnet50 sequencer2d_s swin_tiny_patch4_window7_224 swinv2_tiny_window8_256 tresnet_m
    vit_tiny_r_s16_p8_224 legacy_xception"""
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
    "gpt_bigcode": ("GPTBigCode", "both", dict(n_layer=2, vocab_size=8000)),
    "codegen": ("CodeGen", "decode", dict(n_layer=2, n_embd=768, n_head=12, rotary_dim=32, vocab_size=4000)),
    "mpt": ("Mpt", "prefill", dict(n_layers=2, d_model=768, n_heads=12, vocab_size=8000)),
    "qwen3": ("Qwen3", "decode", dict(_LARGE, intermediate_size=3072, num_key_value_heads=8, vocab_size=4000)),
    "qwen3_moe": ("Qwen3Moe", "decode", dict(_EXPERTS, hidden_size=768, num_key_value_heads=4, head_dim=64,
                                             num_experts=8, moe_intermediate_size=384, num_experts_per_tok=2,
                                             vocab_size=4000)),
    "phi3": ("Phi3", "prefill", dict(_BASE, num_hidden_layers=2, vocab_size=4000)),
    "llama_gqa": ("Llama", "both", dict(num_hidden_layers=4, hidden_size=576, intermediate_size=1536, vocab_size=8000,
                                        num_attention_heads=9, num_key_value_heads=3)),
    "glm4": ("Glm4", "decode", dict(_BASE, num_hidden_layers=2, num_key_value_heads=2, head_dim=64, vocab_size=4000)),
    "gpt_oss": ("GptOss", "decode", dict(_EXPERTS, hidden_size=640, intermediate_size=640, sliding_window=64,
                                         num_key_value_heads=4, head_dim=64, num_local_experts=8,
                                         num_experts_per_tok=2, vocab_size=4000)),
}  # fmt: skip


def _pixels(height, width, channels=3):
    return {"pixel_values": (1, channels, height, width)}


_IMAGE, _SOUND, _DETECTED = _pixels(224, 224), {"input_values": (1, 16000)}, ("logits pred_boxes", "ForObjectDetection")
_STAGES = dict(out_features=["stage1", "stage2", "stage3", "stage4"])
_SMALL = dict(num_hidden_layers=4, hidden_size=384, num_attention_heads=6)
_LIGHT_DETR = dict(encoder_layers=2, decoder_layers=2, use_timm_backbone=False, use_pretrained_backbone=False,
                   backbone=None, backbone_config=lambda t: t.ResNetConfig(
                       layer_type="basic", hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2],
                       out_features=["stage4"]))  # fmt: skip
_TIMES = {"past_values": (4, 103), "past_time_features": (4, 103, 2), "past_observed_mask": (4, 103),
          "future_values": (4, 24), "future_time_features": (4, 24, 2)}  # fmt: skip

BUILDERS = {
    **{name: image(name) for name in _WHOLE.split()},
    "beit_base": image("beit_base_patch16_224", depth=3),
    "deit3_small": image("deit3_small_patch16_224", depth=4),
    "vit_relpos_small": image("vit_relpos_small_patch16_224", depth=4),
    "siglip_base": image("vit_base_patch16_siglip_224", depth=3),
    "hiera_tiny_224": image("hiera_tiny_224", fused=False),
    "nest_tiny_jx": image("nest_tiny_jx", fused=False),
    "naflexvit_base": image("naflexvit_base_patch16_gap", depth=3),
    "vgg11_bn": image("vgg11_bn", mlp_ratio=0.125),
    "mobilenetv2_100_b4": image("mobilenetv2_100", batch=4),
    "repghostnet_050_b4": image("repghostnet_050", batch=4),
    "cspnext_s_b4": image("cspnext_s", batch=4),
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
    "mt5_encoder": field("MT5", {"input_ids": (1, 128), "attention_mask": (1, 128)}, part="EncoderModel", num_layers=4,
                         vocab_size=8000),
    "xlm": encoder("XLM", layers="n_layers", emb_dim=768, n_heads=12, vocab_size=8000),
    "flaubert": encoder("Flaubert", layers="n_layers", emb_dim=512, n_heads=8, vocab_size=8000),
    "ibert": encoder("IBert", vocab_size=8000),
    "megatron_bert": encoder("MegatronBert", vocab_size=4000),
    "nystromformer": field("Nystromformer", {"hidden_states": (1, 512, 768)}, part="Model.encoder", num_hidden_layers=2,
                           segment_means_seq_len=512),
    "canine": encoder("Canine", length=512, num_hash_buckets=2048, max_position_embeddings=2048),
    "perceiver": field("Perceiver", {"input_ids": (1, 512)}, "logits", "ForMaskedLM", vocab_size=1000,
                       max_position_embeddings=512, num_self_attends_per_block=2),
    # Language models, with their caches.
    **{f"{name}_{way}": causal(kind, *tokens, sizes) for name, (kind, ways, sizes) in _DECODERS.items()
       for way, tokens in (("decode", (128, 1)), ("prefill", (0, 128))) if ways in (way, "both")},
    "mamba": field("Mamba", {"input_ids": (1, 32)}, num_hidden_layers=2, use_cache=False),
    "mamba2": field("Mamba2", {"input_ids": (1, 128)}, num_hidden_layers=2, hidden_size=768, num_heads=24,
                    use_cache=False),
    "deepseek_v3": field("DeepseekV3", {"input_ids": (1, 16)},
                         **dict(_EXPERTS, hidden_size=768, intermediate_size=2048), q_lora_rank=384, kv_lora_rank=256,
                         moe_intermediate_size=384, num_key_value_heads=16, first_k_dense_replace=1,
                         n_routed_experts=8, n_group=4, topk_group=2, num_experts_per_tok=2, vocab_size=4000,
                         use_cache=False),
    "falcon_mamba": field("FalconMamba", {"input_ids": (1, 32)}, num_hidden_layers=2, vocab_size=8000, use_cache=False),
    "rwkv": field("Rwkv", {"input_ids": (1, 32)}, num_hidden_layers=2, hidden_size=768, vocab_size=8000,
                  use_cache=False),
    "recurrent_gemma": field("RecurrentGemma", {"input_ids": (1, 32)}, num_hidden_layers=3, hidden_size=768,
                             intermediate_size=4608, num_attention_heads=4, vocab_size=8000, use_cache=False),
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
    "data2vec_audio": field("Data2VecAudio", _SOUND, num_hidden_layers=2),
    "wavlm": field("WavLM", _SOUND, num_hidden_layers=2),
    "sew": field("SEW", _SOUND, num_hidden_layers=2, hidden_size=512, num_attention_heads=8, intermediate_size=2048),
    "speecht5_encoder": field("SpeechT5", _SOUND, part="ForSpeechToText.speecht5.encoder", encoder_layers=2),
    "clap_audio": field("ClapAudio", {"input_features": (1, 1, 1001, 64)}, depths=[2, 2, 2, 2]),
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
    "cvt": field("Cvt", _IMAGE, "logits", "ForImageClassification", depth=[1, 2, 4]),
    "dinov2_registers": field("Dinov2WithRegisters", _IMAGE, **_SMALL, patch_size=14),
    "vit_mae": field("ViTMAE", {**_IMAGE, "noise": (1, 196)}, "logits", "ForPreTraining", num_hidden_layers=2,
                     decoder_num_hidden_layers=2),
    "upernet": field("UperNet", _pixels(512, 512), "logits", "ForSemanticSegmentation", hidden_size=256,
                     use_auxiliary_head=False, backbone_config=lambda t: t.ConvNextConfig(
                         hidden_sizes=[40, 80, 160, 320], depths=[2, 2, 6, 2], **_STAGES)),
    "depth_anything": field("DepthAnything", _pixels(392, 518), "predicted_depth", "ForDepthEstimation",
                            depth_estimation_type="metric", initializer_range=0.1,
                            backbone_config=lambda t: t.Dinov2Config(**_SMALL, **_STAGES, image_size=518, patch_size=14,
                                                                     reshape_hidden_states=False)),
    "conditional_detr": field("ConditionalDetr", _pixels(512, 512), *_DETECTED, **_LIGHT_DETR),
    "table_transformer": field("TableTransformer", _pixels(512, 672), *_DETECTED, **_LIGHT_DETR),
    "maskformer": field("MaskFormer", _pixels(384, 384),
                        "pixel_decoder_last_hidden_state transformer_decoder_last_hidden_state",
                        decoder_config=dict(model_type="detr", decoder_layers=2),
                        backbone_config=lambda t: t.SwinConfig(depths=[2, 2, 2, 2], **_STAGES)),
    "sam_vision": field("SamVision", _pixels(512, 512), num_hidden_layers=3, image_size=512, global_attn_indexes=[2]),
    "timesformer": field("Timesformer", {"pixel_values": (1, 8, 3, 224, 224)}, **_SMALL, intermediate_size=1536),
    "vivit": field("Vivit", {"pixel_values": (1, 8, 3, 224, 224)}, **_SMALL, intermediate_size=1536, num_frames=8),
    "donut_swin": field("DonutSwin", _pixels(640, 480), image_size=[640, 480], depths=[2, 2, 2, 2], window_size=10),
    # Values over time.
    "patchtst": field("PatchTST", {"past_values": (8, 512, 7)}, "prediction_outputs", "ForPrediction",
                      num_input_channels=7, context_length=512, patch_length=16, patch_stride=8, prediction_length=96),
    "patchtsmixer": field("PatchTSMixer", {"past_values": (8, 512, 7)}, "prediction_outputs", "ForPrediction",
                          num_input_channels=7, context_length=512, d_model=48, num_layers=8, prediction_length=96),
    "autoformer_layer": field("Autoformer", {"hidden_states": (1, 96, 512)}, part="Model.encoder.layers.0",
                              context_length=96, prediction_length=24, encoder_layers=1, decoder_layers=1, d_model=512,
                              encoder_attention_heads=8, encoder_ffn_dim=2048),
    "informer": field("Informer", _TIMES, attention_type="full", distil=False, lags_sequence=[1, 2, 3, 4, 5, 6, 7],
                      context_length=96, prediction_length=24, num_time_features=2, encoder_ffn_dim=256,
                      decoder_ffn_dim=256, encoder_layers=3),
    "decision_transformer": field("DecisionTransformer", {
        "states": (1, 20, 17), "actions": (1, 20, 4), "returns_to_go": (1, 20, 1), "timesteps": (1, 20),
        "attention_mask": (1, 20)}, "state_preds action_preds return_preds"),
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
    "unet2d": by_hand(partial(networks.UNet, nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d, nn.MaxPool2d, 3,
                              (32, 64, 128, 256), 2), input=(1, 3, 256, 256)),
    "unet3d": by_hand(partial(networks.UNet, nn.Conv3d, nn.ConvTranspose3d, partial(nn.InstanceNorm3d, affine=True),
                              nn.MaxPool3d, 1, (16, 32, 64, 128), 3), input=(1, 1, 64, 64, 64)),
    "stgcn": by_hand(networks.graph_network, input=(1, 3, 300, 25)),
    "tcn": by_hand(partial(networks.Causal, 64, [2**i for i in range(8)], 10, False), input=(1, 1, 1024)),
    "wavenet": by_hand(partial(networks.Causal, 64, [2**i for i in range(10)] * 3, 256, True), input=(1, 1, 8000)),
    "aspp": by_hand(partial(DeepLabHead, 960, 21), input=(1, 960, 33, 33)),
    "dlrm": by_hand(networks.Recommender, dense=(128, 13), ids=(128, 26)),
    "deepar_1": by_hand(networks.DeepAR, "mean deviation h c", input=(1, 1, 6), hidden=(1, 1, 40), cell=(1, 1, 40)),
    "deepar_200": by_hand(networks.DeepAR, "mean deviation h c", input=(1, 200, 6), hidden=(1, 1, 40), cell=(1, 1, 40)),
    "nbeats": by_hand(networks.NBeats, input=(1, 60)),
    "pointnet2": by_hand(networks.PointNet, input=(1, 1024, 3)),
    "espcn": by_hand(networks.small_super_resolution, input=(1, 1, 224, 224)),
    "srresnet": by_hand(networks.super_resolution, input=(1, 3, 96, 96)),
    "dcgan": by_hand(networks.dcgan, input=(1, 100, 1, 1)),
    "cyclegan": by_hand(networks.cyclegan, input=(1, 3, 256, 256)),
    "conv_tasnet": by_hand(networks.Separator, input=(1, 1, 16000)),
    "deepspeech2": by_hand(networks.Speech, input=(1, 1, 161, 200)),
    "waveglow": by_hand(networks.Coupling, input=(1, 8, 1000), spectrogram=(1, 640, 1000)),
    "nerf": by_hand(networks.Radiance, points=(256, 64, 3), directions=(256, 64, 3)),
    "gat": by_hand(networks.GraphClassifier, input=(1000, 1433), edges=(1000, 1000)),
    "unet1d": by_hand(partial(networks.UNet, nn.Conv1d, nn.ConvTranspose1d, nn.BatchNorm1d, nn.MaxPool1d, 12,
                              (32, 64, 128, 256), 4), input=(1, 12, 4096)),
    "autoencoder3d": by_hand(networks.autoencoder, input=(1, 1, 64, 64, 64)),
    "edsr": by_hand(networks.edsr, input=(1, 3, 96, 96)),
    "rcan": by_hand(networks.rcan, input=(1, 3, 96, 96)),
    "style": by_hand(networks.style, input=(1, 3, 256, 256)),
    "deepfm": by_hand(partial(networks.Clicks, 0), ids=(256, 26)),
    "dcn": by_hand(partial(networks.Clicks, 3), ids=(256, 26)),
    "translator": by_hand(networks.Translator, input_ids=(1, 40), target_ids=(1, 40)),
    "kan": by_hand(networks.kan, input=(256, 64)),
    "crnn": by_hand(networks.Text, input=(1, 1, 32, 320)),
    "yolo": by_hand(networks.Detector, input=(1, 3, 640, 640)),
    "erfnet": by_hand(networks.erfnet, input=(1, 3, 256, 512)),
    "fastspeech": by_hand(networks.FastSpeech, input=(1, 200, 384)),
    "spleeter": by_hand(networks.Spleeter, input=(1, 2, 256, 512)),
    "esrgan": by_hand(networks.esrgan, input=(1, 3, 64, 64)),
    "openpose": by_hand(networks.Poses, input=(1, 128, 46, 46)),
    "katago": by_hand(networks.Go, "policy value", input=(1, 22, 19, 19)),
    "arcface": by_hand(networks.Faces, input=(1, 3, 112, 112)),
    # torchvision.
    "resnext50": by_hand(seen("resnext50_32x4d"), input=(1, 3, 224, 224)),
    "fcn_resnet50": by_hand(seen("fcn_resnet50", lambda m, x: m(x)["out"], weights_backbone=None),
                            input=(1, 3, 256, 256)),
    "fcos": by_hand(seen("fcos_resnet50_fpn", _found, weights_backbone=None), "logits boxes centers",
                    input=(1, 3, 512, 512)),
    "retinanet": by_hand(seen("retinanet_resnet50_fpn", _found, weights_backbone=None), "logits boxes",
                         input=(1, 3, 384, 384)),
    "raft_small": by_hand(seen("raft_small", lambda m, *x: m(*x, num_flow_updates=4)[-1]),
                          first=(1, 3, 256, 320), second=(1, 3, 256, 320)),
    **{name: by_hand(seen(name), input=(1, 3, 16, 112, 112)) for name in ("r3d_18", "r2plus1d_18")},
    "s3d": by_hand(seen("s3d"), input=(1, 3, 16, 224, 224)),
    "mvit_v2_s": by_hand(seen("mvit_v2_s"), input=(1, 3, 16, 224, 224)),
    "swin3d_t": by_hand(seen("swin3d_t"), input=(1, 3, 16, 224, 224)),
}  # fmt: skip

_SYMBOLIC = {
    "dynb": "mobilenetv2_100 resnet18 regnety_008 vit_small_patch16_224 levit_128 repghostnet_050 iformer_s kan",
    "dynhw": "mobilenetv2_100 unet2d espcn segformer edsr style lcnetv2_small",
    "dynseq": """albert roberta modernbert deepar_200 gpt_neox_prefill phi_prefill gpt_neox_decode
                 gemma3_decode opt_decode llama_gqa_prefill llama_gqa_decode gpt_bigcode_decode mt5_encoder""",
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
