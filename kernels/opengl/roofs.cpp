#include <algorithm>
#include <array>

#include "kernels/opengl/context.h"
#include "kernels/opengl/operands.h"
#include "kernels/opengl/run.h"
#include "kernels/opengl/stopwatch.h"

namespace kernels::opengl {
namespace {

constexpr double usual_share_of_memory = 1.0 / 16;

/// Seconds of one run of what `enqueue` enqueues.
double time_of(const Session& session, double seconds, std::function<void()> enqueue) {
  Stopwatch watch(session, std::move(enqueue), seconds);
  watch.warm_up();
  while (!watch.done()) watch.sample();
  return watch.summary().median;
}

/// What a shader may see of one array, at most 128 MiB and a sixteenth of the memory, in whole MiB.
std::int64_t stream_bytes(const Session& session) {
  std::int64_t bytes = std::min<std::int64_t>(session.facts().max_block_bytes, 1 << 27);
  if (session.facts().memory_bytes > 0)
    bytes = std::min(
        bytes, static_cast<std::int64_t>(static_cast<double>(session.facts().memory_bytes) * usual_share_of_memory));
  return std::max<std::int64_t>(bytes >> 20, 1) << 20;
}

/// Seconds of a run of a ladder's rung at a size, operands out of cache.
double rung_time(const Session& session, std::string_view ladder, std::string_view id, std::int64_t size,
                 double seconds) {
  const Operation& operation = *find_operation(ladder);
  const Rung& rung = *find_rung(*operation.ladder, id);
  const std::vector<Launch> launches = operation.launches(id, size);
  const Program program(session, rung.source, launches.front());
  if (!program.failure().empty()) throw Failure(program.failure());
  Operands operands(session, operation, size, cold_sets(operation, size));
  operands.fill(1);
  std::int64_t set = 0;
  return time_of(session, seconds, [&] {
    operands.enqueue(program, launches, set, std::string(rung.entry));
    set = (set + 1) % operands.sets();
  });
}

/// The better of the driver's own copy and the kernel with vectors.
double copy_roof(const Session& session, double seconds) {
  const std::int64_t bytes = stream_bytes(session);
  const double kernel_s = rung_time(session, "gl-copy", "vec4", bytes, seconds / 2);
  const Buffer from(session, bytes, "the copy roof"), to(session, bytes, "the copy roof");
  const std::vector<float> ones(static_cast<std::size_t>(bytes / 4), 1);
  from.write(0, bytes, ones.data());
  const double driver_s = time_of(session, seconds / 2, [&] {
    session.gl().bind_buffer(gl_copy_read_buffer, from.name());
    session.gl().bind_buffer(gl_copy_write_buffer, to.name());
    session.gl().copy_buffer(gl_copy_read_buffer, gl_copy_write_buffer, 0, 0, static_cast<std::ptrdiff_t>(bytes));
  });
  return 2 * static_cast<double>(bytes) / std::min(kernel_s, driver_s);
}

double read_roof(const Session& session, double seconds) {
  const std::int64_t bytes = stream_bytes(session);
  return static_cast<double>(bytes) / rung_time(session, "gl-reduction", "grid_stride", bytes, seconds);
}

/// The last rung of the multiply-adds, with chains long enough that a run takes some milliseconds and no more.
double fma_roof(const Session& session, double seconds) {
  const Operation& operation = *find_operation("gl-fma");
  std::int64_t steps = 32;
  for (double s = 0; steps < operation.ladder->size_default && s < 5e-3; steps *= 2)
    s = rung_time(session, "gl-fma", "vectors", steps, 1e-3);
  return operation.ladder->cost(steps).flops / rung_time(session, "gl-fma", "vectors", steps, seconds);
}

struct Ceiling {
  const char *id, *title, *unit;
  double (*measure)(const Session&, double seconds);
};
constexpr std::array ceilings{
    Ceiling{"gl_copy", "device memory, copy", "B/s", copy_roof},
    Ceiling{"gl_read", "device memory, read", "B/s", read_roof},
    Ceiling{"gl_fma", "float32 multiply-adds", "FLOP/s", fma_roof},
};

}  // namespace

Roofs measure_roofs_on(const Machine& machine, double seconds, const Listener& listener) {
  Roofs found;
  found.device = Device::opengl;
  found.failure = why_not_timed(machine);
  if (!found.failure.empty()) return found;
  try {
    const Session session(machine);
    found.device_name = session.facts().renderer;
    double done = 0;
    for (const Ceiling& c : ceilings) {
      if (listener.progress && !listener.progress(done++ / ceilings.size())) return found;
      try {
        found.roofs.push_back({c.id, c.title, c.unit, c.measure(session, seconds / ceilings.size())});
      } catch (const Failure& failure) {
        if (failure.context_lost) throw;
        if (found.failure.empty()) found.failure = failure.what();
      }
    }
    if (session.facts().memory_bytes > 0)
      found.roofs.push_back({"gl_memory", "device memory", "B", static_cast<double>(session.facts().memory_bytes)});
  } catch (const Failure& failure) {
    found.failure = failure.what();
  }
  return found;
}

}  // namespace kernels::opengl
