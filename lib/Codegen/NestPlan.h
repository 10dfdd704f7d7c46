//===- NestPlan.h - which loops are lanes and rows --------------*- C++ -*-===//
//
// One loop gets the vector lanes (`lane`), another one several iterations at
// once in registers (`row`). Where a parallel loop walks the results contiguously
// it is the lane loop, and every accumulator lives in a register for the whole
// reduction: matrix products, convolutions, pooling, sums over outer dimensions,
// elementwise operations. Otherwise the lane loop is a reduction: several vector
// accumulators, combined at the end.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_NESTPLAN_H
#define STRATA_CODEGEN_NESTPLAN_H

#include "BlockDots.h"
#include "LinalgQueries.h"
#include "LoopNest.h"

#include "Codegen/PlanChoice.h"
#include "Codegen/Target.h"

namespace strata {

/// What a matrix unit is configured for: rows of the data and the sums (0: as many as the run says), and groups of the
/// reduction.
struct TileShape {
  int64_t rows, depth;
  bool operator==(const TileShape &other) const { return rows == other.rows && depth == other.depth; }
};

struct NestOptions : TargetFacts {
  bool threads = true;
  /// Nanoseconds of work below which a second thread does not pay, and which one task should have at least. Opening a
  /// parallel region costs about one microsecond while the workers are awake, which they are between the operations of
  /// a network; and what one thread alone computes has to be fetched from its core's cache by the others.
  int64_t parallelNs = 5000, taskNs = 2000;
  /// Of a tile.
  int64_t mostRows = INT64_MAX;
  /// What is stored is read again at once, which waits for parts of vectors until they have reached the cache.
  bool isReadAtOnce = false;
  /// Of all nests of the function that a matrix unit computes.
  std::optional<TileShape> tiles = {};
};

/// A reduction that a matrix unit computes: sums of up to 16 rows and 16 lanes, of up to 16 groups of the reduction at
/// once.
struct MatrixPlan {
  unsigned data, weights;   ///< inputs of the reduction
  int group, depth;         ///< loops of the reduction: the elements of 32 bits; the groups
  int64_t depthStep;        ///< groups of one tile
  Extent rows;              ///< of one tile; the row loop's iterations if they are less than 16
  int64_t rowTiles;         ///< at once
  int second = -1;          ///< the loop that they are iterations of, where it is not the row loop
  Extent pitch;             ///< rows from one iteration of `second` to the next, where tiles run across its borders
  Extent rowsAcross;        ///< then, of all its iterations
  int64_t rowBlock = 0;     ///< rows whose data stays in the cache for all weights; 0: all
  mlir::StringRef multiply; ///< the instruction

  bool runsAcross() const { return !pitch.is(0); }
  /// Whether tiles that go together follow each other along the row loop.
  bool inARow() const { return second < 0 || runsAcross(); }
};

/// A reduction of narrow elements in groups of 32 bits, whose products vectors add within each lane.
struct DotPlan {
  unsigned data, weights; ///< inputs of the reduction
  int group;              ///< its loop over the elements of 32 bits
  int64_t groupSize;      ///< how many these are
  bool isUnsigned[2];     ///< by input
  bool bytes;             ///< by instructions that take bytes, one unsigned and one signed; else in pairs
  bool floats;            ///< of bf16; else of i16
  bool inPairs = false;   ///< of bytes, first added in pairs of 16 bits: `strata.exact_pairs`
  /// Products of sums (CrossProducts.h): `data` and `weights` are what one factor adds, these what the other one does.
  std::optional<std::pair<unsigned, unsigned>> other{};
};

/// Sums of products of bytes for each block of the reduction, scaled and added as floats.
struct BlockPlan {
  BlockDots dots;
  llvm::SmallVector<int> outer; ///< loops over blocks
  int word, term;               ///< loops over a block's words (-1: it has one), and over the terms of one
  int64_t unitBytes = 0;        ///< of a block, if a matrix unit adds its products; 0: vectors do
};

/// Of so few rows vectors add the products of blocks as fast as a matrix unit.
constexpr int64_t kFewRowsOfBlocks = 4;

/// So many rows of a tile, at most, have sums for each block.
constexpr int64_t kScaledRows = 2;

/// So many rows of a known number are better than an unknown number of them, which may be a single one.
constexpr int64_t kSomeRows = 4;

/// So many tiles of rows make the copy of a block of lanes cost little.
constexpr int64_t kTilesForCopy = 8;

/// There is code for each number of rows that one of even tiles may have.
constexpr int64_t kEvenTiles = 8;

/// Of windows over an unknown number of rows a tile has so many, or twice as many.
constexpr int64_t kWindowRows = 8;

/// Weights that the body makes (ComputedWeights.h), the last thing a factor for each block of the reduction: it comes
/// out of the block's sum.
struct ScaledPlan {
  ComputedWeights weights;
  mlir::Value unscaled;         ///< of the body
  unsigned scale;               ///< an input
  llvm::SmallVector<int> outer; ///< loops over blocks, outside of all others; of one block none
};

struct NestPlan {
  int lane = -1, row = -1; ///< loops; -1: none
  bool laneIsReduction = false;
  std::optional<Combiner> combiner;
  int64_t width = 1;                   ///< lanes of a full vector
  int64_t rowTile = 1, vectorTile = 1; ///< of a full tile
  bool evenRows = false;               ///< tiles of rowTile rows and of less, by one row where their number is known
  int64_t leastRows = 1;               ///< of a tile, where their number is not
  bool laneOutermost = false;          ///< vectors of weights outside of the rows
  bool weightsStay = false;            ///< all weights stay in the cache: nothing need come first for their sake
  int64_t rowBlock = 0;                ///< rows whose data stays in the cache for all weights; 0: all
  std::pair<int, int64_t> outerBlock{-1, 0}; ///< as rowBlock, of a loop around the rows: the loop, its iterations
  llvm::SmallVector<int> aroundBlocks;       ///< loops around such a block
  int64_t laneBlock = 0;        ///< lanes whose sums wait in a buffer: see chooseLaneBlock; 0: in registers
  bool streams = false;         ///< results go to memory past the caches
  int64_t depthBlock = 8;       ///< iterations of the reduction for each tile of such lanes
  int window = -1;              ///< a loop of the reduction: see chooseWindow
  int copied = -1;              ///< an input of the reduction: see chooseCopy
  bool rowsComeFromFar = false; ///< the data of all rows is too much for the cache, and they are in no blocks
  bool transposes = false;      ///< an input lies along the rows: tiles are transposed in registers
  bool interleaves = false;     ///< results lie along the rows, then the lanes: vectors of all rows are mixed
  bool copiesRuns = false;      ///< what lies side by side is copied as bytes, so many at once as a full tile has
  std::optional<MatrixPlan> matrix;
  std::optional<DotPlan> dots;
  std::optional<BlockPlan> blocks;
  std::optional<ScaledPlan> scaled;

  bool hasBlocksOnUnit() const { return blocks && blocks->unitBytes; }
};

/// Whether the body has a vector form.
bool isVectorizable(mlir::linalg::GenericOp op);

/// Whether all bodies have one.
bool isVectorizable(LoopNest &nest);

NestPlan planNest(LoopNest &nest, const NestOptions &options);

/// Plans for the matrix unit of `options`, if there is one that computes the nest's reduction.
bool planMatrixTiles(LoopNest &nest, const NestOptions &options, NestPlan &plan);

/// Plans lane and width for dot products, if the target has them and the nest's reduction is in groups.
bool planDots(LoopNest &nest, const NestOptions &options, NestPlan &plan);

/// Plans for products of quantised data, if the target adds products of bytes and the nest is one.
bool planBlockDots(LoopNest &nest, const NestOptions &options, NestPlan &plan);

/// Gives such products to the matrix unit, if there is one and they have the rows: `plan` knows them, and the weights
/// lie in blocks of so many lanes.
void planBlockTiles(LoopNest &nest, const NestOptions &options, int64_t block, NestPlan &plan);

/// Plans rows that share vectors, where sums of products go along the lanes. May split a loop of the nest: a new one,
/// the last, is then the rows.
void planRowsOfSums(LoopNest &nest, const NestOptions &options, NestPlan &plan);

/// How often the reduction adds to one element; a loop of an unknown size counts once.
int64_t reductionPoints(const LoopNest &nest);

/// How many elements of an access all loops read, if that is known.
std::optional<int64_t> elementsOf(const LoopNest &nest, const Access &access);

/// Whether a choice (PlanChoice.h) may be made for the nest at all, and whether it may be this one.
bool hasChoices(const LoopNest &nest, const NestPlan &plan);
bool isPossible(LoopNest &nest, const NestPlan &plan, const TargetFacts &target, const PlanChoice &choice);

bool isVectorizable(std::optional<Stage> &stage);

/// What no vector has an instruction for, and what ends the program where the divisor is zero.
bool dividesIntegers(mlir::Operation &op);

/// Whether the bodies may be computed of anything: nothing comes of that but a number.
bool canComputeMore(LoopNest &nest);

/// Whether lanes of a reduction may be computed whose results are not stored, of anything.
bool mayDiscardLanes(LoopNest &nest, const NestPlan &plan);

/// Whether vectors of such elements load some of their lanes, and no more of memory.
bool hasMasks(mlir::Type element, const TargetFacts &target);

/// Whether those may be the last lanes of a vector of `width`: what they read is not loaded, or is what fills up a
/// block of weights.
bool canLoadParts(LoopNest &nest, const NestPlan &plan, const TargetFacts &target, int64_t width);

/// Whether a vector may have lanes behind the last result, as many as the run tells: they are neither loaded nor
/// stored.
bool canMaskLanes(LoopNest &nest, const NestPlan &plan, const NestOptions &options);

/// A rough estimate of the time of one result, for the decision to use threads and for the tasks' size.
double estimatePointNs(LoopNest &nest, const NestPlan &plan, const TargetFacts &target);

/// Iterations of a loop, as tiles count them: rows that run across borders are those of all lines, borders among them.
Extent rowsOf(const LoopNest &nest, const NestPlan &plan, int loop);

/// The data of a window (`NestPlan::window`): the one input of the reduction that rows do not share, if it is vectors.
const Access *windowData(LoopNest &nest, const NestPlan &plan);

/// Elements from one iteration of a loop (-1: none) to the next.
Extent stride(const Access &access, int loop);

/// Whether weights, which lanes read, are others in each iteration of a loop.
bool choosesWeights(const LoopNest &nest, const NestPlan &plan, int loop);

/// Whether lanes that lie so far apart are read in whole vectors, with what is between them.
inline bool isNear(const Extent &step) { return step.isKnown() && step.known > 1 && step.known <= kMostApart; }

} // namespace strata

#endif // STRATA_CODEGEN_NESTPLAN_H
