#include "widgets/charts/token_rain_clock.h"

#include <algorithm>
#include <cmath>

#include "widgets/number/number.h"

namespace widgets {
namespace {

class RainClockPainter {
 public:
  RainClockPainter(const TokenRain& rain, const TokenRainLayout& layout, std::int64_t hovered, double passed)
      : rain_(rain), l_(layout), hovered_(hovered), clock_(passed), p_(Painter::window()), t_(theme()) {}

  void paint() const {
    float from = l_.clock.min.y;
    for (std::size_t ph = 0; ph < rain_.phases.size(); ++ph) {
      const float to = l_.barriers[ph];
      for (std::size_t g = 0; g < rain_.groups.size(); ++g) {
        const Rect idle{{l_.group[g].min.x, from}, {l_.group[g].max.x, to}};
        if (idle.height() > 1) p_.rect(idle.min, idle.max, with_alpha(t_.of(Meaning::idle), 0.22f));
      }
      from = to;
    }
    paint_phase_names();
    const float now = l_.clock.min.y + l_.clock.height() * static_cast<float>(clock_);
    for (const RainBar& bar : l_.bars) {
      const ImU32 fill = colour(rain_.phases[bar.phase].tint, t_);
      const bool faint = hovered_ >= 0 && rain_.buckets[static_cast<std::size_t>(hovered_)].group != bar.group;
      if (bar.at.min.y >= now) continue;
      p_.rect(bar.at.min, {bar.at.max.x, std::min(bar.at.max.y, now)}, faint ? with_alpha(fill, 0.45f) : fill);
    }
    for (std::size_t ph = 0; ph < rain_.phases.size(); ++ph) {
      const bool last = ph + 1 == rain_.phases.size();
      p_.line({l_.clock.min.x - t_.px(4), l_.barriers[ph]}, {l_.clock.max.x + t_.px(4), l_.barriers[ph]},
              last ? t_.accent : with_alpha(t_.text, 0.5f), last ? t_.px(2) : t_.px(1));
    }
    if (clock_ < 1)
      p_.line({l_.clock.min.x - t_.px(4), now}, {l_.clock.max.x + t_.px(4), now}, t_.accent, t_.px(2));
    else
      paint_clock_ends();
  }

 private:
  /// A name beside each phase; one that is lower than its name moves aside a little, or has none.
  void paint_phase_names() const {
    const float small = t_.type(Type::small), last = l_.clock.min.y - t_.px(10);
    float free = last;
    for (std::size_t ph = 0; ph < rain_.phases.size(); ++ph) {
      const float from = ph > 0 ? l_.barriers[ph - 1] : l_.clock.min.y, to = l_.barriers[ph];
      float y = (from + to - small) / 2;
      if (ph == 0 && rain_.phases.size() > 1)  // the first leaves room to the second
        y = std::max(last, std::min(y, (to + l_.barriers[1] - small) / 2 - small));
      const float moved = std::max(y, free);
      if (to <= from || moved - y > 0.5f * small) continue;
      p_.text({l_.clock.min.x - t_.px(10), moved}, rain_.phases[ph].label, t_.muted, Type::small, Font::sans,
              Align::right);
      free = moved + small;
    }
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
  const TokenRainLayout& l_;
  std::int64_t hovered_;
  double clock_;
  Painter p_;
  const Theme& t_;
};

}  // namespace

void paint_rain_clock(const TokenRain& rain, const TokenRainLayout& layout, std::int64_t hovered, double passed) {
  RainClockPainter(rain, layout, hovered, passed).paint();
}

}  // namespace widgets
