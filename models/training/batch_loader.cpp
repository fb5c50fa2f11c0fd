#include "models/training/batch_loader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/counter_random.h"

namespace models {
namespace {

constexpr std::int64_t max_pieces = 1024;

std::int64_t ns_of(double seconds) { return std::llround(seconds * 1e9); }
/// 0 bytes take no time at any rate.
std::int64_t transfer_ns(double bytes, double bytes_per_s) { return bytes > 0 ? ns_of(bytes / bytes_per_s) : 0; }

}  // namespace

BatchLoader::BatchLoader(const LoaderSetup& setup, std::int64_t rank)
    : setup_(setup),
      luck_(random_stream(setup.seed, static_cast<std::uint64_t>(rank))),
      pieces_(std::clamp<std::int64_t>(std::min(setup.samples, setup.pieces), 1, max_pieces)),
      workers_(static_cast<std::size_t>(std::max<std::int64_t>(0, setup.workers))) {
  const std::int64_t asked = setup_.workers * std::max<std::int64_t>(1, setup_.prefetch);
  for (std::int64_t batch = 0; batch < asked; ++batch) ask(batch, 0);
}

std::int64_t BatchLoader::samples_in(std::int64_t piece) const {
  return setup_.samples * (piece + 1) / pieces_ - setup_.samples * piece / pieces_;
}
std::int64_t BatchLoader::request_ns(std::int64_t piece) const {
  return ns_of(static_cast<double>(samples_in(piece)) / setup_.samples_per_request * setup_.request_latency_s);
}
std::int64_t BatchLoader::read_ns(std::int64_t piece) const {
  return transfer_ns(static_cast<double>(samples_in(piece)) * setup_.sample_bytes, setup_.storage_bytes_per_s);
}
std::int64_t BatchLoader::decode_ns(std::int64_t batch, std::int64_t piece) const {
  const double luck = 1 + setup_.decode_spread * (2 * unit_draw(luck_, static_cast<std::uint64_t>(batch)) - 1);
  return ns_of(static_cast<double>(samples_in(piece)) * setup_.decode_s * luck);
}
std::int64_t BatchLoader::pin_ns() const {
  return setup_.pinned ? transfer_ns(setup_.batch_bytes, setup_.host_copy_bytes_per_s) : 0;
}

std::int64_t BatchLoader::alone_ns() const {
  std::int64_t ns = 0;
  for (std::int64_t i = 0; i < pieces_; ++i) ns += request_ns(i) + read_ns(i) + decode_ns(next_, i);
  return ns;
}

void BatchLoader::push(std::int64_t time_ns, std::int64_t worker, Kind kind) {
  due_.push({time_ns, order_++, worker, kind});
}

void BatchLoader::keep(std::int64_t worker, LoaderStage stage, std::int64_t until_ns) {
  Worker& w = workers_[static_cast<std::size_t>(worker)];
  if (recording_ && until_ns > w.since_ns)
    pieces.push_back({w.since_ns, until_ns, w.batch, static_cast<std::int32_t>(worker), stage});
  w.since_ns = until_ns;
}

void BatchLoader::close() {
  for (std::size_t i = 0; i < workers_.size(); ++i)
    keep(static_cast<std::int64_t>(i), workers_[i].batch >= 0 ? workers_[i].stage : LoaderStage::idle, known_ns_);
}

void BatchLoader::level(std::vector<LoaderLevel>& of, std::int64_t& count, std::int64_t by, std::int64_t now_ns) {
  count += by;
  if (!recording_) return;
  if (!of.empty() && of.back().time_ns == now_ns)
    of.back().count = count;
  else
    of.push_back({now_ns, count});
}

void BatchLoader::ask(std::int64_t batch, std::int64_t now_ns) {
  const std::int64_t worker = batch % setup_.workers;
  Worker& w = workers_[static_cast<std::size_t>(worker)];
  ready_ns_.push_back(-1);
  if (w.batch >= 0) {
    w.tasks.push_back(batch);
    return;
  }
  keep(worker, LoaderStage::idle, now_ns);
  w.batch = batch;
  w.piece = 0;
  begin_piece(worker, now_ns);
}

void BatchLoader::begin_piece(std::int64_t worker, std::int64_t now_ns) {
  workers_[static_cast<std::size_t>(worker)].stage = LoaderStage::request;
  level(reading, at_storage_, 1, now_ns);
  push(now_ns + request_ns(workers_[static_cast<std::size_t>(worker)].piece), worker, Kind::answered);
}

void BatchLoader::begin_decoding(std::int64_t worker, std::int64_t now_ns) {
  Worker& w = workers_[static_cast<std::size_t>(worker)];
  ++cores_busy_;
  const std::int64_t ns = decode_ns(w.batch, w.piece);
  core_busy_ns += ns;
  push(now_ns + ns, worker, Kind::decoded);
}

void BatchLoader::add_ready(std::int64_t batch, std::int64_t now_ns) {
  ready_ns_[static_cast<std::size_t>(batch - next_)] = now_ns;
  level(ready, in_queue_, 1, now_ns);
}

void BatchLoader::finish_batch(std::int64_t worker, std::int64_t now_ns) {
  Worker& w = workers_[static_cast<std::size_t>(worker)];
  if (setup_.pinned) {
    const std::int64_t start_ns = std::max(now_ns, pin_free_ns_);
    pin_free_ns_ = start_ns + pin_ns();
    if (recording_) pins.push_back({start_ns, pin_free_ns_, w.batch, -1, LoaderStage::decode});
    pinning_.push_back(w.batch);
    push(pin_free_ns_, worker, Kind::pinned);
  } else {
    add_ready(w.batch, now_ns);
  }
  w.batch = -1;
  if (w.tasks.empty()) return;
  w.batch = w.tasks.front();
  w.tasks.pop_front();
  w.piece = 0;
  begin_piece(worker, now_ns);
}

/// The next event.
void BatchLoader::step() {
  const Due due = due_.top();
  due_.pop();
  const std::int64_t now_ns = due.time_ns;
  if (due.kind == Kind::pinned) {
    add_ready(pinning_.front(), now_ns);
    pinning_.pop_front();
    return;
  }
  Worker& w = workers_[static_cast<std::size_t>(due.worker)];
  if (due.kind == Kind::answered) {
    keep(due.worker, LoaderStage::request, now_ns);
    w.stage = LoaderStage::read;
    const std::int64_t ns = read_ns(w.piece);
    pipe_free_ns_ = std::max(now_ns, pipe_free_ns_) + ns;
    storage_busy_ns += ns;
    push(pipe_free_ns_, due.worker, Kind::arrived);
  } else if (due.kind == Kind::arrived) {
    keep(due.worker, LoaderStage::read, now_ns);
    w.stage = LoaderStage::decode;
    level(reading, at_storage_, -1, now_ns);
    level(decoding, at_core_, 1, now_ns);
    if (cores_busy_ < setup_.cores)
      begin_decoding(due.worker, now_ns);
    else
      waiting_for_core_.push_back(due.worker);
  } else {
    keep(due.worker, LoaderStage::decode, now_ns);
    level(decoding, at_core_, -1, now_ns);
    --cores_busy_;
    if (!waiting_for_core_.empty()) {
      const std::int64_t next = waiting_for_core_.front();
      waiting_for_core_.pop_front();
      begin_decoding(next, now_ns);
    }
    if (++w.piece < pieces_)
      begin_piece(due.worker, now_ns);
    else
      finish_batch(due.worker, now_ns);
  }
}

std::int64_t BatchLoader::take(std::int64_t now_ns) {
  if (setup_.workers <= 0) {
    const std::int64_t ns = alone_ns();
    for (std::int64_t i = 0; i < pieces_; ++i) {
      storage_busy_ns += read_ns(i);
      core_busy_ns += decode_ns(next_, i);
    }
    ++next_;
    return ready_of_last_ = now_ns + ns + pin_ns();
  }
  while (ready_ns_.front() < 0) step();
  ready_of_last_ = ready_ns_.front();
  const std::int64_t taken_ns = std::max(now_ns, ready_of_last_);
  while (!due_.empty() && due_.top().time_ns <= taken_ns) step();
  known_ns_ = taken_ns;
  level(ready, in_queue_, -1, taken_ns);
  ready_ns_.pop_front();
  ++next_;
  ask(next_ - 1 + setup_.workers * std::max<std::int64_t>(1, setup_.prefetch), taken_ns);
  return taken_ns;
}

double LoaderCeilings::least_per_s() const {
  return std::min(std::min(storage_per_s, cores_per_s), std::min(workers_per_s, pin_per_s));
}

double LoaderCeilings::shared_per_s() const { return std::min(std::min(storage_per_s, cores_per_s), pin_per_s); }

LoaderCeilings loader_ceilings(const LoaderSetup& s) {
  const auto rate = [](double seconds) { return seconds > 0 ? 1 / seconds : std::numeric_limits<double>::infinity(); };
  const auto samples = static_cast<double>(s.samples);
  const double request_s = samples / s.samples_per_request * s.request_latency_s,
               read_s = samples * s.sample_bytes / s.storage_bytes_per_s, decode_s = samples * s.decode_s,
               pin_s = s.pinned ? s.batch_bytes / s.host_copy_bytes_per_s : 0, alone_s = request_s + read_s + decode_s;
  if (s.workers <= 0)
    return {rate(read_s), rate(decode_s), rate(alone_s + pin_s), std::numeric_limits<double>::infinity()};
  return {rate(read_s), rate(decode_s) * static_cast<double>(s.cores), rate(alone_s) * static_cast<double>(s.workers),
          rate(pin_s)};
}

}  // namespace models
