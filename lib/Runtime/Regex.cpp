// Regular expressions by RE2, a library of its own: only models that match strings link it.
#include "Runtime/strata.h"
#include "Runtime/strata_runtime.h"

#include <map>
#include <memory>
#include <mutex>
#include <re2/re2.h>
#include <string>

namespace {
const strata_string &stringOf(int64_t handle) {
  static const strata_string empty = {"", 0};
  return handle ? *reinterpret_cast<const strata_string *>(handle) : empty;
}

re2::StringPiece pieceOf(int64_t handle) {
  const strata_string &string = stringOf(handle);
  return {string.bytes, string.length};
}
} // namespace

extern "C" {

// Compiled once in a process: a model has few patterns, and they are constants.
int64_t strata_rt_regex_compile(int64_t pattern, int64_t node) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<RE2>> known;
  std::string message;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<RE2> &regex = known[std::string(pieceOf(pattern))];
    if (!regex)
      regex = std::make_unique<RE2>(pieceOf(pattern), RE2::Quiet);
    if (regex->ok())
      return reinterpret_cast<int64_t>(regex.get());
    auto *name = reinterpret_cast<const char *>(node);
    message = name && *name ? std::string(name) + ": " : "";
    message += "the pattern '" + regex->pattern() + "' is not a regular expression: " + regex->error();
  }
  // It leaves this function without running destructors, so the text must not be on the heap.
  static thread_local char text[1024];
  message.copy(text, sizeof(text) - 1);
  text[std::min(message.size(), sizeof(text) - 1)] = 0;
  std::string().swap(message);
  strata_rt_fail(text);
}

int64_t strata_rt_regex_full_match(int64_t regex, int64_t string) {
  return RE2::FullMatch(pieceOf(string), *reinterpret_cast<const RE2 *>(regex));
}
}
