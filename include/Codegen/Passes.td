//===- Passes.td - passes from the seam to the LLVM dialect ---------------===//
#ifndef STRATA_CODEGEN_PASSES
#define STRATA_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

// The target, as Codegen/Target.h describes it.
defvar targetOptions = [
  Option<"vectorBits", "vector-bits", "unsigned", "256", "width of a vector register">,
  Option<"registers", "registers", "unsigned", "16", "number of vector registers">,
  Option<"fma", "fma", "bool", "true", "fused multiply-add">,
  Option<"fmaPerCycle", "fma-per-cycle", "unsigned", "2", "vector multiply-adds that begin in a cycle">,
  Option<"fmaLatency", "fma-latency", "unsigned", "4", "cycles of a multiply-add">,
  Option<"bf16Tiles", "bf16-tiles", "bool", "false", "a matrix unit multiplies tiles of bf16">,
  Option<"int8Tiles", "int8-tiles", "bool", "false", "a matrix unit multiplies tiles of 8-bit integers">,
  Option<"byteDots", "byte-dots", "bool", "false", "x86 vectors add products of four bytes">,
  Option<"pairDots", "pair-dots", "bool", "false", "x86 vectors add products of two 16-bit integers">,
  Option<"bf16Dots", "bf16-dots", "bool", "false", "x86 vectors add products of two bf16">,
  Option<"integerPacks", "integer-packs", "bool", "false", "x86 vectors narrow by saturation">,
  Option<"gathers", "gathers", "bool", "false", "vectors load their lanes from a place each">,
  Option<"partLoads", "part-loads", "bool", "false", "vectors load some of their lanes">,
  Option<"tileCycles", "tile-cycles", "unsigned", "16", "cycles of a product of two tiles">,
  Option<"nearCacheBytes", "near-cache-bytes", "int64_t", "49152", "first-level cache of a core">,
  Option<"cacheBytes", "cache-bytes", "int64_t", "2097152", "the cache that a core has to itself">,
  Option<"lineBytes", "line-bytes", "int64_t", "64", "line of the caches">,
  Option<"pageBytes", "page-bytes", "int64_t", "4096", "what hardware fetches ahead in">,
  Option<"nearLatency", "near-latency", "unsigned", "96", "cycles ahead at which a line is prefetched">,
  Option<"streamBytes", "stream-bytes", "int64_t", "8388608", "results of this size on go past the caches">,
  Option<"streamRate", "stream-rate", "double", "8", "bytes in a cycle from the last level of the caches">,
  Option<"memoryRate", "memory-rate", "double", "4.5", "bytes in a cycle from memory">,
  Option<"cyclesPerNs", "cycles-per-ns", "double", "4", "the clock">
];

def Generalize : Pass<"strata-generalize", "mlir::func::FuncOp"> {
  let summary = "Every structured operation becomes linalg.generic, fill or transpose";
  let description = [{
    `linalg.softmax` is decomposed, `tensor.pack` and `tensor.unpack` are lowered,
    named operations generalised; a generic that only permutes its input becomes
    `linalg.transpose`, which the layout passes look for.

    Behind a `cf.assert` that two sizes are equal they are one value. What a body
    reads at 0 where a size is one, as a broadcast of unknown sizes does, it reads at
    the loop's place where that size is the loop's; a tensor that is read at the
    loops' own places alone is an operand.

    ```mlir
    %one = arith.cmpi eq, %n, %c1
    %0 = linalg.generic ... outs(%empty) {  // ?x4, of which the first is %n
      %at = arith.select %one, %c0, (linalg.index 0)
      %v = tensor.extract %x[%at, (linalg.index 1)]
      linalg.yield (math.tanh %v)
    }
    ```
    becomes
    ```mlir
    %0 = linalg.generic {indexing_maps = [#id, #id]} ins(%x) outs(%empty) {
    ^bb0(%v, %out):
      linalg.yield (math.tanh %v)
    }
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::affine::AffineDialect", "mlir::math::MathDialect"];
}

def ExpandMath : Pass<"strata-expand-math", "mlir::ModuleOp"> {
  let summary = "f32 transcendental functions become polynomials before they are folded";
  let description = [{
    Upstream folds functions of constants by the C library of the machine that
    compiles: other bits than those of the polynomials of `strata-approximate-math`,
    which consist of what folds to the same bits everywhere. So this pass applies the
    same patterns without folding. With `known-numbers` only where the operand is made
    of constants of one number, which may be written into bodies behind this pass;
    elsewhere the functions stay what other passes know them by.

    ```mlir
    %0 = math.exp %x : f32
    ```
    becomes arith operations, and `math.fma` where products are fused. Without
    `known-numbers`, what sines of large angles need is a function of the module,
    one for each type.
  }];
  let options = [
    Option<"powerScaling", "power-scaling", "bool", "false", "x86 vectors of 512 bits multiply by powers of two">,
    Option<"fusedProducts", "fused-products", "bool", "false", "there is an instruction for x y + z">,
    Option<"device", "device", "bool", "false", "a GPU's kernels, whose library has some functions by way of f64">,
    Option<"knownNumbers", "known-numbers", "bool", "false", "functions of constants of one number only">
  ];
  let dependentDialects = ["mlir::math::MathDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect", "mlir::LLVM::LLVMDialect", "mlir::func::FuncDialect"];
}

def NarrowProducts : Pass<"strata-narrow-products", "mlir::func::FuncOp"> {
  let summary = "Products of f32 take operands of bf16";
  let description = [{
    Matrix products and convolutions whose weights are constant, and long enough
    for a matrix unit, and matrix products of two operands that are given in each
    run, if many rows use the second one; but not convolutions that minimal
    filtering (`strata-winograd`) computes sooner in f32 than instructions for dot
    products, which the target has instead of a matrix unit. The groups of a
    convolution count together where they share vectors, not where the target has
    a matrix unit. The operands are rounded, products and sums are f32's. The conversion of weights is a constant expression, that of
    the data fuses with what makes it, before a padding. What a convolution reads
    is rounded for its other readers, too, if these are elementwise operations and
    reductions: then it is kept as bf16 alone.

    With `computed` only products whose bodies make their weights of constant bytes,
    for 128 rows or more of a known number and blocks of at most 32 terms: the body
    rounds what it makes.

    ```mlir
    %0 = arith.mulf %x, %w : f32
    ```
    becomes
    ```mlir
    %a = arith.extf %x : bf16 to f32
    %b = arith.extf %w : bf16 to f32
    %0 = arith.mulf %a, %b : f32
    ```
  }];
  let options = !listconcat(targetOptions, [
    Option<"winograd", "winograd", "bool", "true", "3x3 convolutions may be computed by minimal filtering">,
    Option<"computed", "computed", "bool", "false", "Only products whose bodies make weights of constant bytes">
  ]);
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def ExpandWeights : Pass<"strata-expand-weights", "mlir::func::FuncOp"> {
  let summary = "Products whose bodies dequantize weights read weights of f32";
  let description = [{
    Where 16 rows or more, or an unknown number, share constant weights, and the
    products are computed by units that take other operands than a body makes: what
    the body computes of the weights becomes an operation of its own, which later
    passes compute at load. Of fewer rows, to read the weights is what takes time;
    with `block-sums`, scales of blocks of the reduction then come out of the sums,
    which a second product weighs and adds:

    ```
    y[n] = sum_b,j x[b, j] (w[b, j, n] - z[b, n]) s[b, n]
    ```
    becomes
    ```
    t[b, n] = sum_j x[b, j] v[b, j, n]        v = w - z, computed at load
    y[n] = sum_b t[b, n] s[b, n]
    ```
    and data that was extended from f16 or bf16 is multiplied as it was before, by
    weights of the same type: GPUs have units for that.
  }];
  let options = [Option<"blockSums", "block-sums", "bool", "false",
                        "For GPUs: take scales of blocks out of their sums, and multiply halves as such">];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def QuantiseData : Pass<"strata-quantise-data", "mlir::func::FuncOp"> {
  let summary = "Data of products with dequantized weights becomes bytes, block by block";
  let description = [{
    Of products whose bodies dequantize constant bytes: with f the largest magnitude
    of a block of the data over 127, q = round(x / f) are bytes, whose products with
    the weights' codes c are exact.

    ```
    y[m, n] = sum_b,j x[m, b, j] (c[b, j, n] - z[b, n]) s[b, n]
    ```
    becomes
    ```
    y[m, n] = sum_b f[m, b] s[b, n] (sum_j q[m, b, j] c[b, j, n] - z[b, n] sum_j q[m, b, j])
    ```
    The blocks are those of the weights' scales, or parts of them, of 128 terms at
    most; where one scale is for all terms, of 32. Codes are words of four bytes or
    of eight numbers of four bits.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def PackNibbles : Pass<"strata-pack-nibbles", "mlir::func::FuncOp"> {
  let summary = "Dequantized weights of four bits become words of eight";
  let description = [{
    Of products whose bodies dequantize constant bytes that hold four bits each:
    eight that follow each other along the reduction become one word of 32 bits, and
    one more loop of the reduction counts them. A number of four bits in the last
    places of a float between 2^23 and 2^24 is that number and 2^23; what is taken
    away with 2^23 is the zero point.

    ```mlir
    %0 = arith.sitofp %w : i8 to f32
    ```
    becomes
    ```mlir
    %0 = linalg.index 4 : index
    ...                                       // %shift: four times that
    %1 = arith.shrui %word, %shift : i32
    %2 = arith.andi %1, %c15 : i32
    %3 = arith.ori %2, %c0x4B000000 : i32
    %4 = arith.bitcast %3 : i32 to f32
    %5 = arith.subf %4, %cst : f32            // 8388616.0
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def NarrowWeights : Pass<"strata-narrow-weights", "mlir::func::FuncOp"> {
  let summary = "Weights of f32 that few rows read become f16";
  let description = [{
    Constant matrices that do not fit the nearest cache, in products of fewer than
    16 rows: what takes time is to read them. The data, the products and the sums
    stay f32's. Weights of which an element would become infinite stay as they are,
    and so do those that are computed of several constants.

    ```mlir
    %0 = arith.mulf %x, %w : f32
    ```
    becomes
    ```mlir
    %a = arith.extf %w : f16 to f32
    %0 = arith.mulf %x, %a : f32
    ```
  }];
  let options = targetOptions;
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def UnsignProducts : Pass<"strata-unsign-products", "mlir::func::FuncOp"> {
  let summary = "Signed data of products of bytes becomes unsigned";
  let description = [{
    For vectors that add four products of an unsigned and a signed byte. Data that
    constant signed weights multiply is kept greater by 128, from where it is made,

    ```mlir
    sum_k x[k] w[k] = sum_k (x[k] + 128) w[k] - 128 sum_k w[k]
    ```
    and the last sum, a constant, is added behind the product. Pads, concatenations and
    pools of maxima are of what is kept; what computes elements takes the 128 off.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def WidenProducts : Pass<"strata-widen-products", "mlir::func::FuncOp"> {
  let summary = "Products of 8-bit integers take operands of 16 bits, those of f16 of f32";
  let description = [{
    For vectors that multiply 16-bit integers and f32 only: the operands of matrix
    products and convolutions that many rows share are extended once, not in each
    step of the reduction. The extension of weights is a constant expression, that of
    the data fuses with what makes it, before a padding.

    ```mlir
    %a = arith.extui %x : i8 to i32
    ```
    becomes, of an operand of i16,
    ```mlir
    %a = arith.extsi %x : i16 to i32
    ```
    With `byte-pairs`, products of unsigned data and constant weights of seven bits
    stay as they are, with the attribute `strata.exact_pairs`: vectors add two of
    them in 16 bits.

    Rows of f16 or bf16 that a reduction and something else read, as those of a norm
    or a softmax, are f32 in any case, unless products read them as they are.
  }];
  let options = [
    Option<"bytes", "bytes", "bool", "false", "integers of 8 bits">,
    Option<"bytePairs", "byte-pairs", "bool", "false", "x86 vectors add two products of bytes in 16 bits">,
    Option<"f16", "f16", "bool", "false", "floats of f16">,
    Option<"bf16", "bf16", "bool", "false", "floats of bf16">
  ];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def ChannelsLast : Pass<"strata-channels-last", "mlir::func::FuncOp"> {
  let summary = "Windowed operations compute with channels last, transposes sink";
  let description = [{
    A convolution or pool whose result ends in spatial dimensions is rewritten to
    one that ends in channels, between two transposes. Transposes sink through
    elementwise operations, reductions, pads, slices and concatenations until they
    cancel.

    ```mlir
    %1 = linalg.generic ... (n, f, oh, ow) reads (n, c, oh + kh, ow + kw)
    ```
    becomes
    ```mlir
    %t = linalg.transpose ins(%x) permutation = [0, 2, 3, 1]
    %0 = linalg.generic ... (n, oh, ow, f) reads (n, oh + kh, ow + kw, c)
    %1 = linalg.transpose ins(%0) permutation = [0, 3, 1, 2]
    ```
  }];
  let options = !listconcat(targetOptions, [
    Option<"movesPixels", "moves-pixels", "bool", "false", "windows of one pixel move, too, whatever is around them">
  ]);
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def PlaceParts : Pass<"strata-place-parts", "mlir::func::FuncOp"> {
  let summary = "parts of an image that a transpose would spread over its pixels are inserted there";
  let description = [{
    The channels of a concatenation, or filters of a convolution, become pixels: of two by two there are four parts. What
    is made of each of their elements is made of the parts.

    ```mlir
    %0 = tensor.concat dim(1) %a, %b, %c, %d : ... -> tensor<1x256x8x8xf32>
    %1 = tensor.expand_shape %0 [[0], [1, 2, 3], [4], [5]] ... into tensor<1x2x2x64x8x8xf32>
    %2 = linalg.transpose ins(%1) ... permutation = [0, 3, 4, 1, 5, 2]
    %3 = tensor.collapse_shape %2 [[0], [1], [2, 3], [4, 5]] : ... into tensor<1x64x16x16xf32>
    ```
    becomes
    ```mlir
    %0 = tensor.insert_slice %a into %empty[0, 0, 0, 0] [1, 64, 8, 8] [1, 1, 2, 2]
    %1 = tensor.insert_slice %b into %0[0, 0, 0, 1] [1, 64, 8, 8] [1, 1, 2, 2]
    ...
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::affine::AffineDialect"];
}

def SplitGroups : Pass<"strata-split-groups", "mlir::func::FuncOp"> {
  let summary = "convolutions in few wide groups become one for each group";
  let description = [{
    Constant weights of f32, windows in steps of one pixel, two to sixteen groups of at least 16 channels and filters, or
    thirty-two of 48 channels: each is a convolution that minimal filtering may compute.

    ```mlir
    %1 = linalg.generic ... (n, g, f, oh, ow) reads (n, g, c, oh + kh, ow + kw)
    ```
    becomes
    ```mlir
    %x0 = tensor.extract_slice %x[0, 0, 0, 0] ...
    %0 = linalg.generic ... (n, f, oh, ow) reads (n, c, oh + kh, ow + kw)
    ...
    %1 = tensor.concat dim(1) %0, ...
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"strata-fuse-elementwise"> {
  let summary = "Chains of elementwise operations become one, reshapes move out of them";
  let description = [{
    Upstream's patterns under a rule of our own: a producer is fused if nothing is
    computed twice (its only user reads each of its elements once), or if it
    computes nothing; never into a contraction, whose operands are read many times,
    and never where a body reads tensors by computed positions.

    A conversion to a narrower type of a result that has other readers becomes a
    second result of what computes it.

    Where a reshape splits a dimension into several of unknown sizes, or joins such, upstream's patterns do nothing: what
    a product leads to is computed in the loops of the split result, and what reads joined ones in theirs.
  }];
  let options = [Option<"packsWeights", "packs-weights", "bool", "false",
                        "Weights will be packed by vectors of columns: a reshape does not split a product's columns">];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::affine::AffineDialect"];
}

def PrepareAttention : Pass<"strata-prepare-attention", "mlir::func::FuncOp"> {
  let summary = "Attention reads keys and values that heads share where they lie; a single query has code of its own";
  let description = [{
    Where several heads of Q have the same K and V, exporters repeat those:

        [b, 2, s, d] -> [b, 2, 4, s, d] -> [b, 8, s, d]

    The loop of the heads becomes two, of which K and V have the outer one only, so that nothing is copied, and the
    queries of all heads that share keys are rows of one product.

    A language model reads a prompt with many queries, and then writes with one at a time: where their number is only
    known in the run and the keys are a cache, there is a branch for one query, in which every size is known to be 1 that
    can be. Its products read K as it lies; for many queries, K is transposed first.

    The chain is found by what it computes: two products, and a maximum, exponentials, a sum and weights along the same
    rows between them.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::scf::SCFDialect",
                           "mlir::tensor::TensorDialect"];
}

def PadKeys : Pass<"strata-pad-keys", "mlir::func::FuncOp"> {
  let summary = "Attention with any number of keys takes operands of bf16, and keys in whole blocks";
  let description = [{
    A matrix unit takes blocks of 32 keys; `strata-narrow-products` leaves products of an unknown number of terms alone.
    Where only the run tells the number of keys, or it is a little below a multiple of 32, and many queries use them, K
    and V are filled up with zeros to that multiple, and the scores of what was filled up become -inf, whose
    exponentials are 0:

    ```mlir
    %s = linalg.generic ... ins(%q, %k) -> tensor<?x?xf32>   // q * k
    ```
    becomes
    ```mlir
    %p = tensor.pad %k ... : tensor<?x64xbf16> to tensor<?x64xbf16>
    %s = linalg.generic ... ins(%h, %p) -> tensor<?x?xf32> {strata.padded_keys}
    %m = linalg.generic ... ins(%s, %bound) {                // 0, behind the last key -inf
      linalg.yield (arith.select (arith.cmpf olt %bound, 0.0), %bound, %s)
    }
    ```
    A cache of keys stays as it is: a copy of it, for one query or few, would take longer than their products.
  }];
  let options = targetOptions;
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
                           "mlir::tensor::TensorDialect"];
}

def DeferDivision : Pass<"strata-defer-division", "mlir::func::FuncOp"> {
  let summary = "The division of a softmax in front of a product goes behind the product";
  let description = [{
    softmax(s) * V = (exp(s - max) * V) / sum, where the exponentials and their sum are what the softmax computes. There
    are fewer results than weights, and a product's results are divided while they are in registers; the weights are not
    written at all. If the product reads them in a narrower type, the exponentials are converted, and the sum is that of
    what the product reads.

    As no exponential is larger than 1, and the sum of a row is at least 1, the products are at most as many times larger
    as a row has weights. Weights that are no numbers and become 0 (rows whose scores are all -inf) do so in the results.

    The chain is found by what it computes: two products, and a maximum, exponentials, a sum and weights along the same
    rows between them.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def ReadGathered : Pass<"strata-read-gathered", "mlir::func::FuncOp"> {
  let summary = "Products read gathered matrices where they lie";
  let description = [{
    Of matrices that a gather alone copies for one product, and that are not much
    smaller than the cache: the product becomes a loop over them.

    ```mlir
    %g = linalg.generic ... {  // 2x512x1024, of 8x512x1024
      %e = tensor.extract %ids[%i] : tensor<2xindex>
      %w = tensor.extract %weights[%e, %j, %k]
      linalg.yield %w
    }
    %y = linalg.generic ... ins(%x, %g)
    ```
    becomes
    ```mlir
    %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%sums = %empty) {
      %e = tensor.extract %ids[%i] : tensor<2xindex>
      %w = tensor.extract_slice %weights[%e, 0, 0] [1, 512, 1024] [1, 1, 1]
      %p = linalg.generic ... ins(%x_i, %w)
      %n = tensor.insert_slice %p into %sums[%i, 0]
      scf.yield %n
    }
    ```
  }];
  let options = targetOptions;
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def GroupReductions : Pass<"strata-group-reductions", "mlir::func::FuncOp"> {
  let summary = "Narrow elements of a reduction in groups of 32 bits, as matrix units and dot products take them";
  let description = [{
    The innermost dimension of the reduction of a product with constant weights, or
    with bytes that many rows use, is
    split in two, the inner one as large as 32 bits have elements; filled up with
    zeros to a number that tiles well. `strata-pack-weights` puts the groups last.

    ```mlir
    (m, n, k) -> (m, k), (k, n)
    ```
    becomes, of bf16,
    ```mlir
    (m, n, k, g) -> (m, k, g), (k, g, n)
    ```
  }];
  let options = [
    Option<"bf16", "bf16", "bool", "false", "sums of f32 of products of bf16">,
    Option<"int8", "int8", "bool", "false", "sums of i32 of products of integers of 8 or 16 bits">,
    Option<"tiles", "tiles", "bool", "true", "fill up to whole tiles of a matrix unit, not only to whole groups">
  ];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def Winograd : Pass<"strata-winograd", "mlir::func::FuncOp"> {
  let summary = "convolutions read weights transformed for minimal filtering where it pays";
  let description = [{
    The constant weights g of a convolution of stride 1, with any dilation that is the
    same for rows and columns, become `U = G g G^T`, of Winograd's F(2x2, 3x3) or
    F(4x4, 3x3), in blocks of two vectors of filters. The convolution becomes a sum
    that turns them back, with `P G = 1`:

    ```mlir
    y(n, h, w, f) += x(n, h + kh, w + kw, c) * g(f, c, kh, kw)
    ```
    becomes
    ```mlir
    y(n, h, w, f) += x(n, h + kh, w + kw, c) * (P(kh, i) * (P(kw, j) * U(f floordiv 32, i, j, c, f mod 32)))
    ```
    with the size of the output tiles as `strata.winograd`, and how many products a
    result was the sum of, for the profile, as `strata.products`. By the former
    `strata-emit-kernels` knows it; a compiler that did not would still compute the
    right thing. An estimate of cycles decides, from the sizes, the vector width, the
    multiply-adds that begin in a cycle and the rate at which memory delivers weights.

    Along a dimension in which the window has two taps, they are F(2, 2) or F(4, 2), and
    one in which it has one tap, as 1x3 or 3x1 windows do, is not transformed. A line
    has one dimension only. Longer windows are sums of windows of two or three taps,
    of which a tap that two of them have is the first one's: of five taps in a line

    ```mlir
    y(n, w, f) += x(n, w + kw + 2 * gw, c) * (P(kw, j) * U(f floordiv 32, j, gw, c, f mod 32))
    ```

    Of volumes each slice is an image, and the window's taps from slice to slice, with
    any stride and dilation, are summed as channels are. Slices are those of the
    dimension in which there is least to gain.

    Bytes that `strata-widen-products` has extended to 16 bits are computed by
    F(2x2, 3x3) with matrices of integers, exactly; pairs of channels then lie side by
    side, `U(f floordiv 16, i, j, c, f mod 16, pair)`.
  }];
  let options = targetOptions;
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def PackWeights : Pass<"strata-pack-weights", "mlir::func::FuncOp"> {
  let summary = "Operands of contractions in the order in which they are used";
  let description = [{
    Constant weights become `[.., lanes / block, reduction.., block]`, padded to
    full blocks, read through the map `(.., n floordiv block, k, n mod block)`; the
    packing is a constant expression that `strata-hoist-constants` moves to the
    init function. Another operand whose last dimension is not the lanes' is
    transposed if it is used often enough. Of a convolution in groups of so few
    filters that a vector takes several groups (with `part-loads`), a block is some
    groups with all of their filters.

    ```mlir
    #w = affine_map<(m, n, k) -> (k, n)>
    ```
    becomes, for blocks of 32,
    ```mlir
    #w = affine_map<(m, n, k) -> (n floordiv 32, k, n mod 32)>
    ```
  }];
  let options = targetOptions;
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect"];
}

def CrossProducts : Pass<"strata-cross-products", "mlir::func::FuncOp"> {
  let summary = "Of sums of products of 16-bit integers, half of the multiplications become additions";
  let description = [{
    Two steps of the reduction, one of its first and one of its second half, are one
    product of sums, by Winograd's inner product:

    ```
    a0 w0 + a1 w1 = (a0 + w1) (a1 + w0) - a0 a1 - w0 w1
    ```

    The sums of `a0 a1` and of `w0 w1` are computed once for each row and each lane,
    those of constant weights by the init function, and are what the sums start with.
    For bytes that `strata-widen-products` extended, whose sums need no more than 16
    bits; everything else wraps alike. Only where enough lanes share the sums of a
    row, and with one loop over the reduction beside the groups of
    `strata-group-reductions`.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def HoistConstants : Pass<"strata-hoist-constants", "mlir::ModuleOp"> {
  let summary = "Expressions of weights alone are computed by the init function";
  let description = [{
    The maximal constant expressions of `@main` move to `@init`, which stores them
    in globals of their own; `@main` loads these.

    ```mlir
    %w = ml_program.global_load_const @w : tensor<4x8xf32>
    %t = linalg.transpose ins(%w : tensor<4x8xf32>) ... permutation = [1, 0]
    ```
    becomes
    ```mlir
    %t = ml_program.global_load @computed : tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["mlir::ml_program::MLProgramDialect", "mlir::func::FuncDialect"];
}

def FuseTransposes : Pass<"strata-fuse-transposes", "mlir::func::FuncOp"> {
  let summary = "Convolutions and the transposes of their results become loops over blocks";
  let description = [{
    Where a result has the channels first, the sums of a block of pixels, with what
    is computed of them, lie in a buffer of the block's size, from which they are
    transposed: by upstream's `scf::tileConsumerAndFuseProducersUsingSCF`. Only with
    constant weights that stay in the cache, and not by minimal filtering.

    ```mlir
    %c = linalg.generic ... ins(%x, %w) outs(%zero)  // 1x56x56x64
    %t = linalg.transpose ins(%c) outs(%e) permutation = [0, 3, 1, 2]
    ```
    becomes
    ```mlir
    %t = scf.forall (%i) = (0) to (56) step (8) shared_outs(%o = %e) {
      %rows = tensor.extract_slice %x[0, %i, 0, 0] ...
      ...
    ```
  }];
  let options = targetOptions;
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::tensor::TensorDialect", "mlir::affine::AffineDialect"];
}

def FuseRows : Pass<"strata-fuse-rows", "mlir::func::FuncOp"> {
  let summary = "Operations that share their rows become one loop over rows";
  let description = [{
    A reduction along rows, and what is computed of its operands and results for
    the same rows, elementwise operations, other reductions and products of two
    computed matrices, become one loop over blocks of rows that fit the cache.
    Nothing is computed twice; a tensor that only the members read becomes one of
    a block's size. What the rows of a product of f32 share, and several blocks read,
    is copied in blocks of lanes: in the loop where a part of it serves blocks that
    follow each other (strata-emit-kernels copies it with the first of them), else
    before it. A transpose of such a part is done in the loop, too.

    Upstream's `scf::tileConsumerAndFuseProducersUsingSCF` starts from one
    consumer and clones a producer for each of its uses: a softmax would compute
    its exponentials twice.

    ```mlir
    %m = linalg.generic ... ins(%x) outs(%lowest) // maximum of each row
    %e = linalg.generic ... ins(%x, %m)
    ```
    becomes
    ```mlir
    %e = scf.forall (%i) in (64) shared_outs(%o = %empty) {
      %row = tensor.extract_slice %x[%i, 0] [1, 512] [1, 1]
      ...
    ```
  }];
  let options = targetOptions;
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::scf::SCFDialect", "mlir::affine::AffineDialect"];
}

def PrepareSeam : Pass<"strata-prepare-seam", "mlir::ModuleOp"> {
  let summary = "Tensor operations without a buffer form become linalg and slices";
  let description = [{
    - `tensor.concat` becomes `tensor.insert_slice`s into one destination, and a
      constant `tensor.pad` becomes fills of the border slabs and an insertion of
      the middle, so that producers can write in place;
    - a value that `@main` returns twice is copied;
    - empty and filled tensors get one user each, right before it;
    - literals get their buffers, in the order of the code;
    - tensor arguments of external functions are marked as only read, and those
      of `@main` as not writable, so that bufferisation never writes to them;

    ```mlir
    %0 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    ```
    becomes
    ```mlir
    %e = tensor.empty() : tensor<5xf32>
    %1 = tensor.insert_slice %a into %e[0] [2] [1] : tensor<2xf32> into tensor<5xf32>
    %0 = tensor.insert_slice %b into %1[2] [3] [1] : tensor<3xf32> into tensor<5xf32>
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::arith::ArithDialect", "mlir::affine::AffineDialect",
                           "mlir::bufferization::BufferizationDialect", "mlir::memref::MemRefDialect"];
}

def ConstantsToTable : Pass<"strata-constants-to-table", "mlir::ModuleOp"> {
  let summary = "Weights become slots of the table of constants";
  let description = [{
    Each `ml_program.global` becomes a `memref.global` with the number of its slot
    in the table of constants, each load a `bufferization.to_tensor` of it (which
    is never written in place). The module attribute `strata.constants` says what
    the slots must point to; `value` is the global's attribute, where it has one.

    ```mlir
    ml_program.global private @w(dense_resource<w> : tensor<64xf32>) : tensor<64xf32>
    %0 = ml_program.global_load_const @w : tensor<64xf32>
    ```
    becomes
    ```mlir
    memref.global "private" @w : memref<64xf32> {strata.slot = 0 : i64}
    %m = memref.get_global @w : memref<64xf32>
    %0 = bufferization.to_tensor %m restrict : memref<64xf32>
    ```
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect", "mlir::bufferization::BufferizationDialect"];
}

def LowerAsserts : Pass<"strata-lower-asserts", "mlir::ModuleOp"> {
  let summary = "cf.assert becomes a call of strata_rt_fail";
  let description = [{
    The run ends with the message, preceded by the name of the node where the
    location has one; upstream's lowering would end the process.

    ```mlir
    cf.assert %ok, "index out of range" loc("gather_1")
    ```
    becomes
    ```mlir
    scf.if %not_ok {
      %s = llvm.mlir.addressof @strata_message_0 : !llvm.ptr   // "gather_1: index out of range"
      llvm.call @strata_rt_fail(%s) : (!llvm.ptr) -> ()
    }
    ```
  }];
  let dependentDialects = ["mlir::scf::SCFDialect", "mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

def LowerSCF : Pass<"strata-lower-scf", "mlir::func::FuncOp"> {
  let summary = "scf operations become branches between blocks";
  let description = [{
    Upstream's patterns of convert-scf-to-cf, from the last operation to the
    first, and without the dialect conversion around them. It goes the other
    way, and notes each operation behind each branch as moved: a detector with
    540 assertions in one function takes 1.1 GB and 10 s.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect"];
}

def FreeEarly : Pass<"strata-free-early", "mlir::ModuleOp"> {
  let summary = "Moves each memref.dealloc right behind the last use of its buffer";
  let description = [{
    Upstream's ownership-based deallocation frees at the end of the block, which
    for a network means that all intermediate results live at the same time.

    In the init function, each constant that nothing else reads is given up with
    a call of strata_rt_constant_done, run by run where it is read in contiguous
    runs: weights and their packed form are never in memory as a whole at the
    same time.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect"];
}

def OutlineKernels : Pass<"strata-outline-kernels", "mlir::ModuleOp"> {
  let summary = "Groups of linalg operations on buffers become functions, equal ones one";
  let description = [{
    A reduction goes together with the operation that initialises its accumulator
    and the elementwise operation that is the only reader of its result; the
    buffer between them becomes the kernel's own. Runs right after bufferisation,
    before deallocation: nothing is freed yet. Arguments that are the caller's
    buffers are marked `strata.given`: they begin anywhere, and ours with a line of
    the cache.

    ```mlir
    %t = memref.alloc() : memref<8x8xf32>
    linalg.generic ... outs(%t)            // bias
    linalg.generic ins(%a, %b) outs(%t)    // product
    linalg.generic ins(%t) outs(%o)        // relu
    ```
    becomes
    ```mlir
    call @kernel_0(%a, %b, %bias, %o)
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def EmitKernels : Pass<"strata-emit-kernels", "mlir::func::FuncOp"> {
  let summary = "Kernels become register-tiled vector loops";
  let description = [{
    The linalg operations of a kernel become one nest of loops over strided
    accesses: unit loops dropped, loops that walk memory as one merged, one loop
    in vector lanes, one in rows of registers, accumulators in registers over the
    whole reduction, what is left over in narrower tiles with the same order of
    accumulation. The outer loops become one `scf.parallel` of tasks if there is
    enough work. Of a loop over blocks of rows, what depends on the first rows alone
    is done once for all iterations that have these.

    Upstream's vectoriser works on tensors and per operation; it has no register
    tile over dynamic sizes without masks and does not keep accumulators in
    registers across several reduction loops.
  }];
  let options = !listconcat(targetOptions, [
    Option<"threads", "threads", "bool", "true", "make tasks of the outer loops">
  ]);
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect", "mlir::linalg::LinalgDialect",
                           "mlir::affine::AffineDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::amx::AMXDialect"];
}

def OutlineTasks : Pass<"strata-outline-tasks", "mlir::ModuleOp"> {
  let summary = "One-dimensional scf.parallel becomes a call of strata_rt_parallel_for";
  let description = [{
    The body becomes a function of a range of iterations and a pointer to what it
    captures; the step is the grain.

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%grain) { ... }
    ```
    becomes
    ```mlir
    call @strata_rt_parallel_for(%strata_task_0, 0, %n, %grain, %context)
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::func::FuncDialect",
                           "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def CopiesToLinalg : Pass<"strata-copies-to-linalg", "mlir::func::FuncOp"> {
  let summary = "memref.copy of strided buffers becomes linalg.generic";
  let description = [{
    Upstream lowers a strided `memref.copy` to a call of a library function that
    copies element by element.

    ```mlir
    memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
    ```
    becomes a `linalg.generic` that yields its input.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def ApproximateMath : Pass<"strata-approximate-math", "mlir::ModuleOp"> {
  let summary = "f32 transcendental functions become polynomials";
  let description = [{
    Only where the polynomial is accurate to a few units in the last place over
    the whole range, NaN and infinities included; the others are calls of libm.
    Scalars and vectors get the same polynomial, so that a tail loop computes what
    the vector loop computes. f16 and bf16 are computed in f32. Divisions of vectors
    for which there are no instructions are exact ones in wider types.
  }];
  let options = [
    Option<"powerScaling", "power-scaling", "bool", "false", "x86 vectors of 512 bits multiply by powers of two">,
    Option<"fusedProducts", "fused-products", "bool", "false", "there is an instruction for x y + z">,
    Option<"integerPacks", "integer-packs", "bool", "false", "what x86 converts to i32 it rounds to nearest even">,
    Option<"bf16Dots", "bf16-dots", "bool", "false", "x86 vectors of 512 bits round two of f32 to one of bf16">
  ];
  let dependentDialects = ["mlir::math::MathDialect", "mlir::arith::ArithDialect",
                           "mlir::vector::VectorDialect", "mlir::scf::SCFDialect", "mlir::LLVM::LLVMDialect"];
}

def ConvertToLLVM : Pass<"strata-convert-to-llvm", "mlir::ModuleOp"> {
  let summary = "Everything to the LLVM dialect, allocation by the runtime, entry ABI";
  let description = [{
    Converts func, memref, vector, arith, math, complex, index and cf in one go.
    `memref.alloc` and `memref.dealloc` call `strata_rt_alloc` and
    `strata_rt_free`; the size of a dynamic buffer saturates instead of wrapping
    around. A `memref.get_global` of a slot loads its address from the table
    `NAME_constants`. `@main` and `@init` become internal; `NAME_main` and
    `NAME_init` are made as docs/architecture.md describes.
  }];
  let options = [
    Option<"modelName", "model-name", "std::string", "\"model\"", "prefix of the exported symbols">,
    Option<"vectorBits", "vector-bits", "unsigned", "256", "vector width that LLVM may use freely">
  ];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// The GPU
//===----------------------------------------------------------------------===//

def PlaceBuffers : Pass<"strata-place-buffers", "mlir::ModuleOp"> {
  let summary = "Buffers that kernels use move to device memory";
  let description = [{
    Buffers that may be the same memory are placed together. Calls of kernels that
    the GPU runs get the attribute `strata.launch`; inputs, results and constants
    are copied; operations of the host that look into a device buffer get the
    runtime's copy of it. What stays on the host says why in `strata.on_host`.
    Computations of a few integers that sizes or conditions depend on stay there
    too.

    ```mlir
    call @kernel_0(%arg0, %alloc) : (memref<4xf32>, memref<4xf32>) -> ()
    return %alloc
    ```
    becomes
    ```mlir
    %in = memref.alloc() : memref<4xf32, #gpu.address_space<global>>
    memref.copy %arg0, %in
    call @kernel_0(%in, %alloc) {strata.launch}
    %out = memref.alloc() : memref<4xf32>
    memref.copy %alloc, %out
    return %out
    ```
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::func::FuncDialect",
                           "mlir::linalg::LinalgDialect"];
}

def MapKernels : Pass<"strata-map-kernels", "mlir::ModuleOp"> {
  let summary = "Kernels become functions of the GPU, their calls launches";
  let description = [{
    Each point of a kernel's parallel loops is a thread's; a reduction with few
    points, or one whose elements lie side by side, is shared by several threads
    that combine their parts in shared memory.

    ```mlir
    call @kernel_0(%in, %out) {strata.launch}
    ```
    becomes
    ```mlir
    gpu.launch_func @kernels::@kernel_0 blocks in (%blocks, 1, 1) threads in (256, 1, 1) args(%in, %out)
    ```
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::arith::ArithDialect",
                           "mlir::scf::SCFDialect", "mlir::affine::AffineDialect"];
}

def PlanArena : Pass<"strata-plan-arena", "mlir::ModuleOp"> {
  let summary = "Device buffers of known size share one allocation";
  let description = [{
    Buffers of `@main` that live for a part of its outermost block get places in
    one buffer, which overlap where their lifetimes do not.
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::arith::ArithDialect"];
}

def ExplainPlacement : Pass<"strata-explain-placement", "mlir::ModuleOp"> {
  let summary = "Print what runs on the GPU, what on the host and why, and what is copied";
  let description = [{
    After `strata-map-kernels`; nothing is changed. Nodes are those of the locations. With `strata.nodes`, an array of
    names, those of them that no code is left of are listed, too.

    ```
    what runs where:
      GPU   kernel_0  conv_1, relu_1
      host  kernel_1  gather_1        checks its input, which only the host can report
    copies in each run:
      to the GPU   602112 bytes  input 'x'
      to the host  4000 bytes    result 'y'
    ```
  }];
  let dependentDialects = [];
}

def LowerDeviceMath : Pass<"strata-lower-device-math", "mlir::gpu::GPUModuleOp"> {
  let summary = "Mathematical functions in operations that the GPU has";
  let description = [{
    The same polynomials as the CPU's, and calls of functions of the device
    library for the others; nothing of a vendor's library.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::vector::VectorDialect", "mlir::func::FuncDialect"];
}

def ConvertToNVVM : Pass<"strata-convert-to-nvvm", "mlir::gpu::GPUModuleOp"> {
  let summary = "Functions of the GPU to the LLVM and NVVM dialects";
  let description = [{
    Buffers in device memory are pointers of address space 1, shared ones of 3.
    Mathematical functions with an instruction are LLVM's intrinsics.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def SerializeKernels : Pass<"strata-serialize-kernels", "mlir::ModuleOp"> {
  let summary = "gpu.module in NVVM becomes gpu.binary";
  let description = [{
    LLVM IR for NVPTX, optimised, then PTX, then, where asked for and ptxas is
    found, machine code. A call of a function that nobody defines is an error.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "the GPU">,
    Option<"format", "format", "std::string", "\"auto\"", "auto, ptx, cubin or bitcode">,
    Option<"optLevel", "opt-level", "unsigned", "3", "0 to 3">
  ];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::NVVM::NVVMDialect"];
}

#endif // STRATA_CODEGEN_PASSES
