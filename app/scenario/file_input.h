#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "app/platform/file.h"
#include "app/platform/file_bytes.h"
#include "chapters/mechanism/lab.h"

/// How the file inputs of labs get their files.
namespace app {

/// Reads the files of file inputs: from the disk unless something else is given.
struct FileReader {
  using ReadText = models::Result<std::string>(const std::string& path);

  std::function<ReadText> text = read_text_file;
  std::function<models::Result<FileBytesPtr>(const std::string& path)> bytes = read_file_bytes;
  FileReader() = default;
  FileReader(ReadText* how) : text(how) {}
};

/// Reads from the disk, but gives back a file that the lab holds open already and that has not changed since: undo
/// need not read gigabytes again.
FileReader reader_keeping(const chapters::Lab& lab);

/// Gives the files that the lab holds, as it holds them, and reads others from the disk. For as long as the lab lives.
FileReader reader_of(const chapters::Lab& lab);

/// Fills a file input from `path` as its Spec asks, with text or bytes. Changes nothing when it fails.
models::Status load_file(const chapters::Field& field, const std::string& path, const FileReader& read = {});

/// True when `path` ends in a suffix that the file input accepts, in either case of letters.
bool accepts(const chapters::Field& field, std::string_view path);

}  // namespace app
