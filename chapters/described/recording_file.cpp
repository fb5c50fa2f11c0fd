#include "chapters/described/recording_file.h"

#include "chapters/mechanism/file_name.h"

namespace chapters {

models::Result<models::trace::Trace> read_trace_file(const FileInput& file, Progress& progress, double share) {
  using Read = models::Result<models::trace::Trace>;
  if (!file.bytes) return Read::fail("The file " + file.path + " is not at hand: choose it again.");
  models::trace::Bytes bytes{file.bytes->size_bytes, file.bytes->read_at};
  if (!bytes.read) {
    std::string text;
    if (const models::Status read = file.bytes->read(text); !read) return Read::fail(read.error);
    bytes = models::trace::in_memory(std::move(text));
  }
  return models::trace::read_trace(
      std::move(bytes), std::string(file_name(file.path)),
      {[&](double done) { progress.fraction = share * done; }, [&] { return progress.cancelled.load(); }});
}

}  // namespace chapters
