#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/content/content.h"
#include "app/platform/json.h"
#include "app/scenario/own_entries.h"
#include "chapters/mechanism/lab.h"
#include "models/base/result.h"

/// What a file is that was chosen or dropped, and which lab takes it. Worked out on copies and from the disk alone, so
/// that a job can do it.
namespace app {

/// A lab that may read the file.
struct FileTaker {
  std::string lab, title;
  std::shared_ptr<const chapters::Lab> copy;  ///< with the inputs that it is tried with
};

/// Nothing here takes it.
struct RefusedFile {
  std::string why{};                         ///< one sentence
  std::string reader_lab{}, reader_title{};  ///< a lab that reads such files; empty: none does
};

/// A scenario, of a file or of a link, whose paths are whole.
struct FoundScenario {
  std::string lab{};
  std::shared_ptr<const Json> inputs{}, view{};
  std::vector<std::string> files{};  ///< that it names
  std::string own{};                 ///< what it carries (Scenario::own_text); taken before `inputs` can be set
};

/// A lesson, whose steps' paths are whole.
struct FoundLesson {
  Lesson lesson;
  std::vector<std::string> files;  ///< that its steps name
};

/// A model, or chips and networks.
struct FoundOwn {
  OwnSet set;
  bool is_model = false;
};

/// An input that takes it.
struct FoundInput {
  std::string lab, title, key, label;
  std::shared_ptr<chapters::Lab> trial;  ///< holds the file in that input, computed
  std::string table{};                   ///< key of the table that holds the others of a set; empty: it is one file
  std::size_t files = 1;
};

/// Several labs take it: the person says which.
struct FoundReaders {
  std::string looks_like;  ///< "a memory snapshot of PyTorch"; empty: it is a set of files
  std::vector<FoundInput> readers;
};

/// Several files that are no set: each is looked at by itself.
struct FoundSingles {
  std::vector<std::string> paths;
};

using FoundFile =
    std::variant<RefusedFile, FoundScenario, FoundLesson, FoundOwn, FoundInput, FoundReaders, FoundSingles>;

/// Looks at the file at `path` by its content: a scenario, a lesson, a model, chips, or what `takers` read, of which
/// the first has the first word where it is the open lab. May take as long as it takes to read the file and to compute
/// the labs that are tried on it. What a cancelled look gives means nothing.
FoundFile look_at_file(const std::string& path, const std::vector<FileTaker>& takers, chapters::Progress& progress,
                       bool first_is_open = true);

/// Looks at several files, or at those in a folder, that were given together: where a lab takes all of them as a set,
/// one in a file input and the others in the table beside it or all in a table, they are one. Of a folder's files those
/// are left out that the lab does not read. The open lab is the first of the takers, and has the first word.
FoundFile look_at_set(const std::vector<std::string>& paths, const std::vector<FileTaker>& takers,
                      chapters::Progress& progress);

/// The name of the file at `path`, fit to be quoted in a sentence.
std::string file_name(const std::string& path);

/// Titles of the labs that are offered files of this kind.
std::vector<std::string> readers_of(const std::vector<FileTaker>& labs, chapters::FileKind kind);

/// Every lab with its default inputs, in teaching order.
std::vector<FileTaker> every_lab();

/// The suffixes of files that an input takes: "json, gz" gives ".json" and ".gz".
std::vector<std::string> suffixes_of(std::string_view accepted);

/// ".json" and every other suffix of files that these labs read.
std::vector<std::string> readable_suffixes(const std::vector<FileTaker>& labs);

}  // namespace app
