#include <algorithm>
#include <cmath>

#include "models/serving/arrivals/arrival_samples.h"
#include "models/serving/fleet/capacity.h"

namespace models {
namespace {

/// Means of shares of a log-normal distribution, ascending: between quantiles u and v the mean is
/// (Phi(z_v - s) - Phi(z_u - s)) / (v - u) times the mean of all.
std::vector<double> log_normal_share_means(double mean, double variation) {
  const double deviation = std::sqrt(std::log1p(variation * variation));
  const auto below = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  const auto deviate = [&](double share) {
    double lo = -9, hi = 9;
    for (int i = 0; i < 60; ++i) {
      const double middle = (lo + hi) / 2;
      (below(middle) < share ? lo : hi) = middle;
    }
    return hi;
  };
  std::vector<double> out;
  double before = 0, shares = 0;
  for (const double share : capacity_shares()) {
    shares += share;
    const double up_to = shares > 1 - 1e-9 ? 1 : below(deviate(shares) - deviation);
    out.push_back(std::max(1.0, mean * (up_to - before) / share));
    before = up_to;
  }
  return out;
}

/// The same of values as they were recorded; where there are fewer values than shares, neighbours share one.
std::vector<double> recorded_share_means(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> out;
  const double n = static_cast<double>(values.size());
  double shares = 0;
  std::size_t from = 0;
  for (const double share : capacity_shares()) {
    shares += share;
    const auto to = std::min(values.size(), static_cast<std::size_t>(std::llround(shares * n)));
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += values[i];
    out.push_back(to > from ? sum / static_cast<double>(to - from) : values[std::min(from, values.size() - 1)]);
    from = to;
  }
  return out;
}

}  // namespace

std::span<const double> capacity_shares() { return client_shares(); }

CapacityDemand demand_of_lengths(double rate_per_s, double prompt, double output, double variation) {
  CapacityDemand d{.rate_per_s = rate_per_s, .prompt_mean = prompt, .output_mean = output};
  const double square = 1 + variation * variation;
  d.pairs_mean = (prompt * prompt * square + prompt) / 2;
  // Sequences in a batch are there as long as their answers are: those with long answers count more.
  d.context_mean = prompt + output * square / 2;
  const double prompt_variance = prompt * prompt * variation * variation,
               answer_square = output * output * std::pow(square, 3) / 3,
               answer_variance = answer_square - std::pow(output * square / 2, 2);
  d.context_cv = std::sqrt(prompt_variance + std::max(0.0, answer_variance)) / d.context_mean;
  d.prompts = log_normal_share_means(prompt, variation);
  d.outputs = log_normal_share_means(output, variation);
  return d;
}

CapacityDemand demand_of_arrivals(std::span<const RequestArrival> arrivals, double rate_per_s, double burst) {
  CapacityDemand d{.rate_per_s = 0, .burst = burst};
  std::vector<double> prompts, outputs;
  double prompt = 0, output = 0, pairs = 0, later = 0, read = 0, read_square = 0;
  for (const RequestArrival& a : arrivals) {
    if (a.output_tokens < 1) continue;
    const double p = static_cast<double>(std::max<std::int64_t>(1, a.prompt_tokens)),
                 o = static_cast<double>(a.output_tokens);
    prompts.push_back(p);
    outputs.push_back(o);
    prompt += p;
    output += o;
    pairs += p * (p + 1) / 2;
    // Decode steps j = 1 .. o - 1 read p + j tokens.
    later += o - 1;
    read += (o - 1) * (p + o / 2);
    read_square += (o - 1) * (p * p + p * o + o * (2 * o - 1) / 6);
  }
  if (prompts.empty()) return d;
  const double n = static_cast<double>(prompts.size());
  d.rate_per_s = rate_per_s;
  d.prompt_mean = prompt / n;
  d.output_mean = output / n;
  d.pairs_mean = pairs / n;
  d.context_mean = later > 0 ? read / later : d.prompt_mean;
  if (later > 0)
    d.context_cv = std::sqrt(std::max(0.0, read_square / later - d.context_mean * d.context_mean)) / d.context_mean;
  d.prompts = recorded_share_means(std::move(prompts));
  d.outputs = recorded_share_means(std::move(outputs));
  return d;
}

}  // namespace models
