#include "models/training/step_rank.h"

#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"

namespace models {
namespace {

std::int64_t step_ns_of(double seconds) { return std::llround(seconds * 1e9); }

StepCause cause_of(StepWork host) {
  switch (host) {
    case StepWork::load:
      return StepCause::data;
    case StepWork::copy:
      return StepCause::copy;
    case StepWork::sync:
    case StepWork::log:
      return StepCause::sync;
    default:
      return StepCause::launch;
  }
}

std::string_view kernel_name(StepWork phase, std::int64_t i) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const char* what : {"forward_kernel_", "backward_kernel_", "adamw_kernel_"})
      for (int k = 0; k < 32; ++k) out.push_back(what + std::to_string(k));
    return out;
  }();
  const std::size_t of = phase == StepWork::forward ? 0 : phase == StepWork::backward ? 1 : 2;
  return names[of * 32 + static_cast<std::size_t>(i % 32)];
}

std::string_view operation_name(StepWork phase) {
  return phase == StepWork::forward    ? "aten::linear"
         : phase == StepWork::backward ? "autograd::engine::evaluate_function: LinearBackward0"
                                       : "aten::_foreach_addcdiv_";
}

}  // namespace

StepRank::StepRank(const StepSetup& setup, const StepOptions& options, std::int64_t rank)
    : setup_(setup),
      options_(options),
      loader_(setup.loader, rank),
      slowness_(1 + options.rank_spread *
                        (2 * unit_draw(random_stream(setup.loader.seed, 77), static_cast<std::uint64_t>(rank)) - 1)),
      launch_ns_(step_ns_of(setup.launch_s)),
      latency_ns_(step_ns_of(setup.launch_latency_s)),
      bytes_(setup.state_bytes) {
  if (options.record_traces) recorder_ = std::make_unique<StepRecorder>(rank, setup.ranks);
}

std::int64_t& StepRank::busy_of(StepWork phase) {
  return phase == StepWork::forward    ? ledger_.forward_ns
         : phase == StepWork::backward ? ledger_.backward_ns
                                       : ledger_.optimizer_ns;
}

void StepRank::block(StepRow row, StepWork work, std::int64_t start_ns, std::int64_t end_ns, std::int32_t lane,
                     StepCause cause) {
  if (!keeps_blocks() || end_ns <= start_ns) return;
  if (row == StepRow::compute)
    for (std::size_t i = blocks_.size(); i-- > 0 && blocks_.size() - i < 8;) {
      StepBlock& last = blocks_[i];
      if (last.row != row) continue;
      if (last.work == work && last.end_ns == start_ns && last.step == step_ && last.cause == cause) {
        last.end_ns = end_ns;
        return;
      }
      break;
    }
  blocks_.push_back({start_ns, end_ns, step_, row, work, cause, lane, StepWork::idle});
}

/// The host does this from where it is until `until_ns`.
void StepRank::host(StepWork work, std::int64_t until_ns, StepWork phase) {
  if (until_ns <= host_ns_) return;
  if (!segments_.empty() && segments_.back().end_ns == host_ns_ && segments_.back().work == work &&
      segments_.back().phase == phase && segments_.back().step == step_)
    segments_.back().end_ns = until_ns;
  else
    segments_.push_back({host_ns_, until_ns, step_, work, phase});
  host_ns_ = until_ns;
}

void StepRank::memory(std::int64_t time_ns, double change) {
  bytes_ += change;
  if (keeps_blocks()) memory_.push_back({time_ns, bytes_});
  if (keeps_trace()) recorder_->memory(time_ns, bytes_);
}

void StepRank::load() {
  const std::int64_t asked_ns = host_ns_;
  const std::int64_t taken_ns = loader_.take(asked_ns);
  waited_ns_ += taken_ns - asked_ns;
  host(StepWork::load, taken_ns);
  if (keeps_trace())
    recorder_->host("user_annotation",
                    setup_.loader.workers > 0 ? "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
                                              : "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                    asked_ns, taken_ns);
}

void StepRank::copy() {
  const bool blocking = setup_.copy == BatchCopy::pageable, beside = setup_.copy == BatchCopy::copy_stream;
  const double rate = blocking ? setup_.pageable_bytes_per_s : setup_.pinned_bytes_per_s;
  const std::int64_t start_ns = host_ns_, called_ns = start_ns + launch_ns_;
  std::int64_t& free_ns = beside ? copies_free_ns_ : stream_free_ns_;
  copy_start_ns_ = std::max(free_ns, called_ns + latency_ns_);
  copy_end_ns_ = copy_start_ns_ + step_ns_of(setup_.loader.batch_bytes / rate);
  free_ns = copy_end_ns_;
  block(StepRow::copies, StepWork::copy, copy_start_ns_, copy_end_ns_);
  if (keeps_trace()) {
    const std::int64_t id = recorder_->call("cudaMemcpyAsync", start_ns + launch_ns_ / 2, called_ns);
    recorder_->device("gpu_memcpy", blocking ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)",
                      beside ? StepRecorder::copy_stream : StepRecorder::compute_stream, copy_start_ns_, copy_end_ns_,
                      id);
    if (blocking) recorder_->host("cuda_runtime", "cudaStreamSynchronize", called_ns, copy_end_ns_);
    recorder_->host("cpu_op", "aten::copy_", start_ns, blocking ? copy_end_ns_ : called_ns);
  }
  if (blocking)
    host(StepWork::copy, copy_end_ns_);
  else
    host(StepWork::launch, called_ns, StepWork::copy);
}

/// Waits shorter than a kernel and its launch are the device's pace and belong to the stretch of launching around them.
void StepRank::wait_for_room(std::int64_t until_ns, const Group& group) {
  const bool pace = until_ns - host_ns_ <= group.kernel_ns + launch_ns_;
  host(pace ? StepWork::launch : StepWork::ahead, until_ns, pace ? group.phase : StepWork::idle);
}

/// Of the kernels that the host has just launched.
void StepRank::keep_starts(std::int64_t count, std::int64_t start_ns, std::int64_t stride_ns) {
  const std::int64_t first = launches_;
  launches_ += count;
  if (!starts_.empty()) {
    Starts& last = starts_.back();
    const std::int64_t gap_ns = start_ns - last.at(first - 1);
    if ((last.count == 1 || last.stride_ns == gap_ns) && (count == 1 || stride_ns == gap_ns)) {
      last.stride_ns = gap_ns;
      last.count += count;
      return;
    }
  }
  starts_.push_back({first, count, start_ns, stride_ns});
}

/// The queue holds what is launched and has not begun.
void StepRank::count_lead() {
  while (begun_ + 1 < starts_.size() && starts_[begun_ + 1].start_ns <= host_ns_) ++begun_;
  const Starts& s = starts_[begun_];
  const std::int64_t begun =
      s.start_ns > host_ns_ ? 0
                            : std::min(s.count, (host_ns_ - s.start_ns) / std::max<std::int64_t>(1, s.stride_ns) + 1);
  largest_lead_ = std::max(largest_lead_, launches_ - s.first - begun);
}

void StepRank::idle(std::int64_t from_ns, std::int64_t to_ns, StepCause cause) {
  if (to_ns <= from_ns) return;
  ledger_.idle_ns[static_cast<std::size_t>(cause)] += to_ns - from_ns;
  block(StepRow::compute, StepWork::idle, from_ns, to_ns, 0, cause);
}

/// Time of a gap in which the host had not launched: what it did then is the cause.
void StepRank::idle_by_host(std::int64_t from_ns, std::int64_t to_ns) {
  while (segment_ < segments_.size() && segments_[segment_].end_ns <= from_ns) ++segment_;
  std::int64_t at = from_ns;
  for (std::size_t i = segment_; i < segments_.size() && at < to_ns; ++i) {
    const std::int64_t until = std::min(to_ns, segments_[i].end_ns);
    if (until <= at) continue;
    idle(at, until, cause_of(segments_[i].work));
    at = until;
  }
  idle(at, to_ns, StepCause::launch);
}

/// The gap before a group's first kernel: the host had not come to it; it launched; then what the kernel depends on.
void StepRank::find_causes(const Group& group, std::int64_t host_ns, std::int64_t launched_ns, std::int64_t first_ns) {
  std::int64_t at = kernel_end_ns_;
  const auto until = [&](std::int64_t to, const auto& blame) {
    const std::int64_t end = std::clamp(to, at, first_ns);
    if (end > at) blame(at, end);
    at = end;
  };
  const auto by_host = [&](std::int64_t from, std::int64_t to) { idle_by_host(from, to); };
  const auto by_launch = [&](std::int64_t from, std::int64_t to) { idle(from, to, StepCause::launch); };
  const auto by_copy = [&](std::int64_t from, std::int64_t to) { idle(from, to, StepCause::copy); };
  if (setup_.copy == BatchCopy::pinned) {  // the copy itself stands on this stream
    until(std::min(host_ns, copy_start_ns_), by_host);
    until(copy_start_ns_, by_launch);
    until(copy_end_ns_, by_copy);
  }
  until(host_ns, by_host);
  until(launched_ns, by_launch);
  until(first_ns, [&](std::int64_t from, std::int64_t to) { idle(from, to, group.cause); });
}

/// A kernel is launched when the queue has room for it, and begins when its launch has arrived and the one before it
/// has ended; the first also waits for what the group depends on.
void StepRank::run(const Group& group) {
  std::int64_t end_ns = stream_free_ns_;
  for (std::int64_t done = 0; done < group.kernels;) done += run_some(group, done, end_ns);
  busy_of(group.phase) += group.kernels * group.kernel_ns;
  kernel_end_ns_ = stream_free_ns_ = end_ns;
}

/// As many kernels as are launched at one pace and begin at one pace; returns how many. With calls c, starts s and the
/// room r, which runs on at one pace too: c[i] = max(c[i-1] + launch, r[i]), s[i] = max(s[i-1] + kernel, arrival of
/// c[i]).
std::int64_t StepRank::run_some(const Group& group, std::int64_t done, std::int64_t& end_ns) {
  std::int64_t n = group.kernels - done, room_ns = 0, room_stride_ns = 0;
  const std::int64_t frees = launches_ - setup_.queue_depth;  // the kernel whose beginning makes room for the first
  if (frees < 0) {
    n = std::min(n, -frees);
  } else {
    while (starts_.front().first + starts_.front().count <= frees) {
      starts_.pop_front();
      begun_ -= begun_ > 0 ? 1 : 0;
    }
    const Starts& s = starts_.front();
    room_ns = s.at(frees);
    room_stride_ns = s.stride_ns;
    n = std::min(n, s.first + s.count - frees);
  }
  // How many steps a line that starts `ahead` of another and falls behind by `slower` a step stays ahead.
  const auto stays_ahead = [](std::int64_t ahead, std::int64_t slower) { return (ahead + slower - 1) / slower; };
  wait_for_room(room_ns, group);
  const std::int64_t called_ns = host_ns_, arrived_ns = called_ns + launch_ns_ + latency_ns_;
  std::int64_t pace_ns = launch_ns_;
  if (room_stride_ns > launch_ns_ && n > 1) {
    if (called_ns == room_ns)
      pace_ns = room_stride_ns;
    else
      n = std::min(n, stays_ahead(called_ns - room_ns, room_stride_ns - launch_ns_));
  }
  std::int64_t start_ns = std::max(end_ns, arrived_ns);
  if (done == 0) {
    start_ns = std::max(start_ns, group.depends_ns);
    find_causes(group, called_ns, arrived_ns, start_ns);
  } else {
    idle(end_ns, start_ns, StepCause::launch);
  }
  std::int64_t stride_ns = group.kernel_ns;
  if (pace_ns > group.kernel_ns) {
    if (start_ns == arrived_ns)
      stride_ns = pace_ns;
    else
      n = std::min(n, stays_ahead(start_ns - arrived_ns, pace_ns - group.kernel_ns));
  }
  host(StepWork::launch, called_ns + (n - 1) * pace_ns + launch_ns_, group.phase);
  const bool gaps = n > 1 && stride_ns > group.kernel_ns;
  if (!gaps) block(StepRow::compute, group.phase, start_ns, start_ns + n * group.kernel_ns);
  for (std::int64_t i = 0; gaps && i < n; ++i) {
    const std::int64_t at_ns = start_ns + i * stride_ns;
    if (i > 0) idle(at_ns - stride_ns + group.kernel_ns, at_ns, StepCause::launch);
    block(StepRow::compute, group.phase, at_ns, at_ns + group.kernel_ns);
  }
  for (std::int64_t i = 0; keeps_trace() && i < n; ++i)
    record_kernel(group, done + i, called_ns + i * pace_ns, start_ns + i * stride_ns);
  end_ns = start_ns + (n - 1) * stride_ns + group.kernel_ns;
  keep_starts(n, start_ns, stride_ns);
  count_lead();
  return n;
}

void StepRank::record_kernel(const Group& group, std::int64_t i, std::int64_t called_ns, std::int64_t start_ns) {
  const std::int64_t returned_ns = called_ns + launch_ns_, end_ns = start_ns + group.kernel_ns;
  recorder_->host("cpu_op", operation_name(group.phase), called_ns, returned_ns);
  const std::int64_t id = recorder_->call("cudaLaunchKernel", returned_ns - launch_ns_ / 2, returned_ns);
  recorder_->device("kernel", kernel_name(group.phase, i), StepRecorder::compute_stream, start_ns, end_ns, id);
}

void StepRank::launch_bucket(std::int64_t ready_ns) {
  const std::int64_t start_ns = host_ns_;
  host(StepWork::launch, start_ns + launch_ns_, StepWork::reduce);
  buckets_.push_back({ready_ns, host_ns_ + latency_ns_, 0});
  if (!keeps_trace()) return;
  buckets_.back().correlation = recorder_->call("cudaLaunchKernelExC", start_ns + launch_ns_ / 2, host_ns_);
  recorder_->host("cpu_op", "nccl:all_reduce", start_ns, host_ns_);
}

/// Load, copy, forward and backward of one micro-batch; gradients are reduced in the last alone.
void StepRank::run_micro_batch(bool last) {
  load();
  copy();
  const std::int64_t layers = setup_.layers, kernels = setup_.kernels_per_layer;
  const auto kernel_ns = [&](double pass_s, std::int64_t a_layer) {
    return std::max<std::int64_t>(1, step_ns_of(pass_s * slowness_ / static_cast<double>(layers * a_layer)));
  };
  const double layer_bytes = setup_.activation_bytes / static_cast<double>(layers);
  const std::int64_t forward_ns = kernel_ns(setup_.forward_s, kernels),
                     backward_ns = kernel_ns(setup_.backward_s, 2 * kernels),
                     again_ns = kernel_ns(setup_.recompute_s < 0 ? setup_.forward_s : setup_.recompute_s, kernels);
  for (std::int64_t i = 0; i < layers; ++i) {
    run({StepWork::forward, kernels, forward_ns, copy_end_ns_, StepCause::copy, i});
    memory(kernel_end_ns_, layer_bytes);
  }
  const std::int64_t buckets = last && setup_.ranks > 1 ? setup_.buckets : 0;
  for (std::int64_t i = 0; i < layers; ++i) {
    if (setup_.recompute) run({StepWork::backward, kernels, again_ns, 0, StepCause::launch, layers - 1 - i});
    run({StepWork::backward, 2 * kernels, backward_ns, 0, StepCause::launch, layers - 1 - i});
    memory(kernel_end_ns_, -layer_bytes);
    while (setup_.overlap && static_cast<std::int64_t>(buckets_.size()) < (i + 1) * buckets / layers)
      launch_bucket(kernel_end_ns_);
  }
  while (static_cast<std::int64_t>(buckets_.size()) < buckets) launch_bucket(kernel_end_ns_);
}

void StepRank::before_collectives(std::int64_t step) {
  step_ = step;
  step_start_ns_ = host_ns_;
  ledger_ = {};
  if ((options_.record_blocks || recorder_) && step >= options_.record_from) loader_.record();
  buckets_.clear();
  for (std::int64_t m = 1; m <= setup_.micro_batches; ++m) run_micro_batch(m == setup_.micro_batches);
  last_bucket_ns_ = 0;
}

std::int64_t StepRank::bucket_start_ns(std::size_t b) const {
  return std::max(std::max(buckets_[b].ready_ns, buckets_[b].launched_ns), collectives_free_ns_);
}

void StepRank::end_collective(std::size_t b, std::int64_t start_ns, std::int64_t end_ns) {
  collectives_free_ns_ = last_bucket_ns_ = end_ns;
  ledger_.communication_ns += end_ns - start_ns;
  block(StepRow::collectives, StepWork::reduce, start_ns, end_ns, static_cast<std::int32_t>(b));
  if (keeps_trace())
    recorder_->device("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                      StepRecorder::collective_stream, start_ns, end_ns, buckets_[b].correlation);
}

void StepRank::read_loss() {
  const std::int64_t start_ns = host_ns_;
  host(StepWork::sync, std::max(start_ns + launch_ns_, kernel_end_ns_ + latency_ns_));
  if (keeps_trace()) {
    recorder_->host("cpu_op", "aten::item", start_ns, host_ns_);
    recorder_->host("cuda_runtime", "cudaStreamSynchronize", start_ns + launch_ns_ / 2, host_ns_);
  }
  const std::int64_t read_ns = host_ns_;
  host(StepWork::log, read_ns + step_ns_of(setup_.log_s));
  if (keeps_trace()) recorder_->host("user_annotation", "log_metrics", read_ns, host_ns_);
}

void StepRank::after_collectives() {
  const std::int64_t kernels = optimizer_kernels(setup_);
  const std::int64_t kernel_ns =
      std::max<std::int64_t>(1, step_ns_of(optimizer_time_s(setup_) * slowness_ / static_cast<double>(kernels)));
  run({StepWork::optimizer, kernels, kernel_ns, last_bucket_ns_, StepCause::communication, 0});
  ledger_.end_ns = kernel_end_ns_;
  ledger_.period_ns = kernel_end_ns_ - (ledgers_.empty() ? 0 : ledgers_.back().end_ns);
  if (setup_.sync_every > 0 && (step_ + 1) % setup_.sync_every == 0) read_loss();
  ledgers_.push_back(ledger_);
  if (keeps_trace()) recorder_->step(step_, step_start_ns_, host_ns_);
}

void StepRank::finish(StepRun& run) {
  run.steps = std::move(ledgers_);
  run.waited_ns = waited_ns_;
  run.largest_lead = largest_lead_;
  run.storage_busy_ns = loader_.storage_busy_ns;
  run.core_busy_ns = loader_.core_busy_ns;
  if (!options_.record_blocks) return;
  loader_.close();
  for (const Segment& s : segments_)
    if (s.step >= options_.record_from)
      blocks_.push_back({s.start_ns, s.end_ns, s.step, StepRow::host, s.work, StepCause::data, 0, s.phase});
  for (const LoaderPiece& p : loader_.pieces)
    if (p.stage != LoaderStage::idle)
      blocks_.push_back({p.start_ns, p.end_ns, p.batch, StepRow::worker,
                         p.stage == LoaderStage::decode ? StepWork::load : StepWork::read, StepCause::data, p.worker,
                         StepWork::idle});
  for (const LoaderPiece& p : loader_.pins)
    blocks_.push_back(
        {p.start_ns, p.end_ns, p.batch, StepRow::pin, StepWork::copy, StepCause::data, 0, StepWork::idle});
  std::stable_sort(blocks_.begin(), blocks_.end(), [](const StepBlock& a, const StepBlock& b) {
    return a.row != b.row ? a.row < b.row : a.start_ns < b.start_ns;
  });
  run.blocks = std::move(blocks_);
  run.memory = std::move(memory_);
  run.loader_pieces = std::move(loader_.pieces);
  run.ready = loader_.ready;
  run.reading = loader_.reading;
  run.decoding = loader_.decoding;
}

trace::Trace StepRank::finish_trace() {
  for (const LoaderPiece& p : loader_.pieces)
    if (p.stage != LoaderStage::idle)
      recorder_->worker(p.worker, p.stage == LoaderStage::decode ? "decode" : "read", p.start_ns, p.end_ns);
  for (const LoaderPiece& p : loader_.pins) recorder_->pin(p.start_ns, p.end_ns);
  return recorder_->finish();
}

}  // namespace models
