//===- TuningFile.cpp - results of measurements, in a file ----------------===//

#include "TuningFile.h"
#include "Link.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LockFileManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace strata {

static constexpr StringLiteral kFormat = "strata-tuning";
static constexpr int64_t kFormatVersion = 1;

std::string defaultTuningFile() {
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    path = ".";
  sys::path::append(path, "strata", "tuning.json");
  return path.str().str();
}

static bool fromJSON(const json::Value &value, PlanChoice &choice, json::Path path) {
  std::vector<int64_t> numbers;
  if (!json::fromJSON(value, numbers, path))
    return false;
  if (numbers.size() != 4) {
    path.report("expected rows, vectors, lanesOutermost and rowBlock");
    return false;
  }
  choice = {numbers[0], numbers[1], numbers[2] != 0, numbers[3]};
  return true;
}

static bool fromJSON(const json::Value &value, std::optional<TileChoice> &choice, json::Path path) {
  const json::Array *values = value.getAsArray();
  std::optional<StringRef> name = values && values->size() == 7 ? values->front().getAsString() : std::nullopt;
  std::optional<TileChoice::By> by = name ? parseTileBy(*name) : std::nullopt;
  SmallVector<int64_t> numbers;
  if (by)
    for (const json::Value &each : drop_begin(*values))
      if (std::optional<int64_t> number = each.getAsInteger())
        numbers.push_back(*number);
  if (numbers.size() != 6) {
    path.report("expected threads, warps or warpgroups, then rows, columns, partRows, partColumns, depth and stages");
    return false;
  }
  choice = TileChoice::of(*by, numbers);
  return true;
}

static bool fromJSON(const json::Value &value, TuningResult &result, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("kernel", result.kernel) || !map.map("target", result.target) ||
      !map.map("before_us", result.before) || !map.map("after_us", result.after))
    return false;
  if (const json::Value *tile = value.getAsObject()->get("tile"))
    return fromJSON(*tile, result.tile, path.field("tile"));
  const json::Array *plans = value.getAsObject()->getArray("plans");
  if (!plans) {
    path.field("plans").report("expected array");
    return false;
  }
  for (auto [number, plan] : enumerate(*plans))
    if (!fromJSON(plan, result.plans.emplace_back(), path.field("plans").index(number)))
      return false;
  return true;
}

static json::Value toJSON(const TuningResult &result) {
  json::Object object{
      {"kernel", result.kernel}, {"target", result.target}, {"before_us", result.before}, {"after_us", result.after}};
  json::Array values;
  if (result.tile) {
    values.push_back(nameOf(result.tile->by));
    for (int64_t number : result.tile->numbers())
      values.push_back(number);
  }
  for (const PlanChoice &plan : result.plans)
    values.push_back(json::Array{plan.rows, plan.vectors, static_cast<int64_t>(plan.lanesOutermost), plan.rowBlock});
  object[result.tile ? "tile" : "plans"] = std::move(values);
  return object;
}

/// The kernels of a whole file.
static bool parse(const json::Value &value, TuningResults &results, json::Path path) {
  const json::Object *file = value.getAsObject();
  if (!file || file->getInteger(kFormat) != kFormatVersion) {
    path.report("it does not begin with {\"strata-tuning\": 1");
    return false;
  }
  const json::Object *kernels = file->getObject("kernels");
  if (!kernels) {
    path.field("kernels").report("expected object");
    return false;
  }
  for (const auto &[key, result] : *kernels)
    if (!fromJSON(result, results[StringRef(key)], path.field("kernels").field(key)))
      return false;
  return true;
}

Expected<TuningResults> readTuningFile(StringRef path) {
  TuningResults results;
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (buffer.getError() == std::errc::no_such_file_or_directory)
    return results;
  if (std::error_code error = buffer.getError())
    return createStringError("the tuning results '%s' cannot be read: %s", path.str().c_str(), error.message().c_str());
  auto fail = [&](Error error) {
    return createStringError("'%s' is no file of tuning results: %s", path.str().c_str(),
                             toString(std::move(error)).c_str());
  };
  auto value = json::parse((*buffer)->getBuffer());
  if (!value)
    return fail(value.takeError());
  json::Path::Root root("results");
  if (!parse(*value, results, root))
    return fail(root.getError());
  return results;
}

/// Takes the lock; whoever died with it has lost it.
static Error lock(StringRef path, std::optional<LockFileManager> &owned) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    owned.emplace(path);
    switch (owned->getState()) {
    case LockFileManager::LFS_Owned:
      return Error::success();
    case LockFileManager::LFS_Error:
      return createStringError("%s", owned->getErrorMessage().c_str());
    case LockFileManager::LFS_Shared:
      if (owned->waitForUnlock() == LockFileManager::Res_Timeout)
        owned->unsafeRemoveLockFile();
      break;
    }
  }
  return createStringError("others hold its lock");
}

Error addToTuningFile(StringRef path, const TuningResults &results) {
  auto write = [&]() -> Error {
    StringRef folder = sys::path::parent_path(path);
    if (std::error_code error = folder.empty() ? std::error_code() : sys::fs::create_directories(folder))
      return errorCodeToError(error);
    std::optional<LockFileManager> owned;
    if (Error error = lock(path, owned))
      return error;
    Expected<TuningResults> known = readTuningFile(path);
    if (!known)
      return known.takeError();
    for (const auto &result : results)
      (*known)[result.getKey()] = result.getValue();
    json::Object kernels;
    for (const auto &result : *known)
      kernels[result.getKey()] = toJSON(result.getValue());
    json::Value file = json::Object{{kFormat, kFormatVersion}, {"kernels", std::move(kernels)}};
    return writeOutput(path, [&](raw_ostream &os) {
      os << formatv("{0:2}", file) << "\n";
      return Error::success();
    });
  };
  if (Error error = write())
    return createStringError("the tuning results '%s' cannot be written: %s", path.str().c_str(),
                             toString(std::move(error)).c_str());
  return Error::success();
}

} // namespace strata
