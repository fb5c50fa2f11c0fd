#include "chapters/roofline/roofline/draw_notes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/painter.h"
#include "widgets/plot/callout.h"

namespace chapters::roofline::roofline {
namespace {

using widgets::Align, widgets::Box, widgets::Font, widgets::Meaning, widgets::Painter, widgets::theme, widgets::Type,
    widgets::with_alpha;

/// Paints over a plot that was drawn, and knows what is taken in it.
class Notes {
 public:
  Notes(const Outputs& out, const Picture& pic, widgets::PlotView& plot)
      : out_(out), pic_(pic), s_(plot.scratch), f_(plot.scratch.frame), area_(f_.area) {
    own_ = pixel_of(f_, out.placement.intensity, out.placement.achieved_flops_per_s);
    has_own_ = out.placement.achieved_flops_per_s > 0 && area_.contains(own_);
    s_.placed.clear();
  }

  void decades() const;
  void walk_ticks();
  void drop_lines();
  void gains();
  void published_names();
  void callout();
  void roof_names();
  void names();
  void own_dot() const;

 private:
  float line() const { return t_.type(Type::small); }
  float clamp_y(float y) const { return std::clamp(y, area_.min.y, area_.max.y); }
  bool free(ImVec2 at, ImVec2 size) const {
    return s_.room.is_free({{at.x - 4, at.y - 1}, {at.x + size.x + 4, at.y + size.y + 1}});
  }
  void take(ImVec2 at, ImVec2 size) {
    const Box box{{at.x - 8, at.y - 3}, {at.x + size.x + 8, at.y + size.y + 3}};
    s_.room.block(box);
    s_.placed.push_back(box);
  }
  void write(ImVec2 at, std::string_view text, ImU32 colour, Font font = Font::sans) const {
    p_.text(at, text, colour, Type::small, font);
  }
  void write_dotted_level(double rate, double until);
  bool regime_name(Meaning meaning, std::string_view name, bool left);
  bool along_slope(const Picture::Line& line, ImU32 colour, Font font);
  bool along_flat(const Picture::Line& line, ImU32 colour, Font font);
  void beside_vertical(double x, std::string_view name);
  bool beside_dot(ImVec2 at, float radius, std::string_view name, ImU32 colour);
  bool by_leader(const Picture::Line& line);
  bool on_slope(const Picture::Line& line);

  const Outputs& out_;
  const Picture& pic_;
  widgets::PlotScratch& s_;
  const widgets::PlotFrame& f_;
  const Box area_;
  const widgets::Theme& t_ = theme();
  const Painter p_ = Painter::window();
  ImVec2 own_{};
  bool has_own_ = false, roof_named_ = false;
  std::array<bool, 8> others_named_{};
};

void Notes::decades() const {
  const ImU32 colour = with_alpha(t_.muted, t_.mode == widgets::Mode::dark ? 0.13f : 0.16f);
  for (const widgets::Tick& tick : f_.x_ticks.major()) {
    const float x = std::floor(static_cast<float>(tick.pixel)) + 0.5f;
    p_.line({x, area_.min.y}, {x, area_.max.y}, colour);
  }
  for (const widgets::Tick& tick : f_.y_ticks.major()) {
    const float y = std::floor(static_cast<float>(tick.pixel)) + 0.5f;
    p_.line({area_.min.x, y}, {area_.max.x, y}, colour);
  }
  p_.frame(area_.min, area_.max, t_.line);
}

void Notes::walk_ticks() {
  bool first = true;
  for (const Picture::Dot& dot : pic_.steps) {
    const WalkTick tick = tick_of(f_, dot);
    if (!area_.contains(tick.from) || !area_.contains(tick.to)) continue;
    p_.line(tick.from, tick.to, t_.text, t_.px(1.8f));
    std::array<char, 32> chars{};  // the first says what is counted
    const std::string_view word = first ? "decode, batch " : "batch ";
    std::copy(word.begin(), word.end(), chars.begin());
    std::copy_n(dot.label.begin(), std::min(dot.label.size(), std::size_t{8}), chars.begin() + word.size());
    const std::string_view name(chars.data());
    const ImVec2 size = widgets::text_size(name, Type::small);
    first = false;
    // Under the slope, or above it where a wall stands close.
    for (const ImVec2 at :
         {ImVec2{tick.to.x + t_.px(5), tick.to.y}, ImVec2{tick.from.x - t_.px(5) - size.x, tick.from.y - size.y}}) {
      if (!free(at, size)) continue;
      write(at, name, t_.text);
      take(at, size);
      break;
    }
    s_.room.block_segment(tick.from, tick.to, 2);
  }
}

void Notes::drop_lines() {
  const float edge = t_.px(10);
  for (const Picture::Dot& dot : pic_.dots) {  // off the scale an arrow stands at the edge
    const ImVec2 at = pixel_of(f_, dot.x, dot.y);
    const ImVec2 shown{std::clamp(at.x, area_.min.x, area_.max.x), std::clamp(at.y, area_.min.y, area_.max.y)};
    if (!area_.contains(at))
      s_.room.block({{shown.x - edge, shown.y - 2 * edge}, {shown.x + edge, shown.y + 2 * edge}});
  }
  if (!has_own_) return;
  p_.dashed_line({own_.x, own_.y}, {own_.x, area_.max.y}, t_.accent, t_.px(1.3f), t_.px(4));
  p_.dashed_line({area_.min.x, own_.y}, {own_.x, own_.y}, t_.accent, t_.px(1.3f), t_.px(4));
  s_.room.block_segment({own_.x, own_.y}, {own_.x, area_.max.y}, 2);
  s_.room.block_segment({area_.min.x, own_.y}, {own_.x, own_.y}, 2);
  const float r = t_.px(18);
  s_.room.block({{own_.x - r, own_.y - r}, {own_.x + r, own_.y + r}});
}

void Notes::write_dotted_level(double rate, double until) {
  const float y = static_cast<float>(f_.y.pixel(rate));
  const float to = std::min(static_cast<float>(f_.x.pixel(until)), area_.max.x);
  if (!(y > area_.min.y && y < area_.max.y && to > area_.min.x)) return;
  p_.dashed_line({area_.min.x, y}, {to, y}, with_alpha(t_.muted, 0.8f), 1, t_.px(2));
  s_.room.block_segment({area_.min.x, y}, {to, y}, 1);
}

void Notes::gains() {
  const float x = area_.min.x + t_.px(16), foot = t_.px(5), gap = t_.px(6);
  for (const Picture::Gain& gain : pic_.gains) {
    const float a = clamp_y(static_cast<float>(f_.y.pixel(gain.from))),
                b = clamp_y(static_cast<float>(f_.y.pixel(gain.to)));
    if (!(a - b >= t_.px(5))) continue;
    write_dotted_level(gain.to, gain.until);
    if (&gain == &pic_.gains.front() && !has_own_) write_dotted_level(gain.from, gain.until);
    const ImVec2 points[] = {{x + foot, a - 1}, {x, a - 1}, {x, b + 1}, {x + foot, b + 1}};
    p_.polyline(points, t_.text, t_.px(1.5f));
    s_.room.block({{x - 2, b}, {x + foot, a}});
    const float bold = widgets::text_size(gain.factor, Type::small, Font::bold).x;
    const ImVec2 size{bold + gap + widgets::text_size(gain.words, Type::small).x, line()};
    for (const float shift : {0.0f, -1.3f, 1.3f, -2.6f, 2.6f, -4.0f, 4.0f, -5.5f, -7.0f}) {
      const ImVec2 at{x + t_.px(13), (a + b) / 2 + shift * line() - line() / 2};
      if (!free(at, size)) continue;
      write(at, gain.factor, t_.text, Font::bold);
      write({at.x + bold + gap, at.y}, gain.words, t_.muted);
      take(at, size);
      break;
    }
  }
}

/// Before the callout, which finds another place more easily than a name that belongs beside its mark.
void Notes::published_names() {
  const float r = t_.px(5);
  for (const Picture::Dot& dot : pic_.published) {
    const ImVec2 at = pixel_of(f_, dot.x, dot.y);
    if (area_.contains(at)) s_.room.block({{at.x - r, at.y - r}, {at.x + r, at.y + r}});
  }
  for (const Picture::Dot& dot : pic_.published) beside_dot(pixel_of(f_, dot.x, dot.y), r, dot.label, t_.text);
}

void Notes::callout() {
  const ImVec2 size = widgets::callout_size(pic_.callout, pic_.callout_words);
  if (!has_own_ || area_.width() < size.x + t_.px(120) || area_.height() < size.y * 3.5f) return;
  const float air = t_.px(6);
  const Box inner{{area_.min.x + air, area_.min.y + air}, {area_.max.x - air, area_.max.y - air}};
  const Box box = place_callout(s_, inner, size, own_);
  const ImVec2 end{std::clamp(own_.x, box.min.x, box.max.x), std::clamp(own_.y, box.min.y, box.max.y)};
  p_.line(own_, end, t_.accent, t_.px(1.5f));
  p_.rect(box.min, box.max, t_.card, t_.px(5));
  p_.frame(box.min, box.max, t_.accent, t_.px(1.2f), t_.px(5));
  const ImVec2 at{box.min.x + t_.px(12), box.min.y + t_.px(8)};
  p_.text(at, pic_.callout, t_.text, Type::small, Font::bold);
  p_.text({at.x, at.y + line() * 1.35f}, pic_.callout_words, t_.muted, Type::small);
  s_.room.block(box);
  s_.placed.push_back(box);
  s_.room.block_segment(own_, end, 3);
}

bool Notes::along_slope(const Picture::Line& line, ImU32 colour, Font font) {
  if (line.xs.size() < 2) return true;
  const ImVec2 size = widgets::text_size(line.label, Type::small, font);
  const double slope = line.ys[0] / line.xs[0];  // B/s: the line rises by its bandwidth
  const ImVec2 end = pixel_of(f_, line.xs[1], line.ys[1]);
  constexpr int steps = 36;
  for (int i = 1; i < steps; ++i) {
    const float x = area_.min.x + area_.width() * static_cast<float>(i) / steps;
    if (x > end.x) break;
    const double value = f_.x.value(static_cast<double>(x));
    const float y = static_cast<float>(f_.y.pixel(value * slope));
    const ImVec2 below{x + t_.px(9), y + t_.px(5)}, above{x - size.x - t_.px(9), y - size.y - t_.px(5)};
    for (const ImVec2 at : {below, above})
      if (free(at, size)) {
        write(at, line.label, colour, font);
        take(at, size);
        return true;
      }
  }
  return false;
}

bool Notes::along_flat(const Picture::Line& line, ImU32 colour, Font font) {
  if (line.xs.empty()) return true;
  const float y = static_cast<float>(f_.y.pixel(line.ys.back()));
  const float from = static_cast<float>(f_.x.pixel(line.xs[line.xs.size() - 2]));
  if (!(y > area_.min.y && y < area_.max.y)) return false;
  for (const std::string_view label : {std::string_view(line.label), std::string_view(line.brief)}) {
    const ImVec2 size = widgets::text_size(label, Type::small, font);
    // Above the flat part a name may begin in front of the ridge.
    for (float right = area_.max.x - t_.px(10);
         !label.empty() && right - size.x >= std::max(from - size.x * 0.7f, area_.min.x); right -= t_.px(14))
      for (const ImVec2 at : {ImVec2{right - size.x, y - size.y - t_.px(5)}, ImVec2{right - size.x, y + t_.px(5)}})
        if (free(at, size)) {
          write(at, label, colour, font);
          take(at, size);
          return true;
        }
  }
  return false;
}

bool Notes::regime_name(Meaning meaning, std::string_view name, bool left) {
  const ImVec2 text = widgets::text_size(name, Type::small), size{text.x + t_.px(14), text.y};
  const float ridge = static_cast<float>(f_.x.pixel(out_.ridge));
  for (float y = area_.max.y - t_.px(10) - size.y; y > area_.min.y; y -= size.y) {
    for (float step = 0; step < area_.width(); step += t_.px(24)) {
      const float x = left ? ridge - t_.px(14) - size.x - step : ridge + t_.px(14) + step;
      const ImVec2 at{x, y};
      if (!(x > area_.min.x) || !(x + size.x < area_.max.x)) break;
      if (!free(at, size)) continue;
      const float r = t_.px(4);
      const ImVec2 mark{at.x + r, at.y + size.y / 2};
      if (left)
        p_.circle(mark, r, t_.of(meaning));
      else
        p_.rect({mark.x - r, mark.y - r}, {mark.x + r, mark.y + r}, t_.of(meaning));
      write({at.x + t_.px(14), at.y}, name, t_.of(meaning));
      take(at, size);
      return true;
    }
    if (area_.max.y - y > area_.height() * 0.3f) break;
  }
  return false;
}

void Notes::beside_vertical(double x, std::string_view name) {
  const float at = static_cast<float>(f_.x.pixel(x));
  if (name.empty() || !(at > area_.min.x && at < area_.max.x)) return;
  const Box upper{area_.min, {area_.max.x, area_.min.y + area_.height() * 0.45f}};
  auto box = widgets::place_by_vertical(s_.room, at, upper, widgets::text_size(name, Type::small), t_.px(6));
  if (!box) box = widgets::place_by_vertical(s_.room, at, area_, widgets::text_size(name, Type::small), t_.px(6));
  if (box) write(box->min, name, t_.text);
}

bool Notes::beside_dot(ImVec2 at, float radius, std::string_view name, ImU32 colour) {
  if (name.empty()) return true;
  if (!area_.contains(at)) {  // off the scale: beside its arrow at the edge
    const float in = t_.px(10);
    at = {std::clamp(at.x, area_.min.x + in, area_.max.x - in), std::clamp(at.y, area_.min.y + in, area_.max.y - in)};
    radius = t_.px(15);
  }
  const auto box = widgets::place_by_point(s_.room, at, radius, widgets::text_size(name, Type::small), s_.placed);
  if (!box) return false;
  if (const auto end = widgets::leader_needed(at, radius, *box)) {
    const float length = std::hypot(end->x - at.x, end->y - at.y), share = radius / length;
    p_.line({at.x + (end->x - at.x) * share, at.y + (end->y - at.y) * share}, *end, t_.muted, 1);
    s_.room.block_segment(at, *end, 2);
  }
  write(box->min, name, colour);
  s_.placed.push_back(*box);
  return true;
}

/// The name of a slope that has no room beside it stands apart, with a line to it.
bool Notes::by_leader(const Picture::Line& line) {
  const double slope = line.ys[0] / line.xs[0];
  const ImVec2 end = pixel_of(f_, line.xs[1], line.ys[1]);
  const float left = std::max(area_.min.x,
                              static_cast<float>(f_.x.pixel(f_.y.value(static_cast<double>(area_.max.y)) / slope))),
              right = std::min(end.x, area_.max.x);
  for (int step = 1; step < 20; ++step) {
    const float x = left + (right - left) * static_cast<float>(step) / 20;
    const auto y = static_cast<float>(f_.y.pixel(f_.x.value(static_cast<double>(x)) * slope));
    if (area_.contains({x, y}) && beside_dot({x, y}, t_.px(2), line.label, t_.muted)) return true;
  }
  return false;
}

/// At last its name stands on the line itself, on a plate that covers no other text.
bool Notes::on_slope(const Picture::Line& line) {
  const ImVec2 size = widgets::text_size(line.label, Type::small), half{size.x / 2 + t_.px(4), size.y / 2 + t_.px(1)};
  for (float x = area_.min.x + half.x; x < area_.max.x - half.x; x += t_.px(12)) {
    const double at = f_.x.value(static_cast<double>(x));
    const auto y = static_cast<float>(f_.y.pixel(at * line.ys[0] / line.xs[0]));
    const Box box{{x - half.x, y - half.y}, {x + half.x, y + half.y}};
    const Box apart{{box.min.x - t_.px(8), box.min.y - t_.px(3)}, {box.max.x + t_.px(8), box.max.y + t_.px(3)}};
    const auto covers = [&](const Box& text) { return text.overlaps(apart); };
    if (at > line.xs[1] || !area_.contains(box.min) || !area_.contains(box.max)) continue;
    if (std::any_of(s_.placed.begin(), s_.placed.end(), covers)) continue;
    p_.rect(box.min, box.max, t_.background, t_.px(3));
    write({x - size.x / 2, y - size.y / 2}, line.label, t_.muted);
    s_.placed.push_back(box);
    return true;
  }
  return false;
}

/// Before the callout as well: with several chips their names say which line is whose.
void Notes::roof_names() {
  if (pic_.roofs.empty()) return;
  roof_named_ = along_flat(pic_.flat, t_.of(Meaning::compute_bound), Font::bold);
  for (std::size_t i = 0; i < std::min(pic_.roofs.size(), others_named_.size()); ++i)
    others_named_[i] = along_flat(pic_.roofs[i], t_.muted, Font::sans);
}

void Notes::names() {
  const ImU32 memory = t_.of(Meaning::memory_bound), compute = t_.of(Meaning::compute_bound);
  for (const Picture::Arrow* arrow : {&pic_.fusion, &pic_.quantization})
    if (arrow->shown) {
      const ImVec2 a = pixel_of(f_, arrow->x0, arrow->y0), b = pixel_of(f_, arrow->x1, arrow->y1);
      beside_dot({(a.x + b.x) / 2, (a.y + b.y) / 2}, 2, arrow->label, t_.text);
    }
  if (!roof_named_) along_flat(pic_.flat, compute, Font::bold);
  along_slope(pic_.slope, memory, Font::bold);
  for (std::size_t i = 0; i < pic_.roofs.size(); ++i) {
    const Picture::Line& line = pic_.roofs[i];
    if (i < others_named_.size() && others_named_[i]) continue;
    if (!along_flat(line, t_.muted, Font::sans) && !along_slope(line, t_.muted, Font::sans)) by_leader(line);
  }
  along_flat(pic_.next_format, compute, Font::sans);
  beside_dot(own_, t_.px(15), pic_.own_label, t_.text);
  if (!regime_name(Meaning::memory_bound, "memory-bound: bytes set the time", true))
    regime_name(Meaning::memory_bound, "memory-bound", true);
  if (!regime_name(Meaning::compute_bound, "compute-bound: arithmetic sets the time", false))
    regime_name(Meaning::compute_bound, "compute-bound", false);
  if (pic_.kv_wall > 0 && !pic_.walk.xs.empty()) beside_vertical(pic_.kv_wall, pic_.wall_label);
  for (const Picture::Dot& dot : pic_.measured) beside_dot(pixel_of(f_, dot.x, dot.y), t_.px(5), dot.label, t_.text);
  for (const Picture::Line& line : pic_.measured_ceilings)
    line.ys.front() == line.ys.back() ? along_flat(line, t_.text, Font::sans) : along_slope(line, t_.text, Font::sans);
  for (const Picture::Line& line : pic_.ceilings)
    if (!along_slope(line, t_.muted, Font::sans) && !by_leader(line)) on_slope(line);
  along_flat(pic_.launch, t_.text, Font::sans);
  for (const Picture::Dot& dot : pic_.dots) beside_dot(pixel_of(f_, dot.x, dot.y), t_.px(6), dot.label, t_.muted);
}

void Notes::own_dot() const {
  if (!has_own_) return;
  p_.circle(own_, t_.px(17), with_alpha(t_.accent, 0.28f));
  p_.circle(own_, t_.px(11.2f), t_.accent);
  p_.circle(own_, t_.px(10), IM_COL32_WHITE);
  p_.circle(own_, t_.px(7.6f), t_.accent);
}

}  // namespace

void draw_notes(const Outputs& out, const Picture& pic, widgets::PlotView& plot) {
  const Box area = plot.scratch.frame.area;
  if (!(area.width() > theme().px(120)) || !(area.height() > theme().px(60))) return;
  Notes notes(out, pic, plot);
  const Painter p = Painter::window();
  p.clip(area.min, area.max);
  notes.decades();
  notes.drop_lines();
  notes.walk_ticks();
  notes.gains();
  notes.published_names();
  notes.roof_names();
  notes.callout();
  notes.names();
  notes.own_dot();
  p.unclip();
  draw_legend(pic, plot);
}

}  // namespace chapters::roofline::roofline
