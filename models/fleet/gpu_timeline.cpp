#include "models/fleet/gpu_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "models/base/counter_random.h"

namespace models::fleet {
namespace {

constexpr std::size_t no_job = max_tenants;

/// A slice is short up to this share of the shortest time that a job computes on average.
constexpr double short_slice = 0.7;

class GpuInTime {
 public:
  GpuInTime(std::span<const Tenant> tenants, const SharingWith& with, std::int64_t seed)
      : tenants_(tenants), with_(with), turns_(with.way == SharingWay::time_slices) {
    out_.steps.assign(tenants.size(), 0);
    for (std::size_t i = 0; i < tenants.size(); ++i) {
      streams_[i] = random_stream(seed, i + 1);
      gpu_s_[i] = gpu_phase_s(tenants[i], with);
      if (tenants[i].host_s <= negligible_part * gpu_s_[i])
        begin_gpu(i);
      else
        begin_host(i);
    }
  }

  Timeline run(double span_s, std::size_t most_pieces) {
    // What lasts no time makes no piece: steps are bounded too.
    for (std::size_t left = 16 * most_pieces; left > 0 && now_ < span_s && made_ <= most_pieces; --left) {
      give_turn();
      set_rates();
      const double dt = std::min(next_event(), span_s - now_);
      add_pieces(dt);
      advance(dt);
    }
    for (std::size_t i = 0; i < tenants_.size(); ++i) close(i);
    out_.end_s = now_;
    return std::move(out_);
  }

 private:
  double draw(std::size_t i, double mean_s) { return -mean_s * std::log(open_draw(streams_[i], drawn_[i]++)); }
  void begin_host(std::size_t i) {
    on_gpu_[i] = false;
    left_[i] = draw(i, tenants_[i].host_s);
  }
  void begin_gpu(std::size_t i) {
    if (gpu_s_[i] <= negligible_part * tenants_[i].host_s) {  // it needs no GPU
      ++out_.steps[i];
      return begin_host(i);
    }
    on_gpu_[i] = true;
    left_[i] = draw(i, gpu_s_[i]);
  }
  void end_gpu(std::size_t i) {
    ++out_.steps[i];
    if (tenants_[i].host_s <= negligible_part * gpu_s_[i])
      begin_gpu(i);
    else
      begin_host(i);
  }

  bool others_wait(std::size_t holder) const {
    for (std::size_t i = 0; i < tenants_.size(); ++i)
      if (i != holder && on_gpu_[i]) return true;
    return false;
  }
  /// Whose turn it is: the next one's after a slice, or where the holder needs the GPU no more.
  void give_turn() {
    if (!turns_ || switch_left_ > 0) return;
    const bool held = holder_ != no_job && on_gpu_[holder_];
    if (held && (slice_left_ > 0 || !others_wait(holder_))) return;
    const std::size_t from = holder_ == no_job ? 0 : holder_ + 1, n = tenants_.size();
    holder_ = no_job;
    for (std::size_t k = 0; k < n && holder_ == no_job; ++k)
      if (on_gpu_[(from + k) % n]) holder_ = (from + k) % n;
    slice_left_ = with_.slice_s;
    if (held) switch_left_ = with_.switch_s;
  }

  void set_rates() {
    std::size_t active = 0;
    for (std::size_t i = 0; i < tenants_.size(); ++i) active |= std::size_t{on_gpu_[i]} << i;
    if (!turns_) set_paces(tenants_, active, with_, {paces_.data(), tenants_.size()});
    for (std::size_t i = 0; i < tenants_.size(); ++i)
      if (turns_) paces_[i].rate = i == holder_ && !(switch_left_ > 0) ? 1 : 0;
  }

  double next_event() const {
    double dt = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      if (!on_gpu_[i])
        dt = std::min(dt, left_[i]);
      else if (paces_[i].rate > 0)
        dt = std::min(dt, left_[i] / paces_[i].rate);
    }
    if (turns_ && switch_left_ > 0) return std::min(dt, switch_left_);
    if (turns_ && holder_ != no_job && others_wait(holder_)) dt = std::min(dt, std::max(slice_left_, 0.0));
    return dt;
  }

  void add_pieces(double dt) {
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const GpuState state = !on_gpu_[i] ? GpuState::host : paces_[i].rate > 0 ? GpuState::computes : GpuState::waits;
      const double pace = state == GpuState::computes ? paces_[i].rate : 0;
      TimelinePiece& open = open_[i];
      if (open.to_s > open.from_s && (open.state != state || open.pace != pace)) close(i);
      if (!(open.to_s > open.from_s)) open = {static_cast<std::uint8_t>(i), state, pace, now_, now_};
      open.to_s = now_ + dt;
    }
  }
  void close(std::size_t i) {
    if (open_[i].to_s > open_[i].from_s) {
      out_.pieces.push_back(open_[i]);
      ++made_;
    }
    open_[i] = {};
  }

  void advance(double dt) {
    now_ += dt;
    if (switch_left_ > 0)
      switch_left_ = dt < switch_left_ ? switch_left_ - dt : 0;
    else
      slice_left_ -= dt;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const double rate = on_gpu_[i] ? paces_[i].rate : 1;
      if (!(rate > 0)) continue;
      // What ends now ends exactly.
      const double need = left_[i] / rate;
      left_[i] = need <= dt * (1 + 1e-12) ? 0 : left_[i] - dt * rate;
      if (left_[i] > 0) continue;
      if (on_gpu_[i])
        end_gpu(i);
      else
        begin_gpu(i);
    }
  }

  std::span<const Tenant> tenants_;
  SharingWith with_;
  bool turns_ = false;
  Timeline out_;
  std::array<std::uint64_t, max_tenants> streams_{}, drawn_{};
  std::array<double, max_tenants> gpu_s_{}, left_{};
  std::array<bool, max_tenants> on_gpu_{};
  std::array<Pace, max_tenants> paces_{};
  std::array<TimelinePiece, max_tenants> open_{};
  std::size_t holder_ = no_job, made_ = 0;
  double now_ = 0, slice_left_ = 0, switch_left_ = 0;
};

}  // namespace

Timeline shared_timeline(std::span<const Tenant> tenants, const SharingWith& with, std::int64_t seed, double span_s,
                         std::size_t most_pieces) {
  return GpuInTime(tenants, with, seed).run(span_s, most_pieces);
}

std::vector<SharedStep> shared_steps_in_time(std::span<const Tenant> tenants, const SharingWith& with,
                                             std::int64_t seed, std::size_t most_pieces) {
  std::vector<SharedStep> steps = shared_steps(tenants, with);
  if (with.way != SharingWay::time_slices || tenants.size() < 2) return steps;
  double shortest = std::numeric_limits<double>::infinity();
  for (const Tenant& t : tenants)
    if (t.gpu_s() > negligible_part * t.host_s) shortest = std::min(shortest, t.gpu_s());
  if (!(with.slice_s > short_slice * shortest)) return steps;
  const Timeline line = shared_timeline(tenants, with, seed, std::numeric_limits<double>::max(), most_pieces);
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    double done = 0, alike = 0;  // jobs that are alike have the same mean step
    for (std::size_t k = 0; k < tenants.size(); ++k) {
      if (!(tenants[k] == tenants[i])) continue;
      done += static_cast<double>(line.steps[k]);
      alike += 1;
    }
    if (!(done > 0)) continue;
    steps[i].step_s = line.end_s * alike / done;
    steps[i].slowdown = steps[i].step_s / tenants[i].step_s();
  }
  return steps;
}

}  // namespace models::fleet
