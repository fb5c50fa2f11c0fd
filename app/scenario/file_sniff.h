#pragma once
#include <string>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/file_kind.h"

/// What a file is by its content, never by its name.
namespace app {

struct SniffedFile {
  chapters::FileKind kind = chapters::FileKind::unknown;
  /// What a pickle seems to hold; else as `kind`.
  chapters::FileKind holds = chapters::FileKind::unknown;
  bool is_text = false;
  std::string looks_like;  ///< "a memory snapshot of PyTorch", "a picture (PNG)", "a text that nothing here knows"
};

/// "a memory snapshot of PyTorch".
std::string_view kind_words(chapters::FileKind kind);

/// So many bytes of a text are looked at, after a gz is unpacked.
inline constexpr std::size_t sniffed_bytes = 1 << 20;

/// What begins so. `whole`: the text goes on no further.
SniffedFile sniff_text(std::string_view head, bool whole);

/// The same of a file, which is unpacked as far as is looked at. Unknown where it cannot be read.
SniffedFile sniff_file(const chapters::FileBytes& file);

}  // namespace app
