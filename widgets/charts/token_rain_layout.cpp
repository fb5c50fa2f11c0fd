#include <algorithm>
#include <cmath>

#include "widgets/charts/token_rain.h"

namespace widgets {
namespace {

/// Buckets side by side: small gaps inside a group, larger ones between groups and clusters.
void place_buckets(const TokenRain& rain, Rect band, TokenRainLayout& out) {
  const Theme& t = theme();
  const auto count = static_cast<float>(std::max<std::size_t>(rain.buckets.size(), 1));
  float inner = t.px(4), outer = t.px(14), far = t.px(30);
  float gaps = 0;
  const auto gap_before = [&](std::size_t i) {
    const std::uint32_t a = rain.buckets[i - 1].group, b = rain.buckets[i].group;
    if (a == b) return inner;
    return rain.groups[a].cluster == rain.groups[b].cluster ? outer : far;
  };
  for (const float shrink : {1.0f, 0.5f, 0.25f, 0.12f, 0.0f}) {
    inner = t.px(4) * shrink;
    outer = t.px(14) * shrink;
    far = std::max(t.px(30) * shrink, t.px(5));  // nodes stay apart in any room
    gaps = 0;
    for (std::size_t i = 1; i < rain.buckets.size(); ++i) gaps += gap_before(i);
    if (gaps <= 0.35f * band.width()) break;
  }
  if (gaps > 0.5f * band.width()) inner = outer = far = gaps = 0;
  const float width = std::max(0.5f, (band.width() - gaps) / count);
  out.bucket.clear();
  out.group.assign(rain.groups.size(), Rect{});
  float x = band.min.x;
  for (std::size_t i = 0; i < rain.buckets.size(); ++i) {
    if (i > 0) x += gap_before(i);
    out.bucket.push_back({{x, band.min.y}, {x + width, band.max.y}});
    Rect& group = out.group[rain.buckets[i].group];
    if (group.width() <= 0) group.min = {x, band.min.y};
    group.max = {x + width, band.max.y};
    x += width;
  }
}

/// A pitch of whole columns at which the fullest bucket fits; none where grains would be too small to be seen.
void size_grains(const TokenRain& rain, TokenRainLayout& out) {
  const Theme& t = theme();
  const float width = out.bucket.empty() ? 1 : out.bucket[0].width(), height = out.buckets.height();
  const float largest = std::max(1.0f, static_cast<float>(rain.largest));
  out.pitch = 0;
  out.columns = 1;
  out.grains_px = height / largest;
  for (std::size_t columns = 1; columns <= 64; ++columns) {
    const float pitch = width / static_cast<float>(columns);
    const float rows = std::ceil(largest / static_cast<float>(columns));
    if (rows * pitch > height) continue;
    if (pitch >= t.px(2.6f)) {
      out.pitch = std::min(pitch, t.px(14));
      out.columns = columns;
      // A bucket of few grains is not stretched: rows are as high as grains are wide.
      out.grains_px = out.pitch / static_cast<float>(columns);
    }
    break;
  }
}

void place_clock(const TokenRain& rain, TokenRainLayout& out) {
  out.bars.clear();
  out.barriers.clear();
  out.total_s = 0;
  for (std::size_t p = 0; p < rain.phases.size(); ++p) {
    double longest = 0;
    for (const RainGroup& g : rain.groups)
      if (p < g.phases_s.size()) longest = std::max(longest, g.phases_s[p]);
    out.total_s += longest + rain.phases[p].wait_s;
  }
  const double scale_s = std::max({out.total_s, rain.reference_s, 1e-30});
  const auto px = [&](double s) { return out.clock.height() * static_cast<float>(s / scale_s); };
  double at_s = 0;
  for (std::size_t p = 0; p < rain.phases.size(); ++p) {
    double longest = 0;
    for (std::size_t g = 0; g < rain.groups.size(); ++g) {
      if (p >= rain.groups[g].phases_s.size()) continue;
      const double time_s = rain.groups[g].phases_s[p];
      longest = std::max(longest, time_s);
      out.bars.push_back({{{out.group[g].min.x, out.clock.min.y + px(at_s)},
                           {out.group[g].max.x, out.clock.min.y + px(at_s + time_s)}},
                          static_cast<std::uint32_t>(g),
                          static_cast<std::uint32_t>(p)});
    }
    at_s += longest + rain.phases[p].wait_s;
    out.barriers.push_back(out.clock.min.y + px(at_s));
  }
  out.reference_y = out.clock.min.y + px(rain.reference_s);
}

}  // namespace

void count_rain_flows(TokenRain& rain) {
  rain.flows.assign(rain.buckets.size() * rain.sources.size(), 0.0f);
  for (std::size_t b = 0; b < rain.buckets.size(); ++b) {
    const RainBucket& bucket = rain.buckets[b];
    for (std::size_t i = bucket.first; i < bucket.first + bucket.kept + bucket.spilled; ++i)
      rain.flows[b * rain.sources.size() + rain.grains[i].source] += 1;
  }
}

Rect TokenRainLayout::grain(std::size_t b, std::size_t place) const {
  const Rect& r = bucket[b];
  if (pitch <= 0) {
    const float y = r.max.y - grains_px * static_cast<float>(place + 1);
    return {{r.min.x, y}, {r.max.x, y + grains_px}};
  }
  const auto row = static_cast<float>(place / columns), column = static_cast<float>(place % columns);
  const float step = r.width() / static_cast<float>(columns), y = r.max.y - pitch * (row + 1);
  return {{r.min.x + step * column, y}, {r.min.x + step * (column + 1), y + pitch}};
}

void layout_token_rain(const TokenRain& rain, Rect area, Measure measure, TokenRainLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small), line = small + t.px(4);
  const float right = area.max.x - t.px(96), left = area.min.x + t.px(78);
  const float height = area.height();
  const float source = line + t.px(4), foot = 2 * line + t.px(10);
  // Of what the words leave, buckets have the most; where that is little, the fall goes first, then part of the clock.
  const float room = std::max(1.0f, height - source - line - foot);
  float fall = std::clamp(0.24f * room, t.px(20), t.px(120)), clock = std::clamp(0.33f * room, t.px(60), t.px(220));
  if (room - fall - clock < 0.36f * room) fall = std::max(t.px(6), 0.64f * room - clock);
  if (room - fall - clock < 0.36f * room) clock = std::max(1.0f, 0.64f * room - fall);
  float y = area.min.y;
  out.sources = {{left, y}, {right, y + source}};
  y += source;
  out.fall = {{left, y}, {right, y + fall}};
  y += fall + line;  // of the numbers that spilled
  out.buckets = {{left, y}, {right, std::max(y + 1, area.max.y - clock - foot)}};
  out.clock = {{left, out.buckets.max.y + foot}, {right, std::max(out.buckets.max.y + foot + 1, area.max.y)}};
  place_buckets(rain, out.buckets, out);
  size_grains(rain, out);
  for (std::size_t b = 0; b < out.bucket.size(); ++b)
    if (rain.buckets[b].rim > 0)
      out.bucket[b].min.y =
          std::max(out.buckets.min.y, out.bucket[b].max.y - out.grains_px * static_cast<float>(rain.buckets[b].rim));
  out.mean_y = out.buckets.max.y - out.grains_px * static_cast<float>(rain.mean);
  out.source.clear();
  float x = out.sources.min.x;
  for (const RainSource& s : rain.sources) {
    const float w = out.sources.width() * static_cast<float>(s.share);
    out.source.push_back({{x, out.sources.min.y}, {x + w, out.sources.max.y}});
    x += w;
  }
  place_clock(rain, out);
  const auto step_for = [&](float width, float widest) {
    std::size_t step = 1;
    while (step < 1024 && width * static_cast<float>(step) < widest) step *= 2;
    return step;
  };
  float widest_bucket = 0, widest_group = 0;
  for (const RainBucket& b : rain.buckets) widest_bucket = std::max(widest_bucket, measure(b.label, Type::small));
  for (const RainGroup& g : rain.groups) widest_group = std::max(widest_group, measure(g.label, Type::small));
  const float bucket_room = out.bucket.empty() ? 1 : out.buckets.width() / static_cast<float>(out.bucket.size());
  const float group_room = out.group.empty() ? 1 : out.buckets.width() / static_cast<float>(out.group.size());
  out.label_step = step_for(bucket_room, widest_bucket + t.px(4));
  out.group_label_step = step_for(group_room, widest_group + t.px(6));
}

}  // namespace widgets
