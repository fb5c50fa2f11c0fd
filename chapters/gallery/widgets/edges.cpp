#include "chapters/gallery/widgets/edges.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/gallery/widgets/noise.h"

namespace chapters::gallery::widgets {
namespace {

constexpr std::array<std::string_view, 7> usual_names{"INT8 weights",  "parallel heads", "fused norm",  "pipelining",
                                                      "pinned memory", "CUDA graph",     "larger batch"};

void fill_categories(EdgeSample& s, Noise& noise) {
  for (std::size_t i = 0; i < s.rows; ++i) {
    s.names.push_back(i < usual_names.size() && s.rows <= usual_names.size() ? std::string(usual_names[i])
                                                                             : "category " + std::to_string(i + 1));
    s.falls.push_back(-noise.between(0.0, 6e-3) / static_cast<double>(1 + i / 2));
    s.rises.push_back(i % 3 == 2 ? 0.0 : noise.between(0.0, 3e-3) / static_cast<double>(1 + i / 2));
    s.rest.push_back(s.falls.back() * noise.between(0.1, 0.8));
    s.bounds.push_back(1e12 * std::pow(10.0, noise.between(0, 2.9)));
    s.measured.push_back(s.bounds.back() * noise.between(0.25, 0.98));
    s.supply.push_back(std::floor(std::pow(2.0, std::floor(noise.between(4, 8)))));
    s.demand.push_back(std::round(s.supply.back() * noise.between(0.1, i == 1 ? 1.4 : 1.0)));
    s.mean.push_back(noise.between(20, 90));
    s.counts.push_back(static_cast<std::int64_t>(noise.between(1, 60)));
    const double half = 90 / std::sqrt(static_cast<double>(s.counts.back()) + 1);
    s.low.push_back(std::max(0.0, s.mean.back() - half));
    s.high.push_back(std::min(100.0, s.mean.back() + half));
  }
}

void fill_distributions(EdgeSample& s, Noise& noise) {
  const bool many = s.state == DataState::forty;
  const std::size_t series = s.state == DataState::empty ? 0 : s.state == DataState::one ? 1 : many ? 40 : 3;
  const std::size_t each = s.state == DataState::one ? 1 : many ? 60 : 400;
  for (std::size_t k = 0; k < series; ++k) {
    std::vector<double> values;
    for (std::size_t i = 0; i < each; ++i)
      values.push_back(0.02 * static_cast<double>(1 + k % 7) * (0.5 - std::log(1 - noise.unit() * 0.9999)));
    s.latencies.push_back(std::move(values));
  }
  const std::size_t few = s.state == DataState::empty ? 0 : s.state == DataState::one ? 1 : many ? 40 : 18;
  for (std::size_t i = 0; i < few; ++i) s.few_events.push_back(std::floor(noise.between(0, 20'000)));
  for (std::size_t i = 0; i < few * 300; ++i) s.many_events.push_back(20'000 * std::pow(noise.unit(), 1.4));
}

void fill_mechanisms(EdgeSample& s, Noise& noise) {
  const std::size_t stretches = s.state == DataState::empty ? 0 : s.state == DataState::one ? 1 : s.rows * 6;
  double at = 0;
  for (std::size_t i = 0; i < stretches; ++i) {
    const bool blind = i % 5 == 3 || stretches == 1;
    const double length = noise.between(1.2, 2.4) * (blind ? 3 : 1);
    s.stretches.push_back({at, length, blind, "made up"});
    at += length;
  }
  const std::size_t rows = s.state == DataState::empty ? 0 : s.state == DataState::one ? 1 : s.rows > 7 ? s.rows : 3;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t width = s.state == DataState::one ? 1 : 12;
    std::vector<std::uint8_t> bits;
    for (std::size_t b = 0; b < width; ++b) bits.push_back(b == 0 || noise.unit() < 0.5);
    s.bits.push_back(std::move(bits));
    s.shifts.push_back(r % 3 == 1 ? 7 : 0);
  }
  // The third of three rows is the sum of the two above it, rounded to the nearest, ties to even.
  for (std::size_t r = 2; r < rows; r += 3) {
    s.bits[r - 2][1] = 0;  // no carry out of the top
    const auto number = [](const std::vector<std::uint8_t>& bits) {
      std::uint32_t out = 0;
      for (const std::uint8_t b : bits) out = out * 2 + b;
      return out;
    };
    const std::uint32_t exact = (number(s.bits[r - 2]) << 7) + number(s.bits[r - 1]), rest = exact % 128;
    std::uint32_t sum = exact / 128;
    if (rest > 64 || (rest == 64 && sum % 2 == 1)) ++sum;
    for (std::size_t b = 12; b-- > 0; sum /= 2) s.bits[r][b] = sum % 2;
  }
  s.matrix_rows = s.state == DataState::empty ? 0 : s.state == DataState::one ? 1 : s.rows > 7 ? 40 : 16;
  s.matrix_cols = s.state == DataState::one ? 1 : s.matrix_rows * 2;
  for (std::size_t i = 0; i < s.matrix_rows * s.matrix_cols; ++i) s.weights.push_back(noise.between(-1, 1));
  // Of every four neighbours the two that are nearest to 0 are pruned.
  for (std::size_t i = 0; i + 4 <= s.weights.size(); i += 4)
    for (int pruned = 0; pruned < 2; ++pruned) {
      std::size_t least = i;
      for (std::size_t j = i; j < i + 4; ++j)
        if (s.weights[j] != 0 && (s.weights[least] == 0 || std::abs(s.weights[j]) < std::abs(s.weights[least])))
          least = j;
      s.weights[least] = 0;
    }
}

}  // namespace

EdgeSample make_edges(DataState state, std::int64_t seed) {
  EdgeSample s;
  s.state = state;
  s.seed = static_cast<std::uint64_t>(seed);
  constexpr std::size_t rows[] = {usual_names.size(), 0, 1, 40};
  s.rows = rows[static_cast<std::size_t>(state)];
  Noise noise(seed);
  fill_categories(s, noise);
  fill_distributions(s, noise);
  fill_mechanisms(s, noise);
  return s;
}

}  // namespace chapters::gallery::widgets
