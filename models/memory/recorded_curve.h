#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/trace/trace.h"

/// Memory over time as a program recorded it, to be laid beside the model's.
namespace models::memory {

struct RecordedPoint {
  double time_s = 0;  ///< since the first event
  double bytes = 0;   ///< from here on
};

struct RecordedCurve {
  std::string kind;  ///< "PyTorch snapshot", "memory timeline", "trace"
  std::vector<RecordedPoint> points;
  double peak_bytes = 0, peak_s = 0, first_bytes = 0, last_bytes = 0;
  double span_s = 0;
  std::int64_t events = 0;
  std::string note;  ///< what a reader must know; may be empty
};

/// Reads one of three forms, gz or not, and says which it was:
/// - the dictionary of torch.cuda.memory._snapshot() as JSON: allocations and completed frees of the device with the
///   most events, above what the segments still held before the first of them;
/// - the rows of torch.profiler's export_memory_timeline("x.raw.json.gz"): [ns, action, bytes, category], whose sum is
///   the curve; rows at -1 were there before;
/// - a profiler trace with [memory] events: what the allocator said of the device that has most of them.
/// A pickle is refused with the sentence that says how to write the JSON. Fails in one sentence.
Result<RecordedCurve> read_memory_curve(const trace::Bytes& bytes, std::string_view origin,
                                        const trace::Progress& progress = {});

}  // namespace models::memory
