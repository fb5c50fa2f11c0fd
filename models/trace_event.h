#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "models/trace_builder.h"
#include "models/trace_source.h"

namespace models::trace {

/// Reads single events of Chrome-trace JSON.
class EventReader {
 public:
  explicit EventReader(Builder& builder);
  ~EventReader();
  /// Reads the event from `begin` to `end`, both in the window, into the builder. False, with nothing kept, when it is not a whole JSON object.
  /// Bytes that are no UTF-8 and control characters in texts are mended first; mended() counts such events.
  bool read(const Source& source, std::size_t begin, std::size_t end);
  std::int64_t mended() const { return mended_; }

 private:
  struct Parsers;
  bool parse(const char* json, std::size_t bytes, std::size_t readable, std::size_t args_base, Record& record);
  void side_records(const Record& record, const char* args, std::size_t bytes);
  std::unique_ptr<Parsers> parsers_;
  Builder& builder_;
  std::string copy_, args_copy_;
  std::int64_t mended_ = 0;
};

/// A copy in which control characters in texts are blanks and bytes that are no UTF-8 are question marks; same length.
std::string mend(std::string_view json);

}  // namespace models::trace
