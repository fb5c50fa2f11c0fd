#include "models/serving/arrivals/arrival_samples.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "models/base/counter_random.h"
#include "models/base/gamma_draw.h"

namespace models {
namespace {

/// All whole numbers of a text, whatever parts them.
std::vector<std::int64_t> sample_numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  const char *at = text.data(), *end = text.data() + text.size();
  while (at < end) {
    std::int64_t value = 0;
    const auto read = std::from_chars(at, end, value);
    if (read.ec == std::errc()) {
      out.push_back(value);
      at = read.ptr;
    } else {
      ++at;
    }
  }
  return out;
}

class ClientDraws {
 public:
  explicit ClientDraws(std::uint64_t seed) : stream_(random_stream(static_cast<std::int64_t>(seed), 77)) {}
  double unit() { return open_draw(stream_, drawn_++); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t stream_, drawn_ = 0;
};

constexpr std::array<std::string_view, servegen_clients> client_names{"deepseek-r1-5", "deepseek-r1-20",
                                                                      "deepseek-r1-66", "m-large-0", "m-large-113"};

std::array<ClientProfile, servegen_clients> read_profiles() {
  std::array<ClientProfile, servegen_clients> out;
  const auto rates = sample_numbers(servegen_rate_rows()), lengths = sample_numbers(servegen_length_rows());
  const std::size_t shares = client_shares().size();
  std::size_t at = 0, length = 0;
  for (std::size_t c = 0; c < servegen_clients; ++c) {
    out[c].name = client_names[c];
    for (std::size_t w = 0; w < servegen_windows; ++w) {
      out[c].requests.push_back(static_cast<double>(rates[at++]));
      out[c].cv.push_back(static_cast<double>(rates[at++]) / 1e4);
    }
    for (std::size_t q = 0; q < servegen_quarters; ++q)
      for (auto* field : {&out[c].prompts[q], &out[c].outputs[q]})
        for (std::size_t i = 0; i < shares; ++i) field->push_back(static_cast<double>(lengths[length++]) / 10);
  }
  return out;
}

double client_mean(const std::vector<double>& lengths) {
  double sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) sum += client_shares()[i] * lengths[i];
  return sum;
}

}  // namespace

std::vector<RequestArrival> sample_arrivals(std::string_view rows) {
  const auto numbers = sample_numbers(rows);
  std::vector<RequestArrival> out;
  std::int64_t at_us = 0;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    out.push_back({at_us += numbers[i], numbers[i + 1], numbers[i + 2]});
  return out;
}

const std::vector<double>& client_shares() {
  // 36 of a fortieth, then 9 of a hundredth, then 4 of a four-hundredth.
  static const std::vector<double> shares = [] {
    std::vector<double> out(36, 0.025);
    out.insert(out.end(), 9, 0.01);
    out.insert(out.end(), 4, 0.0025);
    return out;
  }();
  return shares;
}

double ClientProfile::requests_in_day() const {
  double sum = 0;
  for (const double r : requests) sum += r;
  return sum;
}
double ClientProfile::mean_cv_active() const {
  double sum = 0, active = 0;
  for (std::size_t w = 0; w < requests.size(); ++w)
    if (requests[w] > 0) {
      sum += cv[w];
      ++active;
    }
  return active > 0 ? sum / active : 0;
}
double ClientProfile::mean_prompt(std::size_t quarter) const { return client_mean(prompts[quarter]); }
double ClientProfile::mean_output(std::size_t quarter) const { return client_mean(outputs[quarter]); }

const ClientProfile& client_profile(std::size_t client) {
  static const auto profiles = read_profiles();
  return profiles[std::min(client, servegen_clients - 1)];
}

std::vector<RequestArrival> draw_client_day(const ClientProfile& profile, std::uint64_t seed) {
  ClientDraws draws(seed);
  std::vector<double> below;
  for (const double share : client_shares()) below.push_back((below.empty() ? 0 : below.back()) + share);
  const auto length = [&](const std::vector<double>& lengths) {
    const auto i = std::lower_bound(below.begin(), below.end() - 1, draws.unit()) - below.begin();
    return std::max<std::int64_t>(1, std::llround(lengths[static_cast<std::size_t>(i)]));
  };
  std::vector<RequestArrival> out;
  double left = -1;  // of the gap that runs, in mean gaps; negative: it has not begun
  for (std::size_t w = 0; w < servegen_windows; ++w) {
    const double expected = profile.requests[w], shape = 1 / std::max(0.01, profile.cv[w] * profile.cv[w]);
    if (!(expected > 0)) continue;
    const std::size_t quarter = w * servegen_quarters / servegen_windows;
    // The day begins in the middle of a gap: long ones are met more often, and a part of one is over.
    if (left < 0) left = gamma_draw(draws, shape + 1) * (shape + 1) / shape * draws.unit();
    double at = left;
    while (at < expected) {
      const auto within_us = static_cast<std::int64_t>(at / expected * static_cast<double>(servegen_window_us));
      const std::int64_t prompt = length(profile.prompts[quarter]);
      out.push_back({static_cast<std::int64_t>(w) * servegen_window_us + std::min(within_us, servegen_window_us - 1),
                     prompt, length(profile.outputs[quarter])});
      at += gamma_draw(draws, shape);
    }
    left = at - expected;
  }
  return out;
}

}  // namespace models
