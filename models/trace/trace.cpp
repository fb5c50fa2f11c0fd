#include "models/trace/trace.h"

#include <algorithm>
#include <exception>
#include <new>
#include <unordered_set>

#include "models/trace/builder/builder.h"
#include "models/trace/readers/foreign.h"
#include "models/trace/readers/json.h"
#include "models/trace/readers/sqlite.h"
#include "models/trace/text/source.h"

namespace models::trace {
namespace {

/// What each device waited for is looked up in the threads that fed it, so that the time for it grows with both.
constexpr std::size_t max_devices = 1024;
/// Each is a row of the picture.
constexpr std::size_t max_tracks = 250'000;

/// "1,025", of a count from a thousand to below a million.
std::string with_comma(std::size_t n) {
  const std::string digits = std::to_string(n);
  return digits.substr(0, digits.size() - 3) + "," + digits.substr(digits.size() - 3);
}

/// Empty, or why the recording has more in it than can be told apart.
std::string too_many(const Trace& trace) {
  const auto sentence = [](std::size_t found, const char* what, std::size_t most, const char* advice) {
    return "This recording has " + (found < 1'000'000 ? with_comma(found) : "more than 999,999") + " " + what +
           ", of which at most " + with_comma(most) + " are read: " + advice + ".";
  };
  if (trace.tracks.size() > max_tracks)
    return sentence(trace.tracks.size(), "tracks", max_tracks, "record fewer threads, or a shorter time");
  std::unordered_set<int> devices;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::stream) devices.insert(track.device);
  return devices.size() > max_devices ? sentence(devices.size(), "devices", max_devices, "record one rank a file")
                                      : std::string();
}

}  // namespace

Result<std::string> Trace::args(const Event& e) const {
  if (e.args_bytes == 0 || !text) return Result<std::string>::ok({});
  return text->part(e.args_offset, e.args_bytes);
}

Result<Trace> read_trace(std::string bytes, std::string_view origin, const Progress& progress) {
  return read_trace(in_memory(std::move(bytes)), origin, progress);
}

Result<Trace> read_trace(Bytes bytes, std::string_view origin, const Progress& progress) try {
  Trace trace;
  trace.origin = origin;
  const auto fail = [&](const std::string& sentence) {
    return Result<Trace>::fail(std::string(origin) + ": " + sentence);
  };
  Builder builder(trace);
  Source source(std::move(bytes), progress);
  constexpr std::string_view sqlite_begins = "SQLite format 3";
  while (source.end() < sqlite_begins.size() && source.more(0)) {
  }
  const bool sqlite = source.view(0, source.end()).starts_with(sqlite_begins);
  if (sqlite) source.all(0);
  const std::string head(source.view(0, std::min(source.end(), foreign_head_bytes)));
  const Status read = sqlite ? read_sqlite(source, trace, builder) : read_json(source, trace, builder);
  if (source.cancelled()) return fail("Reading was stopped.");
  if (!read) {
    std::string why = read.error;
    if (const auto loss = source.loss(); !loss.empty()) why = loss + " Nothing before that can be used.";
    if (const auto foreign = sqlite ? std::string() : foreign_format(head, origin, source.compressed());
        !foreign.empty())
      why = foreign;
    return fail(why);
  }
  if (sqlite && !source.loss().empty()) trace.losses.push_back(source.loss() + " What came before it was kept.");
  if (trace.format.empty()) trace.format = sqlite ? "Nsight Systems SQLite" : "Chrome JSON";
  if (source.compressed()) trace.format += ", gz";
  if (!sqlite) trace.text = source.text();
  builder.finish();
  if (auto sentence = too_many(trace); !sentence.empty()) return fail(sentence);
  if (progress.report) progress.report(1);
  return Result<Trace>::ok(std::move(trace));
} catch (const std::bad_alloc&) {
  return Result<Trace>::fail(
      std::string(origin) +
      ": This trace needs more memory than there is: record fewer steps, or close other programs.");
} catch (const std::exception& e) {
  return Result<Trace>::fail(std::string(origin) + ": This trace could not be read: " + e.what() + ".");
}

}  // namespace models::trace
