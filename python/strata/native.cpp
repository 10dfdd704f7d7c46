//===- native.cpp - the module strata._native -----------------------------===//
//
// The smallest bridge that the Python package can be written on: open, describe,
// run; compiling is strata._compiler's, so that who only runs loads no compiler. A value crosses it as (element type,
// shape, data): the data of an array are its bytes, of an array of strings that array (and, of an input, what errors
// call it), of a container a list of values, of an empty optional None. What they mean (names, errors of use) is the
// Python side's business.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Model.h"
#include <cstring>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace strata::python;
using strata::ModelVersion;
using strata::ProfileEntry;
using strata::Tensor;
using strata::ValueInfo;

namespace {

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnedBytes = nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>;

nb::tuple wrap(const Tensor &tensor);

/// The names that DLPack has for element types; the others are bytes.
nb::dlpack::dtype dlpackType(strata_dtype dtype) {
  enum : uint8_t { Int = 0, UInt = 1, Float = 2, Bfloat = 4, Complex = 5, Bool = 6 };
  switch (dtype) {
  case STRATA_FLOAT:
    return {Float, 32, 1};
  case STRATA_DOUBLE:
    return {Float, 64, 1};
  case STRATA_FLOAT16:
    return {Float, 16, 1};
  case STRATA_BFLOAT16:
    return {Bfloat, 16, 1};
  case STRATA_INT8:
  case STRATA_INT16:
  case STRATA_INT32:
  case STRATA_INT64:
    return {Int, static_cast<uint8_t>(8 * strata_dtype_size(dtype)), 1};
  case STRATA_BOOL:
    return {Bool, 8, 1};
  case STRATA_COMPLEX64:
    return {Complex, 64, 1};
  case STRATA_COMPLEX128:
    return {Complex, 128, 1};
  default:
    return {UInt, static_cast<uint8_t>(8 * strata_dtype_size(dtype)), 1};
  }
}

/// A result in the memory of a GPU.
class DeviceBuffer {
public:
  explicit DeviceBuffer(const Tensor &tensor) : tensor(tensor) {}

  nb::object dlpack() const {
    nb::capsule owner(new std::shared_ptr<void>(tensor.owner),
                      [](void *pointer) noexcept { delete static_cast<std::shared_ptr<void> *>(pointer); });
    std::vector<size_t> shape(tensor.shape.begin(), tensor.shape.end());
    nb::ndarray<> array(tensor.data, shape.size(), shape.data(), owner, nullptr, dlpackType(tensor.dtype),
                        tensor.deviceType, tensor.deviceId);
    nb::object exported = nb::cast(array);
    return PyCapsule_CheckExact(exported.ptr()) ? exported : exported.attr("__dlpack__")();
  }
  OwnedBytes read() const {
    auto *bytes = new std::vector<uint8_t>(tensor.bytes() + 1);
    nb::capsule owner(bytes, [](void *pointer) noexcept { delete static_cast<std::vector<uint8_t> *>(pointer); });
    std::string failure = copyToHost(tensor, bytes->data());
    if (!failure.empty())
      raise("RunError", failure);
    return OwnedBytes(bytes->data(), {tensor.bytes()}, owner);
  }
  std::pair<int, int> device() const { return {tensor.deviceType, tensor.deviceId}; }

private:
  Tensor tensor;
};

nb::object wrapElements(const Tensor &tensor) {
  nb::list list;
  if (tensor.dtype == STRATA_OPTIONAL)
    return nb::none();
  for (const Tensor &element : tensor.elements)
    list.append(wrap(element));
  return list;
}

/// The elements of an array of objects, whose rows lie side by side.
class Objects {
public:
  explicit Objects(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT))
      throw nb::python_error();
  }
  Objects(const Objects &) = delete;
  ~Objects() { PyBuffer_Release(&buffer); }
  PyObject **begin() const { return static_cast<PyObject **>(buffer.buf); }
  PyObject **end() const { return begin() + buffer.len / sizeof(PyObject *); }

private:
  Py_buffer buffer;
};

nb::object wrapStrings(const Tensor &tensor, nb::handle shape) {
  nb::object array = nb::module_::import_("numpy").attr("empty")(shape, "O");
  Objects items(array);
  auto *string = static_cast<const strata_string *>(tensor.data);
  for (PyObject *&item : items) {
    PyObject *text = PyUnicode_DecodeUTF8(string->bytes, string->length, "surrogateescape");
    if (!text)
      throw nb::python_error();
    Py_XDECREF(std::exchange(item, text));
    ++string;
  }
  return array;
}

/// The tensor's bytes in place; the array keeps them alive.
nb::tuple wrap(const Tensor &tensor) {
  nb::list shape;
  for (int64_t dim : tensor.shape)
    shape.append(dim);
  if (tensor.dtype == STRATA_STRING)
    return nb::make_tuple(static_cast<int>(tensor.dtype), nb::tuple(shape), wrapStrings(tensor, nb::tuple(shape)));
  if (tensor.isContainer())
    return nb::make_tuple(static_cast<int>(tensor.dtype), nb::tuple(shape), wrapElements(tensor));
  if (tensor.deviceType == STRATA_CUDA)
    return nb::make_tuple(static_cast<int>(tensor.dtype), nb::tuple(shape), DeviceBuffer(tensor));
  nb::capsule owner(new std::shared_ptr<void>(tensor.owner),
                    [](void *pointer) noexcept { delete static_cast<std::shared_ptr<void> *>(pointer); });
  return nb::make_tuple(static_cast<int>(tensor.dtype), nb::tuple(shape),
                        OwnedBytes(tensor.data, {tensor.bytes()}, owner));
}

/// Strings as they lie in Python's objects; those that have no UTF-8 (surrogates stand for bytes that are none)
/// encoded.
Tensor unwrapStrings(std::vector<int64_t> shape, nb::handle array, nb::handle where) {
  struct Storage {
    std::vector<strata_string> strings;
    std::vector<nb::object> objects;
  };
  auto storage = std::make_shared<Storage>();
  Objects items(array);
  storage->strings.reserve(items.end() - items.begin() + 1);
  storage->objects.reserve(items.end() - items.begin());
  for (PyObject *item : items) {
    Py_ssize_t size = 0;
    const char *bytes = nullptr;
    // Another thread may change the array while the model runs.
    nb::object object = item ? nb::borrow(item) : nb::none();
    if (PyUnicode_Check(object.ptr()) && !(bytes = PyUnicode_AsUTF8AndSize(object.ptr(), &size))) {
      PyErr_Clear();
      object = nb::steal(PyUnicode_AsEncodedString(object.ptr(), "utf-8", "surrogateescape"));
      if (!object.is_valid())
        throw nb::python_error();
    }
    if (!bytes && !PyBytes_Check(object.ptr()))
      raise("InputError", nb::cast<std::string>(where) + " must hold strings, got " +
                              nb::cast<std::string>(object.type().attr("__name__")));
    if (!bytes) {
      bytes = PyBytes_AsString(object.ptr());
      size = PyBytes_Size(object.ptr());
    }
    storage->strings.push_back({bytes, static_cast<size_t>(size)});
    storage->objects.push_back(std::move(object));
  }
  storage->strings.emplace_back(); // so that there is an address
  Tensor result;
  result.dtype = STRATA_STRING;
  result.shape = std::move(shape);
  result.data = storage->strings.data();
  // Python's objects are let go under its lock.
  result.owner = std::shared_ptr<void>(storage->strings.data(), [storage](void *) mutable {
    nb::gil_scoped_acquire lock;
    storage.reset();
  });
  return result;
}

/// The other way; what the tensor refers to lives as long as `value`.
Tensor unwrap(nb::handle value) {
  auto dtype = static_cast<strata_dtype>(nb::cast<int>(value[0]));
  nb::object data = value[2];
  if (dtype >= STRATA_SEQUENCE) {
    std::vector<Tensor> elements;
    if (!data.is_none())
      for (nb::handle element : data)
        elements.push_back(unwrap(element));
    return Tensor::ofElements(dtype, std::move(elements));
  }
  auto shape = nb::cast<std::vector<int64_t>>(value[1]);
  if (dtype == STRATA_STRING) {
    return unwrapStrings(std::move(shape), data, value[3]);
  }
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  if (Bytes bytes; nb::try_cast(data, bytes)) {
    // Inputs are only read.
    tensor.data = const_cast<uint8_t *>(bytes.data());
    return tensor;
  }
  // A tensor of a GPU comes as it is, with what DLPack says of it.
  auto array = nb::cast<nb::ndarray<>>(data);
  tensor.data = array.data();
  for (size_t i = 0; i < array.ndim(); ++i)
    tensor.strides.push_back(array.stride(i));
  tensor.deviceType = array.device_type();
  tensor.deviceId = array.device_id();
  tensor.owner = std::make_shared<nb::ndarray<>>(array);
  return tensor;
}

/// (name, element type, sizes or None, symbolic names, elements)
nb::tuple describe(const ValueInfo &value) {
  nb::list elements;
  for (const ValueInfo &element : value.elements)
    elements.append(describe(element));
  nb::object shape = nb::none();
  if (value.ranked)
    shape = nb::cast(value.shape);
  return nb::make_tuple(value.name, static_cast<int>(value.dtype), shape, value.dimNames, elements);
}

nb::list describe(const std::vector<ValueInfo> &values) {
  nb::list result;
  for (const ValueInfo &value : values)
    result.append(describe(value));
  return result;
}

/// (node, runs, nanoseconds)
nb::list profile(Model &model) {
  nb::list result;
  for (const ProfileEntry &entry : model.session().profile())
    result.append(nb::make_tuple(entry.name, entry.runs, entry.nanoseconds));
  return result;
}

/// (the inputs' sizes, -1 for any; what it is doing; why it failed; the bytes that it takes)
nb::list versions(Model &model) {
  nb::list result;
  for (const ModelVersion &version : model.versions()) {
    const char *state = version.state == ModelVersion::InUse    ? "in use"
                        : version.state == ModelVersion::Failed ? "failed"
                                                                : "compiling";
    result.append(nb::make_tuple(version.shapes, state, version.why, version.bytes));
  }
  return result;
}

nb::list run(Model &model, nb::list arrays) {
  std::vector<Tensor> inputs;
  for (nb::handle array : arrays)
    inputs.push_back(unwrap(array));
  std::vector<Tensor> outputs =
      withoutLock("RunError", [&](std::string &failure) { return model.run(inputs, failure); });
  nb::list results;
  for (const Tensor &output : outputs)
    results.append(wrap(output));
  return results;
}

//===----------------------------------------------------------------------===//
// The short way, for models whose inputs and outputs are NumPy's own arrays
//===----------------------------------------------------------------------===//

struct PlainType {
  strata_dtype type;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};

/// Null where NumPy has no such type, or keeps its elements otherwise than a model does.
const PlainType *plainType(const ValueInfo &value) {
  using Code = nb::dlpack::dtype_code;
  static constexpr PlainType types[] = {
      {STRATA_FLOAT, Code::Float, 32}, {STRATA_DOUBLE, Code::Float, 64}, {STRATA_FLOAT16, Code::Float, 16},
      {STRATA_INT8, Code::Int, 8},     {STRATA_INT16, Code::Int, 16},    {STRATA_INT32, Code::Int, 32},
      {STRATA_INT64, Code::Int, 64},   {STRATA_UINT8, Code::UInt, 8},    {STRATA_UINT16, Code::UInt, 16},
      {STRATA_UINT32, Code::UInt, 32}, {STRATA_UINT64, Code::UInt, 64},  {STRATA_BOOL, Code::Bool, 8}};
  for (const PlainType &known : types)
    if (known.type == value.dtype)
      return &known;
  return nullptr;
}

/// The memory of an array, for the time of a run.
class PlainArray {
public:
  PlainArray() = default;
  PlainArray(const PlainArray &) = delete;
  ~PlainArray() {
    if (view.obj)
      PyBuffer_Release(&view);
  }

  /// Whether `array` is what the input takes, as it lies in memory; then `tensor` is it.
  bool hold(nb::handle array, const ValueInfo &want, Tensor &tensor) {
    static const nb::object *ndarray = new nb::object(nb::module_::import_("numpy").attr("ndarray"));
    const PlainType *type = plainType(want);
    if (!type || !array.type().is(*ndarray))
      return false;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
      PyErr_Clear();
      return false;
    }
    tensor.dtype = type->type;
    tensor.data = view.buf;
    tensor.shape.assign(view.shape, view.shape + view.ndim);
    return view.itemsize * 8 == type->bits && hasFormat(type->code) && hasShape(want);
  }

private:
  /// One letter: in this machine's order of bytes.
  bool hasFormat(nb::dlpack::dtype_code code) const {
    if (!view.format || !view.format[0] || view.format[1])
      return false;
    auto isOneOf = [&](const char *letters) { return std::strchr(letters, view.format[0]) != nullptr; };
    return isOneOf(code == nb::dlpack::dtype_code::Float  ? "efd"
                   : code == nb::dlpack::dtype_code::Int  ? "bhilq"
                   : code == nb::dlpack::dtype_code::UInt ? "BHILQ"
                                                          : "?");
  }

  bool hasShape(const ValueInfo &want) const {
    if (!want.ranked || want.shape.size() != static_cast<size_t>(view.ndim))
      return false;
    for (int i = 0; i < view.ndim; ++i)
      if (want.shape[i] >= 0 && want.shape[i] != view.shape[i])
        return false;
    return true;
  }

  Py_buffer view{};
};

nb::object wrapPlain(const Tensor &tensor, const PlainType &type) {
  if (tensor.deviceType == STRATA_CUDA)
    return nb::module_::import_("strata._values").attr("from_native")(*wrap(tensor));
  nb::capsule owner(new std::shared_ptr<void>(tensor.owner),
                    [](void *pointer) noexcept { delete static_cast<std::shared_ptr<void> *>(pointer); });
  std::vector<size_t> shape(tensor.shape.begin(), tensor.shape.end());
  return nb::cast(nb::ndarray<nb::numpy>(tensor.data, shape.size(), shape.data(), owner, nullptr,
                                         {static_cast<uint8_t>(type.code), type.bits, 1}));
}

/// The results, or None if an argument needs a closer look: what is wrong is said elsewhere.
nb::object runArrays(Model &model, nb::tuple arrays) {
  const std::vector<ValueInfo> &takes = model.session().inputs(), &gives = model.session().outputs();
  if (arrays.size() != takes.size())
    return nb::none();
  for (const ValueInfo &value : gives)
    if (!plainType(value))
      return nb::none();
  std::vector<PlainArray> held(takes.size());
  std::vector<Tensor> inputs(takes.size());
  for (size_t i = 0; i < takes.size(); ++i)
    if (!held[i].hold(arrays[i], takes[i], inputs[i]))
      return nb::none();
  std::vector<Tensor> outputs =
      withoutLock("RunError", [&](std::string &failure) { return model.run(inputs, failure); });
  nb::list results;
  for (size_t i = 0; i < outputs.size(); ++i)
    results.append(wrapPlain(outputs[i], *plainType(gives[i])));
  return results;
}

} // namespace

NB_MODULE(_native, m) {
  m.doc() = "The native half of the strata package.";
  m.def("version", &strata_version);

  nb::class_<Options>(m, "Options")
      .def(nb::init<>())
      .def_rw("name", &Options::name)
      .def_rw("cpu", &Options::cpu)
      .def_rw("features", &Options::features)
      .def_rw("cache", &Options::cache)
      .def_rw("target", &Options::target)
      .def_rw("gpu_format", &Options::gpuFormat)
      .def_rw("opt_level", &Options::optLevel)
      .def_rw("precision", &Options::precision)
      .def_rw("winograd", &Options::winograd)
      .def_rw("tune", &Options::tune)
      .def_rw("tuning_file", &Options::tuningFile)
      .def_rw("threads", &Options::threads)
      .def_rw("seed", &Options::seed, nb::arg().none())
      .def_rw("memory_limit", &Options::memoryLimit)
      .def_rw("profile", &Options::profile)
      .def_rw("advance_seeds", &Options::advanceSeeds)
      .def_rw("device", &Options::device, nb::arg().none())
      .def_rw("device_results", &Options::deviceResults)
      .def_rw("specialize", &Options::specialize)
      .def_rw("specialize_after", &Options::specializeAfter)
      .def_rw("specialize_limit", &Options::specializeLimit)
      .def_rw("specialize_memory", &Options::specializeMemory);

  nb::class_<DeviceBuffer>(m, "DeviceBuffer")
      .def("dlpack", &DeviceBuffer::dlpack)
      .def("read", &DeviceBuffer::read)
      .def("device", &DeviceBuffer::device);

  nb::class_<Model>(m, "Model")
      .def("name", [](Model &model) { return model.session().name(); })
      .def("threads", [](Model &model) { return model.session().threads(); })
      .def("inputs", [](Model &model) { return describe(model.session().inputs()); })
      .def("outputs", [](Model &model) { return describe(model.session().outputs()); })
      .def("profile", &profile)
      .def("versions", &versions)
      .def("settle", &Model::settle, nb::call_guard<nb::gil_scoped_release>())
      .def("stop_specializing", &Model::stopSpecializing, nb::call_guard<nb::gil_scoped_release>())
      .def("run", &run, nb::arg("arrays"))
      .def("run_arrays", &runArrays, nb::arg("arrays"));

  m.def(
      "load",
      [](const std::string &path, const Options &options) {
        return withoutLock("Error", [&](std::string &failure) { return load(path, options, failure); });
      },
      nb::arg("path"), nb::arg("options"));
}
