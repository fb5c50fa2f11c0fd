#include "chapters/described/recording_file.h"

#include "chapters/mechanism/file_name.h"
#include "models/memory/snapshot_json.h"

namespace chapters {
namespace {

/// Those of the file where it lies, or held where they come from elsewhere.
models::Result<models::trace::Bytes> bytes_of(const FileBytes& file) {
  using Read = models::Result<models::trace::Bytes>;
  if (file.read_at) return Read::ok({file.size_bytes, file.read_at});
  std::string text;
  if (models::Status read = file.read(text); !read) return Read::fail(std::move(read.error));
  return Read::ok(models::trace::in_memory(std::move(text)));
}

}  // namespace

models::Result<models::trace::Trace> read_trace_file(const FileInput& file, Progress& progress, double share) {
  using Read = models::Result<models::trace::Trace>;
  if (!file.bytes) return Read::fail("The file " + file.path + " is not at hand: choose it again.");
  auto bytes = bytes_of(*file.bytes);
  if (!bytes) return Read::fail(std::move(bytes.error));
  return models::trace::read_trace(
      std::move(*bytes), std::string(file_name(file.path)),
      {[&](double done) { progress.fraction = share * done; }, [&] { return progress.cancelled.load(); }});
}

models::Result<std::string> whole_text_of(const FileBytes& file, std::uint64_t most_bytes, std::string_view too_large) {
  using Read = models::Result<std::string>;
  if (file.size_bytes > most_bytes) return Read::fail(std::string(too_large));
  const auto bytes = bytes_of(file);
  if (!bytes) return Read::fail(bytes.error);
  auto text = models::memory::whole_recording_text(*bytes);
  if (text && text->size() > most_bytes) return Read::fail(std::string(too_large));
  return text;
}

}  // namespace chapters
