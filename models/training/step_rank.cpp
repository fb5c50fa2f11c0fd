#include "models/training/step_rank.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/counter_random.h"

namespace models {
namespace {

std::int64_t step_ns_of(double seconds) { return std::llround(seconds * 1e9); }

/// By row, then start. Most rows come in the order of time, so that only the others are sorted.
std::vector<StepBlock> by_row_and_start(const std::vector<StepBlock>& blocks) {
  constexpr std::size_t rows = static_cast<std::size_t>(StepRow::compute) + 1;
  std::array<std::size_t, rows + 1> first{};
  for (const StepBlock& b : blocks) ++first[static_cast<std::size_t>(b.row) + 1];
  for (std::size_t r = 0; r < rows; ++r) first[r + 1] += first[r];
  std::vector<StepBlock> out(blocks.size());
  std::array<std::size_t, rows + 1> next = first;
  for (const StepBlock& b : blocks) out[next[static_cast<std::size_t>(b.row)]++] = b;
  const auto earlier = [](const StepBlock& a, const StepBlock& b) { return a.start_ns < b.start_ns; };
  for (std::size_t r = 0; r < rows; ++r) {
    const auto from = out.begin() + static_cast<std::ptrdiff_t>(first[r]),
               to = out.begin() + static_cast<std::ptrdiff_t>(first[r + 1]);
    if (!std::is_sorted(from, to, earlier)) std::stable_sort(from, to, earlier);
  }
  return out;
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
  run.blocks = by_row_and_start(blocks_);
  blocks_.clear();
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
