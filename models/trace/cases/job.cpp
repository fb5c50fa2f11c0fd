#include "models/trace/cases/job.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/trace/cases/layer_kernels.h"

namespace models::trace {
namespace {

constexpr double us = 1e3;

constexpr std::array<std::string_view, 5> loop_ops{"aten::mul_", "aten::add_", "aten::addcmul_", "aten::sqrt",
                                                   "aten::addcdiv_"};
constexpr std::string_view loop_kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor>",
                           fused_kernel =
                               "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
                               "at::native::FusedOptimizerTensorListMetadata<4>>",
                           ring = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                           launch_call = "cudaLaunchKernel", copy_call = "cudaMemcpyAsync";
constexpr double forward_part = 0.31, backward_part = 0.63, optimizer_part = 0.06;

/// Streams of random numbers, one for each use.
enum NoiseOf : std::uint64_t {
  of_kernel = 1,
  of_rank,
  of_step,
  of_host,
  of_hiccup,
  of_slice,
  of_flap,
  of_decoy,
  of_place
};

class CaseWriter {
 public:
  explicit CaseWriter(const CaseSpec& spec) : s_(spec) { job_.spec = spec; }

  CaseJob write() {
    job_.graph.steps = static_cast<std::uint32_t>(s_.steps);
    buckets_ = s_.layers;
    job_.graph.meetings = static_cast<std::uint32_t>(s_.steps * buckets_);
    for (int r = 0; r < s_.ranks; ++r) write_rank(r);
    return std::move(job_);
  }

 private:
  bool hit(Cause cause) const {
    return s_.cause == cause && (s_.rank < 0 || s_.rank == rank_) && (s_.steps_hit >> step_ & 1) != 0;
  }
  bool is(Cause cause) const { return s_.cause == cause && (s_.rank < 0 || s_.rank == rank_); }
  double uniform(NoiseOf of, std::uint64_t n) const {
    return s_.noise.uniform(of, static_cast<std::uint64_t>(rank_), static_cast<std::uint64_t>(step_), n);
  }
  double normal(NoiseOf of, std::uint64_t n) const {
    return s_.noise.normal(of, static_cast<std::uint64_t>(rank_), static_cast<std::uint64_t>(step_), n);
  }

  std::uint32_t add(std::uint32_t lane, const CaseTask& task, std::int64_t gap_ns = 0) {
    // What a worker or a saver does goes on when the last step is over.
    const bool beside = task.work == CaseWork::decode || task.work == CaseWork::saver;
    JobTask t;
    t.gap_ns = gap_ns;
    t.lane = lane;
    t.step = beside ? no_task : static_cast<std::uint32_t>(step_);
    const std::uint32_t id = job_.graph.add_task(t);
    job_.tasks.push_back(task);
    job_.tasks.back().step = static_cast<std::uint8_t>(step_);
    job_.graph.tasks[id].duration_ns = job_.duration_ns(id, s_.size);
    return id;
  }
  /// The main thread does something; other processes may take its core away.
  std::uint32_t host(CaseTask task) {
    const auto n = static_cast<std::uint64_t>(host_ops_++);
    const bool slow = task.base_ns < 200 * us && uniform(of_hiccup, n) < 0.01;
    task.base_ns *= std::exp(0.15 * normal(of_host, n)) * (slow ? 4 : 1);
    if (is(Cause::contention) && !s_.on_device && task.call == launch_call && uniform(of_slice, n) < 0.1) {
      task.unit_ns += s_.step_ns / 6;
      task.faulty = true;
    }
    return add(lanes_.main, task, static_cast<std::int64_t>(6 * us));
  }
  /// Queues work on a stream by a call of the main thread.
  std::uint32_t launched(std::uint32_t stream, const CaseTask& work, CaseTask call) {
    const std::uint32_t from = host(call);
    const std::uint32_t id = add(stream, work, static_cast<std::int64_t>(1 * us));
    job_.tasks[from].launches = id;
    job_.graph.add_edge(from, id, JobEdgeKind::launch, JobEdgeAt::end_to_start, static_cast<std::int64_t>(2 * us));
    return id;
  }
  /// The main thread stands still in a call until the device is done.
  std::uint32_t waiting(CaseTask task, std::uint32_t device_task) {
    const std::uint32_t id = host(task);
    job_.graph.add_edge(device_task, id, JobEdgeKind::sync, JobEdgeAt::end_to_end, static_cast<std::int64_t>(3 * us));
    return id;
  }
  void after(std::uint32_t from, std::uint32_t to, JobEdgeKind kind = JobEdgeKind::stream_wait) {
    if (from != no_task) job_.graph.add_edge(from, to, kind);
  }

  void write_rank(int rank);
  void write_workers();
  void write_step();
  void load();
  void kernel(const LayerKernel& k, bool backward, double share);
  void forward();
  void backward();
  void reduce(int bucket);
  void meanwhile();
  void optimize();
  void save();
  void read_value(CaseWork work);

  CaseSpec s_;
  CaseJob job_;
  CaseLanes lanes_;
  int rank_ = 0, step_ = 0, buckets_ = 1, host_ops_ = 0, kernels_ = 0;
  std::vector<std::uint32_t> decoded_;  // by batch: its decoding; no_task: it was ready before
  std::vector<std::uint32_t> taken_;    // by batch, which is by step
  std::uint32_t copied_ = no_task, last_reduced_ = no_task;
};

void CaseWriter::write_rank(int rank) {
  rank_ = rank;
  lanes_ = {};
  const auto r = static_cast<std::uint32_t>(rank);
  lanes_.main = job_.graph.add_lane("main thread", r);
  for (int w = 0; w < s_.workers; ++w) lanes_.workers.push_back(job_.graph.add_lane("worker " + std::to_string(w), r));
  lanes_.copies = job_.graph.add_lane("copies", r);
  lanes_.compute = job_.graph.add_lane("compute", r);
  lanes_.collectives = job_.graph.add_lane("all-reduce", r);
  if (s_.saver > 0 && (s_.ranks == 1 || s_.noise.uniform(of_decoy, r) < 0.6))
    lanes_.saver = job_.graph.add_lane("saver", r);
  job_.lanes.push_back(lanes_);
  taken_.clear();
  last_reduced_ = no_task;
  write_workers();
  for (step_ = 0; step_ < s_.steps; ++step_) write_step();
  // A worker is at most two batches ahead.
  for (std::size_t b = 0; b < decoded_.size(); ++b)
    if (const std::size_t w = lanes_.workers.size(); b >= 2 * w && b - 2 * w < taken_.size() && decoded_[b] != no_task)
      job_.graph.add_edge(taken_[b - 2 * w], decoded_[b], JobEdgeKind::handover);
  if (lanes_.saver == no_task) return;
  step_ = 0;
  const double from = s_.noise.uniform(of_decoy, r, 1) * 0.4 * s_.step_ns;
  const std::uint32_t id = add(lanes_.saver, {.work = CaseWork::saver,
                                              .name = "torch/distributed/checkpoint/state_dict_saver.py: async_save",
                                              .base_ns = s_.saver * s_.step_ns});
  job_.graph.tasks[id].not_before_ns = static_cast<std::int64_t>(from);
}

void CaseWriter::write_workers() {
  const bool slow = is(Cause::slow_loader);
  const int stock = slow ? 1 : s_.workers;
  const double w = s_.workers, period = s_.decode_share * s_.step_ns;
  decoded_.assign(static_cast<std::size_t>(s_.steps + 2 * s_.workers), no_task);
  // Those that are taken within the recording and the next two of each worker: it goes on when the last step is over.
  for (int b = stock; b < s_.steps + 2 * s_.workers; ++b) {
    step_ = std::min(b, s_.steps - 1);
    const int turn = b - stock;
    const bool begun = turn < s_.workers;  // it began before the recording
    const double periods = begun ? turn + 1 : w;
    const double drawn =
        1 + 0.04 * s_.noise.normal(of_decoy, static_cast<std::uint64_t>(rank_), static_cast<std::uint64_t>(b), 3);
    const std::uint32_t id = add(lanes_.workers[static_cast<std::size_t>(b % s_.workers)],
                                 {.work = CaseWork::decode,
                                  .place = static_cast<std::uint8_t>(b),
                                  .faulty = slow,
                                  .name = "torch/utils/data/_utils/fetch.py: fetch",
                                  .base_ns = periods * period * drawn,
                                  .unit_ns = slow ? periods * s_.step_ns : 0});
    decoded_[static_cast<std::size_t>(b)] = id;
  }
}

void CaseWriter::write_step() {
  kernels_ = 0;
  host_ops_ = 0;
  load();
  forward();
  backward();
  meanwhile();
  read_value(CaseWork::read_loss);
  optimize();
  if (hit(Cause::checkpoint_write)) save();
}

void CaseWriter::load() {
  const std::uint32_t taken = host({.work = CaseWork::next_batch,
                                    .name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                    .base_ns = 150 * us});
  const auto step = static_cast<std::size_t>(step_);
  if (decoded_[step] != no_task)
    job_.graph.add_edge(decoded_[step], taken, JobEdgeKind::handover, JobEdgeAt::end_to_end);
  taken_.push_back(taken);
  const bool faults = hit(Cause::page_faults);
  host({.work = CaseWork::collate,
        .faulty = faults,
        .name = "aten::copy_",
        .base_ns = 0.002 * s_.step_ns,
        .unit_ns = faults ? s_.step_ns : 0});
  const bool pageable = is(Cause::pageable_copy), uneven = hit(Cause::uneven_batch);
  const double copy_ns = 0.02 * s_.step_ns;
  CaseTask copy{.work = CaseWork::batch_copy,
                .faulty = pageable || uneven,
                .name = pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)",
                .base_ns = copy_ns * (1 + 0.02 * normal(of_kernel, 900)),
                .unit_ns = pageable ? s_.step_ns
                           : uneven ? copy_ns
                                    : 0};
  const CaseTask call{.work = CaseWork::launch, .name = "aten::copy_", .call = copy_call, .base_ns = 40 * us};
  copied_ = launched(pageable ? lanes_.compute : lanes_.copies, copy, call);
  if (!pageable) return;
  // The call returns when the driver has staged all of it.
  const std::uint32_t from = copied_ - 1;
  job_.graph.edges.back().at = JobEdgeAt::start_to_start;
  job_.graph.add_edge(copied_, from, JobEdgeKind::sync, JobEdgeAt::end_to_end);
  job_.tasks[from].faulty = true;
}

void CaseWriter::kernel(const LayerKernel& k, bool backward, double share) {
  const double all = s_.step_ns * (backward ? backward_part : forward_part) / s_.layers;
  const auto n = static_cast<std::uint64_t>(kernels_);
  const double rank_factor = 1 + 0.35 * s_.spread * s_.noise.normal(of_rank, static_cast<std::uint64_t>(rank_)),
               step_factor = 1 + 0.25 * s_.spread * normal(of_step, 0);
  const double ns = all * share * rank_factor * step_factor * (1 + s_.spread * normal(of_kernel, n));
  const double per_step = static_cast<double>(2 * layer_kernels.size()) * s_.layers;
  double unit = 0;
  // Kernels that move bytes hardly notice the clock of the arithmetic units.
  const double clocked = k.moves_bytes ? 0.15 : 1;
  const double at = step_ + kernels_ / per_step;
  if (is(Cause::throttled_rank)) unit = ns * clocked;
  if (is(Cause::clock_drop)) {
    int first = 0;
    while ((s_.steps_hit >> first & 1) == 0) ++first;
    const int last = (s_.steps_hit >> (first + 1) & 1) != 0 ? first + 1 : first;
    if (at >= first + 0.4 && at < last + 1.4) unit = ns * clocked;
  }
  if (hit(Cause::uneven_batch)) unit = ns;
  if (is(Cause::contention) && s_.on_device && uniform(of_slice, 1000 + n) < 0.15)
    unit = s_.step_ns / (0.15 * per_step) * (0.6 + 0.8 * uniform(of_slice, 2000 + n));
  launched(
      lanes_.compute,
      {.work = backward ? CaseWork::backward : CaseWork::forward,
       .place = static_cast<std::uint8_t>(kernels_),
       .faulty = unit > 0,
       .name = backward ? k.backward_name : k.name,
       .base_ns = ns,
       .unit_ns = unit},
      {.work = CaseWork::launch, .name = backward ? k.backward_op : k.op, .call = launch_call, .base_ns = 45 * us});
  ++kernels_;
}

void CaseWriter::forward() {
  const int pause_at = static_cast<int>(s_.noise.uniform(of_place, static_cast<std::uint64_t>(rank_)) * 2);
  if (hit(Cause::recompilation))
    host({.work = CaseWork::compile,
          .faulty = true,
          .name = "_compile.compile_inner (dynamo_timed)",
          .base_ns = 0,
          .unit_ns = s_.step_ns});
  bool first = true;
  for (int layer = 0; layer < s_.layers; ++layer) {
    if (hit(Cause::garbage_collection) && layer == pause_at)
      host({.work = CaseWork::silent, .faulty = true, .base_ns = 0, .unit_ns = s_.step_ns});
    for (const LayerKernel& k : layer_kernels) {
      kernel(k, false, k.share);
      if (first) after(copied_, static_cast<std::uint32_t>(job_.tasks.size() - 1));
      first = false;
    }
    if (hit(Cause::hidden_sync)) read_value(CaseWork::sync);
  }
}

void CaseWriter::backward() {
  for (int layer = 0; layer < s_.layers; ++layer) {
    for (std::size_t i = layer_kernels.size(); i-- > 0;) kernel(layer_kernels[i], true, layer_kernels[i].share);
    if (s_.ranks > 1) reduce(layer);
  }
}

void CaseWriter::reduce(int bucket) {
  const double each = s_.communication_share * s_.step_ns / buckets_;
  const auto meeting = static_cast<std::uint32_t>(step_ * buckets_ + bucket);
  const double drawn = 1 + 0.02 * s_.noise.normal(of_flap, 5, meeting);  // the same for all ranks
  CaseTask part{
      .work = CaseWork::all_reduce, .place = static_cast<std::uint8_t>(bucket), .name = ring, .base_ns = each * drawn};
  // A link that fails now and then: one step is spared.
  const int spared = static_cast<int>(s_.noise.uniform(of_flap, 9999) * s_.steps);
  if (is(Cause::bad_link) && step_ != spared && s_.noise.uniform(of_flap, meeting) < 0.75) part.unit_ns = each;
  if (is(Cause::late_bucket))
    part.unit_ns = bucket == buckets_ - 1 ? s_.step_ns : buckets_ > 1 ? -s_.step_ns / (buckets_ - 1) : 0;
  part.faulty = part.unit_ns > 0;
  const std::uint32_t ready = job_.tasks.empty() ? no_task : static_cast<std::uint32_t>(job_.tasks.size() - 1);
  const std::uint32_t id = launched(
      lanes_.collectives, part,
      {.work = CaseWork::launch, .name = "nccl:all_reduce", .call = "cudaLaunchKernelExC", .base_ns = 55 * us});
  job_.graph.tasks[id].meeting = meeting;
  after(ready, id);
  last_reduced_ = id;
}

/// What the main thread does while the device has enough to do.
void CaseWriter::meanwhile() {
  const auto length = [&](double share, std::uint64_t n) {
    return share * s_.step_ns * (0.7 + 0.6 * uniform(of_decoy, n));
  };
  if (s_.log > 0) host({.work = CaseWork::log, .name = "log_metrics", .base_ns = length(s_.log, 10)});
  if (s_.pause > 0 && uniform(of_decoy, 20) < 0.4) host({.work = CaseWork::silent, .base_ns = length(s_.pause, 21)});
  if (s_.host_op > 0 && uniform(of_decoy, 30) < 0.6)
    host({.work = CaseWork::host_op, .name = "aten::topk", .base_ns = length(s_.host_op, 31)});
}

/// A value is copied to the host, and the main thread waits for it.
void CaseWriter::read_value(CaseWork work) {
  const bool inside = work == CaseWork::sync;
  const std::uint32_t copy = launched(
      lanes_.compute, {.work = work, .faulty = inside, .name = "Memcpy DtoH (Device -> Pageable)", .base_ns = 2 * us},
      {.work = CaseWork::launch, .name = "aten::_local_scalar_dense", .call = copy_call, .base_ns = 15 * us});
  waiting({.work = work, .faulty = inside, .name = "aten::item", .call = "cudaStreamSynchronize", .base_ns = 10 * us},
          copy);
  // What the program then decides by the value.
  if (inside) host({.work = CaseWork::sync, .faulty = true, .base_ns = 60 * us, .unit_ns = s_.step_ns / s_.layers});
}

void CaseWriter::optimize() {
  const double all = optimizer_part * s_.step_ns;
  const bool loop = is(Cause::small_kernels);
  const int n = loop ? std::clamp(static_cast<int>(s_.aimed_share * s_.step_ns / (40 * us)), 40, 240) : 3;
  const std::uint32_t gradients = last_reduced_;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const std::string_view op = loop ? loop_ops[at % loop_ops.size()] : "aten::_fused_adamw_";
    const std::uint32_t id = launched(lanes_.compute,
                                      {.work = CaseWork::optimizer,
                                       .faulty = loop,
                                       .name = loop ? loop_kernel : fused_kernel,
                                       .base_ns = all / n * (1 + s_.spread * normal(of_kernel, 500 + at))},
                                      {.work = CaseWork::optimizer_launch,
                                       .faulty = loop,
                                       .name = op,
                                       .call = launch_call,
                                       .base_ns = 25 * us,
                                       .unit_ns = loop ? s_.step_ns / n : 0});
    if (i == 0) after(gradients, id);
  }
}

void CaseWriter::save() {
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t copy =
        launched(lanes_.compute,
                 {.work = CaseWork::save_copy,
                  .faulty = true,
                  .name = "Memcpy DtoH (Device -> Pageable)",
                  .base_ns = 20 * us,
                  .unit_ns = 0.1 * s_.step_ns},
                 {.work = CaseWork::launch, .name = "aten::copy_", .call = copy_call, .base_ns = 20 * us});
    waiting({.work = CaseWork::save_copy,
             .faulty = true,
             .name = "aten::to",
             .call = "cudaStreamSynchronize",
             .base_ns = 10 * us},
            copy);
  }
  host({.work = CaseWork::silent, .faulty = true, .base_ns = 0, .unit_ns = 0.7 * s_.step_ns});
}

}  // namespace

std::int64_t CaseJob::duration_ns(std::uint32_t task, double size) const {
  const CaseTask& t = tasks[task];
  const double least = t.work == CaseWork::all_reduce ? 30 * us : 0;  // latency stays when nothing is moved
  return static_cast<std::int64_t>(std::max(least, t.base_ns + size * t.unit_ns));
}

CaseJob case_job(const CaseSpec& spec) { return CaseWriter(spec).write(); }

}  // namespace models::trace
