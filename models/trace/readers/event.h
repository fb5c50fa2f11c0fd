#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "models/trace/builder/builder.h"
#include "models/trace/text/source.h"

namespace models::trace {

/// Reads single events of Chrome-trace JSON.
class EventReader {
 public:
  explicit EventReader(Builder& builder);
  ~EventReader();
  /// Reads the event from `begin` to `end`, both in the window, into the builder. False, with nothing kept, when it is
  /// not a whole JSON object. Bytes that are no UTF-8, control characters in texts and commas after the last member are
  /// mended first.
  bool read(const Source& source, std::size_t begin, std::size_t end);
  /// The same of an event that stands in the window whole and as profilers write it: how many bytes it takes, at most
  /// `max_bytes`. 0, with nothing kept, where only read() can tell.
  std::size_t read_plain(const Source& source, std::size_t begin, std::size_t max_bytes);
  std::int64_t mended() const { return mended_; }                ///< events with a text that had to be mended
  std::int64_t mended_commas() const { return mended_commas_; }  ///< events in which only commas were too many

 private:
  class EventParser;
  struct Parsers;
  bool parse(const char* json, std::size_t bytes, std::size_t readable, std::size_t args_base, Record& record);
  void side_records(const Record& record, const char* args, std::size_t bytes);
  std::unique_ptr<Parsers> parsers_;
  Builder& builder_;
  std::string copy_, args_copy_;
  std::int64_t mended_ = 0, mended_commas_ = 0;
};

/// Control characters in texts become blanks, bytes that are no UTF-8 question marks, commas after a last member
/// blanks; the length stays. True when a text changed.
bool mend(std::string& json);

}  // namespace models::trace
