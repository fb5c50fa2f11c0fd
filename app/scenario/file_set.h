#pragma once
#include <string>
#include <vector>

#include "app/platform/json.h"
#include "chapters/mechanism/lab.h"
#include "models/base/result.h"

/// Several files that belong together, such as a dump or a recording of each rank: one goes to a file input, the others
/// to the rows of a table beside it. Which table that is follows from what its rows read.
namespace app {

/// Where the other files of a set go: a table of these inputs and the key of a file in its rows. Null: the input takes
/// one file alone.
struct FileTable {
  const chapters::Field* table = nullptr;
  std::string column;
};
FileTable table_beside(const chapters::Fields& inputs, const chapters::Field& file);

/// The files in this folder, those in folders below aside, that are of a kind which `reads` names, 2 before 10. Fails
/// where there is none, or more than 4,096 files.
models::Result<std::vector<std::string>> files_of_folder(const std::string& folder, chapters::FileKinds reads);

/// True for "rank2.json" and "rank10.json": numbers in names compare as numbers.
bool natural_less(const std::string& a, const std::string& b);

/// The inputs where a file input that has a table beside it names a folder: its first file, and the others in the
/// table. A list of paths means the same. Fails where the folder holds nothing that the input reads.
models::Result<Json> with_file_sets(const chapters::Lab& lab, const Json& inputs);

}  // namespace app
