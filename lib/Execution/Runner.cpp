//===- Runner.cpp - what strata-run does ----------------------------------===//

#include "Execution/Runner.h"
#include "Execution/Elements.h"
#include "Execution/TensorFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <chrono>

using namespace llvm;

namespace strata {

//===----------------------------------------------------------------------===//
// Inputs and expectations
//===----------------------------------------------------------------------===//

static bool isTensorFile(StringRef path) {
  return path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".pb");
}

static std::string listNames(ArrayRef<ValueInfo> values) {
  std::string text;
  raw_string_ostream os(text);
  interleaveComma(values, os, [&](const ValueInfo &info) { os << "'" << info.name << "'"; });
  return os.str();
}

/// The value that "NAME=rest" names (the longest such name), or null.
static const ValueInfo *consumeName(ArrayRef<ValueInfo> values, StringRef &text) {
  const ValueInfo *found = nullptr;
  for (const ValueInfo &info : values)
    if (text.starts_with(info.name + "=") && (!found || found->name.size() < info.name.size()))
      found = &info;
  if (found)
    text = text.drop_front(found->name.size() + 1);
  return found;
}

/// Tensors by position in `values`; `what` is "input" or "expected output".
namespace {
class Slots {
public:
  Slots(ArrayRef<ValueInfo> values, const char *what) : values(values), what(what), tensors(values.size()) {}

  Error put(const ValueInfo *info, Tensor tensor) {
    if (!info) {
      while (next < values.size() && tensors[next])
        ++next;
      if (next == values.size())
        return createStringError("more than %zu %ss are given", values.size(), what);
      info = &values[next];
    }
    std::optional<Tensor> &slot = tensors[info - values.data()];
    if (slot)
      return createStringError("%s '%s' is given twice", what, info->name.c_str());
    slot = std::move(tensor);
    return Error::success();
  }

  /// The type that a file without one will be put under.
  strata_dtype nextType(const ValueInfo *info) const {
    if (info)
      return info->dtype;
    for (size_t i = next; i < values.size(); ++i)
      if (!tensors[i])
        return values[i].dtype;
    return STRATA_UNDEFINED;
  }

  Error addFile(const ValueInfo *info, StringRef path) {
    auto all = readTensors(path, nextType(info));
    if (!all)
      return all.takeError();
    bool isArchive = path.ends_with(".npz");
    for (NamedTensor &named : *all) {
      const ValueInfo *target = info;
      if (isArchive && !info) {
        target = find_if(values, [&](const ValueInfo &value) { return value.name == named.name; });
        // numpy.savez's own names, arr_0 and so on, are positions.
        if (target == values.end() && StringRef(named.name).starts_with("arr_"))
          target = nullptr;
        if (target == values.end())
          return createStringError("'%s' has an array '%s', but the model's %ss are %s", path.str().c_str(),
                                   named.name.c_str(), what, listNames(values).c_str());
      }
      if (Error error = put(target, std::move(named.tensor)))
        return error;
    }
    return Error::success();
  }

  ArrayRef<ValueInfo> values;
  const char *what;
  std::vector<std::optional<Tensor>> tensors;
  size_t next = 0;
};
} // namespace

static Error addInput(const RunRequest &request, StringRef text, Slots &slots, uint64_t seed) {
  StringRef rest = text;
  const ValueInfo *info = consumeName(slots.values, rest);
  if (isTensorFile(rest)) {
    if (!info && rest.contains('='))
      return createStringError("the model has no input '%s'; its inputs are %s", rest.split('=').first.str().c_str(),
                               listNames(slots.values).c_str());
    return slots.addFile(info, rest);
  }
  auto [type, how] = rest.rsplit('=');
  Expected<Tensor> tensor = Tensor();
  if (how.empty()) {
    how = type;
    const ValueInfo *target = info;
    for (size_t i = slots.next; !target && i < slots.values.size(); ++i)
      if (!slots.tensors[i])
        target = &slots.values[i];
    if (!target)
      return slots.put(nullptr, Tensor());
    tensor = allocateFor(*target, request.dims);
  } else {
    tensor = allocateFromType(type, request.dims);
    if (!tensor && !info) {
      consumeError(tensor.takeError());
      return createStringError("'%s' is neither an input of the model (%s) nor "
                               "a shape and type such as 1x3x224x224xf32",
                               type.str().c_str(), listNames(slots.values).c_str());
    }
  }
  if (!tensor)
    return tensor.takeError();
  if (Error error = fill(*tensor, how, seed))
    return error;
  return slots.put(info, std::move(*tensor));
}

/// FOLDER/input_0.pb, FOLDER/input_1.pb, ... as far as they exist.
static Error addTestData(StringRef folder, StringRef stem, Slots &slots) {
  for (size_t i = 0;; ++i) {
    SmallString<128> path(folder);
    sys::path::append(path, stem + "_" + Twine(i) + ".pb");
    if (!sys::fs::exists(path)) {
      if (i == 0)
        return createStringError("'%s' has no %s_0.pb", folder.str().c_str(), stem.str().c_str());
      return Error::success();
    }
    if (Error error = slots.addFile(nullptr, path))
      return error;
  }
}

static Expected<std::vector<Tensor>> makeInputs(const RunRequest &request, const Model &model) {
  Slots slots(model.inputs(), "input");
  uint64_t seed = request.session.seed.value_or(0);
  if (!request.testData.empty() && !model.inputs().empty())
    if (Error error = addTestData(request.testData, "input", slots))
      return std::move(error);
  for (const std::string &input : request.inputs)
    if (Error error = addInput(request, input, slots, seed++))
      return std::move(error);
  bool generate = request.inputs.empty() && request.testData.empty();
  std::vector<Tensor> inputs;
  for (auto [info, slot] : zip(model.inputs(), slots.tensors)) {
    if (!slot) {
      if (!generate)
        return createStringError("input '%s' (%s) is missing; the model's "
                                 "inputs are %s",
                                 info.name.c_str(), formatType(info).c_str(), listNames(model.inputs()).c_str());
      auto tensor = allocateFor(info, request.dims);
      if (!tensor)
        return tensor.takeError();
      if (Error error = fill(*tensor, "random", seed++))
        return std::move(error);
      slot = std::move(*tensor);
    }
    inputs.push_back(std::move(*slot));
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

static std::string shapeOf(const Tensor &tensor) {
  std::string text = strata_dtype_name(tensor.dtype);
  if (tensor.dtype == STRATA_OPTIONAL)
    return text + " (empty)";
  raw_string_ostream os(text);
  os << "[";
  interleaveComma(tensor.shape, os);
  os << "]";
  return os.str();
}

static void printOutputs(ArrayRef<ValueInfo> infos, ArrayRef<Tensor> outputs) {
  for (auto [info, tensor] : zip(infos, outputs)) {
    outs() << "output '" << info.name << "': " << shapeOf(tensor) << " ";
    printValues(outs(), tensor, 8);
    outs() << " checksum " << format_hex_no_prefix(checksum(tensor), 16) << "\n";
  }
}

static Expected<bool> compare(const RunRequest &request, const Model &model, ArrayRef<Tensor> outputs) {
  Slots slots(model.outputs(), "expected output");
  if (!request.testData.empty())
    if (Error error = addTestData(request.testData, "output", slots))
      return std::move(error);
  for (StringRef text : request.expected) {
    const ValueInfo *info = consumeName(slots.values, text);
    if (Error error = slots.addFile(info, text))
      return std::move(error);
  }
  bool same = true;
  for (auto [info, slot, tensor] : zip(model.outputs(), slots.tensors, outputs)) {
    std::string why;
    if (!slot)
      continue;
    if (isClose(tensor, *slot, request.rtol, request.atol, why)) {
      outs() << "output '" << info.name << "': as expected\n";
      continue;
    }
    errs() << "error: output '" << info.name << "' " << why << "\n";
    same = false;
  }
  return same;
}

/// The name of an output as a file name.
static std::string fileName(StringRef name) {
  std::string result = name.str();
  for (char &c : result)
    if (!isAlnum(c) && c != '-' && c != '_' && c != '.')
      c = '_';
  return result;
}

static Error writeOutputs(StringRef path, ArrayRef<ValueInfo> infos, ArrayRef<Tensor> outputs) {
  if (path.ends_with(".npz")) {
    std::vector<NamedTensor> named;
    for (auto [info, tensor] : zip(infos, outputs))
      named.push_back({info.name, tensor});
    return writeNpz(path, named);
  }
  if (path.ends_with(".npy") && outputs.size() == 1)
    return writeNpy(path, outputs.front());
  if (std::error_code code = sys::fs::create_directories(path))
    return createStringError(code, "cannot create '%s': %s", path.str().c_str(), code.message().c_str());
  for (auto [info, tensor] : zip(infos, outputs)) {
    SmallString<128> file(path);
    sys::path::append(file, fileName(info.name) + ".npy");
    if (Error error = writeNpy(file, tensor))
      return error;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

static void printTime(const char *label, double seconds) {
  if (seconds < 1e-3)
    outs() << label << format(" %.2f us", seconds * 1e6);
  else
    outs() << label << format(" %.3f ms", seconds * 1e3);
}

static Error benchmark(const RunRequest &request, Model &model, ArrayRef<Tensor> inputs) {
  std::vector<double> times;
  for (int i = -std::min(request.benchmark, 3); i < request.benchmark; ++i) {
    if (i == 0) {
      model.settle(); // Versions that the runs that warm up have caused are measured.
      model.resetProfile();
    }
    auto start = std::chrono::steady_clock::now();
    auto outputs = model.run(inputs);
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (!outputs)
      return outputs.takeError();
    if (i >= 0)
      times.push_back(time.count());
  }
  llvm::sort(times);
  printTime("latency: median", times[times.size() / 2]);
  printTime(", min", times.front());
  outs() << " (" << times.size() << " runs, " << model.threads() << " thread"
         << (model.threads() == 1 ? ")\n" : "s)\n");
  return Error::success();
}

/// Operations and bytes per nanosecond, and which part of the machine's limit that is.
static void printRates(const RunRequest &request, const ProfileEntry &entry) {
  if (!entry.operations && !entry.bytes) {
    outs().indent(request.peakOperations ? 24 : 17);
    return;
  }
  double time = std::max<uint64_t>(entry.nanoseconds, 1);
  outs() << format("%7.1f %7.1f  ", entry.operations / time, entry.bytes / time);
  if (request.peakOperations)
    outs() << format("%4.0f %% ", 100 * std::max(entry.operations / time / request.peakOperations,
                                                 entry.bytes / time / request.peakBytes));
}

static void printProfile(const RunRequest &request, Model &model) {
  std::vector<ProfileEntry> entries = model.profile();
  if (entries.empty()) {
    errs() << "warning: the model was compiled without --profile\n";
    return;
  }
  llvm::sort(entries, [](const ProfileEntry &a, const ProfileEntry &b) { return a.nanoseconds > b.nanoseconds; });
  uint64_t total = 0;
  for (const ProfileEntry &entry : entries)
    total += entry.nanoseconds;
  outs() << "   time/run     %  GFLOP/s    GB/s  " << (request.peakOperations ? "of peak  " : "") << "node\n";
  for (const ProfileEntry &entry : entries) {
    outs() << format("%8.1f us %5.1f  ", entry.nanoseconds / 1e3 / entry.runs,
                     100.0 * entry.nanoseconds / std::max<uint64_t>(total, 1));
    printRates(request, entry);
    outs() << entry.name << "\n";
  }
}

static void printVersions(Model &model) {
  for (const ModelVersion &version : model.versions()) {
    std::string text;
    raw_string_ostream os(text);
    interleaveComma(version.shapes, os, [&](const std::vector<int64_t> &shape) {
      os << "[";
      interleaveComma(shape, os, [&](int64_t size) { size < 0 ? os << "?" : os << size; });
      os << "]";
    });
    if (version.state == ModelVersion::Failed)
      errs() << "warning: there is no version for inputs " << text << ": " << version.why << "\n";
    else
      outs() << "version for inputs " << text << "\n";
  }
}

static Expected<bool> runModel(const RunRequest &request, Model &model) {
  auto inputs = makeInputs(request, model);
  if (!inputs)
    return inputs.takeError();
  auto start = std::chrono::steady_clock::now();
  auto outputs = model.run(*inputs);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (!outputs)
    return outputs.takeError();
  if (!request.quiet) {
    printOutputs(model.outputs(), *outputs);
    printTime("first run:", time.count());
    outs() << "\n";
  }
  auto same = compare(request, model, *outputs);
  if (!same)
    return same.takeError();
  if (!request.output.empty())
    if (Error error = writeOutputs(request.output, model.outputs(), *outputs))
      return std::move(error);
  if (request.benchmark > 0)
    if (Error error = benchmark(request, model, *inputs))
      return std::move(error);
  if (request.session.profile)
    printProfile(request, model);
  if (request.specialize.after) {
    model.settle();
    printVersions(model);
  }
  return *same;
}

int run(const RunRequest &request, const Progress &progress) {
  std::unique_ptr<Model> model =
      openModel(request.model, request.compile, request.session, request.specialize, request.cache, progress);
  if (!model)
    return 1;
  auto same = runModel(request, *model);
  if (same)
    return *same ? 0 : 1;
  errs() << "error: " << toString(same.takeError()) << "\n";
  return 1;
}

} // namespace strata
