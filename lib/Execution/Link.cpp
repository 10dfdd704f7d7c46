//===- Link.cpp - objects to one file -------------------------------------===//

#include "Link.h"
#include "Jit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include <dlfcn.h>
#include <link.h>
#include <optional>
#include <sys/stat.h>

using namespace llvm;

namespace strata {

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

TemporaryFiles::~TemporaryFiles() {
  for (const std::string &file : files) {
    sys::fs::remove(file);
    sys::DontRemoveFileOnSignal(file);
  }
}

bool TemporaryFiles::isDevice(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && sys::fs::is_other(status);
}

Expected<std::string> TemporaryFiles::create(StringRef suffix) {
  SmallString<128> path, beside(output);
  if (isDevice(output)) {
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, beside);
    sys::path::append(beside, "strata");
  }
  int fd;
  if (std::error_code code = sys::fs::createUniqueFile(beside + ".tmp%%%%%%" + suffix, fd, path))
    return createStringError(code, "cannot write '%s': %s", output.c_str(), code.message().c_str());
  sys::Process::SafelyCloseFileDescriptor(fd);
  sys::RemoveFileOnSignal(path);
  files.push_back(path.str().str());
  return files.back();
}

Expected<std::string> TemporaryFiles::write(StringRef suffix, function_ref<Error(raw_pwrite_stream &)> write) {
  auto file = create(suffix);
  if (!file)
    return file;
  std::error_code code;
  raw_fd_ostream os(*file, code);
  if (!code) {
    if (Error error = write(os))
      return std::move(error);
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return createStringError(code, "cannot write '%s': %s", output.c_str(), code.message().c_str());
  return file;
}

Error TemporaryFiles::rename(const std::string &file, StringRef to) {
  if (isDevice(to)) {
    if (std::error_code code = sys::fs::copy_file(file, to))
      return createStringError(code, "cannot write '%s': %s", to.str().c_str(), code.message().c_str());
    return Error::success();
  }
  // Temporary files are private; results have the usual permissions.
  mode_t mask = umask(0);
  umask(mask);
  bool executable = to.ends_with(".so");
  auto permissions = static_cast<sys::fs::perms>((executable ? 0777 : 0666) & ~mask);
  std::error_code code = sys::fs::setPermissions(file, permissions);
  if (!code)
    code = sys::fs::rename(file, to);
  if (code)
    return createStringError(code, "cannot write '%s': %s", to.str().c_str(), code.message().c_str());
  return Error::success();
}

Error writeOutput(StringRef path, function_ref<Error(raw_ostream &)> write) {
  if (!TemporaryFiles::isDevice(path))
    return writeToOutput(path, write);
  std::error_code code;
  raw_fd_ostream os(path, code);
  if (code)
    return errorCodeToError(code);
  Error error = write(os);
  os.close();
  code = os.error();
  os.clear_error();
  return error ? std::move(error) : errorCodeToError(code);
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

static Expected<std::string> findLinker() {
  std::string major = std::to_string(LLVM_VERSION_MAJOR);
  std::string home = "/usr/lib/llvm-" + major + "/bin";
  for (std::string name : {"ld.lld-" + major, std::string("ld.lld")}) {
    if (auto path = sys::findProgramByName(name))
      return *path;
    if (auto path = sys::findProgramByName(name, {home}))
      return *path;
  }
  return createStringError("the linker ld.lld (Debian package lld-%s) is not "
                           "installed; it is needed to write this kind of file",
                           major.c_str());
}

static Error runLinker(ArrayRef<std::string> arguments) {
  auto linker = findLinker();
  if (!linker)
    return linker.takeError();
  SmallVector<StringRef> all = {*linker};
  all.append(arguments.begin(), arguments.end());
  SmallString<128> log;
  if (sys::fs::createTemporaryFile("strata-link", "log", log))
    return createStringError("cannot create a temporary file");
  std::optional<StringRef> redirects[] = {StringRef(""), log.str(), log.str()};
  std::string message;
  int code = sys::ExecuteAndWait(*linker, all, std::nullopt, redirects, 0, 0, &message);
  std::string output;
  if (auto buffer = MemoryBuffer::getFile(log))
    output = (*buffer)->getBuffer().trim().str();
  sys::fs::remove(log);
  if (code == 0)
    return Error::success();
  return createStringError("linking failed: %s%s", message.c_str(), output.c_str());
}

Error linkRelocatable(ArrayRef<std::string> objects, StringRef output) {
  SmallVector<std::string> arguments = {"-r", "-o", output.str()};
  arguments.append(objects.begin(), objects.end());
  return runLinker(arguments);
}

/// The file of a library of this process. (Not that of a function: its address may be in an executable that calls it.)
static std::string fileOf(const char *library) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  link_map *map = nullptr;
  std::string file = handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
  if (handle)
    dlclose(handle);
  return file;
}

Error linkShared(ArrayRef<std::string> objects, StringRef soname, StringRef output) {
  std::string runtime = runtimeLibraryPath();
  SmallString<128> folder(runtime);
  sys::fs::make_absolute(folder);
  sys::path::remove_filename(folder);
  SmallVector<std::string> arguments = {"-shared", "-o", output.str(), "-soname", soname.str(), "--no-undefined",
                                        // A copy of the runtime beside the model comes first.
                                        "-rpath", "$ORIGIN:" + folder.str().str(), "--enable-new-dtags",
                                        "--hash-style=gnu", "-z", "noexecstack", "-z", "relro"};
  arguments.append(objects.begin(), objects.end());
  arguments.push_back(runtime);
  arguments.push_back("--as-needed");
  for (const RuntimePart &part : runtimeParts())
    if (sys::fs::exists(part.path))
      arguments.push_back(part.path);
  for (const char *library : {"libm.so.6", "libc.so.6"})
    if (std::string file = fileOf(library); !file.empty())
      arguments.push_back(file);
  return runLinker(arguments);
}

Error writeStaticLibrary(ArrayRef<std::string> objects, StringRef modelName, StringRef output) {
  std::vector<NewArchiveMember> members;
  std::vector<std::string> names;
  for (size_t i = 0; i < objects.size(); ++i)
    names.push_back((modelName + "." + Twine(i) + ".o").str());
  for (auto [object, name] : zip(objects, names)) {
    auto member = NewArchiveMember::getFile(object, /*Deterministic=*/true);
    if (!member)
      return member.takeError();
    member->MemberName = name;
    members.push_back(std::move(*member));
  }
  return writeArchive(output, members, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU, /*Deterministic=*/true,
                      /*Thin=*/false);
}

} // namespace strata
