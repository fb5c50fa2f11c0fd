#include "models/serving/arrivals/serving_requests.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/counter_random.h"
#include "models/base/gamma_draw.h"

namespace models {
namespace {

constexpr std::uint64_t block_requests = 8192;

/// Random numbers, begun anew for each pair of blocks; see make_requests.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : seed_(seed * 0xD1342543DE82EF95u + stream * 0x9E3779B97F4A7C15u) {}
  void at(std::uint64_t request) {
    if (request % block_requests != 0) return;
    const std::uint64_t block = request / block_requests;
    mirrored_ = block % 2 == 1;
    stream_ = counter_hash(seed_, 0) ^ (block / 2 * 0xA0761D6478BD642Fu);
    drawn_ = 0;
  }
  double unit() {  ///< inside (0, 1)
    const double u = (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53;
    return mirrored_ ? 1 - u : u;
  }
  double exponential() { return -std::log(unit()); }  ///< exponentially distributed with mean 1
  double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t next() { return counter_hash(stream_, drawn_++); }
  std::uint64_t seed_, stream_ = 0, drawn_ = 0;
  bool mirrored_ = false;
};

/// Times between arrivals.
class Gaps {
 public:
  explicit Gaps(const RequestStream& s)
      : gaps_(s.seed, 1), spells_(s.seed, 2), bursty_(s.bursty), spell_mean_s_(s.burst_s) {
    const double cv = std::clamp(s.gap_cv, 0.1, 10.0);
    if (!bursty_ && cv != 1) shape_ = 1 / (cv * cv);
    const double burst = s.bursty ? std::clamp(s.burst, 1.0, 5.0) : 1;
    rate_[1] = burst * s.rate_per_s;
    rate_[0] = s.bursty ? (1 - burst / 5) / 0.8 * s.rate_per_s : s.rate_per_s;
    spells_.at(0);
    if (bursty_) spell_left_s_ = 4 * spell_mean_s_ * spells_.exponential();
  }
  double next(std::uint64_t request) {
    gaps_.at(request);
    double work = shape_ > 0 ? gamma_draw(gaps_, shape_) : gaps_.exponential(), gap_s = 0;
    while (bursty_ && !(work <= spell_left_s_ * rate_[in_burst_])) {
      work -= spell_left_s_ * rate_[in_burst_];
      gap_s += spell_left_s_;
      in_burst_ = 1 - in_burst_;
      spell_left_s_ = (in_burst_ == 1 ? 1 : 4) * spell_mean_s_ * spells_.exponential();
    }
    const double rest_s = work / rate_[in_burst_];
    if (bursty_) spell_left_s_ -= rest_s;
    return gap_s + rest_s;
  }

 private:
  Draws gaps_, spells_;
  bool bursty_;
  double spell_mean_s_, spell_left_s_ = 0, rate_[2] = {1, 1};
  double shape_ = 0;  ///< shape of gamma gaps; 0: they are exponential
  std::size_t in_burst_ = 0;
};

/// Turns the times of a stream without waves, given in order, into those of one with waves.
class Waves {
 public:
  explicit Waves(const RequestStream& s)
      : wave_(std::clamp(s.wave, 0.0, 0.95)), turn_s_(s.wave_s / (2 * std::numbers::pi)) {}
  /// The time t at which as many have come as without waves by `even_s`: t - wave turn sin(t / turn) = even_s, Kepler's
  /// equation, by Newton's method kept inside of the bounds that the waves' height gives.
  double at(double even_s) const {
    if (!(wave_ > 0) || !(turn_s_ > 0)) return even_s;
    double lo = even_s - wave_ * turn_s_, hi = even_s + wave_ * turn_s_, t = even_s;
    for (int i = 0; i < 60; ++i) {
      const double over = t - wave_ * turn_s_ * std::sin(t / turn_s_) - even_s;
      (over > 0 ? hi : lo) = t;
      double next = t - over / (1 - wave_ * std::cos(t / turn_s_));
      if (!(next > lo && next < hi)) next = lo + (hi - lo) / 2;
      if (next == t || std::abs(over) < 1e-9) break;
      t = next;
    }
    return t;
  }

 private:
  double wave_, turn_s_;
};

/// Log-normal lengths, in tokens.
class Lengths {
 public:
  Lengths(double mean, double variation, std::int32_t longest)
      : mean_(mean),
        variance_(std::log1p(variation * variation)),
        deviation_(std::sqrt(variance_)),
        longest_(static_cast<double>(longest)) {}
  std::int32_t next(Draws& draws) const {
    const double tokens = mean_ * std::exp(deviation_ * draws.normal() - variance_ / 2);
    return static_cast<std::int32_t>(std::clamp(std::round(tokens), 1.0, longest_));
  }

 private:
  double mean_, variance_, deviation_, longest_;
};

}  // namespace

std::int32_t longest_of_means(double prompt_tokens, double output_tokens) {
  return static_cast<std::int32_t>(std::clamp(4 * std::max(prompt_tokens, output_tokens), 32768.0, 1048576.0));
}

std::vector<ServingRequest> make_requests(const RequestStream& s) {
  std::vector<ServingRequest> out(static_cast<std::size_t>(std::max<std::int64_t>(s.requests, 0)));
  Gaps gaps(s);
  Draws prompts(s.seed, 3), outputs(s.seed, 4);
  const Lengths prompt(s.prompt_tokens, s.length_variation, s.longest_tokens),
      output(s.output_tokens, s.length_variation, s.longest_tokens);
  const Waves waves(s);
  double now_s = 0, last_s = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    now_s += gaps.next(i);
    out[i].arrival_s = last_s = std::max(last_s, waves.at(now_s));
    if (!s.lengths) continue;
    out[i].arrival_s = std::round(last_s * 1e6) / 1e6;
    prompts.at(i);
    outputs.at(i);
    out[i].prompt_tokens = prompt.next(prompts);
    out[i].output_tokens = output.next(outputs);
  }
  if (s.service_times) draw_service_times(out, s);
  return out;
}

ServiceMoments service_moments(const RequestStream& s) {
  if (s.service == ServiceTime::exponential) return {s.service_s, 1};
  if (s.service == ServiceTime::deterministic) return {s.service_s, 0};
  const double in_s = s.per_prompt_token_s * s.prompt_tokens, out_s = s.per_output_token_s * s.output_tokens,
               mean_s = s.fixed_s + in_s + out_s;
  const double spread = s.length_variation * s.length_variation * (in_s * in_s + out_s * out_s);
  return {mean_s, mean_s > 0 ? spread / (mean_s * mean_s) : 0};
}

void draw_service_times(std::vector<ServingRequest>& requests, const RequestStream& s) {
  Draws draws(s.seed, 5);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (s.service == ServiceTime::per_token) {
      const double seconds = s.fixed_s + s.per_prompt_token_s * requests[i].prompt_tokens +
                             s.per_output_token_s * requests[i].output_tokens;
      requests[i].service_s = std::round(1e6 * seconds) / 1e6;
      continue;
    }
    draws.at(i);
    requests[i].service_s = s.service == ServiceTime::deterministic ? s.service_s : s.service_s * draws.exponential();
  }
}

}  // namespace models
