"""Rules that the operators' specifications state in words, each with a use that breaks it and nothing else.

A rule is (operator, inputs, attributes, words that the refusal must have). Inputs are shapes of the types that the
operator prefers ("2x3", "" for a scalar), shapes with an element type ("2:int64"), constants ([1, 2], 3, 0.5) or None
for what is absent. Without `since`, the rule is tried at the newest version.
"""

from onnx import TensorProto, helper
from Dialect.ONNX.Negatives.rule import Rule

POOLS = ("AveragePool", "MaxPool", "LpPool")
REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
              "ReduceSum", "ReduceSumSquare")  # fmt: skip
BROADCASTS = ("Add", "Sub", "Mul", "Div", "Pow", "Mod", "And", "Or", "Xor", "Equal", "Less", "LessOrEqual", "Greater",
              "GreaterOrEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Max", "Min", "Mean", "Sum")  # fmt: skip
WINDOWS = ("BlackmanWindow", "HannWindow", "HammingWindow")


def rules():
    """Every rule."""
    found = []

    def rule(op, inputs, words, outputs=1, domain="", since=0, **attributes):
        for one in (op,) if isinstance(op, str) else op:
            found.append(Rule(one, inputs, attributes, words, outputs, domain, since))

    def ml(op, inputs, words, outputs=1, since=0, **attributes):
        rule(op, inputs, words, outputs, "ai.onnx.ml", since, **attributes)

    for write in (elementwise, windows_and_convolutions, shapes_and_indices, normalizations, others, traditional):
        write(rule, ml)
    return found


def elementwise(rule, ml):
    rule(BROADCASTS, ["2x3", "4x3"], ["broadcast"])
    rule("Where", ["2:bool", "3", "1"], ["broadcast"])
    rule("PRelu", ["2x3", "4"], ["slope"])
    rule("PRelu", ["3", "2x3"], ["slope"])
    rule("Expand", ["2x3", [2, 4]], ["broadcast"])
    rule("Expand", ["2x3", [[2, 3]]], ["shape"])
    rule("BitShift", ["2:uint8", "2:uint8"], ["direction", "LEFT", "RIGHT"], direction="UP")
    rule("Mod", ["2:float", "2:float"], ["fmod"], fmod=0)
    rule("Mod", ["2:int32", "2:int32"], ["fmod"], fmod=2)
    rule("Cast", ["2"], ["to", "99"], to=99)
    rule("Cast", ["2"], ["round_mode", "up", "down", "nearest"], to=TensorProto.FLOAT8E8M0, round_mode="sideways")
    rule("CastLike", ["2", "2:float8e8m0"], ["round_mode"], round_mode="sideways")
    rule("Gelu", ["2"], ["approximate", "none", "tanh"], approximate="erf")
    rule("Clip", ["2x3", "2"], ["min"])
    rule("Clip", ["2x3", None, "2"], ["max"])
    rule(("Softmax", "LogSoftmax", "Hardmax"), ["2x3"], ["axis", "2", "rank 2"], axis=2)
    rule(("Softmax", "LogSoftmax", "Hardmax"), ["2x3"], ["axis", "-3", "rank 2"], axis=-3)
    rule(("Softmax", "LogSoftmax", "Hardmax"), ["2x3"], ["axis"], axis=3, since=11)
    rule(("CumSum", "CumProd"), ["2x3", 2], ["axis"])
    rule(("CumSum", "CumProd"), ["2x3", "2:int64"], ["axis"])
    rule(("CumSum", "CumProd"), ["2x3", 0], ["exclusive"], exclusive=2)
    rule(("CumSum", "CumProd"), ["2x3", 0], ["reverse"], reverse=-1)
    rule("BitCast", ["2:float"], ["to"], to=TensorProto.DOUBLE)
    rule("Dropout", ["2", "2:float"], ["ratio"])
    rule("Dropout", ["2", "", "2:bool"], ["training_mode"])
    rule("Dropout", ["2", 1.5], ["ratio"])
    rule("Celu", ["2"], ["alpha"], alpha=0.0)
    rule("SwiGLU", ["2x3"], ["axis"], axis=2)
    rule("SwiGLU", ["2x3"], ["3"], axis=1)


def windows_and_convolutions(rule, ml):
    rule(POOLS, ["1x1x8x8"], ["kernel_shape", "2"], kernel_shape=[3])
    rule(POOLS, ["1x1x8x8"], ["strides", "2"], kernel_shape=[3, 3], strides=[1])
    rule(POOLS, ["1x1x8x8"], ["pads", "4"], kernel_shape=[3, 3], pads=[1, 1])
    rule(POOLS, ["1x1x8x8"], ["dilations", "2"], kernel_shape=[3, 3], dilations=[1])
    rule(POOLS, ["1x1x8x8"], ["strides"], kernel_shape=[3, 3], strides=[0, 1])
    rule(POOLS, ["1x1x8x8"], ["dilations"], kernel_shape=[3, 3], dilations=[0, 1])
    rule(POOLS, ["1x1x8x8"], ["kernel_shape"], kernel_shape=[0, 3])
    rule(POOLS, ["1x1x8x8"], ["pads"], kernel_shape=[3, 3], pads=[-1, 0, 0, 0])
    rule(POOLS, ["1x1x8x8"], ["auto_pad", "VALID", "SAME_UPPER"], kernel_shape=[3, 3], auto_pad="SAME")
    rule(POOLS, ["1x8"], ["rank"], kernel_shape=[3])
    rule("MaxPool", ["1x1x8"], ["storage_order"], kernel_shape=[3], storage_order=2)
    rule("AveragePool", ["1x1x8"], ["count_include_pad"], kernel_shape=[3], count_include_pad=2)
    rule(POOLS, ["1x1x8"], ["ceil_mode"], kernel_shape=[3], ceil_mode=2)
    rule(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), ["4"], ["rank"])
    rule("MaxUnpool", ["1x1x2x2", "1x1x2x2"], ["kernel_shape"], kernel_shape=[2])
    rule("MaxUnpool", ["1x1x2x2", "1x1x3x2"], ["I"], kernel_shape=[2, 2])
    rule("MaxRoiPool", ["1x1x8x8", "2x5"], ["pooled_shape"], pooled_shape=[2])
    rule("MaxRoiPool", ["1x1x8x8", "2x4"], ["rois", "5"], pooled_shape=[2, 2])
    rule("MaxRoiPool", ["1x8x8", "2x5"], ["X", "rank 4"], pooled_shape=[2, 2])
    convs = ("Conv", "ConvTranspose")
    rule(convs, ["1x4x8x8", "4x4x3"], ["W", "rank"])
    rule(convs, ["1x4x8x8", "4x4x3x3", "3"], ["B"])
    rule(convs, ["1x4x8x8", "4x4x3x3", "4x1"], ["B"])
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["strides", "2"], strides=[1])
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["strides"], strides=[0, 1])
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["dilations", "2"], dilations=[1])
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["pads", "4"], pads=[1])
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["auto_pad"], auto_pad="SAME")
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["kernel_shape"], kernel_shape=[3, 5])
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["kernel_shape"], kernel_shape=[3])
    rule(convs, ["1x4x8x8", "4x4x3x3"], ["group"], group=0)
    rule("Conv", ["1x4x8x8", "4x3x3x3"], ["W", "4", "3"])
    rule("Conv", ["1x4x8x8", "3x2x3x3"], ["group"], group=2)
    rule("Conv", ["1x5x8x8", "4x2x3x3"], ["group"], group=2)
    rule("Conv", ["1x4", "4x4"], ["rank"])
    rule("ConvTranspose", ["1x4x8x8", "3x4x3x3"], ["W"])
    rule("ConvTranspose", ["1x4x8x8", "4x4x3x3"], ["output_padding", "2"], output_padding=[1])
    rule("ConvTranspose", ["1x4x8x8", "4x4x3x3"], ["output_shape", "2"], output_shape=[10])
    rule("ConvInteger", ["1x4x8x8", "4x3x3x3"], ["w"])
    rule("ConvInteger", ["1x4x8x8", "4x4x3x3", "2"], ["x_zero_point"])
    rule("ConvInteger", ["1x4x8x8", "4x4x3x3", "", "3"], ["w_zero_point"])
    rule("ConvInteger", ["1x4x8x8", "4x4x3x3"], ["auto_pad"], auto_pad="SAME")
    quantized = ["1x4x8x8", "", "", "4x4x3x3", "", "", "", ""]
    rule("QLinearConv", [*quantized[:1], "2", *quantized[2:]], ["x_scale"])
    rule("QLinearConv", [*quantized[:3], "4x3x3x3", *quantized[4:]], ["w"])
    rule("QLinearConv", [*quantized[:4], "3", *quantized[5:]], ["w_scale"])
    rule("DeformConv", ["1x4x8x8", "4x4x3x3", "1x17x6x6"], ["offset"])
    rule("DeformConv", ["1x4x8x8", "4x4x3x3", "1x18x6x6"], ["offset_group"], offset_group=3)
    rule("DeformConv", ["1x4x8x8", "4x3x3x3", "1x18x6x6"], ["W"])
    rule("DeformConv", ["1x4x8x8", "4x4x3x3", "1x18x6x6", None, "1x8x6x6"], ["mask"])
    rule("Col2Im", ["1x9x16", [4, 4], [3]], ["block_shape"])
    rule("Col2Im", ["1x8x16", [6, 6], [3, 3]], ["input"])
    rule("Col2Im", ["1x9x16", [6, 6], [3, 3]], ["strides"], strides=[1])
    rule("Col2Im", ["1x9x16", [6, 6], [3, 3]], ["dilations"], dilations=[1])
    rule("Col2Im", ["1x9x16", [6, 6], [3, 3]], ["pads"], pads=[1])
    rule("RoiAlign", ["1x1x8x8", "2x5", "2"], ["rois", "4"])
    rule("RoiAlign", ["1x1x8x8", "2x4", "3"], ["batch_indices"])
    rule("RoiAlign", ["1x8x8", "2x4", "2"], ["X"])
    rule("RoiAlign", ["1x1x8x8", "2x4", "2"], ["mode", "avg", "max"], mode="min")
    rule("RoiAlign", ["1x1x8x8", "2x4", "2"], ["coordinate_transformation_mode", "half_pixel"],
         coordinate_transformation_mode="align_corners")  # fmt: skip
    rule("RoiAlign", ["1x1x8x8", "2x4", "2"], ["sampling_ratio"], sampling_ratio=-1)
    rule("RoiAlign", ["1x1x8x8", "2x4", "2"], ["output_height"], output_height=0)


def shapes_and_indices(rule, ml):
    rule(("ArgMax", "ArgMin"), ["2x3"], ["axis", "2", "rank 2"], axis=2)
    rule(("ArgMax", "ArgMin"), ["2x3"], ["keepdims"], keepdims=2)
    rule(REDUCTIONS, ["2x3", [2]], ["axes", "2", "rank 2"])
    rule(REDUCTIONS, ["2x3", [0, -2]], ["axes", "twice"])
    rule(REDUCTIONS, ["2x3", [0]], ["keepdims"], keepdims=2)
    rule(REDUCTIONS, ["2x3", [[0]]], ["axes"])
    rule(REDUCTIONS, ["2x3"], ["axes", "rank 2"], axes=[2], since=11)
    rule("Transpose", ["2x3"], ["perm"], perm=[0, 0])
    rule("Transpose", ["2x3"], ["perm"], perm=[0])
    rule("Transpose", ["2x3"], ["perm"], perm=[0, 2])
    rule("Transpose", ["2x3"], ["perm"], perm=[-1, 0])
    rule("Concat", ["2x3", "2x3"], ["axis"], axis=2)
    rule("Concat", ["2x3", "2x3x4"], ["rank"], axis=0)
    rule("Concat", ["2x3", "2x4"], ["3", "4"], axis=0)
    rule("Compress", ["2x3", "2:bool"], ["axis"], axis=2)
    rule("Compress", ["2x3", "2x3:bool"], ["condition"])
    rule("ConstantOfShape", ["2x2:int64"], ["input", "rank 1"])
    rule("ConstantOfShape", [[-1]], ["input", "-1"])
    rule("Constant", [], ["value"])
    rule("Constant", [], ["value_int", "value_float"], value_int=1, value_float=1.0)
    rule("DepthToSpace", ["1x8x2x2"], ["blocksize"], blocksize=0)
    rule("DepthToSpace", ["1x6x2x2"], ["blocksize", "6"], blocksize=2)
    rule("DepthToSpace", ["1x8x2x2"], ["mode", "DCR", "CRD"], blocksize=2, mode="RCD")
    rule("DepthToSpace", ["8x2x2"], ["rank 4"], blocksize=2)
    rule("SpaceToDepth", ["1x1x4x4"], ["blocksize"], blocksize=-1)
    rule("SpaceToDepth", ["1x1x4x3"], ["blocksize", "3"], blocksize=2)
    rule("SpaceToDepth", ["1x1x4x4"], ["mode", "DCR", "CRD"], blocksize=2, mode="RCD")
    rule("SpaceToDepth", ["1x4x4"], ["rank 4"], blocksize=2)
    rule("Flatten", ["2x3"], ["axis"], axis=3)
    rule("Flatten", ["2x3"], ["axis"], axis=-3)
    rule("Gather", ["2x3", "2"], ["axis"], axis=2)
    rule("Gather", ["", "2"], ["data"])
    rule("GatherElements", ["2x3", "2"], ["rank"])
    rule("GatherElements", ["2x3", "2x3"], ["axis"], axis=2)
    rule("GatherND", ["2x3", "2x3"], ["indices", "3"])
    rule("GatherND", ["2x3", "2x1"], ["batch_dims"], batch_dims=2)
    rule("GatherND", ["2x3", "2x1"], ["batch_dims"], batch_dims=-1)
    rule("GatherND", ["2x3", "3x1"], ["batch_dims"], batch_dims=1)
    rule("ScatterElements", ["2x3", "2x3", "2x2"], ["updates"])
    rule("ScatterElements", ["2x3", "2", "2"], ["rank"])
    rule("ScatterElements", ["2x3", "2x3", "2x3"], ["axis"], axis=2)
    rule("ScatterElements", ["2x3", "2x3", "2x3"], ["reduction", "none", "add", "mul", "max", "min"], reduction="sub")
    rule("ScatterND", ["2x3", "2x1", "2x3"], ["reduction", "none", "add", "mul", "max", "min"], reduction="sub")
    rule("ScatterND", ["2x3", "2x1", "2x4"], ["updates"])
    rule("ScatterND", ["2x3", "2x3", "2"], ["indices"])
    rule("OneHot", ["2", 3, "2"], ["axis"], axis=2)
    rule("OneHot", ["2", 3, "3"], ["values", "2"])
    rule("OneHot", ["2", "2:int64", "2"], ["depth"])
    rule("Pad", ["2x3", [1, 1]], ["pads", "4"])
    rule("Pad", ["2x3", [[1, 1, 1, 1]]], ["pads"])
    rule("Pad", ["2x3", [1, 1], None, [2]], ["axes"])
    rule("Pad", ["2x3", [1, 1, 1, 1], None, [0, 0]], ["axes", "twice"])
    rule("Pad", ["2x3", [0, 0, 0, 0]], ["mode", "constant", "reflect", "edge", "wrap"], mode="mirror")
    rule("Pad", ["2x3", [0, 0, 0, 0], "2"], ["constant_value"])
    rule("Reshape", ["2x3", [-1, -1]], ["-1"])
    rule("Reshape", ["2x3", [4, 2]], ["6", "8"])
    rule("Reshape", ["2x3", [-1, 4]], ["4"])
    rule("Reshape", ["2x3", [-2, 3]], ["-2"])
    rule("Reshape", ["2x3", [2, 3, 0]], ["0"])
    rule("Reshape", ["2x3", [-1, 0]], ["allowzero"], allowzero=1)
    rule("Reshape", ["2x3", [[2, 3]]], ["shape"])
    rule("Slice", ["2x3", [0], [1, 1]], ["starts", "ends"])
    rule("Slice", ["2x3", [0], [1], [2]], ["axes"])
    rule("Slice", ["2x3", [0], [1], [0, 1]], ["axes"])
    rule("Slice", ["2x3", [0, 0], [1, 1], [0, 0]], ["axes", "twice"])
    rule("Slice", ["2x3", [0], [1], [0], [0]], ["steps", "zero"])
    rule("Slice", ["2x3", [0], [1], [0], [1, 1]], ["steps"])
    rule("Slice", ["2x3", [[0]], [[1]]], ["starts"])
    rule("Split", ["4x3"], ["axis"], axis=2, outputs=2, num_outputs=2)
    rule("Split", ["4x3", [1, 2]], ["split", "3", "4"], outputs=2)
    rule("Split", ["4x3", [1, 3]], ["split", "num_outputs"], outputs=2, num_outputs=2)
    rule("Split", ["4x3", [4]], ["split", "2"], outputs=2)
    rule("Split", ["4x3", [-1, 5]], ["split", "-1"], outputs=2)
    rule("Split", ["4x3"], ["num_outputs"], outputs=2, num_outputs=3)
    rule("Split", ["4x3"], ["num_outputs"], outputs=2)
    rule("SplitToSequence", ["4x3"], ["axis"], axis=2)
    rule("SplitToSequence", ["4x3", [1, 2]], ["split"])
    rule("Squeeze", ["1x3", [1]], ["axes", "1", "3"])
    rule("Squeeze", ["1x3", [2]], ["axes"])
    rule("Squeeze", ["1x3", [0, -2]], ["axes", "twice"])
    rule("Unsqueeze", ["3", [2]], ["axes"])
    rule("Unsqueeze", ["3", [0, 0]], ["axes", "twice"])
    rule("Unsqueeze", ["3"], ["axes"], axes=[0, 0], since=11)
    rule("Tile", ["2x3", [2]], ["repeats", "2"])
    rule("Tile", ["2x3", [2, -1]], ["repeats", "-1"])
    rule("Tile", ["2x3", [[2, 2]]], ["repeats"])
    rule("TopK", ["2x3", [1]], ["axis"], axis=2, outputs=2)
    rule("TopK", ["2x3", [4]], ["K", "4", "3"], outputs=2)
    rule("TopK", ["2x3", [1, 1]], ["K"], outputs=2)
    rule("Trilu", ["3"], ["rank"])
    rule("Trilu", ["2x3", "2:int64"], ["k"])
    rule("Unique", ["2x3"], ["axis"], axis=2)
    rule("Unique", ["2x3"], ["sorted"], sorted=2)
    rule("CenterCropPad", ["2x3", [2]], ["shape"])
    rule("CenterCropPad", ["2x3", [2, 2]], ["axes"], axes=[0, 2])
    rule("CenterCropPad", ["2x3", [2, 2]], ["axes", "twice"], axes=[0, 0])
    rule("EyeLike", ["3"], ["rank 2"])
    rule("Range", ["2:float", ":float", ":float"], ["start"])
    rule("Range", [0, 3, 0], ["delta"])
    rule("ReverseSequence", ["4x3", "3:int64"], ["time_axis", "batch_axis"], time_axis=1, batch_axis=1)
    rule("ReverseSequence", ["4x3", "3:int64"], ["time_axis"], time_axis=2, batch_axis=1)
    rule("ReverseSequence", ["4x3", "4:int64"], ["sequence_lens", "3"])
    rule("ReverseSequence", ["4", "3:int64"], ["rank"])
    rule("TensorScatter", ["1x2x4x3", "1x2x1x3"], ["mode", "linear", "circular"], mode="ring")
    rule("TensorScatter", ["1x2x4x3", "1x2x1x3"], ["axis"], axis=4)
    rule("TensorScatter", ["1x2x4x3", "1x2x5x3"], ["update"])
    rule("Upsample", ["1x1x2x2", [1.0, 1.0, 2.0]], ["scales"], since=9)
    rule("Upsample", ["1x1x2x2", [1.0, 1.0, 2.0, 2.0]], ["mode", "nearest", "linear"], mode="cubic", since=9)
    rule("Resize", ["1x1x2x2", None, [1.0, 1.0, 2.0]], ["scales", "4"])
    rule("Resize", ["1x1x2x2", None, None, [1, 1, 4]], ["sizes", "4"])
    rule("Resize", ["1x1x2x2", None, None, None], ["scales", "sizes"])
    rule("Resize", ["1x1x2x2", None, [1.0, 1.0, 2.0, 2.0], [1, 1, 4, 4]], ["scales", "sizes"])
    rule("Resize", ["1x1x2x2", None, [1.0, 1.0, -2.0, 2.0]], ["scales"])
    for name, value, word in (("mode", "quadratic", "cubic"), ("nearest_mode", "nearest", "round_prefer_floor"),
                              ("coordinate_transformation_mode", "middle", "half_pixel"),
                              ("keep_aspect_ratio_policy", "keep", "stretch")):  # fmt: skip
        rule("Resize", ["1x1x2x2", None, [1.0, 1.0, 2.0, 2.0]], [name, word], **{name: value})
    rule("Resize", ["1x1x2x2", None, [2.0]], ["axes"], axes=[4])
    rule("Resize", ["1x1x2x2", None, [2.0, 2.0]], ["axes", "twice"], axes=[2, 2])


def normalizations(rule, ml):
    rule("BatchNormalization", ["2x3x4", "4", "3", "3", "3"], ["scale"])
    rule("BatchNormalization", ["2x3x4", "3", "3x1", "3", "3"], ["B"])
    rule("BatchNormalization", ["2x3x4", "3", "3", "3", "2"], ["input_var"])
    rule("BatchNormalization", ["2x3x4", "3", "3", "3", "3"], ["training_mode"], outputs=3)
    rule("BatchNormalization", ["2x3x4", "3", "3", "3", "3"], ["training_mode"], training_mode=2)
    rule("InstanceNormalization", ["2x3x4", "4", "3"], ["scale"])
    rule("InstanceNormalization", ["2x3x4", "3", "4"], ["B"])
    rule("InstanceNormalization", ["3", "3", "3"], ["rank"])
    rule("GroupNormalization", ["2x6x4", "6", "6"], ["num_groups", "6"], num_groups=4)
    rule("GroupNormalization", ["2x6x4", "6", "6"], ["num_groups"], num_groups=0)
    rule("GroupNormalization", ["2x6x4", "3", "6"], ["scale"], num_groups=3)
    rule("LayerNormalization", ["2x3", "3"], ["axis"], axis=2)
    rule("LayerNormalization", ["2x3", "4"], ["Scale"])
    rule("LayerNormalization", ["2x3", "3"], ["stash_type"], stash_type=7)
    rule("RMSNormalization", ["2x3", "3"], ["axis"], axis=2)
    rule("RMSNormalization", ["2x3", "4"], ["scale"])
    rule("LpNormalization", ["2x3"], ["p", "1", "2"], p=3)
    rule("LpNormalization", ["2x3"], ["axis"], axis=2)
    rule("LpPool", ["1x1x8"], ["p"], kernel_shape=[3], p=0)
    rule("GlobalLpPool", ["1x1x8"], ["p"], p=0)
    rule("MeanVarianceNormalization", ["2x3x4x5"], ["axes"], axes=[4])
    rule("MeanVarianceNormalization", ["2x3x4x5"], ["axes", "twice"], axes=[0, -4])
    rule("LRN", ["1x3x4x4"], ["size"], size=0)
    rule("LRN", ["3"], ["rank"], size=3)
    # Attention and its kin.
    packed = ["2x3x8", "2x4x8", "2x4x8"]
    rule("Attention", packed, ["q_num_heads", "kv_num_heads"])
    rule("Attention", packed, ["q_num_heads", "8"], q_num_heads=3, kv_num_heads=1)
    rule("Attention", packed, ["q_num_heads", "kv_num_heads"], q_num_heads=2, kv_num_heads=4)
    rule("Attention", ["2x2x3x4", "2x4x8", "2x4x8"], ["rank"])
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x6x4"], ["5", "6"])
    rule("Attention", ["2x2x3x4", "2x2x5x3", "2x2x5x4"], ["4", "3"])
    rule("Attention", ["2x2x3x4", "1x2x5x4", "2x2x5x4"], ["batch"])
    rule("Attention", ["2x3x3x4", "2x2x5x4", "2x2x5x4"], ["heads"])
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x5x4", None, "2x2x1x4"], ["past_key", "past_value"], outputs=3)
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x5x4"], ["is_causal"], is_causal=2)
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x5x4"], ["qk_matmul_output_mode"], qk_matmul_output_mode=4)
    rule("Attention", ["2x2x3x4", "2x2x5x4", "2x2x5x4", "4x5:float"], ["attn_mask"])
    rule("RotaryEmbedding", ["2x3x8", "10x2", "10x2", "2x3:int64"], ["num_heads"])
    rule("RotaryEmbedding", ["2x2x3x4", "10x3", "10x3", "2x3:int64"], ["cos_cache"])
    rule("RotaryEmbedding", ["2x2x3x4", "10x2", "10x2"], ["cos_cache"])
    rule("RotaryEmbedding", ["3x4", "10x2", "10x2"], ["rank"])
    rule("RotaryEmbedding", ["2x2x3x4", "10x2", "10x2", "2x3:int64"], ["rotary_embedding_dim"], rotary_embedding_dim=3)
    rule("RotaryEmbedding", ["2x2x3x4", "10x2", "10x2", "2x3:int64"], ["interleaved"], interleaved=2)
    rule("CausalConvWithState", ["1x4x8", "4x1x3"], ["activation", "none", "silu"], outputs=2, activation="gelu")
    rule("CausalConvWithState", ["1x4x8", "3x1x3"], ["weight"], outputs=2)
    rule("CausalConvWithState", ["1x4x8", "4x1x3", "3"], ["bias"], outputs=2)
    rule("CausalConvWithState", ["1x4x8", "4x1x3", None, "1x4x3"], ["past_state"], outputs=2)
    rule("LinearAttention", ["1x2x4", "1x2x4", "1x2x4"], ["update_rule", "linear"], outputs=2, q_num_heads=1,
         kv_num_heads=1, update_rule="quadratic")  # fmt: skip


def recurrent(rule):
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        good = ["5x2x3", f"1x{4 * gates}x3", f"1x{4 * gates}x4"]
        rule(op, good, ["direction", "forward", "reverse", "bidirectional"], hidden_size=4, direction="backward")
        rule(op, good, ["W"], hidden_size=4, direction="bidirectional")
        rule(op, good, ["W"], hidden_size=5)
        rule(op, ["5x3", *good[1:]], ["X", "rank 3"], hidden_size=4)
        rule(op, [good[0], "1x1x3", good[2]], ["W"], hidden_size=4)
        rule(op, [*good[:2], f"1x{4 * gates}x3"], ["R"], hidden_size=4)
        rule(op, [*good, "1x7"], ["B"], hidden_size=4)
        rule(op, [*good, None, "3:int32"], ["sequence_lens"], hidden_size=4)
        rule(op, [*good, None, None, "1x3x4"], ["initial_h"], hidden_size=4)
        rule(op, good, ["layout"], hidden_size=4, layout=2)
        rule(op, good, ["clip"], hidden_size=4, clip=-1.0)
        rule(op, good, ["activations", "Tanh"], hidden_size=4, activations=["Nothing"] * max(1, gates - 1))
        rule(op, good, ["activations"], hidden_size=4, activations=["Tanh"] * 5)


def others(rule, ml):
    recurrent(rule)
    rule("MatMul", ["2x3", "4x2"], ["3", "4"])
    rule("MatMul", ["", "4"], ["A"])
    rule("MatMul", ["2x2x3", "3x3x2"], ["broadcast"])
    rule("MatMulInteger", ["2x3", "4x2"], ["3", "4"])
    rule("QLinearMatMul", ["2x3", "", "", "4x2", "", "", "", ""], ["3", "4"])
    rule("Gemm", ["2x3", "4x2"], ["3", "4"])
    rule("Gemm", ["2x3x1", "3x2"], ["A", "rank 2"])
    rule("Gemm", ["2x3", "3x2", "3"], ["C"])
    rule("Gemm", ["2x3", "2x3"], ["transA"], transA=2)
    rule("Det", ["2x3"], ["square"])
    rule("Det", ["2"], ["rank"])
    rule("Einsum", ["2x3", "3x4"], ["equation"], equation="ij->i")
    rule("Einsum", ["2x3"], ["equation"], equation="ijk->i")
    rule("Einsum", ["2x3", "4x5"], ["equation"], equation="ij,jk->ik")
    rule("Einsum", ["2x3"], ["equation"], equation="ij->k")
    rule("DFT", ["1x8x3"], ["input"])
    rule("DFT", ["1x8x1", 8, 3], ["axis"])
    rule("DFT", ["1x8x1", 8, -1], ["axis"])
    rule("DFT", ["1x8x1"], ["onesided"], onesided=2)
    rule("STFT", ["1x8x1", 0, None, 4], ["frame_step"])
    rule("STFT", ["8x1", 2, None, 4], ["signal"])
    rule("STFT", ["1x8x2", 2, None, 4], ["onesided"], onesided=1)
    rule("STFT", ["1x8x1", 2], ["frame_length", "window"])
    rule(WINDOWS, ["2:int64"], ["size"])
    rule(WINDOWS, [8], ["output_datatype"], output_datatype=99)
    rule(WINDOWS, [8], ["periodic"], periodic=2)
    rule("MelWeightMatrix", ["2:int64", "", "", "", ""], ["num_mel_bins"])
    rule("GridSample", ["1x1x4x4", "1x3x3x2"], ["mode", "linear", "nearest", "cubic"], mode="bilinear")
    rule("GridSample", ["1x1x4x4", "1x3x3x2"], ["padding_mode", "zeros", "border", "reflection"], padding_mode="wrap")
    rule("GridSample", ["1x1x4x4", "1x3x3x3"], ["grid", "2"])
    rule("GridSample", ["1x1x4x4", "2x3x3x2"], ["grid"])
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
        rule(op, ["2x3", "2x3"], ["rank"])
        rule(op, ["2x3", "3"], ["2", "3"])
        rule(op, ["2x3", "2", "2"], ["weight"])
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
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x3", "2"], ["scale", "3", "2"], axis=1)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x3", "3x1"], ["scale"], axis=1)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x4", "2x3"], ["block_size"], axis=1, block_size=2)
    rule(("QuantizeLinear", "DequantizeLinear"), ["2x4", "2x2"], ["block_size"], axis=1, block_size=-1)
    rule("QuantizeLinear", ["2x3", "3", "2"], ["zero_point"], axis=1)
    rule("QuantizeLinear", ["2x3", "3", "3:uint8"], ["output_dtype"], axis=1, output_dtype=TensorProto.INT8)
    rule("ImageDecoder", ["2x2:uint8"], ["rank 1"])
    rule("ImageDecoder", ["9:uint8"], ["pixel_format", "RGB", "BGR", "Grayscale"], pixel_format="CMYK")
    rule("StringNormalizer", ["3:string"], ["case_change_action", "LOWER", "UPPER", "NONE"], case_change_action="TITLE")
    rule("StringNormalizer", ["2x3:string"], ["X"])
    rule("RegexFullMatch", ["3:string"], ["pattern"], pattern="(")
    rule("TfIdfVectorizer", ["5:int32"], ["mode", "TF", "IDF", "TFIDF"], mode="FT", min_gram_length=1, max_gram_length=1,
         max_skip_count=0, ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1])  # fmt: skip
    rule("TfIdfVectorizer", ["5:int32"], ["min_gram_length", "max_gram_length"], mode="TF", min_gram_length=2,
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
    rule("Momentum", ["", ":int64", "2", "3", "2"], ["shape"], domain=training, outputs=2, alpha=0.1,
         beta=0.1, mode="standard", norm_coefficient=0.1)  # fmt: skip
    rule("Adam", ["", ":int64", "2", "2", "2"], ["inputs"], domain=training, outputs=3)
    rule("Adagrad", ["2", ":int64", "2", "2", "2"], ["R"], domain=training, outputs=2)


def traditional(rule, ml):
    transforms = ["post_transform", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
    ml("LinearClassifier", ["1x2"], transforms, outputs=2, coefficients=[1.0, 1.0], classlabels_ints=[0, 1],
       post_transform="RELU")  # fmt: skip
    ml("LinearClassifier", ["1x2"], ["classlabels_ints", "classlabels_strings"], outputs=2, coefficients=[1.0, 1.0],
       classlabels_ints=[0], classlabels_strings=["a"])  # fmt: skip
    ml("LinearRegressor", ["1x2"], transforms, coefficients=[1.0, 1.0], post_transform="RELU")
    ml("LinearRegressor", ["1x2"], ["coefficients"], coefficients=[1.0, 1.0, 1.0], targets=2)
    ml("SVMClassifier", ["1x2"], transforms, outputs=2, coefficients=[1.0], classlabels_ints=[0, 1], post_transform="RELU")
    kernels = ["kernel_type", "LINEAR", "POLY", "RBF", "SIGMOID"]
    ml("SVMRegressor", ["1x2"], kernels, coefficients=[1.0, 1.0], kernel_type="CUBIC")
    ml("SVMClassifier", ["1x2"], kernels, outputs=2, coefficients=[1.0], classlabels_ints=[0, 1], kernel_type="CUBIC")
    ml("SVMRegressor", ["1x2"], ["one_class"], coefficients=[1.0, 1.0], one_class=2)
    ml("Normalizer", ["1x2"], ["norm", "MAX", "L1", "L2"], norm="L3")
    ml("Scaler", ["1x3"], ["offset"], offset=[1.0, 2.0], scale=[1.0])
    ml("Scaler", ["1x3"], ["scale"], offset=[1.0], scale=[1.0, 2.0])
    ml("Imputer", ["1x3"], ["imputed_value_floats"], imputed_value_floats=[1.0, 2.0])
    ml("Imputer", ["1x3:float"], ["imputed_value_floats", "imputed_value_int64s"], imputed_value_floats=[1.0],
       imputed_value_int64s=[1])  # fmt: skip
    ml("Binarizer", ["1x3:string"], ["X", "float"])
    ml("LabelEncoder", ["2:string"], ["keys_strings", "values_int64s"], keys_strings=["a", "b"], values_int64s=[1])
    ml("LabelEncoder", ["2:string"], ["keys_strings", "keys_int64s"], keys_strings=["a"], keys_int64s=[1],
       values_int64s=[1])  # fmt: skip
    ml("LabelEncoder", ["2:string"], ["values_int64s", "values_floats"], keys_strings=["a"], values_floats=[1.0],
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
    ml("ZipMap", ["1x2"], ["classlabels_int64s", "classlabels_strings"], classlabels_int64s=[1, 2],
       classlabels_strings=["a", "b"])  # fmt: skip
    ml("ZipMap", ["1x2"], ["classlabels_int64s", "3", "2"], classlabels_int64s=[1, 2, 3])
    leaf = dict(nodes_falseleafs=[1], nodes_falsenodeids=[0], nodes_featureids=[0], nodes_trueleafs=[1],
                nodes_truenodeids=[0], tree_roots=[0], leaf_targetids=[0], n_targets=1,
                nodes_modes=helper.make_tensor("", TensorProto.UINT8, [1], [0]),
                nodes_splits=helper.make_tensor("", TensorProto.FLOAT, [1], [0.0]),
                leaf_weights=helper.make_tensor("", TensorProto.FLOAT, [1], [1.0]))  # fmt: skip
    ml("TreeEnsemble", ["1x2"], ["post_transform"], **leaf, post_transform=5)
    ml("TreeEnsemble", ["1x2"], ["aggregate_function"], **leaf, aggregate_function=4)
    ml("TreeEnsemble", ["1x2"], ["nodes_featureids"], **{**leaf, "nodes_featureids": [0, 1]})
    ml("TreeEnsemble", ["1x2"], ["leaf_targetids"], **{**leaf, "leaf_targetids": [0, 0]})
    ml("TreeEnsemble", ["1x2"], ["leaf_targetids"], **{**leaf, "leaf_targetids": [1]})
    ml("TreeEnsemble", ["1x2"], ["nodes_truenodeids"], **{**leaf, "nodes_truenodeids": [5]})
    modes = dict(leaf, nodes_modes=helper.make_tensor("", TensorProto.UINT8, [1], [9]))
    ml("TreeEnsemble", ["1x2"], ["nodes_modes"], **modes)
    trees = dict(nodes_treeids=[0], nodes_nodeids=[0], nodes_featureids=[0], nodes_values=[0.0], nodes_modes=["LEAF"],
                 nodes_truenodeids=[0], nodes_falsenodeids=[0])  # fmt: skip
    targets = dict(n_targets=1, target_treeids=[0], target_nodeids=[0], target_ids=[0], target_weights=[1.0])
    ml("TreeEnsembleRegressor", ["1x2"], ["aggregate_function", "AVERAGE", "SUM", "MIN", "MAX"], since=3, **trees, **targets,
       aggregate_function="MEDIAN")  # fmt: skip
    ml("TreeEnsembleRegressor", ["1x2"], transforms, since=3, **trees, **targets, post_transform="RELU")
    ml("TreeEnsembleRegressor", ["1x2"], ["nodes_modes", "BRANCH_LEQ", "LEAF"], since=3, **{**trees, "nodes_modes": ["IF"]},
       **targets)  # fmt: skip
    ml("TreeEnsembleRegressor", ["1x2"], ["nodes_values"], since=3, **{**trees, "nodes_values": [0.0, 1.0]}, **targets)
