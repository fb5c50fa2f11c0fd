#include "chapters/profiling/trace_viewer/source.h"

#include "chapters/mechanism/file_name.h"

namespace chapters::profiling::trace_viewer {
namespace {

RecordingPtr recorded(models::trace::Bytes bytes, std::string_view origin, const models::trace::Progress& progress,
                      std::string& error) {
  auto read = models::trace::read_trace(std::move(bytes), origin, progress);
  if (!read) {
    error = read.error;
    return nullptr;
  }
  auto out = std::make_shared<Recording>();
  out->trace = std::move(*read);
  out->metrics = models::trace::measure(out->trace);
  return out;
}

std::vector<RecordingPtr> make_sample(models::SampleFault fault) {
  std::vector<RecordingPtr> out;
  std::string error;
  for (std::string& text : models::sample_traces({.fault = fault}))
    if (auto one = recorded(models::trace::in_memory(std::move(text)), "sample", {}, error))
      out.push_back(std::move(one));
  return out;
}

}  // namespace

RecordingPtr read_recording(const FileInput& file, Progress& progress, std::string& error) {
  if (!file.bytes) {
    error = "The file " + file.path + " is not at hand: choose it again.";
    return nullptr;
  }
  return file.bytes->made<Recording>([&]() -> RecordingPtr {
    // A file is read in passing and stays where it is; what comes from elsewhere is held.
    models::trace::Bytes bytes{file.bytes->size_bytes, file.bytes->read_at};
    if (std::string text; !bytes.read) {
      if (error = file.bytes->read(text); !error.empty()) return nullptr;
      bytes = models::trace::in_memory(std::move(text));
    }
    const std::string name(file_name(file.path));
    return recorded(std::move(bytes), name,
                    {[&](double done) { progress.fraction = 0.9 * done; }, [&] { return progress.cancelled.load(); }},
                    error);
  });
}

const std::vector<RecordingPtr>& sample_recordings(models::SampleFault fault) {
  // Constant data, made when first asked for.
  using models::SampleFault;
  switch (fault) {
    case SampleFault::none: {
      static const auto made = make_sample(SampleFault::none);
      return made;
    }
    case SampleFault::hidden_sync: {
      static const auto made = make_sample(SampleFault::hidden_sync);
      return made;
    }
    case SampleFault::data_starved: {
      static const auto made = make_sample(SampleFault::data_starved);
      return made;
    }
    case SampleFault::launch_bound: {
      static const auto made = make_sample(SampleFault::launch_bound);
      return made;
    }
    case SampleFault::exposed_communication: {
      static const auto made = make_sample(SampleFault::exposed_communication);
      return made;
    }
    case SampleFault::straggler:
      break;
  }
  static const auto made = make_sample(SampleFault::straggler);
  return made;
}

}  // namespace chapters::profiling::trace_viewer
