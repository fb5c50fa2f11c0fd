#pragma once
#include <memory>
#include <string>

#include "chapters/mechanism/field.h"
#include "models/base/result.h"

namespace app {

using FileBytesPtr = std::shared_ptr<const chapters::FileBytes>;

/// Opens a file for an input that takes bytes; the job that needs them reads them later. Parts of a file of any size
/// can be read, the whole of one of up to 4 GiB. A byte order mark is skipped, and UTF-16 is read at once and served as
/// UTF-8 (text_encoding.h). Fails when it cannot be opened, is empty or is not a plain file.
models::Result<FileBytesPtr> read_file_bytes(const std::string& path);

/// True when the file on disk has the size and the time of change that it had when it was opened.
bool is_unchanged(const chapters::FileBytes& file);

}  // namespace app
