// The ceilings of one core of this machine, and of all of its threads together, measured with the kernels of the
// ladders and the same protocol.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/clock.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/operation.h"
#include "kernels/cpu/team.h"
#include "kernels/statistics.h"

namespace kernels::cpu {
namespace {

/// Keeps the compiler from knowing a value, so that it cannot replace a chain of operations by their sum.
inline void forget(std::uint64_t& value) { asm volatile("" : "+r"(value)); }

/// A chain of dependent additions, one a cycle: how long they take tells the clock that the core really runs at.
void dependent_adds(std::int64_t count) {
  std::uint64_t x = 1, y = 3;
  forget(y);  // a register, since some cores fold additions of constants away
  for (std::int64_t i = 0; i < count; i += 8) {
    UNROLLED
    for (int j = 0; j < 8; ++j) {
      x += y;
      forget(x);
    }
  }
}

float read_plain(std::int64_t n, const float* a) {
  float s[4] = {};
  for (std::int64_t i = 0; i + 4 <= n; i += 4) {
    UNROLLED
    for (int j = 0; j < 4; ++j) s[j] += a[i + j];
  }
  return s[0] + s[1] + s[2] + s[3];
}

#if RIDGELINE_X86
AVX2 float read_avx2(std::int64_t n, const float* a) {
  __m256 sum[8];
  UNROLLED
  for (int j = 0; j < 8; ++j) sum[j] = _mm256_setzero_ps();
  for (std::int64_t i = 0; i + 64 <= n; i += 64) {
    UNROLLED
    for (int j = 0; j < 8; ++j) sum[j] = _mm256_add_ps(sum[j], _mm256_loadu_ps(a + i + 8 * j));
  }
  for (int j = 1; j < 8; ++j) sum[0] = _mm256_add_ps(sum[0], sum[j]);
  return _mm_cvtss_f32(_mm256_castps256_ps128(sum[0]));
}
#endif

float read_all(std::int64_t n, const float* a) {
#if RIDGELINE_X86
  if (has(Isa::avx2)) return read_avx2(n, a);
#endif
  return read_plain(n, a);
}

/// One ceiling: what is called again and again, and how much one call does.
struct Probe {
  Roof roof;
  std::function<void()> call;
  double work = 0;  ///< The work of one call: rate = work / time; for a latency its loads: latency = time / work.
  std::vector<const Buffer*> cold = {};  ///< flushed before each call, outside its time
  bool all_threads = false;              ///< runs on every hardware thread, so that the wall's clock times it
  std::vector<double> samples;
  double spent_s = 0;
};

const Version* find_version(const Operation& operation, std::string_view id) {
  for (const Version& v : operation.versions)
    if (v.rung.id == id && v.call && has(v.needs)) return &v;
  return nullptr;
}

class Measuring {
 public:
  explicit Measuring(const Listener& listener) : listener_(listener) {}

  Roofs operator()(double seconds) {
    Roofs out{.device = Device::cpu, .device_name = cpu_name()};
    if (!prepare(seconds)) {
      out.failure = "There is not enough memory to measure the bandwidth of main memory.";
      return out;
    }
    const double share_s = seconds / static_cast<double>(probes_.size());
    bool stopped = false;
    for (bool again = true; again && !stopped;) {
      again = false;
      double spent = 0;
      for (Probe& p : probes_) {
        if ((p.samples.size() < 5 && p.spent_s < 2 * share_s) || p.spent_s < share_s) {
          const double before = wall_s();
          for (const Buffer* buffer : p.cold) buffer->flush();
          if (p.cold.empty()) p.call();  // what was measured in between is out of the caches again
          p.samples.push_back(timed_s(p.call, p.all_threads));
          p.spent_s += wall_s() - before;
          again = true;
        }
        spent += std::min(p.spent_s, share_s);
        if (!stopped && listener_.progress && wall_s() > reported_s_ + 0.02) {
          reported_s_ = wall_s();
          stopped = !listener_.progress(std::min(1.0, spent / seconds));
        }
      }
    }
    if (stopped)
      return {.device = Device::cpu, .device_name = out.device_name, .failure = "The measurement was stopped."};
    for (Probe& p : probes_) {
      const double time = summarize(p.samples).median;
      p.roof.value = p.roof.unit == "s" ? time / p.work : p.work / time;
      out.roofs.push_back(p.roof);
    }
    out.roofs.push_back({"threads", "Hardware threads", "", static_cast<double>(hardware_threads())});
    add_best(out, "fma", "Peak multiply-adds", {"fma_avx512", "fma_avx2", "fma_scalar"});
    add_best(out, "dram_copy", "Copy in main memory", {"dram_copy_simd", "dram_copy_streaming", "dram_copy_library"});
    return out;
  }

 private:
  /// The name in /proc/cpuinfo, or that there is none.
  static std::string cpu_name() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("model name"))
        if (const auto at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
    return "CPU";
  }

  static void add_best(Roofs& out, std::string id, std::string title, std::initializer_list<std::string_view> of) {
    double best = 0;
    std::string unit;
    for (const Roof& r : out.roofs)
      if (std::find(of.begin(), of.end(), r.id) != of.end() && r.value > best) {
        best = r.value;
        unit = r.unit;
      }
    if (best > 0) out.roofs.push_back({std::move(id), std::move(title), unit, best});
  }

  bool prepare(double seconds) {
    const std::int64_t l1 = cache_bytes(1), l2 = cache_bytes(2), l3 = cache_bytes(3);
    // What lies in main memory is flushed before each call: a server's last cache may be larger. A quick look takes a
    // quick set.
    const std::int64_t dram = seconds < 0.2 ? 4 << 20 : 128 << 20, most_l3 = dram / 8;
    big_a_ = Buffer(dram / 4);
    big_c_ = Buffer(dram / 4);
    if (!big_a_.data() || !big_c_.data()) return false;
    constexpr std::int64_t adds = 4000000;
    probes_.push_back({{"clock", "Clock", "Hz", 0}, [] { dependent_adds(adds); }, static_cast<double>(adds)});
    add_fma();
    add_copies(dram);
    add_read("l1_read", "Read from L1", l1 / 2);
    add_read("l2_read", "Read from L2", l2 / 2);
    add_read("l3_read", "Read from L3", std::min(most_l3, between(l2, l3)));
    add_read("dram_read", "Read from main memory", dram);
    probes_.back().cold = {&big_a_};
    add_all_threads(dram);
    add_latency("latency_l1", "Latency of L1", l1 / 2);
    add_latency("latency_l2", "Latency of L2", l2 / 2);
    add_latency("latency_l3", "Latency of L3", std::min(most_l3, between(l2, l3)));
    add_latency("latency_dram", "Latency of main memory", most_l3);
    return true;
  }

  /// A working set that is no longer L2's and still L3's: their geometric mean.
  static std::int64_t between(std::int64_t small, std::int64_t large) {
    return static_cast<std::int64_t>(
        std::sqrt(static_cast<double>(small) * static_cast<double>(std::max(large, 2 * small))));
  }

  void add_fma() {
    const Operation& operation = fma_operation();
    constexpr std::int64_t steps = 50000;
    const Shape s = operation.shape(steps);
    fma_ = {Buffer(s.a), Buffer(s.b), Buffer(s.c)};
    if (!fma_[0].data() || !fma_[1].data() || !fma_[2].data()) return;
    operation.fill(s, 1, fma_[0].data(), fma_[1].data());
    const auto add = [&](std::string_view rung, std::string id, std::string title) {
      if (const Version* v = find_version(operation, rung))
        probes_.push_back({{std::move(id), std::move(title), "FLOP/s", 0},
                           [this, v] { v->call(steps, fma_[0].data(), fma_[1].data(), fma_[2].data(), nullptr); },
                           operation.ladder.cost(steps).flops});
    };
    add("chains-12", "fma_avx2", "Peak multiply-adds, AVX2");
    add("avx512", "fma_avx512", "Peak multiply-adds, AVX-512");
    if (!find_version(operation, "chains-12")) add("scalar", "fma_scalar", "Multiply-adds, one float at a time");
  }

  void add_copies(std::int64_t bytes) {
    const Operation& operation = copy_operation();
    const auto add = [&](std::string_view rung, std::string id, std::string title) {
      if (const Version* v = find_version(operation, rung))
        probes_.push_back({{std::move(id), std::move(title), "B/s", 0},
                           [this, v, bytes] { v->call(bytes / 4, big_a_.data(), nullptr, big_c_.data(), nullptr); },
                           operation.ladder.cost(bytes).bytes(),
                           {&big_a_, &big_c_}});
    };
    add("simd", "dram_copy_simd", "Copy in main memory, ordinary stores");
    add("streaming", "dram_copy_streaming", "Copy in main memory, streaming stores");
    add("library", "dram_copy_library", "Copy in main memory, memcpy");
  }

  /// What all hardware threads reach together: each does its own multiply-adds, and a piece of the arrays.
  void add_all_threads(std::int64_t bytes) {
    const int threads = hardware_threads();
    const Operation& fma = fma_operation();
    constexpr std::int64_t steps = 50000;
    const Version* v = nullptr;
    for (const char* id : {"avx512", "chains-12", "scalar"})
      if (!v) v = find_version(fma, id);
    const std::int64_t own = (fma_[2].count() + 31) / 32 * 32;  // results of one thread, in lines of their own
    fma_all_ = Buffer(own * threads);
    if (v && fma_all_.data() && own > 0)
      probes_.push_back({{"fma_all", "Peak multiply-adds, all threads", "FLOP/s", 0},
                         [this, v, threads, own] {
                           on_threads(threads, [&](int i) {
                             v->call(steps, fma_[0].data(), fma_[1].data(), fma_all_.data() + i * own, nullptr);
                           });
                         },
                         threads * fma.ladder.cost(steps).flops});
    const auto piece = [bytes, threads](int i) { return piece_of(bytes / 4, i, threads, 64); };
    probes_.push_back({{"dram_read_all", "Read from main memory, all threads", "B/s", 0},
                       [this, piece, threads] {
                         on_threads(threads, [&](int i) {
                           const Piece p = piece(i);
                           big_c_.data()[p.from] = read_all(p.to - p.from, big_a_.data() + p.from);
                         });
                       },
                       static_cast<double>(bytes),
                       {&big_a_}});
    const Version* copy = find_version(copy_operation(), "streaming");
    if (!copy) copy = find_version(copy_operation(), "library");
    probes_.push_back({{"dram_copy_all", "Copy in main memory, all threads", "B/s", 0},
                       [this, copy, piece, threads] {
                         on_threads(threads, [&](int i) {
                           const Piece p = piece(i);
                           copy->call(p.to - p.from, big_a_.data() + p.from, nullptr, big_c_.data() + p.from, nullptr);
                         });
                       },
                       copy_operation().ladder.cost(bytes).bytes(),
                       {&big_a_, &big_c_}});
    for (std::size_t i = probes_.size(); i-- > 0 && probes_[i].roof.id.ends_with("_all");)
      probes_[i].all_threads = true;
  }

  void add_read(std::string id, std::string title, std::int64_t bytes) {
    const std::int64_t n = bytes / 4, passes = std::max<std::int64_t>(1, (1 << 20) / bytes);
    probes_.push_back({{std::move(id), std::move(title), "B/s", 0},
                       [this, n, passes] {
                         for (std::int64_t i = 0; i < passes; ++i)
                           big_a_.data()[i % n] = read_all(n, big_a_.data());  // the sums are sums of zeros
                       },
                       static_cast<double>(n * 4 * passes)});
  }

  void add_latency(std::string id, std::string title, std::int64_t bytes) {
    const Operation& operation = latency_operation();
    const Version* v = find_version(operation, "huge-pages");
    const Shape s = operation.shape(bytes);
    const auto chain = chains_.insert(chains_.end(), std::make_unique<Buffer>(s.a))->get();
    const Buffer unused(s.b);
    const float* lines = chain->data();
    if (!lines || !unused.data()) return;
    operation.fill(s, 1, chain->data(), unused.data());
    const std::int64_t passes = std::max<std::int64_t>(1, 20000 / s.n);
    probes_.push_back({{id, std::move(title), "s", 0},
                       [v, s, lines, passes] {
                         float reached = 0;
                         for (std::int64_t i = 0; i < passes; ++i) v->call(s.n, lines, nullptr, &reached, nullptr);
                       },
                       static_cast<double>((s.n - 1) * passes)});
    if (id == "latency_dram") probes_.back().cold = {chain};
  }

  const Listener& listener_;
  std::vector<Probe> probes_;
  std::vector<std::unique_ptr<Buffer>> chains_;
  std::array<Buffer, 3> fma_;
  Buffer big_a_, big_c_, fma_all_;
  double reported_s_ = 0;
};

}  // namespace

Roofs measure_roofs(double seconds, const Listener& listener) { return Measuring(listener)(seconds); }

}  // namespace kernels::cpu
