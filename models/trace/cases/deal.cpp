#include "models/trace/cases/deal.h"

#include <algorithm>
#include <cmath>

namespace models::trace {
namespace {

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Numbers in a row, for what is dealt once.
struct Dealer {
  CaseNoise noise;
  std::uint64_t next = 0;
  double in(double low, double high) { return low + (high - low) * noise.uniform(++next, 77); }
  int whole(int low, int high) { return low + static_cast<int>(in(0, 1) * (high - low + 1)); }
  bool chance(double part) { return in(0, 1) < part; }
};

struct StepTime {
  double low_ms, high_ms;
};
/// A recompilation takes at least some tens of milliseconds, so it is small only in a long step; many small kernels and
/// waits in a loop are noticed in short ones.
StepTime step_time_of(Cause cause) {
  switch (cause) {
    case Cause::recompilation:
      return {220, 400};
    case Cause::checkpoint_write:
      return {120, 400};
    case Cause::small_kernels:
      return {60, 130};
    case Cause::hidden_sync:
      return {60, 200};
    default:
      return {60, 400};
  }
}

bool needs_two_ranks(Cause cause) {
  return cause == Cause::throttled_rank || cause == Cause::bad_link || cause == Cause::uneven_batch ||
         cause == Cause::late_bucket;
}

/// Faults that come now and then hit one step of those recorded, or two; others all of them or some.
std::uint32_t steps_hit_by(Cause cause, int steps, Dealer& deal) {
  const auto bit = [](int s) { return 1u << s; };
  switch (cause) {
    case Cause::garbage_collection:
    case Cause::recompilation:
    case Cause::checkpoint_write:
    case Cause::clock_drop: {
      const int first = deal.whole(1, steps - 2);
      return steps > 4 && cause != Cause::checkpoint_write && deal.chance(0.4) ? bit(first) | bit(first + 1)
                                                                               : bit(first);
    }
    case Cause::page_faults: {
      const int first = deal.whole(0, steps - 2);
      return bit(first) | bit(deal.whole(first, steps - 1));
    }
    case Cause::uneven_batch: {
      std::uint32_t hit = 0;
      for (int s = 0; s < steps; ++s)
        if (deal.chance(0.6)) hit |= bit(s);
      return hit | bit(deal.whole(0, steps - 1));
    }
    default:
      return (1u << steps) - 1;
  }
}

void deal_decoys(CaseSpec& spec, int level, Dealer& deal) {
  const double longest = level == 1 ? 0.25 : level == 2 ? 0.4 : 0.55;
  if (deal.chance(0.7)) spec.log = deal.in(0.05, longest / 2);
  if (level == 1) return;
  if (deal.chance(0.6)) spec.pause = deal.in(0.08, longest / 2);
  if (deal.chance(0.6)) spec.saver = deal.in(0.8, 2.4);
  if (deal.chance(0.6)) spec.host_op = deal.in(0.05, longest / 3);
  // Together they fit under what the device has to do.
  const double all = spec.log + spec.pause + spec.host_op, most = 0.42;
  if (all <= most) return;
  spec.log *= most / all;
  spec.pause *= most / all;
  spec.host_op *= most / all;
}

}  // namespace

double CaseNoise::uniform(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) const {
  const std::uint64_t x = mixed(seed ^ mixed(a + (b << 40) + (c << 20) + (d << 52)));
  return static_cast<double>(x >> 11) / 9007199254740992.0;
}

double CaseNoise::normal(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) const {
  const std::uint64_t x = mixed(seed ^ mixed(a + (b << 40) + (c << 20) + (d << 52)));
  const auto part = [&](int shift) { return static_cast<double>((x >> shift) & 0xffff) / 65535.0; };
  return (part(0) + part(16) + part(32) + part(48) - 2) * 1.7320508;  // the variance of four is 1/3
}

CaseSpec deal_case(std::uint64_t seed, int level, bool faulty) {
  level = std::clamp(level, 1, 3);
  CaseSpec out;
  out.noise.seed = mixed(seed * 4 + static_cast<std::uint64_t>(level));
  Dealer deal{out.noise};
  const auto kind = static_cast<Cause>(1 + deal.whole(0, static_cast<int>(dealt_cause_count) - 2));
  if (faulty) out.cause = kind;
  const int fewest = needs_two_ranks(kind) ? 2 : 1;
  out.ranks = level == 1 ? deal.whole(fewest, 2) : level == 2 ? 2 : deal.chance(0.3) ? 8 : 4;
  out.steps = level == 1 ? 4 : 5;
  out.layers = level == 1 ? 3 : 4;
  out.workers = deal.whole(2, 3);
  const StepTime range = step_time_of(kind);
  out.step_ns = 1e6 * range.low_ms * std::pow(range.high_ms / range.low_ms, deal.in(0, 1));
  out.communication_share = deal.in(0.16, 0.3);
  out.decode_share = deal.in(0.6, 0.82);
  out.spread = level == 1 ? 0.008 : level == 2 ? 0.012 : 0.016;
  deal_decoys(out, level, deal);
  const int rank = kind == Cause::checkpoint_write ? 0 : deal.whole(0, out.ranks - 1);
  const std::uint32_t hit = steps_hit_by(kind, out.steps, deal);
  const bool on_device = deal.chance(0.5);
  const double aimed = level == 1 ? deal.in(0.14, 0.32) : level == 2 ? deal.in(0.07, 0.14) : deal.in(0.035, 0.07);
  if (!faulty) return out;
  out.rank = of_all_ranks(kind) && out.ranks > 1 ? -1 : rank;
  out.steps_hit = hit;
  out.on_device = on_device;
  out.aimed_share = aimed;
  return out;
}

}  // namespace models::trace
