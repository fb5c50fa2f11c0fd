#include "chapters/gallery/widgets/sample.h"

#include <algorithm>
#include <cmath>

#include "chapters/gallery/widgets/noise.h"

namespace chapters::gallery::widgets {
namespace {

void fill_plots(Sample& s, const SampleSize& size, Noise& noise) {
  const auto n = static_cast<std::size_t>(size.points);
  // A sine by rotation, and a random walk: a call of sin for each point would take most of the time.
  const double turn = 12 / static_cast<double>(n), c = std::cos(turn), d = std::sin(turn),
               step = 30 / std::sqrt(static_cast<double>(n));
  double walk = 0, cosine = 1, sine = 0;
  s.x.resize(n);
  s.wave.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    walk += noise.between(-1, 1) * step;
    s.x[i] = static_cast<double>(i);
    s.wave[i] = 40 * sine + walk;
    const double next = cosine * c - sine * d;
    sine = sine * c + cosine * d;
    cosine = next;
  }
  for (int i = 0; i < 24; ++i) {
    const double x = std::pow(10.0, i * 4 / 23.0), y = x / (1 + x / 300) * 3.0e10;
    s.few_x.push_back(x);
    s.curve.push_back(y * noise.between(0.85, 1.15));
    s.low.push_back(s.curve.back() * noise.between(0.6, 0.9));
    s.high.push_back(s.curve.back() * noise.between(1.1, 1.6));
  }
  for (int i = 0; i < 8; ++i) s.bars.push_back(noise.between(5, 60));
  for (std::int64_t i = 0; i < 8 * size.segments; ++i) s.layers.push_back(noise.between(2, 20));
}

void fill_timeline(Sample& s, const SampleSize& size, Noise& noise) {
  using ::widgets::Meaning;
  std::int64_t host = 0, device = 40'000;
  double held = 12e9;
  for (std::int64_t i = 0; i < size.spans / 2; ++i) {
    const auto launch = static_cast<std::int64_t>(noise.between(3'000, 9'000));
    const auto run = static_cast<std::int64_t>(noise.between(2'000, 40'000) * (i % 17 == 0 ? 12 : 1));
    const Meaning meaning = i % 5 == 4 ? Meaning::optimizer : i % 2 ? Meaning::backward : Meaning::forward;
    s.host.push_back({host, launch, 0, 0, Meaning::data_loading});
    device = std::max(device, host + launch + 4'000);
    s.device.push_back({device, run, static_cast<std::uint32_t>(1 + i % 3), 0, meaning});
    if (i % 40 == 0) {
      s.wire.push_back({device + run, run * 2, 4, 0, Meaning::communication,
                        i % 80 == 0 ? ::widgets::TimelineMark::hatched : ::widgets::TimelineMark::solid});
      s.links.push_back({0, static_cast<std::uint32_t>(i), 1, static_cast<std::uint32_t>(i)});
      held += noise.between(-2e9, 2.4e9);
      s.memory.push_back({device, std::max(held, 1e9)});
    }
    host = std::max(host + launch, device - 300'000);
    device += run;
  }
}

void fill_rest(Sample& s, const SampleSize& size, Noise& noise) {
  for (std::int64_t i = 0; i < size.segments; ++i) {
    s.before.push_back(noise.between(2e-3, 12e-3));
    s.after.push_back(s.before.back() * noise.between(0.2, 1));
    s.steps.push_back(s.after.back() - s.before.back());
  }
  for (std::int64_t r = 0; r < size.rows; ++r)
    for (std::int64_t c = 0; c < size.cols; ++c)
      s.cells.push_back((r + c) % 29 == 13
                            ? std::nan("")
                            : 1e9 * std::exp(noise.between(-0.4, 0.4) - 0.04 * static_cast<double>((r - c) * (r - c))));
  for (std::int64_t r = 0; r < size.table_rows; ++r) {
    s.names.push_back("kernel_" + std::to_string(r));
    s.table.push_back(std::exp(noise.between(5, 24)));
    s.table.push_back(std::exp(noise.between(-14, -2)));
    s.table.push_back(std::floor(noise.between(1, 5000)));
  }
  for (std::int64_t i = 0; i < size.nodes; ++i) {
    s.shares.push_back(noise.unit());
    if (i == 0) continue;
    const auto to = static_cast<std::uint32_t>(i);
    s.edges.push_back({static_cast<std::uint32_t>((i - 1) / 2), to, {}, noise.between(1, 4)});
    if (i > 4 && noise.unit() < 0.4) s.edges.push_back({to - 3, to, "skip", 1});
  }
}

}  // namespace

Sample make_sample(const SampleSize& size) {
  Sample s;
  Noise noise(size.seed);
  fill_plots(s, size, noise);
  fill_timeline(s, size, noise);
  fill_rest(s, size, noise);
  return s;
}

std::string_view node_name(std::size_t i) {
  constexpr std::array<std::string_view, max_nodes> names{
      "read",     "decode",  "tokenize", "pack",    "embed",  "attend", "route", "expert A",
      "expert B", "combine", "norm",     "project", "sample", "stream", "log",   "store"};
  return names[i % max_nodes];
}

}  // namespace chapters::gallery::widgets
