//===- TileEmitter.h - vector code for one tile of a nest -------*- C++ -*-===//
//
// Every result element is accumulated in the same order whatever tile it falls
// in: remainders are narrower tiles, never another algorithm.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_TILEEMITTER_H
#define STRATA_CODEGEN_TILEEMITTER_H

#include "BodyLoads.h"
#include "ComputedWeights.h"
#include "NestPlan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace strata {

/// Sums and products of indices, with what is known folded.
struct IndexMath {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value index(int64_t number);
  mlir::Value materialize(const Extent &e) { return e.value ? e.value : index(e.known); }
  mlir::Value add(mlir::Value x, mlir::Value y); ///< null is zero
  mlir::Value times(mlir::Value x, const Extent &e);
  /// Of the element of so many bytes that is at `place` of a buffer.
  mlir::Value addressOf(mlir::Value buffer, mlir::Value place, int64_t bytes);
};

/// Values of one tile: numbers of the loops, and how many rows, vectors, lanes.
struct Tile {
  llvm::SmallVector<mlir::Value> at; ///< per loop; null for a reduction not yet entered
  int64_t rows = 1, vectors = 1, lanes = 1;
  int64_t stored = 0; ///< of one vector: so many of the first lanes are another tile's, and are not stored
  /// Of the last vectors, one after the other: only so many of the first lanes are there; 0: all. Numbers that the run
  /// tells may be those of all lanes and more, or none and less.
  llvm::SmallVector<Extent, 0> present;
  int64_t parts = 1;           ///< of the reduction that go side by side (partsAtOnce)
  int64_t step = 0, steps = 1; ///< of the innermost loop of the reduction: which one of how many in an iteration
  int64_t paddedFirst = 0, paddedLast = 0; ///< rows, the first and the last ones, whose step reads padding: none to do
  bool inside = false;                     ///< a full tile of rows that read no padding

  /// How many of the first lanes of vector j are there; 0: all.
  Extent presentOf(int64_t j) const {
    int64_t first = vectors - static_cast<int64_t>(present.size());
    return j < first || j >= vectors ? Extent() : present[j - first];
  }
};

class TileEmitter : public IndexMath {
public:
  TileEmitter(mlir::OpBuilder &b, mlir::Location loc, LoopNest &nest, const NestPlan &plan, const TargetFacts &target)
      : IndexMath{b, loc}, nest(nest), plan(plan), target(target) {}

  /// Initialisation, reduction and consumer of all elements of the tile.
  void emit(const Tile &tile);
  /// Initialisation and consumer of a tile of one vector, whose reduction comes to `sum`.
  void emitSum(const Tile &tile, mlir::Value sum);

  /// Blocks on a matrix unit (BlockTiles.cpp): what their tiles use, at a place before them that every thread passes
  /// for itself; the codes of 16 lanes, for all rows that come behind. None: the nest is none of these.
  mlir::Value prepareBlocks();
  void fillCodes(const Tile &tile);

  /// Stores what the body of the reduction makes of its inputs, for all of the reduction and the tile's lanes.
  void fillPanel(const Tile &tile, const ComputedWeights &weights, const Access &panel, int pair);

  /// Copies the bytes of a full tile, or as many as are left (RunCopies.cpp).
  void copyRun(const Tile &tile);

  /// Offset plus the parallel (or the reduction) loops' share.
  mlir::Value position(const Access &access, const Tile &tile, bool reduction);

  /// Where the block begins that follows the one at `base`, or the last one; null where there is only one.
  mlir::Value nextBlock(const Access &access, mlir::Value base);
  int64_t lineElements(const Access &access) const;
  void prefetchLines(const Access &access, mlir::Value at, int64_t elements, int localityHint, bool isWrite = false);
  /// What the stages before and behind the reduction read and write of so many lanes of a row.
  void prefetchResults(const Tile &row, int64_t lanes);
  /// Whether so many elements are in memory rather than in the caches; whether the first level has room for them beside
  /// others.
  bool areFar(const Access &access, int64_t elements) const;
  bool areNear(const Access &access, int64_t elements) const;

  /// From where to where a loop of the reduction goes: past the taps that lie in the padding at this position, or, of
  /// the row loop's positions, at all rows of the tile.
  std::pair<mlir::Value, mlir::Value> rangeOf(int loop, const Tile &tile);

  /// The loops of the reduction but the lanes and the window: in the order in which the data lies, the same for every
  /// tile.
  llvm::SmallVector<int> reductionOrder();

  /// Whether the last stage's operations wait for one another so long that several elements are computed side by side.
  bool isLastStageLong() const;

  /// Whether tiles come to their results row after row, in a loop, for which `sums` has room for a tile's sums.
  bool finishesInLoop() const;

  /// What the reduction adds to element (i, j) of a tile, where a matrix unit computes it.
  std::function<mlir::Value(const Tile &, int64_t i, int64_t j)> product;

  /// What `emit` emits: all, or one part, where `sums` has the accumulators between them, those of lane `firstSum`
  /// first; the reduction then goes from `depth.first` to `depth.second`.
  enum class Part { All, Start, Accumulate, Finish } part = Part::All;
  mlir::Value sums, firstSum;
  std::pair<mlir::Value, mlir::Value> depth;

  /// The number of a tile whose rows are a share of an unknown number of rows; null elsewhere.
  mlir::Value rowNumber;

  /// Where a tile's vectors of input `copied` go, too, as it reads them: null is nowhere.
  const Access *copy = nullptr;

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// What was loaded, by access and element of the tile.
  using Loaded = llvm::DenseMap<std::pair<const Access *, int64_t>, mlir::Value>;

  LoopNest &nest;
  const NestPlan &plan;
  const TargetFacts &target;

  // Accesses.
  mlir::Value elementAt(const Access &access, mlir::Value base, const Tile &tile, int64_t i, int64_t j);
  mlir::Value asBits(mlir::Value vector);
  mlir::Value fromBits(mlir::Value bits, mlir::VectorType type);
  mlir::Value loadApart(mlir::VectorType type, mlir::Value buffer, mlir::Value at, int64_t step, const Extent &present);
  void storeFirst(mlir::Value vector, const Access &access, mlir::Value at, mlir::Value count);
  void prefetchVector(const Access &access, mlir::Value at, mlir::Value distance, int64_t lanes, int64_t j,
                      bool isWrite);
  void prefetchAhead(const Access &access, mlir::Value at, int64_t lanes, int64_t j, bool isWrite);
  mlir::Value load(const Access &access, mlir::Value base, const Tile &tile, int64_t i, int64_t j);
  bool prefetchNext(const Access &access, mlir::Value base, const Tile &tile);
  int64_t spanOf(const Access &access) const;
  bool comesFromFar(const Access &access) const;
  bool hasShortLines(const Tile &tile) const;
  std::optional<int64_t> nextLine(const Access &access);
  void prefetchNextLine(const Access &data, mlir::Value base, const Tile &tile);
  bool readsFarLanesOnce(const Access &access, const Tile &tile) const;
  uint64_t bytesOfLanes(const Access &access, llvm::ArrayRef<int> loops) const;
  void askForNextLanes(const Access &access, mlir::Value at, const Tile &tile);
  void prefetchNextTile(const Access &access, mlir::Value at, const Tile &tile, int64_t j, bool isWrite);
  void prefetchRows(const Access &access, mlir::Value base, const Tile &tile);
  void prefetchNear(const Access &access, mlir::Value at, const Extent &step, const Tile &tile,
                    bool fromMemory = false);
  void prefetch(const Access &access, mlir::Value base, mlir::Value at, const Tile &tile);
  void storeCopy(const Access &access, Tile tile, Loaded &loaded);
  bool roundsInPairs(const Access &access, const Tile &tile, int64_t j, mlir::Value value);
  void store(const Access &access, mlir::Value base, const Tile &tile, int64_t i, int64_t j, mlir::Value value);
  mlir::Value loadOfGroups(const Access &access, mlir::Value at, int64_t lanes, int64_t unit);
  bool isTransposed(const Access &access, const Tile &tile);
  mlir::Value maskOf(int64_t lanes, const Extent &count);
  mlir::Value loadPart(mlir::VectorType type, mlir::Value buffer, mlir::Value at, const Extent &present);
  Values loadPartsTransposed(const Access &access, mlir::Value base, const Tile &tile, int64_t j);
  Values loadTransposed(const Access &access, mlir::Value base, const Tile &tile, int64_t j);
  mlir::Value spread(mlir::Value value, int64_t lanes);
  Values basesOf(Stage &stage, const Tile &tile);
  std::pair<const Access *, int64_t> keyOf(const Access &access, int64_t i, int64_t j);
  Values inputsOf(Stage &stage, llvm::ArrayRef<mlir::Value> bases, const Tile &tile, int64_t i, int64_t j,
                  Loaded &cache, mlir::Value carried);

  // Bodies.
  mlir::Value startOfRun(Tile tile, mlir::memref::LoadOp load);
  mlir::Value numberOf(Stage &stage, mlir::linalg::IndexOp number, const Tile &tile, int64_t i, int64_t j);
  mlir::Value roundGroup(mlir::Value group, mlir::arith::TruncFOp rounding);
  mlir::Value isSet(mlir::Value bytes);
  LanesLoads bodyLoads; ///< of the stages whose bodies have been computed
  mlir::Value loadInBody(Stage &stage, mlir::memref::LoadOp load, const mlir::IRMapping &mapping, int64_t lanes);
  mlir::Value gather(mlir::Value buffer, mlir::Type element, llvm::ArrayRef<mlir::Value> indices, int64_t lanes);
  Values body(Stage &stage, llvm::ArrayRef<mlir::Value> arguments, const Tile &tile, int64_t i, int64_t j, bool fuse);
  /// An element of a tile, what its body's arguments are, and what it gives.
  struct Element {
    int64_t i, j;
    Values values;
  };
  void operation(Stage &stage, mlir::Operation &op, mlir::IRMapping &mapping, const Tile &tile, int64_t i, int64_t j,
                 bool fuse);
  /// The bodies of several elements side by side, operation by operation.
  void bodies(Stage &stage, llvm::MutableArrayRef<Element> elements, const Tile &tile, bool fuse);

  // Reductions: accumulators[output][row * vectors + vector].
  using Accumulators = llvm::SmallVector<Values>;
  using Inner = llvm::function_ref<Values(const Tile &, Values)>;
  Accumulators initial(const Tile &tile, Loaded &cache);
  mlir::Value loadSum(mlir::Value buffer, mlir::Value at, int64_t lanes);
  void storeSum(mlir::Value sum, mlir::Value buffer, mlir::Value at);
  Accumulators loadSums(const Tile &tile);
  void storeSums(const Tile &tile, const Accumulators &accumulators);
  int64_t stepsAtOnce(const Tile &tile);
  int64_t partsAtOnce(const Tile &tile);
  int64_t sumsOfEach(int64_t points, int64_t steps);
  int64_t sumsOfEach(const Tile &tile);
  void joinSums(Values &sums, int64_t elements);
  const PaddedLoop *paddedRowsOf(int tap, const Tile &tile);
  /// A sum to which its terms are added one by one loses digits where they are equal: of 20,000, four of seven. So many
  /// at most go to one before it is added to a sum of sums.
  static constexpr int64_t kTermsInOrder = 128;
  bool isPlainSum(const Stage &stage);
  Values zerosOf(mlir::ValueRange sums);
  Values addSums(mlir::ValueRange before, Values sums);
  bool sumsInParts(llvm::ArrayRef<int> order);
  using Round = llvm::function_ref<Values(mlir::Value, Values)>;
  Values rounds(mlir::Value from, mlir::Value to, int64_t step, Values values, Round round);
  Values roundsInParts(mlir::Value from, mlir::Value to, int64_t step, Values sums, Round round);
  Values reduceLoops(Tile tile, llvm::ArrayRef<int> order, Values carried, Inner inner);
  Values reduceLanes(const Tile &outer, Values carried);
  bool mayMaskLanes();
  mlir::Value reduceVector(mlir::Value vector);
  Values reduceRowsToOnes(const Tile &tile, llvm::ArrayRef<mlir::Value> starts);
  Values reduceTile(const Tile &tile, Values carried);
  Values reduceScaled(const Tile &tile, Values carried);
  /// A row that reads `place` of an access at a tap of the window.
  struct Use {
    int64_t place, row, tap;
  };
  llvm::SmallVector<Use> windowUses(const Access &access, const Tile &tile);
  Values reduceWindow(const Tile &tile, llvm::ArrayRef<mlir::Value> bases, Values values);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value sum);
  Values asVectors(Values sums, const Tile &tile);
  Values asNumbers(Values sums, const Tile &tile);
  Values reduceDots(const Tile &whole, Values start);
  Values reduceBlocks(const Tile &tile, Values start);
  Values reduceBlocksOnUnit(const Tile &tile, Values sums);
  mlir::Value codesOf(const Tile &block);
  mlir::Value unitRows, unitRows16; ///< of a tile, as index and i16
  mlir::Value unitCodes, unitSums;  ///< buffers
  /// What the sums of a block's integers begin with, by row, and what they come to: scaled, added to `sums`. The codes
  /// are those of the operation less `moved`.
  Values startOfBlock(const Tile &block, llvm::ArrayRef<mlir::Value> bases, int64_t moved);
  Values addBlock(const Tile &block, llvm::ArrayRef<mlir::Value> bases, llvm::ArrayRef<mlir::Value> integers,
                  Values sums, int64_t moved);
  mlir::Value numberAt(const Access &access, mlir::Value base, const Tile &tile, int64_t i, mlir::Type element);
  mlir::Value vectorAt(const Access &access, mlir::Value base, const Tile &tile, int64_t j);
  Values reduceCrossed(const Tile &whole, Values start);
  void storeAccumulators(const Tile &tile, const Accumulators &accumulators);
  void reduceResults(const Tile &tile, llvm::ArrayRef<mlir::Value> results, int64_t i, int64_t j, Values &parts);
  void storeInterleaved(const Access &access, mlir::Value base, const Tile &tile, int64_t j, Values rows);
  /// The processor finds work in the operations of so many elements, if they are near.
  int64_t elementsTogether() const { return target.registers / 8; }
  void consumeInLoop(const Tile &tile, llvm::ArrayRef<mlir::Value> accumulators);
  void consume(const Tile &tile, const Accumulators &accumulators, Loaded &cache);
};

} // namespace strata

#endif // STRATA_CODEGEN_TILEEMITTER_H
