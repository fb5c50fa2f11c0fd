#include "models/trace/writers/sample.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace models {
namespace {

// All times in ns.
constexpr std::int64_t us = 1000, ms = 1000 * us;

struct Durations {
  std::int64_t dispatch = 9 * us, launch = 5 * us;
  double kernel = 1;  ///< factor
  std::int64_t bucket = 620 * us, load = 180 * us;
};

Durations durations_of(SampleFault fault, int rank) {
  Durations d;
  if (fault == SampleFault::launch_bound) {
    d.dispatch = 26 * us;
    d.kernel = 0.05;
    d.bucket = 45 * us;
  }
  if (fault == SampleFault::exposed_communication) d.bucket = 2600 * us;
  if (fault == SampleFault::data_starved) d.load = 7400 * us;
  if (fault == SampleFault::straggler && rank == 2) d.kernel = 1.21;
  return d;
}

struct Kernel {
  std::string_view op, inner, name, backward;
  std::int64_t duration;
  std::int64_t n = 0, k = 0;  ///< inner sizes of a product [rows, k] x [k, n]
};
/// One sequence of 4,096 tokens through blocks of width 3,072: 24 heads of 128, 8 of keys, a gated inner width of
/// 4,608.
constexpr std::int64_t sample_rows = 4096, sample_heads = 24, sample_head_dim = 128, sample_width = 3072;
constexpr std::string_view flash = "aten::_scaled_dot_product_flash_attention",
                           flash_backward = "aten::_scaled_dot_product_flash_attention_backward", mm = "aten::mm";
constexpr std::array<Kernel, 8> forward{{
    {"aten::rms_norm", "aten::_fused_rms_norm", "rms_norm_kernel", "aten::_fused_rms_norm_backward", 38 * us},
    {"aten::linear", mm, "sm90_xmma_gemm_bf16_128x256_qkv", mm, 212 * us, 5120, sample_width},
    {"aten::scaled_dot_product_attention", flash, "flash_fwd_kernel", flash_backward, 264 * us},
    {"aten::linear", mm, "sm90_xmma_gemm_bf16_128x256_out", mm, 148 * us, sample_width, sample_width},
    {"aten::rms_norm", "aten::_fused_rms_norm", "rms_norm_kernel", "aten::_fused_rms_norm_backward", 38 * us},
    {"aten::linear", mm, "sm90_xmma_gemm_bf16_128x256_up", mm, 391 * us, 9216, sample_width},
    {"aten::silu", "aten::mul", "vectorized_elementwise_silu_mul", "aten::silu_backward", 61 * us},
    {"aten::linear", mm, "sm90_xmma_gemm_bf16_128x256_down", mm, 233 * us, sample_width, 4608},
}};
constexpr Kernel logits{"aten::linear", mm, "sm90_xmma_gemm_bf16_256x128_logits", mm, 820 * us, 16384, sample_width};

std::string matrix_dims(std::int64_t m, std::int64_t k, std::int64_t n) {
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  return ",\"Input Dims\":[[" + text(m) + "," + text(k) + "],[" + text(k) + "," + text(n) +
         "]],\"Concrete Inputs\":[\"\",\"\"]";
}
/// Input dimensions for `tensors` equal tensors [1, heads, rows, head_dim], with what follows them up to the mask.
std::string attention_dims(int tensors, std::int64_t heads, std::int64_t rows, std::string_view more) {
  std::string list, names;
  for (int i = 0; i < tensors; ++i) {
    list += (i > 0 ? ",[1," : "[1,") + std::to_string(heads) + "," + std::to_string(rows) + "," +
            std::to_string(sample_head_dim) + "]";
    names += "\"\",";
  }
  return ",\"Input Dims\":[" + list + "],\"Concrete Inputs\":[" + names + std::string(more) + "]";
}

/// One rank's file while it is written.
class SampleWriter {
 public:
  explicit SampleWriter(int rank) : pid_(4127 + rank), rank_(rank) {}

  void begin(int world) {
    append(
        "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":%d,\"name\":\"sample "
        "device\",\"totalGlobalMem\":85899345920}],",
        rank_);
    append("\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%d,\"world_size\":%d},", rank_, world);
    text_ += "\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[\n";
    meta("process_name", pid_, 0, "python");
    meta("process_labels", pid_, 0, "CPU", "labels");
    meta("thread_name", pid_, pid_, "main thread");
    meta("thread_name", pid_, pid_ + 1, "autograd thread");
    meta("process_name", rank_, 0, "python");
    meta("process_labels", rank_, 0, ("GPU " + std::to_string(rank_)).c_str(), "labels");
    meta("thread_name", rank_, 7, "stream 7 ");
    meta("thread_name", rank_, 20, "stream 20 ");
    meta("thread_name", rank_, 24, "stream 24 ");
  }
  /// `shapes` is more of the arguments, as written.
  void cpu(std::string_view cat, std::string_view name, int thread, std::int64_t start, std::int64_t end,
           std::string_view shapes = {}) {
    event(cat, name, pid_, pid_ + thread, start, end);
    append("\"args\":{\"External id\":%d", ++external_);
    (text_ += shapes) += "}}";
  }
  void call(std::string_view name, int thread, std::int64_t start, std::int64_t end, int correlation) {
    event("cuda_runtime", name, pid_, pid_ + thread, start, end);
    append("\"args\":{\"cbid\":211,\"correlation\":%d}}", correlation);
  }
  void device(std::string_view cat, std::string_view name, int stream, std::int64_t start, std::int64_t end,
              int correlation, const char* more = "") {
    event(cat, name, rank_, stream, start, end);
    append("\"args\":{\"device\":%d,\"stream\":%d,\"correlation\":%d%s}}", rank_, stream, correlation, more);
  }
  void memory(std::int64_t at, std::int64_t change, std::int64_t total) {
    append(
        ",\n{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":%d,\"tid\":%d,\"ts\":"
        "%lld.%03lld,",
        pid_, pid_, whole(at), rest(at));
    append(
        "\"args\":{\"Total Allocated\":%lld,\"Total Reserved\":68719476736,\"Bytes\":%lld,\"Device Type\":1,\"Device "
        "Id\":%d}}",
        static_cast<long long>(total), static_cast<long long>(change), rank_);
  }
  std::string end() {
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  template <class... A>
  void append(const char* format, A... a) {
    char line[512];
    const int n = std::snprintf(line, sizeof line, format, a...);
    text_.append(line, static_cast<std::size_t>(std::clamp(n, 0, static_cast<int>(sizeof line) - 1)));
  }
  static long long whole(std::int64_t t) { return t / 1000; }
  static long long rest(std::int64_t t) { return t % 1000; }
  void event(std::string_view cat, std::string_view name, int pid, int tid, std::int64_t start, std::int64_t end) {
    append(
        ",\n{\"ph\":\"X\",\"cat\":\"%.*s\",\"name\":\"%.*s\",\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03lld,\"dur\":%lld.%"
        "03lld,",
        static_cast<int>(cat.size()), cat.data(), static_cast<int>(name.size()), name.data(), pid, tid, whole(start),
        rest(start), whole(end - start), rest(end - start));
  }
  void meta(const char* what, int pid, int tid, const char* value, const char* key = "name") {
    append("%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":0,\"args\":{\"%s\":\"%s\"}}",
           first_ ? "" : ",\n", what, pid, tid, key, value);
    first_ = false;
  }
  std::string text_;
  int pid_, rank_, external_ = 0;
  bool first_ = true;
};

/// One rank's processor and device.
class Rank {
 public:
  Rank(int rank, SampleFault fault)
      : writer(rank), d_(durations_of(fault, rank)), seed_(static_cast<std::uint64_t>(rank) * 7919 + 1) {}

  SampleWriter writer;
  std::int64_t cpu = 0, compute = 0, comm = 0, copies = 0, step_start = 0;
  struct Bucket {
    std::int64_t ready = 0, call = 0;
    int correlation = 0;
  };
  std::vector<Bucket> buckets;

  void load() {
    step_start = cpu;
    const std::int64_t start = cpu;
    cpu += jitter(d_.load);
    writer.cpu("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, start, cpu);
    const int id = launch("cudaMemcpyAsync", 0);
    const std::int64_t begin = std::max(cpu + 2 * us, copies);
    copies = begin + jitter(190 * us);
    writer.device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 24, begin, copies, id,
                  ",\"bytes\":8388608,\"memory bandwidth (GB/s)\":44.1");
    compute = std::max(compute, copies);
  }
  void forward_pass(int layers) {
    allocate(0);
    for (int layer = 0; layer < layers; ++layer) {
      for (const Kernel& k : forward) run(k.op, k.inner, k.name, k.duration, 0, forward_shapes(k));
      allocate(1610612736);
    }
    run(logits.op, logits.inner, logits.name, logits.duration, 0, forward_shapes(logits));
    allocate(2147483648);
    run("aten::cross_entropy_loss", "aten::nll_loss_forward", "softmax_warp_forward", 96 * us, 0);
  }
  /// Reads the loss back: the processor waits until the device has done all that it was given, then writes a log line.
  void sync() {
    const std::int64_t start = cpu;
    cpu += d_.dispatch;
    const int id = launch("cudaMemcpyAsync", 0);
    const std::int64_t begin = std::max(cpu, compute);
    writer.device("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 7, begin, begin + 2 * us, id, ",\"bytes\":4");
    compute = begin + 2 * us;
    const std::int64_t wait = cpu;
    cpu = compute + 4 * us;
    writer.call("cudaStreamSynchronize", 0, wait, cpu, ++correlation_);
    writer.cpu("cpu_op", "aten::item", 0, start, cpu);
    const std::int64_t logging = cpu;
    cpu += jitter(2900 * us);
    writer.cpu("user_annotation", "log_metrics", 0, logging, cpu);
  }
  void backward_pass(int layers) {
    allocate(-2147483648);
    for (int layer = 0; layer < layers; ++layer) {
      for (std::size_t i = forward.size(); i-- > 0;) {
        const Kernel& k = forward[i];
        // Gradients of the input and of the weights; of attention half of the heads each.
        const bool two = k.duration > 100 * us;
        run("autograd::engine::evaluate_function", k.backward, k.name, k.duration, 1, backward_shapes(k, false));
        if (two)
          run("autograd::engine::evaluate_function", k.backward, k.name, k.duration - 12 * us, 1,
              backward_shapes(k, true));
      }
      allocate(-1610612736);
      const std::int64_t start = cpu;
      cpu += d_.dispatch;
      buckets.push_back({compute, 0, launch("cudaLaunchKernelExC", 1)});
      buckets.back().call = cpu;
      writer.cpu("cpu_op", "nccl:all_reduce", 1, start, cpu);
    }
  }
  std::int64_t bucket_duration() { return d_.bucket; }
  void reduce(const Bucket& b, std::int64_t start, std::int64_t end) {
    writer.device(
        "kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20, start, end,
        b.correlation,
        ",\"Collective name\":\"allreduce\",\"In msg nelems\":134217728,\"dtype\":\"BFloat16\",\"Group size\":4");
    comm = end;
  }
  void optimizer() {
    compute = std::max(compute, comm);  // it waits for all gradients
    const std::int64_t start = cpu;
    for (int part = 0; part < 4; ++part)
      run("aten::_fused_adamw_", "aten::_foreach_adamw", "multi_tensor_apply_adamw", 204 * us, 0);
    writer.cpu("user_annotation", "Optimizer.step#AdamW.step", 0, start, cpu);
  }
  void finish_step(int number) {
    char name[32];
    std::snprintf(name, sizeof name, "ProfilerStep#%d", number);
    // The loop runs ahead by a step at most: it waits where the queue is full.
    const std::int64_t ahead = compute - 300 * us;
    if (cpu < ahead) {
      writer.call("cudaDeviceSynchronize", 0, cpu, ahead, ++correlation_);
      cpu = ahead;
    }
    writer.cpu("user_annotation", name, 0, step_start, cpu);
    buckets.clear();
  }

 private:
  std::int64_t jitter(std::int64_t t) {
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
    return t + static_cast<std::int64_t>(static_cast<double>(t) *
                                         (static_cast<double>(seed_ >> 40) / 16777216.0 - 0.5) * 0.06);
  }
  int launch(std::string_view name, int thread) {
    const std::int64_t start = cpu;
    cpu += jitter(d_.launch);
    writer.call(name, thread, start, cpu, ++correlation_);
    return correlation_;
  }
  /// A launch-bound run has so much less to do.
  std::int64_t rows() const {
    return static_cast<std::int64_t>(static_cast<double>(sample_rows) * std::min(1.0, d_.kernel));
  }
  std::string forward_shapes(const Kernel& k) const {
    if (k.inner == flash)
      return attention_dims(3, sample_heads, rows(), R"("0.","True","False","0.08838834764831845")");
    return k.n > 0 ? matrix_dims(rows(), k.k, k.n) : std::string();
  }
  std::string backward_shapes(const Kernel& k, bool weights) const {
    if (k.inner == flash) return attention_dims(5, sample_heads / 2, rows(), R"("","","","4096","4096","0.","True")");
    if (k.n == 0) return {};
    return weights ? matrix_dims(k.n, rows(), k.k) : matrix_dims(rows(), k.n, k.k);
  }
  void run(std::string_view op, std::string_view inner, std::string_view kernel, std::int64_t duration, int thread,
           std::string_view shapes = {}) {
    const std::int64_t start = cpu, inside = start + d_.dispatch / 3;
    cpu += jitter(d_.dispatch);
    const int id = launch("cudaLaunchKernel", thread);
    writer.cpu("cpu_op", op, thread, start, cpu + us);
    writer.cpu("cpu_op", inner, thread, inside, cpu, shapes);
    cpu += us;
    const std::int64_t begin = std::max(cpu + 3 * us, compute + us);
    compute = begin + jitter(static_cast<std::int64_t>(static_cast<double>(duration) * d_.kernel));
    writer.device("kernel", kernel, 7, begin, compute, id,
                  ",\"grid\":[528,1,1],\"block\":[384,1,1],\"registers per thread\":168");
  }
  void allocate(std::int64_t bytes) {
    allocated_ += bytes;
    writer.memory(cpu, bytes, allocated_);
  }
  Durations d_;
  std::uint64_t seed_;
  int correlation_ = 0;
  std::int64_t allocated_ = 34359738368;
};

/// Every rank's collectives of one step: each starts where its rank is ready and ends everywhere at once.
void reduce_all(std::vector<Rank>& ranks) {
  const std::size_t buckets = ranks.front().buckets.size();
  for (std::size_t b = 0; b < buckets; ++b) {
    std::int64_t last = 0;
    std::vector<std::int64_t> starts;
    for (Rank& r : ranks) {
      starts.push_back(std::max({r.buckets[b].ready, r.buckets[b].call + 3 * us, r.comm + us}));
      last = std::max(last, starts.back());
    }
    const std::int64_t end = last + ranks.front().bucket_duration();
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].reduce(ranks[r].buckets[b], starts[r], end);
  }
}

}  // namespace

std::vector<std::string> sample_traces(const SampleRun& run) {
  const int count = std::clamp(run.ranks, 1, 64), steps = std::clamp(run.steps, 1, 64),
            layers = std::clamp(run.layers, 1, 128);
  std::vector<Rank> ranks;
  for (int r = 0; r < count; ++r) {
    ranks.emplace_back(r, run.fault);
    ranks.back().writer.begin(count);
    ranks.back().cpu = 5 * ms + r * 11 * us;
  }
  for (int step = 0; step < steps; ++step) {
    for (Rank& r : ranks) {
      r.load();
      r.forward_pass(layers);
      if (run.fault == SampleFault::hidden_sync) r.sync();
      r.backward_pass(layers);
    }
    reduce_all(ranks);
    for (Rank& r : ranks) {
      r.optimizer();
      r.finish_step(step + 10);
    }
  }
  std::vector<std::string> out;
  for (Rank& r : ranks) out.push_back(r.writer.end());
  return out;
}

}  // namespace models
