#include "widgets/charts/token_rain.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/charts/token_rain_clock.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

constexpr std::size_t ribbon_points = 13;

float eased(float at) { return at * at * (3 - 2 * at); }

/// How many of a bucket's grains have landed; they lie in the order in which they land.
std::size_t landed_of(const TokenRain& rain, const RainBucket& b, double progress) {
  const std::size_t all = b.kept + b.spilled;
  if (progress >= 1) return all;
  const auto from = rain.grains.begin() + b.first;
  // Kept ones land in order, and so do spilled ones.
  const auto before = [&](auto first, auto last) {
    return static_cast<std::size_t>(
        std::partition_point(first, last, [&](const RainGrain& g) { return static_cast<double>(g.at) <= progress; }) -
        first);
  };
  return before(from, from + b.kept) + before(from + b.kept, from + static_cast<std::ptrdiff_t>(all));
}

class RainPainter {
 public:
  RainPainter(const TokenRain& rain, TokenRainView& view, const TokenRainOptions& options)
      : rain_(rain),
        view_(view),
        l_(view.layout),
        p_(Painter::window()),
        t_(theme()),
        progress_(options.progress),
        clock_(options.clock) {}

  void paint() {
    paint_groups();
    paint_flows();
    paint_sources();
    for (std::size_t b = 0; b < rain_.buckets.size(); ++b) paint_bucket(b);
    paint_spilled();
    paint_falling();
    paint_mean();
    paint_rain_clock(rain_, l_, view_.hovered, clock_);
  }

 private:
  ImU32 tint(std::size_t source) const { return colour(rain_.sources[source].tint, t_); }

  void paint_groups() const {
    const float small = t_.type(Type::small);
    for (std::size_t g = 0; g < rain_.groups.size(); ++g) {
      const Rect& r = l_.group[g];
      p_.rect({r.min.x - t_.px(3), l_.buckets.min.y - t_.px(2)}, {r.max.x + t_.px(3), l_.buckets.max.y + t_.px(2)},
              with_alpha(t_.muted, 0.07f), t_.px(3));
      if (g % l_.group_label_step == 0)
        p_.text({(r.min.x + r.max.x) / 2, l_.buckets.max.y + small + t_.px(7)}, rain_.groups[g].label, t_.muted,
                Type::small, Font::sans, Align::center);
    }
    for (std::size_t b = 0; b < rain_.buckets.size(); b += l_.label_step) {
      const Rect& r = l_.bucket[b];
      p_.text({(r.min.x + r.max.x) / 2, l_.buckets.max.y + t_.px(4)}, rain_.buckets[b].label, t_.text, Type::small,
              Font::mono, Align::center);
    }
    const float left = l_.buckets.min.x - t_.px(10);
    p_.text({left, l_.buckets.max.y + t_.px(4)}, rain_.bucket_word, t_.muted, Type::small, Font::sans, Align::right);
    p_.text({left, l_.buckets.max.y + small + t_.px(7)}, rain_.group_word, t_.muted, Type::small, Font::sans,
            Align::right);
  }

  void paint_sources() const {
    const float small = t_.type(Type::small);
    p_.text({l_.sources.min.x - t_.px(10), l_.sources.min.y + (l_.sources.height() - small) / 2}, "tokens", t_.muted,
            Type::small, Font::sans, Align::right);
    for (std::size_t s = 0; s < rain_.sources.size(); ++s) {
      const Rect& r = l_.source[s];
      const ImU32 fill = tint(s);
      p_.rect(r.min, {r.max.x - (r.width() > 3 ? 1.0f : 0.0f), r.max.y}, fill);
      for (const std::string_view words : {rain_.sources[s].label, rain_.sources[s].brief}) {
        if (words.empty() || text_size(words, Type::small).x > r.width() - t_.px(8)) continue;
        p_.text({(r.min.x + r.max.x) / 2, r.min.y + (r.height() - small) / 2}, words, text_on(fill, t_), Type::small,
                Font::sans, Align::center);
        break;
      }
    }
  }

  /// A ribbon from each source to each bucket, as wide as what flows.
  void paint_flows() const {
    if (l_.fall.height() < t_.px(14)) return;  // too low for anything to be followed
    const std::size_t sources = rain_.sources.size(), buckets = rain_.buckets.size();
    auto& total = view_.flow_source;
    total.assign(sources, 0.0f);
    for (std::size_t i = 0; i < rain_.flows.size(); ++i) total[i % sources] += rain_.flows[i];
    view_.left.resize(ribbon_points);
    view_.right.resize(ribbon_points);
    for (std::size_t s = 0; s < sources; ++s) {
      float x = l_.source[s].min.x;
      for (std::size_t b = 0; b < buckets; ++b) {
        const float share = total[s] > 0 ? rain_.flows[b * sources + s] / total[s] : 0;
        const float w = share * l_.source[s].width();
        if (share > 0) paint_ribbon(s, b, x, w, rain_.flows.data() + b * sources);
        x += w;
      }
    }
  }
  void paint_ribbon(std::size_t s, std::size_t b, float x, float w, const float* of_bucket) const {
    const Rect& to = l_.bucket[b];
    float before = 0, all = 0;
    for (std::size_t i = 0; i < rain_.sources.size(); ++i) {
      if (i < s) before += of_bucket[i];
      all += of_bucket[i];
    }
    const float end = to.min.x + to.width() * before / all, wide = to.width() * of_bucket[s] / all;
    const float top = l_.fall.min.y, bottom = l_.fall.max.y;
    for (std::size_t i = 0; i < ribbon_points; ++i) {
      const float at = static_cast<float>(i) / (ribbon_points - 1), bend = eased(at), y = top + (bottom - top) * at;
      view_.left[i] = {x + (end - x) * bend, y};
      view_.right[i] = {x + w + (end + wide - x - w) * bend, y};
    }
    const bool lit = view_.hovered < 0 || view_.hovered == static_cast<std::int64_t>(b);
    const float alpha = lit ? 0.38f : 0.08f;
    if (w >= 1.5f || wide >= 1.5f) {
      p_.band(view_.left, view_.right, with_alpha(tint(s), alpha));
      return;
    }
    if (w < 0.3f) return;  // a few tokens: thinner than a line can be
    p_.polyline(view_.left, with_alpha(tint(s), alpha * std::min(1.0f, w)), 1);
  }

  /// Runs of grains of one kind in one row are one rectangle.
  void paint_bucket(std::size_t b) const {
    const RainBucket& bucket = rain_.buckets[b];
    const std::size_t landed = landed_of(rain_, bucket, progress_);
    const std::size_t kept = std::min<std::size_t>(landed, bucket.kept);
    if (l_.pitch > 0)
      paint_grains(b, landed, kept);
    else
      paint_layers(b, landed, kept);
    if (landed > kept && l_.pitch <= t_.px(4)) {
      // What is lost is hatched as well as pale.
      const Rect low = l_.grain(b, kept), high = l_.grain(b, landed - 1);
      hatch(p_, {{l_.bucket[b].min.x, high.min.y}, {l_.bucket[b].max.x, low.max.y}}, t_.background, t_.px(5));
    }
    const Rect& r = l_.bucket[b];
    const float wall = std::max(1.0f, t_.px(1.5f));
    const float top = bucket.rim > 0 ? r.min.y : l_.buckets.min.y;
    const ImU32 edge = with_alpha(t_.text, 0.55f);
    if (r.width() >= t_.px(9)) {
      p_.line({r.min.x - wall / 2, top}, {r.min.x - wall / 2, r.max.y}, edge, wall);
      p_.line({r.max.x + wall / 2, top}, {r.max.x + wall / 2, r.max.y}, edge, wall);
    }
    p_.line({r.min.x - wall, r.max.y + wall / 2}, {r.max.x + wall, r.max.y + wall / 2}, edge, wall);
    if (bucket.rim > 0) p_.line({r.min.x - t_.px(2), r.min.y}, {r.max.x + t_.px(2), r.min.y}, t_.text, t_.px(2));
  }
  /// What has spilled so far, over each bucket; where a number is wider than one, over its group.
  void paint_spilled() const {
    bool by_bucket = true;
    for (std::size_t b = 0; b < rain_.buckets.size(); ++b)
      by_bucket = by_bucket && (rain_.buckets[b].spilled == 0 ||
                                spill_width(rain_.buckets[b].spilled) <= l_.bucket[b].width() + t_.px(2));
    std::size_t spilled = 0, first = 0;
    float top = l_.buckets.max.y;
    for (std::size_t b = 0; b < rain_.buckets.size(); ++b) {
      const RainBucket& bucket = rain_.buckets[b];
      const std::size_t landed = landed_of(rain_, bucket, progress_);
      if (landed > bucket.kept) {
        spilled += landed - bucket.kept;
        top = std::min(top, l_.grain(b, landed - 1).min.y);
      }
      const bool last = b + 1 == rain_.buckets.size() || rain_.buckets[b + 1].group != bucket.group;
      if (!by_bucket && !last) continue;
      const float left = l_.bucket[first].min.x, right = l_.bucket[b].max.x;
      if (spilled > 0 && spill_width(spilled) <= right - left + t_.px(6))
        paint_spill_number(spilled, (left + right) / 2, top);
      spilled = 0;
      first = b + 1;
      top = l_.buckets.max.y;
    }
  }
  static Line spill_words(std::size_t spilled) {
    Line words;
    words.add("\xE2\x88\x92").add(format(static_cast<double>(spilled), "", 9));
    return words;
  }
  static float spill_width(std::size_t spilled) {
    return text_size(spill_words(spilled).view(), Type::small, Font::mono).x;
  }
  void paint_spill_number(std::size_t spilled, float x, float top) const {
    p_.text({x, top - t_.type(Type::small) - t_.px(3)}, spill_words(spilled).view(), t_.bad, Type::small, Font::mono,
            Align::center);
  }
  void paint_grains(std::size_t b, std::size_t landed, std::size_t kept) const {
    const RainBucket& bucket = rain_.buckets[b];
    const float gap = l_.pitch > t_.px(4) ? 1.0f : 0.0f;
    for (std::size_t i = 0; i < landed;) {
      std::size_t end = i + 1;
      const std::uint8_t source = rain_.grains[bucket.first + i].source;
      if (gap <= 0)
        while (end < landed && end % l_.columns != 0 && (end < kept) == (i < kept) &&
               rain_.grains[bucket.first + end].source == source)
          ++end;
      const Rect first = l_.grain(b, i), last = l_.grain(b, end - 1);
      paint_grain({first.min, last.max}, source, i < kept, gap);
      i = end;
    }
  }
  void paint_layers(std::size_t b, std::size_t landed, std::size_t kept) const {
    const RainBucket& bucket = rain_.buckets[b];
    std::size_t place = 0;
    for (const bool inside : {true, false}) {
      std::array<std::size_t, 256> of{};
      for (std::size_t i = inside ? 0 : kept; i < (inside ? kept : landed); ++i)
        ++of[rain_.grains[bucket.first + i].source];
      for (std::size_t s = 0; s < rain_.sources.size(); ++s) {
        if (of[s] == 0) continue;
        const Rect bottom = l_.grain(b, place), top = l_.grain(b, place + of[s] - 1);
        paint_grain({{bottom.min.x, top.min.y}, bottom.max}, static_cast<std::uint8_t>(s), inside, 0);
        place += of[s];
      }
    }
  }
  void paint_grain(const Rect& r, std::uint8_t source, bool kept, float gap) const {
    if (kept)
      p_.rect(r.min, {r.max.x - gap, r.max.y - gap}, tint(source));
    else if (gap > 0)
      p_.frame(r.min, {r.max.x - gap - 1, r.max.y - gap - 1}, with_alpha(tint(source), 0.9f), 1);
    else
      p_.rect(r.min, r.max, with_alpha(tint(source), 0.42f));
  }

  /// Grains on their way: each falls for a fifth of the rain, along the ribbon of its source and bucket.
  void paint_falling() const {
    if (progress_ >= 1) return;
    constexpr float flight = 0.12f;
    const auto now = static_cast<float>(progress_);
    const float side = std::max(t_.px(3), std::min(l_.pitch, t_.px(7)));
    for (std::size_t b = 0; b < rain_.buckets.size(); ++b) {
      const RainBucket& bucket = rain_.buckets[b];
      for (std::size_t i = 0; i < bucket.kept + bucket.spilled; ++i) {
        const RainGrain& g = rain_.grains[bucket.first + i];
        if (g.at <= now || g.at - flight > now) continue;
        const float way = 1 - (g.at - now) / flight;
        const Rect& from = l_.source[g.source];
        const Rect to = l_.grain(b, i);
        // Spread over the source, so that one kind does not fall as a string.
        const float spread = static_cast<float>((i * 37 + b * 11) % 101) / 100;
        const float x0 = from.min.x + (from.width() - side) * spread, x1 = (to.min.x + to.max.x - side) / 2;
        const float y = from.max.y + (to.min.y - from.max.y) * way;
        const float x = x0 + (x1 - x0) * eased(std::min(1.0f, way * 1.6f));
        p_.rect({x, y}, {x + side, y + side}, tint(g.source), t_.px(1));
      }
    }
  }

  void paint_mean() const {
    if (!(rain_.mean > 0) || l_.mean_y <= l_.buckets.min.y) return;
    p_.dashed_line({l_.buckets.min.x - t_.px(4), l_.mean_y}, {l_.buckets.max.x + t_.px(4), l_.mean_y},
                   with_alpha(t_.text, 0.8f), t_.px(1), t_.px(4));
    const float small = t_.type(Type::small), x = l_.buckets.max.x + t_.px(8), rim = rim_y();
    p_.text({x, l_.mean_y - small / 2}, "even share", t_.muted, Type::small);
    if (!(rim > 0)) return;
    float y = rim - small / 2;
    const float least = small + t_.px(1);
    if (std::abs(rim - l_.mean_y) < least) y = l_.mean_y - small / 2 + (rim <= l_.mean_y ? -least : least);
    p_.text({x, y}, "capacity", t_.text, Type::small);
  }
  float rim_y() const {
    for (std::size_t b = 0; b < rain_.buckets.size(); ++b)
      if (rain_.buckets[b].rim > 0) return l_.bucket[b].min.y;
    return 0;
  }

  const TokenRain& rain_;
  TokenRainView& view_;
  const TokenRainLayout& l_;
  Painter p_;
  const Theme& t_;
  double progress_, clock_;
};

void record_rain(const TokenRain& rain, const Painter& painter) {
  if (!painter.record()) return;
  DataTable table{"buckets", {"bucket", "group", "kept", "spilled", "rim"}, {}};
  for (const RainBucket& b : rain.buckets)
    table.rows.push_back({std::string(b.label), std::string(rain.groups[b.group].label), std::to_string(b.kept),
                          std::to_string(b.spilled), exact(b.rim)});
  painter.record()->tables.push_back(std::move(table));
}

}  // namespace

double draw_token_rain(const char* label, const TokenRain& rain, TokenRainView& view, const TokenRainOptions& options) {
  const Theme& t = theme();
  const Rect area = canvas(label, options.size, {t.px(120), t.px(90)});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive(), pressed = ImGui::IsItemActivated();
  layout_token_rain(rain, area, measure_text, view.layout);
  const TokenRainLayout& l = view.layout;
  const ImVec2 mouse = ImGui::GetMousePos();
  view.hovered = -1;
  double dragged = 0;
  bool at_rim = false;
  for (std::size_t b = 0; b < rain.buckets.size(); ++b) {
    const Rect& r = l.bucket[b];
    if (mouse.x < r.min.x || mouse.x >= r.max.x) continue;
    if (hovered && mouse.y >= l.fall.max.y) view.hovered = static_cast<std::int64_t>(b);
    at_rim = rain.buckets[b].rim > 0 && std::abs(mouse.y - r.min.y) <= t.px(7);
    if (pressed && at_rim) view.held_px = l.grains_px;
    if (active && view.held_px > 0 && rain.buckets[b].rim > 0 && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1))
      dragged = std::max(0.01, static_cast<double>((r.max.y - mouse.y) / view.held_px)) / rain.buckets[b].rim;
  }
  if (!active) view.held_px = 0;
  if ((hovered && at_rim) || view.held_px > 0) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  RainPainter(rain, view, options).paint();
  if (view.hovered >= 0 && !active) {
    const RainBucket& b = rain.buckets[static_cast<std::size_t>(view.hovered)];
    const bool clock = mouse.y >= l.clock.min.y;
    Line name;
    if (clock)
      name.add(rain.group_word).add(" ").add(rain.groups[b.group].label);
    else
      name.add(rain.bucket_word).add(" ").add(b.label);
    tip(name.view(), clock ? rain.groups[b.group].info : b.info, at_rim ? "drag the rim" : std::string_view());
  }
  record_rain(rain, Painter::window());
  return dragged;
}

}  // namespace widgets
