#pragma once
#include <memory>
#include <string>
#include <utility>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab_interface.h"
#include "models/base/result.h"

namespace chapters {

/// What a lab reads of a file, read once for as long as its bytes are held (FileBytes::made), and why it cannot be read
/// beside it: a file that is refused is not read again with every change of another input. `make` is given the bytes
/// and returns a Result<std::shared_ptr<const T>>; what it gives when it was cancelled is not kept. Fails, too, where
/// the file is not at hand.
template <class T, class Make>
models::Result<std::shared_ptr<const T>> read_once(const FileInput& file, const Progress& progress, Make&& make) {
  using Read = models::Result<std::shared_ptr<const T>>;
  if (!file.bytes) return Read::fail("The file " + file.path + " is not at hand: choose it again.");
  std::string stopped;
  const auto kept = file.bytes->made<Read>([&]() -> std::shared_ptr<const Read> {
    Read fresh = make(*file.bytes);
    if (!fresh && progress.cancelled) {
      stopped = std::move(fresh.error);
      return nullptr;
    }
    return std::make_shared<const Read>(std::move(fresh));
  });
  return kept ? *kept : Read::fail(std::move(stopped));
}

}  // namespace chapters
