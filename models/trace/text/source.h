#pragma once
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "models/trace/text/bytes.h"
#include "models/trace/trace.h"

namespace models::trace {

/// The uncompressed bytes of a recording, passing by in a window while they are read. A gz is inflated on a second
/// thread, a few chunks ahead. Offsets count from the beginning of the text; a pointer into the window is good until
/// more() is called.
class Source {
 public:
  /// Beyond the window's end so many bytes may be read: the first is 0, the others have no meaning.
  static constexpr std::size_t padding = 64;

  /// `progress` outlives this.
  Source(Bytes bytes, const Progress& progress);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::size_t begin() const { return begin_; }
  std::size_t end() const { return begin_ + size_; }
  const char* at(std::size_t offset) const { return buffer_.get() + (offset - begin_); }
  char* data() { return buffer_.get(); }
  std::string_view view(std::size_t from, std::size_t to) const { return {at(from), to - from}; }

  /// Reads the next chunk and lets go of what lies before `keep_from`. False: there is no more, or reading was
  /// cancelled.
  bool more(std::size_t keep_from);
  void all(std::size_t keep_from) {
    while (more(keep_from)) {
    }
  }
  bool compressed() const { return unpacking_ != nullptr; }
  /// A note about what is missing: a sentence that says why the bytes ended early, or empty. It is no failure of
  /// reading, since what came before the early end is kept.
  std::string loss() const;
  bool cancelled();
  /// Says how far reading is: `at` is an offset in the text.
  void report(std::size_t at);
  /// The length of the text as far as it can be known before the end; 0: not at all.
  std::size_t expected_bytes() const { return expected_; }
  /// To read parts of the text again, once all has been read.
  std::shared_ptr<const Text> text() const { return text_; }

 private:
  struct Unpacking;
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  void make_room(std::size_t keep_from, std::size_t more_bytes);

  std::shared_ptr<Text> text_;
  std::unique_ptr<Unpacking> unpacking_;
  const Progress& progress_;
  std::unique_ptr<char, Free> buffer_;
  std::size_t begin_ = 0, size_ = 0, capacity_ = 0, expected_ = 0;
  std::string loss_;
  bool cancelled_ = false;
};

}  // namespace models::trace
