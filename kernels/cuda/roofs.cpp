#include <algorithm>
#include <array>

#include "kernels/cuda/host_rung.h"
#include "kernels/cuda/run.h"
#include "kernels/cuda/stopwatch.h"

namespace kernels::cuda {
namespace {

/// A cuBLAS handle for the length of a scope.
struct Cublas {
  const Blas& blas;
  BlasHandle handle = nullptr;
  explicit Cublas(const Session& session) : blas(session.machine().blas) {
    if (blas.create(&handle) != 0) throw Failure("cuBLAS did not start.", false);
    blas.set_stream(handle, session.stream());
  }
  ~Cublas() { blas.destroy(handle); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
};

/// Seconds of one run of what `enqueue` enqueues.
double time_of(const Session& session, double seconds, const std::function<void()>& enqueue) {
  Stopwatch watch(session, enqueue, 1, seconds);
  watch.warm_up();
  while (!watch.done()) watch.sample();
  return watch.summary().median;
}

/// 1 GiB, or an eighth of a smaller memory, in whole 16 MiB: far above any L2.
std::int64_t stream_bytes(const Session& session) {
  return std::clamp<std::int64_t>(session.facts().memory_bytes / 8, 1 << 26, 1 << 30) >> 24 << 24;
}

double copy_roof(const Session& session, double seconds) {
  const std::int64_t bytes = stream_bytes(session);
  const DeviceArray from(session.driver(), bytes, "the copy roof"), to(session.driver(), bytes, "the copy roof");
  session.fill_uniform(from.address(), bytes / 4, 1, 0, 1);
  const double s = time_of(session, seconds, [&] {
    must(session.driver(),
         session.driver().copy_on_device(to.address(), from.address(), static_cast<std::size_t>(bytes),
                                         session.stream()),
         "copying");
  });
  return 2 * static_cast<double>(bytes) / s;
}

double read_roof(const Session& session, double seconds) {
  const std::int64_t bytes = stream_bytes(session);
  const DeviceArray from(session.driver(), bytes, "the read roof"), to(session.driver(), 256, "the read roof");
  session.fill_uniform(from.address(), bytes / 4, 2, 0, 1);
  const Function function = session.instrument("read_roof");
  DevicePointer in = from.address(), out = to.address();
  auto n = static_cast<unsigned long long>(bytes / 4);
  std::array<void*, 3> arguments{&in, &out, &n};
  const Launch shape{.grid_x = static_cast<unsigned>(8 * session.facts().multiprocessors), .block_x = 256};
  return static_cast<double>(bytes) /
         time_of(session, seconds, [&] { session.launch(function, shape, arguments, "read_roof"); });
}

/// A quarter of the L2, which stays there whole, many times.
double l2_roof(const Session& session, double seconds) {
  const std::int64_t bytes = std::max<std::int64_t>(session.facts().l2_bytes / 4 >> 20 << 20, 1 << 20);
  const DeviceArray from(session.driver(), bytes, "the L2 roof"), to(session.driver(), 256, "the L2 roof");
  session.fill_uniform(from.address(), bytes / 4, 2, 0, 1);
  const Function function = session.instrument("l2_roof");
  DevicePointer in = from.address(), out = to.address();
  auto vectors = static_cast<unsigned>(bytes / 16), passes = static_cast<unsigned>((1 << 30) / bytes);
  std::array<void*, 4> arguments{&in, &out, &vectors, &passes};
  const Launch shape{.grid_x = static_cast<unsigned>(8 * session.facts().multiprocessors), .block_x = 256};
  return static_cast<double>(bytes) * passes /
         time_of(session, seconds, [&] { session.launch(function, shape, arguments, "l2_roof"); });
}

double shared_roof(const Session& session, double seconds) {
  const DeviceArray to(session.driver(), 256, "the shared memory roof");
  const Function function = session.instrument("shared_roof");
  DevicePointer out = to.address();
  unsigned rounds = 512;
  std::array<void*, 2> arguments{&out, &rounds};
  const Launch shape{.grid_x = static_cast<unsigned>(16 * session.facts().multiprocessors), .block_x = 256};
  const double bytes = 128.0 * rounds * shape.grid_x * shape.block_x;
  return bytes / time_of(session, seconds, [&] { session.launch(function, shape, arguments, "shared_roof"); });
}

double fma_roof(const Session& session, double seconds) {
  const DeviceArray to(session.driver(), 256, "the FMA roof");
  const Function function = session.instrument("fma_roof");
  DevicePointer out = to.address();
  unsigned rounds = 1024;
  float factor = 0.999f, term = 0.001f;
  std::array<void*, 4> arguments{&out, &rounds, &factor, &term};
  const Launch shape{.grid_x = static_cast<unsigned>(16 * session.facts().multiprocessors), .block_x = 256};
  const double flops = 512.0 * rounds * shape.grid_x * shape.block_x;
  return flops / time_of(session, seconds, [&] { session.launch(function, shape, arguments, "fma_roof"); });
}

double sgemm_roof(const Session& session, double seconds) {
  constexpr int n = 4096;
  constexpr std::int64_t bytes = 4ll * n * n;
  const DeviceArray a(session.driver(), bytes, "SGEMM"), b(session.driver(), bytes, "SGEMM"),
      c(session.driver(), bytes, "SGEMM");
  session.fill_uniform(a.address(), bytes / 4, 3, -1, 2);
  session.fill_uniform(b.address(), bytes / 4, 4, -1, 2);
  const Cublas cublas(session);
  const float one = 1, zero = 0;
  const auto pointer = [](const DeviceArray& x) { return reinterpret_cast<float*>(x.address()); };
  // cuBLAS counts by columns: B A by columns is A B by rows.
  return 2.0 * n * n * n / time_of(session, seconds, [&] {
           if (cublas.blas.sgemm(cublas.handle, 0, 0, n, n, n, &one, pointer(b), n, pointer(a), n, &zero, pointer(c),
                                 n) != 0)
             throw Failure("cuBLAS refused an SGEMM.", false);
         });
}

double bf16_roof(const Session& session, double seconds) {
  constexpr int n = 8192, type_bf16 = 14, type_float = 0, compute_float = 68, default_algorithm = -1;
  static_assert(type_float == 0);
  constexpr std::int64_t bytes = 2ll * n * n;
  const DeviceArray a(session.driver(), bytes, "a bf16 GEMM"), b(session.driver(), bytes, "a bf16 GEMM"),
      c(session.driver(), bytes, "a bf16 GEMM");
  session.fill_bf16(a.address(), bytes / 4, 5);
  session.fill_bf16(b.address(), bytes / 4, 6);
  const Cublas cublas(session);
  const float one = 1, zero = 0;
  const auto pointer = [](const DeviceArray& x) { return reinterpret_cast<void*>(x.address()); };
  return 2.0 * n * n * n / time_of(session, seconds, [&] {
           if (cublas.blas.gemm_ex(cublas.handle, 0, 0, n, n, n, &one, pointer(b), type_bf16, n, pointer(a), type_bf16,
                                   n, &zero, pointer(c), type_bf16, n, compute_float, default_algorithm) != 0)
             throw Failure("cuBLAS refused a bf16 GEMM.", false);
         });
}

struct Ceiling {
  const char *id, *title, *unit;
  double (*measure)(const Session&, double seconds);
  bool needs_blas;
};
constexpr std::array ceilings{
    Ceiling{"gpu_copy", "device memory, copy", "B/s", copy_roof, false},
    Ceiling{"gpu_read", "device memory, read", "B/s", read_roof, false},
    Ceiling{"gpu_fma", "float32 FMA chains", "FLOP/s", fma_roof, false},
    Ceiling{"gpu_l2_read", "L2 cache, read", "B/s", l2_roof, false},
    Ceiling{"gpu_shared", "shared memory, read", "B/s", shared_roof, false},
    Ceiling{"gpu_host", "link to the host, both ways", "B/s", host_link_bytes_per_s, false},
    Ceiling{"gpu_launch", "a kernel of a graph", "s", graph_node_s, false},
    Ceiling{"gpu_call", "call that launches a kernel", "s", launch_call_s, false},
    Ceiling{"gpu_sgemm", "cuBLAS SGEMM, 4096", "FLOP/s", sgemm_roof, true},
    Ceiling{"gpu_bf16", "cuBLAS bf16 GEMM, 8192", "FLOP/s", bf16_roof, true},
};

}  // namespace

Roofs measure_roofs_on(const Machine& machine, double seconds, const Listener& listener) {
  Roofs found;
  found.device = Device::cuda;
  found.failure = machine.no_driver.empty() ? machine.no_nvrtc : machine.no_driver;
  if (!found.failure.empty()) return found;
  try {
    const Session session(machine);
    found.device_name = session.facts().name;
    double done = 0;
    for (const Ceiling& c : ceilings) {
      if (listener.progress && !listener.progress(done++ / ceilings.size())) return found;
      if (c.needs_blas && !machine.no_blas.empty()) continue;
      if (c.id == std::string_view("gpu_bf16") && session.facts().capability < 80) continue;
      try {
        found.roofs.push_back({c.id, c.title, c.unit, c.measure(session, seconds / ceilings.size())});
      } catch (const Failure& failure) {
        if (failure.context_lost) throw;
        if (found.failure.empty()) found.failure = failure.what();
      }
    }
    found.roofs.push_back({"gpu_l2", "L2 cache", "B", static_cast<double>(session.facts().l2_bytes)});
    found.roofs.push_back({"gpu_memory", "device memory", "B", static_cast<double>(session.facts().memory_bytes)});
  } catch (const Failure& failure) {
    found.failure = failure.what();
  }
  return found;
}

}  // namespace kernels::cuda
