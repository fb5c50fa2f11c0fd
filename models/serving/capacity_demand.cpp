#include <algorithm>
#include <cmath>

#include "models/serving/capacity.h"

namespace models {
namespace {

constexpr std::size_t capacity_shares = 64;

/// Means of equal capacity_shares of a log-normal distribution, ascending: between quantiles u and v the mean is
/// (Phi(z_v - s) - Phi(z_u - s)) / (v - u) times the mean of all.
std::vector<double> capacity_log_normal_shares(double mean, double variation) {
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
  double before = 0;
  for (std::size_t i = 1; i <= capacity_shares; ++i) {
    const double up_to =
        i == capacity_shares
            ? 1
            : below(deviate(static_cast<double>(i) / static_cast<double>(capacity_shares)) - deviation);
    out.push_back(std::max(1.0, mean * (up_to - before) * static_cast<double>(capacity_shares)));
    before = up_to;
  }
  return out;
}

std::vector<double> capacity_recorded_shares(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> out;
  const std::size_t n = values.size(), parts = std::min(capacity_shares, n);
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t from = i * n / parts, to = (i + 1) * n / parts;
    double sum = 0;
    for (std::size_t k = from; k < to; ++k) sum += values[k];
    out.push_back(sum / static_cast<double>(to - from));
  }
  return out;
}

}  // namespace

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
  d.prompts = capacity_log_normal_shares(prompt, variation);
  d.outputs = capacity_log_normal_shares(output, variation);
  return d;
}

CapacityDemand demand_of_arrivals(std::span<const Arrival> arrivals, double rate_per_s, double burst) {
  CapacityDemand d{.rate_per_s = 0, .burst = burst};
  std::vector<double> prompts, outputs;
  double prompt = 0, output = 0, pairs = 0, later = 0, read = 0, read_square = 0;
  for (const Arrival& a : arrivals) {
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
  d.prompts = capacity_recorded_shares(std::move(prompts));
  d.outputs = capacity_recorded_shares(std::move(outputs));
  return d;
}

}  // namespace models
