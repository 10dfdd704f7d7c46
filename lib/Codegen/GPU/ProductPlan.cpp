//===- ProductPlan.cpp - how a GPU computes a sum of products -------------===//
#include "ProductPlan.h"
#include "DeviceMemory.h"
#include "ThreadNest.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

static constexpr const char kTile[] = "strata.tile";
static constexpr llvm::StringLiteral kBy[] = {"threads", "warps", "warpgroups"};

StringRef strata::nameOf(TileChoice::By by) { return kBy[by]; }

std::optional<TileChoice::By> strata::parseTileBy(StringRef name) {
  for (auto [i, known] : llvm::enumerate(kBy))
    if (name == known)
      return static_cast<TileChoice::By>(i);
  return std::nullopt;
}

void strata::setTileChoice(linalg::GenericOp reduction, const TileChoice &choice) {
  Builder b(reduction.getContext());
  SmallVector<Attribute> values{b.getStringAttr(nameOf(choice.by))};
  for (int64_t number : choice.numbers())
    values.push_back(b.getI64IntegerAttr(number));
  reduction->setAttr(kTile, b.getArrayAttr(values));
}

static std::optional<TileChoice> getTileChoice(linalg::GenericOp reduction) {
  auto values = reduction->getAttrOfType<ArrayAttr>(kTile);
  auto name = values && values.size() == 7 ? dyn_cast<StringAttr>(values[0]) : StringAttr();
  std::optional<TileChoice::By> by = name ? parseTileBy(name.getValue()) : std::nullopt;
  if (!by)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (Attribute value : values.getValue().drop_front()) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (!number || !number.getType().isSignlessInteger(64))
      return std::nullopt;
    numbers.push_back(number.getInt());
  }
  return TileChoice::of(*by, numbers);
}

namespace {
/// What plans depend on beside the nest.
struct Device {
  bool nvidia, tf32;
  bool warpgroups; ///< what 'a' adds is of this GPU alone
  /// That a block may ask for: every GPU from sm_80 on has so much, which run what is compiled for an earlier one.
  int64_t sharedBytes;

  Device(StringRef chip, bool tf32)
      : nvidia(!chip.starts_with("gfx")), tf32(tf32), warpgroups(chip == "sm_90a"),
        sharedBytes(warpgroups ? 227 << 10 : 99 << 10) {}
};
} // namespace

static ProductPlan planByHeuristic(OpBuilder &b, Location loc, LoopNest &nest, const Device &device) {
  ProductPlan plan;
  if (device.warpgroups)
    plan.warpgroups = planWarpgroups(b, loc, nest, device.tf32);
  if (!plan.warpgroups)
    plan.tile = chooseTile(nest, device.nvidia, device.tf32);
  return plan;
}

/// No plan where the choice is not possible.
static ProductPlan planByChoice(OpBuilder &b, Location loc, LoopNest &nest, const Device &device,
                                const TileChoice &choice) {
  ProductPlan plan;
  if (choice.by == TileChoice::Warpgroups) {
    if (device.warpgroups)
      plan.warpgroups = planWarpgroups(b, loc, nest, device.tf32, &choice);
    return plan;
  }
  plan.tile = takeTile(nest, device.nvidia, device.tf32, device.sharedBytes, choice);
  // Bulk copies round f32 otherwise than warps do: which of them does it is not a matter of speed.
  if (plan.tile && plan.tile->matrix && plan.tile->matrix->element.isF32() && device.warpgroups &&
      planWarpgroups(b, loc, nest, device.tf32))
    plan.tile.reset();
  return plan;
}

ProductPlan strata::planProduct(OpBuilder &b, Location loc, LoopNest &nest, StringRef chip, bool tf32) {
  Device device(chip, tf32);
  linalg::GenericOp reduction = nest.reduce ? nest.reduce->op : linalg::GenericOp();
  if (reduction && reduction->hasAttr(kTile)) {
    std::optional<TileChoice> choice = getTileChoice(reduction);
    ProductPlan plan = choice ? planByChoice(b, loc, nest, device, *choice) : ProductPlan();
    if (plan.isTiled())
      return plan;
    reduction.emitWarning("the tile that was chosen is not possible on this target");
  }
  return planByHeuristic(b, loc, nest, device);
}

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

/// Tiles of other sides, with parts as they are or of other shapes, of more or fewer steps and stages. Not all are
/// possible.
static SmallVector<TileChoice> neighboursOf(const TileChoice &now) {
  SmallVector<TileChoice> result;
  auto add = [&](int64_t rows, int64_t columns, int64_t partRows, int64_t partColumns, int64_t depth, int64_t stages) {
    result.push_back({now.by, rows, columns, partRows, partColumns, depth, stages});
  };
  if (now.by == TileChoice::Warpgroups) {
    for (const WarpgroupTile &tile : kWarpgroupTiles)
      add(tile.rows, tile.columns, tile.partRows(), tile.columns, now.depth, 0);
    for (int64_t depth : {now.depth * 2, now.depth / 2})
      add(now.rows, now.columns, now.partRows, now.partColumns, depth, 0);
    add(now.rows, now.columns, now.partRows, now.partColumns, now.depth, now.stages / 2);
    return result;
  }
  // Sides by sides, then what a part of the same tile is.
  for (auto [down, across] : {std::pair(0, 1), {1, 0}, {0, -1}, {-1, 0}, {1, -1}, {-1, 1}, {1, 1}, {-1, -1}}) {
    auto scaled = [](int64_t size, int by) { return by > 0 ? size * 2 : by < 0 ? size / 2 : size; };
    int64_t rows = scaled(now.rows, down), columns = scaled(now.columns, across);
    // Of tensor cores the tile has other numbers of parts, else a thread another part.
    if (now.by == TileChoice::Warps)
      add(rows, columns, std::min(now.partRows, rows), std::min(now.partColumns, columns), now.depth, 0);
    else
      add(rows, columns, scaled(now.partRows, down), scaled(now.partColumns, across), now.depth, 0);
  }
  for (auto [rows, columns] : {std::pair(64, 32), {32, 64}, {32, 32}, {64, 64}, {4, 4}, {8, 4}, {4, 8}, {8, 8}})
    if ((rows >= 16) == (now.by == TileChoice::Warps))
      add(now.rows, now.columns, rows, columns, now.depth, now.stages);
  for (int64_t depth : {now.depth * 2, now.depth / 2})
    add(now.rows, now.columns, now.partRows, now.partColumns, depth, 0);
  for (int64_t stages : {now.stages + 1, now.stages + 2, now.stages - 1})
    add(now.rows, now.columns, now.partRows, now.partColumns, now.depth, stages);
  return result;
}

std::optional<TunableProduct> strata::findTunableProduct(func::FuncOp kernel, StringRef chip, bool tf32) {
  // Below, what starting a kernel costs is as much as what a tile may gain.
  constexpr double leastWork = 1 << 20;
  auto isKnown = [](Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    return buffer && buffer.hasStaticShape() && buffer.getElementType().isIntOrFloat();
  };
  // What bodies load lies at computed places, and random numbers are none.
  bool loads = kernel.walk([](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (loads || kernel.isExternal() || !llvm::all_of(kernel.getArgumentTypes(), isKnown) || whyNotOnDevice(kernel) ||
      !kernel.getOps<scf::ForallOp>().empty())
    return std::nullopt;
  // Of a copy: to see a nest leaves operations behind.
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(kernel.getLoc()));
  IRMapping mapping;
  auto copy = cast<func::FuncOp>(kernel->clone(mapping));
  scratch->push_back(copy);
  SmallVector<linalg::GenericOp> ops(copy.getOps<linalg::GenericOp>());
  if (llvm::none_of(ops, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; }))
    return std::nullopt;
  OpBuilder b(copy.getBody().front().getTerminator());
  Location loc = kernel.getLoc();
  LoopNest nest = buildDeviceNest(b, ops);
  if (!nest.reduce)
    return std::nullopt;
  TunableProduct product;
  product.work = 1;
  for (const Loop &loop : nest.loops) {
    if (!loop.size.isKnown())
      return std::nullopt;
    product.work *= static_cast<double>(loop.size.known);
  }
  if (product.work < leastWork)
    return std::nullopt;
  ProductPlan plan = planProduct(b, loc, nest, chip, tf32);
  if (!plan.isTiled())
    return std::nullopt;
  product.choice = plan.choice();
  Device device(chip, tf32);
  auto addIfPossible = [&](const TileChoice &choice) {
    ProductPlan other = planByChoice(b, loc, nest, device, choice);
    if (!other.isTiled())
      return;
    TileChoice made = other.choice();
    if (!(made == product.choice) && !llvm::is_contained(product.alternatives, made))
      product.alternatives.push_back(made);
  };
  for (const TileChoice &choice : neighboursOf(product.choice))
    addIfPossible(choice);
  // What small products may take less time with.
  if (plan.warpgroups)
    if (std::optional<ContractionTile> byWarps = chooseTile(nest, device.nvidia, tf32))
      addIfPossible(byWarps->choice());
  for (Operation &op : kernel.getBody().front())
    if (mapping.lookupOrNull(&op) == nest.reduce->op)
      product.reduction = cast<linalg::GenericOp>(op);
  return product;
}

static func::FuncOp declareCall(ModuleOp module, StringRef role, TypeRange results) {
  std::string name = ("strata_gpu_" + role + "_0").str();
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder top(module.getBodyRegion());
  auto function = top.create<func::FuncOp>(module.getLoc(), name, top.getFunctionType({}, results));
  function.setPrivate();
  function->setAttr(kDeviceCall, top.getStringAttr(role));
  return function;
}

func::FuncOp strata::declareTimerStart(ModuleOp module) { return declareCall(module, "timer_start", {}); }
func::FuncOp strata::declareTimerStop(ModuleOp module) {
  return declareCall(module, "timer_stop", IntegerType::get(module.getContext(), 64));
}
