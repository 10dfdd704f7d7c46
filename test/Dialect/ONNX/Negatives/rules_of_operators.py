"""Rules of the operators that compute, decode, sample or learn; see stated_rules.py."""

from onnx import TensorProto, helper

WINDOWS = ("BlackmanWindow", "HannWindow", "HammingWindow")


def normalizations(rule, ml):
    rule("BatchNormalization", ["2x3x4", "4", "3", "3", "3"], ["scale"])
    rule("BatchNormalization", ["2x3x4", "3", "3x1", "3", "3"], ["B"])
    rule("BatchNormalization", ["2x3x4", "3", "3", "3", "2"], ["2 elements", "3 channels"])
    rule("BatchNormalization", ["2x3x4", "3", "3", "3", "3"], ["training_mode"], outputs=3)
    rule("BatchNormalization", ["2x3x4", "3", "3", "3", "3"], ["training_mode"], training_mode=2)
    rule("InstanceNormalization", ["2x3x4", "4", "3"], ["4 elements", "3"])
    rule("InstanceNormalization", ["2x3x4", "3", "4"], ["4 elements", "3"])
    rule("InstanceNormalization", ["3", "3", "3"], ["rank"])
    rule("GroupNormalization", ["2x6x4", "6", "6"], ["6 channels", "4 groups"], num_groups=4)
    rule("GroupNormalization", ["2x6x4", "6", "6"], ["num_groups"], num_groups=0)
    rule("GroupNormalization", ["2x6x4", "3", "6"], ["3 elements", "6"], num_groups=3)
    rule("LayerNormalization", ["2x3", "3"], ["axis"], axis=2)
    rule("LayerNormalization", ["2x3", "4"], ["size 4", "3"])
    rule("LayerNormalization", ["2x3", "3"], ["stash_type"], stash_type=7)
    rule("RMSNormalization", ["2x3", "3"], ["axis"], axis=2)
    rule("RMSNormalization", ["2x3", "4"], ["size 4", "3"])
    rule("LpNormalization", ["2x3"], ["p", "1", "2"], p=3)
    rule("LpNormalization", ["2x3"], ["axis"], axis=2)
    rule("LpPool", ["1x1x8"], ["p"], kernel_shape=[3], p=0)
    rule("GlobalLpPool", ["1x1x8"], ["p"], p=0)
    rule("MeanVarianceNormalization", ["2x3x4x5"], ["axes"], axes=[4])
    rule("LRN", ["1x3x4x4"], ["size"], size=0)
    rule("LRN", ["3"], ["rank"], size=3)
    # Attention and its kin.
    packed = ["2x3x8", "2x4x8", "2x4x8"]
    rule("Attention", packed, ["q_num_heads", "kv_num_heads"])
    rule("Attention", packed, ["8 elements", "3 heads"], q_num_heads=3, kv_num_heads=1)
    rule("Attention", packed, ["2 heads", "4 heads"], q_num_heads=2, kv_num_heads=4)
    rule("Attention", ["2x2x3x4", "2x4x8", "2x4x8"], ["ranks"])
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x6x4"], ["5", "6"])
    rule("Attention", ["2x2x3x4", "2x2x5x3", "2x2x5x4"], ["4", "3"])
    rule("Attention", ["2x2x3x4", "1x2x5x4", "2x2x5x4"], ["K", "1", "2"])
    rule("Attention", ["2x3x3x4", "2x2x5x4", "2x2x5x4"], ["3 heads", "2 heads"])
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x5x4", None, "2x2x1x4"], ["past_key", "past_value"], outputs=3)
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x5x4"], ["is_causal"], is_causal=2)
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x5x4"], ["qk_matmul_output_mode"], qk_matmul_output_mode=4)
    masked = ["2x2x3x4", "2x2x5x4", "2x2x5x4"]
    rule("Attention", [*masked, "4x5"], ["attn_mask", "4", "3"])
    rule("Attention", [*masked, "3x2x3x5"], ["attn_mask", "3", "2"])
    rule("Attention", [*masked, "3x6"], ["attn_mask", "6", "5"])
    rule("Attention", [*masked, "1x1x1x3x5"], ["attn_mask", "rank 5"])
    rule("RotaryEmbedding", ["2x2x3x4", "10x3", "10x3", "2x3:int64"], ["3 columns", "4"])
    rule("RotaryEmbedding", ["2x3x8", "10x4", "10x4", "2x3:int64"], ["4 columns", "4"], num_heads=2)
    rule("RotaryEmbedding", ["2x2x3x4", "10x3", "10x3", "2x3:int64"], ["6", "4 of a head"], rotary_embedding_dim=6)
    rule("RotaryEmbedding", ["2x3x8", "10x2", "10x2", "2x3:int64"], ["num_heads"])
    rule("RotaryEmbedding", ["2x2x3x4", "10x2", "10x2"], ["cache", "position_ids"])
    rule("RotaryEmbedding", ["3x4", "10x2", "10x2"], ["rank"])
    rule("RotaryEmbedding", ["2x2x3x4", "10x2", "10x2", "2x3:int64"], ["rotary_embedding_dim"], rotary_embedding_dim=3)
    rule("RotaryEmbedding", ["2x2x3x4", "10x2", "10x2", "2x3:int64"], ["interleaved"], interleaved=2)
    rule("CausalConvWithState", ["1x4x8", "4x1x3"], ["activation", "none", "silu"], outputs=2, activation="gelu")
    rule("CausalConvWithState", ["1x4x8", "3x1x3"], ["weight"], outputs=2)
    rule("CausalConvWithState", ["1x4x8", "4x1x3", "3"], ["bias"], outputs=2)
    rule("CausalConvWithState", ["1x4x8", "4x1x3", None, "2x4x2"], ["past_state"], outputs=2)
    rule("LinearAttention", ["1x2x4", "1x2x4", "1x2x4"], ["update_rule", "linear"], outputs=2, q_num_heads=1,
         kv_num_heads=1, update_rule="quadratic")  # fmt: skip


def recurrent(rule):
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        good = ["5x2x3", f"1x{4 * gates}x3", f"1x{4 * gates}x4"]
        rule(op, good, ["direction", "forward", "reverse", "bidirectional"], hidden_size=4, direction="backward")
        rule(op, good, ["W"], hidden_size=4, direction="bidirectional")
        rule(op, good, ["hidden_size", "R"], hidden_size=5)
        rule(op, ["5x3", *good[1:]], ["X", "rank 2"], hidden_size=4)
        rule(op, [good[0], "1x1x3", good[2]], ["W"], hidden_size=4)
        rule(op, [*good[:2], f"1x{4 * gates}x3"], ["R"], hidden_size=4)
        rule(op, [*good, "1x7"], ["B"], hidden_size=4)
        rule(op, [*good, None, "3:int32"], ["sequence_lens"], hidden_size=4)
        rule(op, [*good, None, None, "1x3x4"], ["initial_h"], hidden_size=4)
        rule(op, good, ["layout"], hidden_size=4, layout=2)
        rule(op, good, ["activations", "Tanh"], hidden_size=4, activations=["Nothing"] * max(1, gates - 1))


def others(rule, ml):
    recurrent(rule)
    rule("MatMul", ["2x3", "4x2"], ["3", "4"])
    rule("MatMul", ["", "4"], ["A"])
    rule("MatMul", ["2x2x3", "3x3x2"], ["broadcast"])
    rule("MatMulInteger", ["2x3", "4x2"], ["3", "4"])
    rule("QLinearMatMul", ["2x3", "", "", "4x2", "", "", "", ""], ["3", "4"])
    rule("Gemm", ["2x3", "4x2"], ["3", "4"])
    rule("Gemm", ["2x3x1", "3x2"], ["A", "rank 3"])
    rule("Gemm", ["2x3", "3x2", "3"], ["C"])
    rule("Gemm", ["2x3", "2x3"], ["transA"], transA=2)
    rule("Det", ["2x3"], ["square"])
    rule("Det", ["2"], ["rank"])
    rule("Einsum", ["2x3", "3x4"], ["equation"], equation="ij->i")
    rule("Einsum", ["2x3"], ["equation"], equation="ijk->i")
    rule("Einsum", ["2x3", "4x5"], ["size 4", "3"], equation="ij,jk->ik")
    rule("Einsum", ["2x3"], ["equation"], equation="ij->k")
    rule("DFT", ["1x8x3"], ["last dimension", "3"])
    rule("DFT", ["1x8x1", 8, 3], ["axis"])
    rule("DFT", ["1x8x1", 8, -1], ["axis"])
    rule("DFT", ["1x8x1"], ["onesided"], onesided=2)
    rule("STFT", ["1x8x1", 0, None, 4], ["frames 0"])
    rule("STFT", ["8x1", 2, None, 4], ["signal"])
    rule(WINDOWS, ["2:int64"], ["size"])
    rule(WINDOWS, [8], ["output_datatype"], output_datatype=99)
    rule(WINDOWS, [8], ["periodic"], periodic=2)
    rule("MelWeightMatrix", ["2:int64", "", "", "", ""], ["num_mel_bins"])
    rule("GridSample", ["1x1x4x4", "1x3x3x2"], ["mode", "linear", "nearest", "cubic"], mode="bilinear")
    rule("GridSample", ["1x1x4x4", "1x3x3x2"], ["padding_mode", "zeros", "border", "reflection"], padding_mode="wrap")
    rule("GridSample", ["1x1x4x4", "1x3x3x3"], ["grid", "2"])
    rule("GridSample", ["1x1x4x4", "2x3x3x2"], ["1 inputs", "2 grids"])
    rule("GridSample", ["1x1x4x4", "1x3x2"], ["rank"])
    rule("GridSample", ["1x1x4x4", "1x3x3x2"], ["align_corners"], align_corners=2)
    rule("AffineGrid", ["1x2x3", [1, 1, 4]], ["size"])
    rule("AffineGrid", ["1x3x3", [1, 1, 4, 4]], ["theta"])
    rule("AffineGrid", ["1x2x3", [1, 1, 4, 4]], ["align_corners"], align_corners=2)
    rule("NonMaxSuppression", ["1x4x3", "1x2x4"], ["boxes", "4"])
    rule("NonMaxSuppression", ["1x4x4", "1x2x5"], ["4", "5"])
    rule("NonMaxSuppression", ["4x4", "1x2x4"], ["boxes", "rank 3"])
    rule("NonMaxSuppression", ["1x4x4", "1x2x4"], ["center_point_box"], center_point_box=2)
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        rule(op, ["2x3", "2"], ["reduction", "none", "sum", "mean"], reduction="max")
        rule(op, ["2x3", "3"], ["2", "3"])
        rule(op, ["2x3", "2", "2"], ["2", "3", "dimension 1"])
    rule("Multinomial", ["2x3"], ["dtype"], dtype=TensorProto.FLOAT)
    rule("Multinomial", ["3"], ["rank 2"])
    rule("Multinomial", ["2x3"], ["sample_size"], sample_size=-1)
    rule(("RandomNormal", "RandomUniform"), [], ["dtype"], shape=[2], dtype=TensorProto.INT64)
    rule(("RandomNormal", "RandomUniform"), [], ["shape", "-2"], shape=[-2])
    rule(("RandomNormalLike", "RandomUniformLike"), ["2"], ["dtype"], dtype=TensorProto.INT64)
    rule("RandomUniform", [], ["low", "high"], shape=[2], low=1.0, high=0.0)
    rule("RandomNormal", [], ["scale"], shape=[2], scale=-1.0)
    rule("Bernoulli", ["2"], ["dtype"], dtype=TensorProto.STRING)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x3", "3"], ["axis"], axis=2)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x3", "2"], ["2 scales", "3"], axis=1)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x3", "3x1"], ["scale"], axis=1)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x4", "2x3"], ["size 3", "2"], axis=1, block_size=2)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x4", "2x2"], ["block_size"], axis=1, block_size=-1)
    rule("QuantizeLinear", ["2x3", "3", "3:uint8"], ["output_dtype"], axis=1, output_dtype=TensorProto.INT8)
    rule("ImageDecoder", ["2x2:uint8"], ["rank 1"])
    rule("ImageDecoder", ["9:uint8"], ["pixel_format", "RGB", "BGR", "Grayscale"], pixel_format="CMYK")
    rule("RegexFullMatch", ["3:string"], ["pattern", "(a", "missing )"], pattern="(a")
    rule("StringNormalizer", ["3:string"], ["case_change_action", "LOWER", "UPPER", "NONE"], case_change_action="TITLE")
    rule("StringNormalizer", ["2x3:string"], ["one row", "2"])
    rule("TfIdfVectorizer", ["5:int32"], ["mode", "TF", "IDF", "TFIDF"], mode="FT", min_gram_length=1, max_gram_length=1,
         max_skip_count=0, ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1])  # fmt: skip
    rule("TfIdfVectorizer", ["5:int32"], ["2 to 1"], mode="TF", min_gram_length=2,
         max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1])  # fmt: skip
    rule("TfIdfVectorizer", ["5:int32"], ["pool_int64s", "pool_strings"], mode="TF", min_gram_length=1,
         max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0])  # fmt: skip
    rule("TfIdfVectorizer", ["5:int32"], ["ngram_indexes"], mode="TF", min_gram_length=1,
         max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1], pool_int64s=[1])  # fmt: skip
    rule("ConcatFromSequence", [":seq(tensor(float))"], ["new_axis"], axis=0, new_axis=2)
    rule("SequenceAt", [":seq(tensor(float))", "2:int64"], ["position"])
    training = "ai.onnx.preview.training"
    rule("Momentum", ["", ":int64", "2", "2"], ["inputs"], domain=training, outputs=2, alpha=0.1, beta=0.1,
         mode="standard", norm_coefficient=0.1)  # fmt: skip
    rule("Momentum", ["", ":int64", "2", "2", "2"], ["mode", "standard", "nesterov"], domain=training, outputs=2, alpha=0.1,
         beta=0.1, mode="none", norm_coefficient=0.1)  # fmt: skip
    rule("Adam", ["", ":int64", "2", "2", "2"], ["inputs"], domain=training, outputs=3)


def traditional(rule, ml):
    transforms = ["post_transform", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
    ml("LinearClassifier", ["1x2"], transforms, outputs=2, coefficients=[1.0, 1.0], classlabels_ints=[0, 1],
       post_transform="RELU")  # fmt: skip
    ml("LinearClassifier", ["1x2"], ["classlabels_ints", "classlabels_strings"], outputs=2, coefficients=[1.0, 1.0],
       classlabels_ints=[0], classlabels_strings=["a"])  # fmt: skip
    ml("LinearRegressor", ["1x2"], transforms, coefficients=[1.0, 1.0], post_transform="RELU")
    ml("LinearRegressor", ["1x2"], ["coefficients"], coefficients=[1.0, 1.0, 1.0], targets=2)
    ml("SVMClassifier", ["1x2"], transforms, outputs=2, coefficients=[1.0], rho=[0.0], classlabels_ints=[0, 1], post_transform="RELU")
    kernels = ["kernel_type", "LINEAR", "POLY", "RBF", "SIGMOID"]
    ml("SVMRegressor", ["1x2"], kernels, coefficients=[1.0, 1.0], rho=[0.0], kernel_type="CUBIC")
    ml("SVMClassifier", ["1x2"], kernels, outputs=2, coefficients=[1.0], rho=[0.0], classlabels_ints=[0, 1], kernel_type="CUBIC")
    ml("SVMRegressor", ["1x2"], ["one_class"], coefficients=[1.0, 1.0], rho=[0.0], one_class=2)
    ml("Normalizer", ["1x2"], ["norm", "MAX", "L1", "L2"], norm="L3")
    ml("Scaler", ["1x3"], ["offset"], offset=[1.0, 2.0], scale=[1.0])
    ml("Scaler", ["1x3"], ["scale"], offset=[1.0], scale=[1.0, 2.0])
    ml("Imputer", ["1x3"], ["imputed_value_floats"], imputed_value_floats=[1.0, 2.0])
    ml("Binarizer", ["1x3:string"], ["X", "float"])
    ml("ZipMap", ["2x3"], ["2 labels", "3 values"], classlabels_int64s=[4, 5])
    ml("LabelEncoder", ["2:string"], ["2 keys", "1 values"], keys_strings=["a", "b"], values_int64s=[1])
    ml("LabelEncoder", ["2:string"], ["keys_*", "2"], keys_strings=["a"], keys_int64s=[1],
       values_int64s=[1])  # fmt: skip
    ml("LabelEncoder", ["2:string"], ["values_*", "2"], keys_strings=["a"], values_floats=[1.0],
       values_int64s=[1])  # fmt: skip
    ml("CategoryMapper", ["2:string"], ["cats_int64s", "cats_strings"], cats_int64s=[1, 2], cats_strings=["a"])
    ml("OneHotEncoder", ["2:int64"], ["cats_int64s", "cats_strings"], cats_int64s=[1], cats_strings=["a"])
    ml("OneHotEncoder", ["2:int64"], ["cats_int64s", "cats_strings"])
    ml("OneHotEncoder", ["2:int64"], ["zeros"], cats_int64s=[1], zeros=2)
    ml("FeatureVectorizer", ["1x2", "1x3"], ["inputdimensions"], inputdimensions=[2])
    ml("FeatureVectorizer", ["1x2", "1x3"], ["inputdimensions"], inputdimensions=[2, 4])
    ml("ArrayFeatureExtractor", ["", "2:int64"], ["X"])
    ml("CastMap", [":map(int64,tensor(float))"], ["cast_to", "TO_FLOAT", "TO_INT64", "TO_STRING"], cast_to="TO_BOOL")
    ml("CastMap", [":map(int64,tensor(float))"], ["map_form", "DENSE", "SPARSE"], map_form="FULL")
    ml("CastMap", [":map(int64,tensor(float))"], ["max_map"], map_form="SPARSE", max_map=0)
    ml("DictVectorizer", [":map(int64,tensor(float))"], ["int64_vocabulary", "string_vocabulary"])
    ml("DictVectorizer", [":map(int64,tensor(float))"], ["int64_vocabulary", "string_vocabulary"], int64_vocabulary=[1],
       string_vocabulary=["a"])  # fmt: skip
    leaf = dict(nodes_falseleafs=[1], nodes_falsenodeids=[0], nodes_featureids=[0], nodes_trueleafs=[1],
                nodes_truenodeids=[0], tree_roots=[0], leaf_targetids=[0], n_targets=1,
                nodes_modes=helper.make_tensor("", TensorProto.UINT8, [1], [0]),
                nodes_splits=helper.make_tensor("", TensorProto.FLOAT, [1], [0.0]),
                leaf_weights=helper.make_tensor("", TensorProto.FLOAT, [1], [1.0]))  # fmt: skip
    ml("TreeEnsemble", ["1x2"], ["post_transform"], **leaf, post_transform=5)
    ml("TreeEnsemble", ["1x2"], ["aggregate_function"], **leaf, aggregate_function=4)
    ml("TreeEnsemble", ["1x2"], ["1 and of 2 nodes"], **{**leaf, "nodes_featureids": [0, 1]})
    ml("TreeEnsemble", ["1x2"], ["1 weights", "2 leaves"], **{**leaf, "leaf_targetids": [0, 0]})
    ml("TreeEnsemble", ["1x2"], ["target 1"], **{**leaf, "leaf_targetids": [1]})
    ml("TreeEnsemble", ["1x2"], ["leaf 5"], **{**leaf, "nodes_truenodeids": [5]})
    modes = dict(leaf, nodes_modes=helper.make_tensor("", TensorProto.UINT8, [1], [9]))
    ml("TreeEnsemble", ["1x2"], ["mode 9"], **modes)
    trees = dict(nodes_treeids=[0], nodes_nodeids=[0], nodes_featureids=[0], nodes_values=[0.0], nodes_modes=["LEAF"],
                 nodes_truenodeids=[0], nodes_falsenodeids=[0])  # fmt: skip
    targets = dict(n_targets=1, target_treeids=[0], target_nodeids=[0], target_ids=[0], target_weights=[1.0])
    ml("TreeEnsembleRegressor", ["1x2"], ["aggregate_function", "AVERAGE", "SUM", "MIN", "MAX"], since=3, **trees, **targets,
       aggregate_function="MEDIAN")  # fmt: skip
    ml("TreeEnsembleRegressor", ["1x2"], transforms, since=3, **trees, **targets, post_transform="RELU")
    ml("TreeEnsembleRegressor", ["1x2"], ["mode IF"], since=3, **{**trees, "nodes_modes": ["IF"]},
       **targets)  # fmt: skip
    ml("TreeEnsembleRegressor", ["1x2"], ["nodes"], since=3, **{**trees, "nodes_values": [0.0, 1.0]}, **targets)
