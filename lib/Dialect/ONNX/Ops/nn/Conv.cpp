//===- Conv.cpp - convolution ---------------------------------------------===//

#include "../Convolve.h"
#include "../Dequantized.h"
#include <cmath>

static LogicalResult inferConv(ShapeContext &c) {
  if (failed(checkConvolution(c)))
    return failure();
  std::optional<Shape> x = c.shape(0), w = c.shape(1), known = x ? x : w;
  if (!known)
    return success();
  int64_t group = c.integer("group", 1);
  if (w) {
    const Dim &filters = (*w)[0], &channels = (*w)[1];
    if (filters.isStatic() && filters.size % group != 0)
      return c.emitError() << "has " << filters.size << " filters, which do not divide into " << group << " groups";
    if (x && channels.isStatic() && (*x)[1].isStatic() && (*x)[1].size != channels.size * group)
      return c.emitError() << "'X' has " << (*x)[1].size << " channels, but " << group << " groups of filters read "
                           << channels.size << " each";
    if (failed(checkBias(c, filters)))
      return failure();
  }
  std::optional<SmallVector<int64_t>> kernel = getKernel(c.getOperation(), w);
  if (kernel && failed(checkKernel(c, *kernel, known->size())))
    return failure();
  Shape result(known->size());
  if (x)
    result[0] = (*x)[0];
  if (w)
    result[1] = (*w)[0];
  if (kernel) {
    FailureOr<Windows> windows = Windows::get(c.getOperation(), *kernel);
    if (failed(windows))
      return failure();
    if (x)
      for (int64_t i = 0; i < windows->rank(); ++i) {
        result[2 + i] = windows->outSize((*x)[2 + i], i);
        if ((*x)[2 + i].isStatic() && result[2 + i].is(0) && !(*x)[2 + i].is(0))
          return c.emitError() << "the kernel covers " << windows->extent(i) << " positions of dimension " << 2 + i
                               << ", which has only " << (*x)[2 + i].size + windows->low[i] + windows->high[i]
                               << " with its padding";
      }
  }
  c.setShape(0, result);
  return success();
}

// Of dequantized data and filters.
static FailureOr<SmallVector<Value>> lowerDequantized(ConvOp op, const DequantizedProduct &product, LinalgBuilder &b) {
  Composer k(op, b);
  Value sum = product.multiply<ConvIntegerOp>(k, 1, getWindowAttributes(op));
  if (Value bias = getFormalInput(op, 2); bias && sum)
    sum = k.make<AddOp>({sum, k.alongAxis(k.cast(bias, b.getF32Type()), 1, getRank(sum))}, b.getF32Type());
  return k.lowerRounded(sum);
}

// Whether zeros times the elements are zeros.
static bool isFinite(Value weights) {
  std::optional<SmallVector<double>> elements = getFloats(getConstant(weights));
  return elements && llvm::all_of(*elements, [](double x) { return std::isfinite(x); });
}

// Rows, columns, ... of the kernel that lie in the padding at every position add nothing: with the large dilations of
// segmentation networks most of them. What is left reads a part of the data with less padding.
static void leaveOutPadding(ConvOp conv, LinalgBuilder &b, Value &x, Value &w, Windows &windows) {
  std::optional<Shape> shape = getShape(conv.getX().getType());
  int64_t rank = windows.rank();
  Windows left = windows;
  Sizes from(2, b.getIndexAttr(0)), sizes{b.dim(x, 0), b.dim(x, 1)}, kernelFrom = from,
                                                                     kernelSizes{b.dim(w, 0), b.dim(w, 1)};
  bool some = false;
  for (int64_t i = 0; i < rank; ++i) {
    Dim in = (*shape)[2 + i], out = windows.outSize(in, i);
    if (windows.isSame() || !in.isStatic() || !out.isStatic() || in.size == 0 || out.size < 1)
      return;
    int64_t stride = windows.strides[i], dilation = windows.dilations[i], low = windows.low[i];
    int64_t first = windows.kernel[i], last = -1;
    for (int64_t k = 0; k < windows.kernel[i]; ++k) {
      // The first position at which the element is behind the padding in front, if it is not behind the data then.
      int64_t o = std::max<int64_t>(0, llvm::divideCeilSigned(low - k * dilation, stride));
      if (o < out.size && o * stride + k * dilation - low < in.size) {
        first = std::min(first, k);
        last = k;
      }
    }
    if (last < 0)
      return;
    some |= last - first + 1 < windows.kernel[i];
    left.kernel[i] = last - first + 1;
    int64_t begin = first * dilation - low, end = begin + (out.size - 1) * stride + left.extent(i);
    left.low[i] = std::max<int64_t>(0, -begin);
    left.high[i] = std::max<int64_t>(0, end - in.size);
    begin = std::max<int64_t>(0, begin);
    from.push_back(b.getIndexAttr(begin));
    sizes.push_back(b.getIndexAttr(std::min(end, in.size) - begin));
    kernelFrom.push_back(b.getIndexAttr(first));
    kernelSizes.push_back(b.getIndexAttr(left.kernel[i]));
  }
  if (!some || !isFinite(conv.getW()))
    return;
  x = b.slice(x, from, sizes);
  w = b.slice(w, kernelFrom, kernelSizes);
  windows = left;
}

static FailureOr<SmallVector<Value>> lowerConv(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto conv = cast<ConvOp>(op);
  if (auto w = dyn_cast<RankedTensorType>(conv.getW().getType()); w && w.hasStaticShape() && w.getNumElements() > 0)
    if (auto product = DequantizedProduct::match(conv.getX(), conv.getW(), 0, w.getNumElements() / w.getDimSize(0)))
      return lowerDequantized(conv, *product, b);
  Value x = operands[0], w = operands[1], bias = b.operand(2);
  FailureOr<SmallVector<int64_t>> kernel = requireKernel(op, b);
  if (failed(kernel))
    return failure();
  FailureOr<Windows> windows = Windows::get(op, *kernel);
  if (failed(windows))
    return failure();
  int64_t group = conv.getGroup();
  Type element = getElementType(conv.getY());
  b.checkEqual(b.dim(x, 1), b.mul(b.dim(w, 1), b.getIndexAttr(group)), "the filters do not fit the number of channels");
  leaveOutPadding(conv, b, x, w, *windows);
  auto [padded, sizes] = padWindows(b, x, w, *windows, b.scalar(getSeamElementType(element), 0));
  Value sum = convolve(b, padded, w, *windows, group, sizes, element);
  return SmallVector<Value>{addChannelBias(b, sum, bias, element)};
}

STRATA_SLICE(Conv) { ops.add("Conv", {.inferShapes = inferConv, .lower = lowerConv}); }
