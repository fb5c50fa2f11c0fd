#include "widgets/charts/token_rain.h"

#include <algorithm>
#include <cmath>

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
  RainPainter(const TokenRain& rain, TokenRainView& view, double progress)
      : rain_(rain), view_(view), l_(view.layout), p_(Painter::window()), t_(theme()), progress_(progress) {}

  void paint() {
    paint_groups();
    paint_flows();
    paint_sources();
    for (std::size_t b = 0; b < rain_.buckets.size(); ++b) paint_bucket(b);
    paint_spilled();
    paint_falling();
    paint_mean();
    paint_clock();
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
    const std::size_t sources = rain_.sources.size(), buckets = rain_.buckets.size();
    auto& count = view_.flow_source;  // [bucket][source], grains
    count.assign(sources * buckets, 0.0f);
    auto& total = view_.flow_bucket;
    total.assign(sources, 0.0f);
    for (std::size_t b = 0; b < buckets; ++b) {
      const RainBucket& bucket = rain_.buckets[b];
      for (std::size_t i = bucket.first; i < bucket.first + bucket.kept + bucket.spilled; ++i) {
        count[b * sources + rain_.grains[i].source] += 1;
        total[rain_.grains[i].source] += 1;
      }
    }
    view_.left.resize(ribbon_points);
    view_.right.resize(ribbon_points);
    for (std::size_t s = 0; s < sources; ++s) {
      float x = l_.source[s].min.x;
      for (std::size_t b = 0; b < buckets; ++b) {
        const float share = total[s] > 0 ? count[b * sources + s] / total[s] : 0;
        const float w = share * l_.source[s].width();
        if (share > 0) paint_ribbon(s, b, x, w, count.data() + b * sources);
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
    const Rect& r = l_.bucket[b];
    const float wall = std::max(1.0f, t_.px(1.5f));
    const float top = bucket.rim > 0 ? r.min.y : l_.buckets.min.y;
    const ImU32 edge = with_alpha(t_.text, 0.55f);
    p_.line({r.min.x - wall / 2, top}, {r.min.x - wall / 2, r.max.y}, edge, wall);
    p_.line({r.max.x + wall / 2, top}, {r.max.x + wall / 2, r.max.y}, edge, wall);
    p_.line({r.min.x - wall, r.max.y + wall / 2}, {r.max.x + wall, r.max.y + wall / 2}, edge, wall);
    if (bucket.rim > 0) p_.line({r.min.x - t_.px(3), r.min.y}, {r.max.x + t_.px(3), r.min.y}, t_.text, t_.px(2));
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
    for (const auto& [from, to] : {std::pair{std::size_t{0}, kept}, std::pair{kept, landed}})
      for (std::size_t s = 0; s < rain_.sources.size(); ++s) {
        std::size_t of = 0;
        for (std::size_t i = from; i < to; ++i) of += rain_.grains[bucket.first + i].source == s ? 1 : 0;
        if (of == 0) continue;
        const Rect bottom = l_.grain(b, place), top = l_.grain(b, place + of - 1);
        paint_grain({{bottom.min.x, top.min.y}, bottom.max}, static_cast<std::uint8_t>(s), from == 0 && kept > 0, 0);
        place += of;
      }
  }
  void paint_grain(const Rect& r, std::uint8_t source, bool kept, float gap) const {
    if (kept)
      p_.rect(r.min, {r.max.x - gap, r.max.y - gap}, tint(source));
    else if (gap > 0)
      p_.frame(r.min, {r.max.x - gap - 1, r.max.y - gap - 1}, with_alpha(tint(source), 0.9f), 1);
    else
      p_.rect(r.min, r.max, with_alpha(tint(source), 0.35f));
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
    const float small = t_.type(Type::small);
    p_.text({l_.buckets.max.x + t_.px(8), l_.mean_y - small / 2}, "even share", t_.muted, Type::small);
    const float rim = rim_y();
    if (rim > 0 && std::abs(rim - l_.mean_y) > small)
      p_.text({l_.buckets.max.x + t_.px(8), rim - small / 2}, "capacity", t_.text, Type::small);
  }
  float rim_y() const {
    for (std::size_t b = 0; b < rain_.buckets.size(); ++b)
      if (rain_.buckets[b].rim > 0) return l_.bucket[b].min.y;
    return 0;
  }

  void paint_clock() const {
    const float small = t_.type(Type::small);
    float from = l_.clock.min.y, free = l_.clock.min.y - small;
    for (std::size_t ph = 0; ph < rain_.phases.size(); ++ph) {
      const float to = l_.barriers[ph];
      for (std::size_t g = 0; g < rain_.groups.size(); ++g) {
        const Rect idle{{l_.group[g].min.x, from}, {l_.group[g].max.x, to}};
        if (idle.height() > 1) p_.rect(idle.min, idle.max, with_alpha(t_.of(Meaning::idle), 0.22f));
      }
      const float middle = (from + to - small) / 2;
      if (to > from && middle >= free) {
        p_.text({l_.clock.min.x - t_.px(10), middle}, rain_.phases[ph].label, t_.muted, Type::small, Font::sans,
                Align::right);
        free = middle + small;
      }
      from = to;
    }
    for (const RainBar& bar : l_.bars) {
      const ImU32 fill = colour(rain_.phases[bar.phase].tint, t_);
      const bool faint =
          view_.hovered >= 0 && rain_.buckets[static_cast<std::size_t>(view_.hovered)].group != bar.group;
      p_.rect(bar.at.min, bar.at.max, faint ? with_alpha(fill, 0.45f) : fill);
    }
    for (std::size_t ph = 0; ph < rain_.phases.size(); ++ph) {
      const bool last = ph + 1 == rain_.phases.size();
      p_.line({l_.clock.min.x - t_.px(4), l_.barriers[ph]}, {l_.clock.max.x + t_.px(4), l_.barriers[ph]},
              last ? t_.accent : with_alpha(t_.text, 0.5f), last ? t_.px(2) : t_.px(1));
    }
    paint_clock_ends();
  }
  void paint_clock_ends() const {
    const float small = t_.type(Type::small), x = l_.clock.max.x + t_.px(8);
    const float end = l_.barriers.empty() ? l_.clock.max.y : l_.barriers.back();
    const float total_y = std::min(end - small * 0.6f, l_.clock.max.y - small);
    p_.text({x, total_y}, format(l_.total_s, "s"), t_.accent, Type::small, Font::bold);
    if (!(rain_.reference_s > 0)) return;
    p_.dashed_line({l_.clock.min.x - t_.px(4), l_.reference_y}, {l_.clock.max.x + t_.px(4), l_.reference_y}, t_.text,
                   t_.px(1.5f), t_.px(4));
    if (std::abs(l_.reference_y - end) < t_.px(3)) return;
    Line words;
    words.add(rain_.reference_label).add(" ").add(format(rain_.reference_s, "s"));
    const float y = std::min(l_.reference_y - small * 0.6f, total_y - small - t_.px(1));
    p_.text({x, y}, words.view(), t_.text, Type::small);
  }

  const TokenRain& rain_;
  TokenRainView& view_;
  const TokenRainLayout& l_;
  Painter p_;
  const Theme& t_;
  double progress_;
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

std::ptrdiff_t draw_token_rain(const char* label, const TokenRain& rain, TokenRainView& view,
                               const TokenRainOptions& options) {
  const Theme& t = theme();
  const Rect area = canvas(label, options.size, {t.px(120), t.px(90)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  layout_token_rain(rain, area, measure_text, view.layout);
  view.hovered = -1;
  std::ptrdiff_t pressed = -1;
  if (hovered) {
    const ImVec2 mouse = ImGui::GetMousePos();
    for (std::size_t b = 0; b < rain.buckets.size(); ++b) {
      const Rect& r = view.layout.bucket[b];
      if (mouse.x >= r.min.x && mouse.x < r.max.x && mouse.y >= view.layout.fall.max.y)
        view.hovered = static_cast<std::int64_t>(b);
    }
  }
  RainPainter(rain, view, options.progress).paint();
  if (view.hovered >= 0) {
    const RainBucket& b = rain.buckets[static_cast<std::size_t>(view.hovered)];
    const bool clock = ImGui::GetMousePos().y >= view.layout.clock.min.y;
    Line name;
    if (clock)
      name.add(rain.groups[b.group].label);
    else
      name.add(rain.bucket_word).add(" ").add(b.label);
    tip(name.view(), clock ? rain.groups[b.group].info : b.info);
    if (clicked) pressed = view.hovered;
  }
  record_rain(rain, Painter::window());
  return pressed;
}

}  // namespace widgets
