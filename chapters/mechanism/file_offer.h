#pragma once
#include "chapters/mechanism/file_kind.h"

/// Whether a file input is offered files that are dropped anywhere, or those alone that are given to its lab.
namespace chapters {

/// Stands among the kinds of a FileSpec: this input takes such files while its lab is open, or where it is named, and
/// is offered none that come from elsewhere. For a lab beside the one that everybody would open them with.
inline constexpr FileKind only_in_its_lab{31};

/// Is an input that reads these offered files of this kind? `open`: its lab is open.
constexpr bool offered(FileKinds reads, FileKind kind, bool open) {
  return reads.has(kind) && (open || !reads.has(only_in_its_lab));
}

/// Do two inputs read the same kinds of files, however they are offered them?
constexpr bool same_kinds(FileKinds a, FileKinds b) {
  for (unsigned kind = 0; kind < static_cast<unsigned>(only_in_its_lab); ++kind)
    if (a.has(static_cast<FileKind>(kind)) != b.has(static_cast<FileKind>(kind))) return false;
  return true;
}

}  // namespace chapters
