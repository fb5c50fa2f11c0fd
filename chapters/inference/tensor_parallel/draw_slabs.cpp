#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/inference/tensor_parallel/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::inference::tensor_parallel {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

struct Frame {
  float left = 0, right = 0, top = 0, ground = 0, pitch = 0, width = 0;
  double longest_s = 1;
  float y(double seconds) const { return ground - static_cast<float>(seconds / longest_s) * (ground - top); }
  float x(std::size_t i) const { return left + pitch * static_cast<float>(i) + (pitch - width) / 2; }
};

Frame frame_of(const Picture& p, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  Frame f;
  const float small = t.type(Type::small), body = t.type(Type::body), title = t.type(Type::title);
  f.left = at.x + t.px(56);
  f.right = at.x + size.x - t.px(8);
  f.top = at.y + 2 * small + t.px(20) + title;
  f.ground = at.y + size.y - body - small - t.px(14);
  f.pitch = (f.right - f.left) / static_cast<float>(std::max<std::size_t>(1, p.slabs.size()));
  f.width = std::min(0.58f * f.pitch, t.px(130));
  f.longest_s = 1e-9;
  for (const Slab& s : p.slabs) f.longest_s = std::max(f.longest_s, s.time);
  return f;
}

/// `line`: y of a line that crosses the slab, which no words may touch.
void segment(const Painter& p, const Frame& f, float x, double from, double value, ImU32 fill, bool pale, float line) {
  if (!(value > 0)) return;
  const Theme& t = widgets::theme();
  const Rect r{{x, f.y(from + value)}, {x + f.width, f.y(from)}};
  p.rect(r.min, r.max, pale ? widgets::with_alpha(fill, 0.35f) : fill);
  const float small = t.type(Type::small);
  if (r.height() < small + t.px(4)) return;
  const widgets::NumberText words = widgets::format(value, "s");
  if (widgets::text_size(words, Type::small, Font::mono).x > f.width - t.px(6)) return;
  float y = (r.min.y + r.max.y - small) / 2;
  if (std::abs(y + small / 2 - line) < 0.75f * small) {
    const bool above = line - r.min.y > r.max.y - line;
    y = above ? (r.min.y + line - small) / 2 : (line + r.max.y - small) / 2;
    if ((above ? line - r.min.y : r.max.y - line) < small + t.px(4)) return;
  }
  p.text({x + f.width / 2, y}, words, pale ? t.text : widgets::text_on(fill, t), Type::small, Font::mono,
         Align::center);
}

void paint_slab(const Painter& p, const Frame& f, const Slab& s, float x) {
  const Theme& t = widgets::theme();
  const float body = t.type(Type::body), title = t.type(Type::title);
  double at = 0;
  const float line = s.chips > 1 && s.divided > 0 ? f.y(s.divided) : -1e6f;
  const auto add = [&](double value, ImU32 fill) {
    segment(p, f, x, at, value, fill, !s.fits, line);
    at += std::max(0.0, value);
  };
  add(s.weights, t.of(widgets::Meaning::memory_bound));
  add(s.cache, t.of(widgets::Meaning::kv_cache));
  add(s.talk, t.of(widgets::Meaning::communication));
  add(s.rest, widgets::colour(widgets::Tint(), t));
  const float top = f.y(s.time), middle = x + f.width / 2;
  p.frame({x, top}, {x + f.width, f.ground}, t.line, t.px(1));
  if (!s.fits) {
    widgets::hatch(p, {{x, top}, {x + f.width, f.ground}}, widgets::with_alpha(t.text, 0.3f), t.px(6));
    p.frame({x, top}, {x + f.width, f.ground}, t.muted, t.px(1));
  }
  const ImU32 ink = s.yours ? t.accent : s.fits ? t.text : t.muted;
  widgets::fit_text(p, {middle, top - title - t.px(4)}, s.total, f.pitch - t.px(8), ink, Type::title, Font::mono,
                    Align::center);
  widgets::fit_text(p, {middle, f.ground + t.px(5)}, s.name, f.pitch - t.px(6), ink, Type::body, Font::bold,
                    Align::center);
  const std::string_view under = s.fits ? std::string_view(s.price) : std::string_view(s.why);
  widgets::fit_text(p, {middle, f.ground + t.px(7) + body}, under, f.pitch - t.px(6), t.muted, Type::small, Font::sans,
                    Align::center);
  if (s.yours) p.frame({x - t.px(2), top - t.px(2)}, {x + f.width + t.px(2), f.ground}, t.accent, t.px(2), t.px(2));
  if (s.chips > 1 && s.divided > 0) {
    const float y = f.y(s.divided);
    p.dashed_line({x - t.px(10), y}, {x + f.width + t.px(10), y}, t.text, t.px(1.5f), t.px(4));
  }
}

/// From yours to twice as many: what it wins or loses.
void paint_step(const Painter& p, const Frame& f, const Picture& picture) {
  const Theme& t = widgets::theme();
  if (picture.difference.empty()) return;
  for (std::size_t i = 0; i + 1 < picture.slabs.size(); ++i) {
    const Slab &a = picture.slabs[i], &b = picture.slabs[i + 1];
    if (!a.yours || b.chips != 2 * a.chips) continue;
    if (f.pitch - f.width < widgets::text_size(picture.difference, Type::body, Font::mono).x + t.px(28)) continue;
    const float x0 = f.x(i) + f.width + t.px(6), x1 = f.x(i + 1) - t.px(6);
    const float y0 = f.y(a.time), y1 = f.y(b.time);
    p.line({x0, y0}, {x1, y1}, t.accent, t.px(1.5f));
    p.line({x1, y1}, {x1 - t.px(7), y1 - t.px(4)}, t.accent, t.px(1.5f));
    p.line({x1, y1}, {x1 - t.px(7), y1 + t.px(4)}, t.accent, t.px(1.5f));
    p.text({(x0 + x1) / 2, std::min(y0, y1) - t.type(Type::body) - t.px(6)}, picture.difference, t.accent, Type::body,
           Font::mono, Align::center);
  }
}

void paint_axis(const Painter& p, const Frame& f, const Picture& picture) {
  const Theme& t = widgets::theme();
  const bool divided = std::any_of(picture.slabs.begin(), picture.slabs.end(),
                                   [](const Slab& s) { return s.chips > 1 && s.divided > 0; });
  const float small = t.type(Type::small);
  const widgets::UnitScale unit = widgets::unit_scale(f.longest_s, "s");
  const double most = f.longest_s / unit.factor, raw = most / 5;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10) * power;
  for (double v = 0; v <= most * 1.0001; v += step) {
    const float y = f.y(v * unit.factor);
    p.line({f.left, y}, {f.right, y}, t.grid, t.px(1));
    p.text({f.left - t.px(6), y - small / 2}, widgets::format(v, "", 4), t.muted, Type::small, Font::mono,
           Align::right);
  }
  widgets::Line words;
  words.add(unit.unit).add(" per token");
  if (divided) words.add("; dashed: if all were divided among the chips");
  p.text({f.left - t.px(46), f.top - t.type(Type::title) - small - t.px(6)}, words.view(), t.muted, Type::small);
}

void paint_guess(const Painter& p, const Frame& f, const Picture& picture) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  const bool time = guess->output == "token_s" || guess->output == "step_time_s" || guess->output == "next_s" ||
                    guess->output == "reading_s" || guess->output == "communication_time_s";
  if (!time) return;
  widgets::drew("guess");
  const Theme& t = widgets::theme();
  const float raw = f.y(guess->value), y = std::clamp(raw, f.top - t.px(6), f.ground);
  // A guess of twice as many chips stands at their slab, every other at yours.
  const auto yours = std::find_if(picture.slabs.begin(), picture.slabs.end(), [](const Slab& s) { return s.yours; });
  if (yours == picture.slabs.end()) return;
  const std::int64_t chips = guess->output == "next_s" ? 2 * yours->chips : yours->chips;
  for (std::size_t i = 0; i < picture.slabs.size(); ++i) {
    if (picture.slabs[i].chips != chips) continue;
    const float x = f.x(i);
    p.dashed_line({x - t.px(16), y}, {x + f.width + t.px(16), y}, t.accent, t.px(2), t.px(5));
    const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), raw < y);
    widgets::paint_guess_words(p, {x, y + t.px(3)}, words.view());
  }
}

/// A press on a slab takes that number of chips; a drag up and down changes the users.
void take_presses(Inputs& in, const Frame& f, const Picture& picture) {
  const Theme& t = widgets::theme();
  for (std::size_t i = 0; i < picture.slabs.size(); ++i) {
    const Slab& s = picture.slabs[i];
    ImGui::SetCursorScreenPos({f.x(i), f.top - t.px(20)});
    ImGui::PushID(static_cast<int>(i));
    if (widgets::press_area("slab", {f.width, f.ground - f.top + t.px(40)})) in.tensor_parallel = s.chips;
    if (ImGui::IsItemHovered()) widgets::tip(s.name, s.total, "Press it and it is yours; drag up for more users.");
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
      const double way = static_cast<double>(-ImGui::GetIO().MouseDelta.y / t.px(40));
      const double users = static_cast<double>(in.batch) * std::exp2(way);
      in.batch = std::clamp<std::int64_t>(std::llround(way > 0 ? std::ceil(users) : std::floor(users)), 1, 1024);
    }
    ImGui::PopID();
  }
}

void paint_key(const Painter& p, ImVec2 at, float width, const Picture& picture, View& view) {
  const std::array<widgets::LegendEntry, 4> legend{
      {{"reading weights", widgets::Meaning::memory_bound},
       {"reading caches", widgets::Meaning::kv_cache},
       {"talk", widgets::Meaning::communication},
       {picture.expected ? "the rest, as engines were seen to take" : "arithmetic beyond reading", widgets::Tint()}}};
  const std::span<const widgets::LegendEntry> shown = std::span(legend).first(picture.rest ? 4 : 3);
  widgets::layout_legend(shown, width, widgets::legend_row_px(), widgets::measure_text, view.legend);
  widgets::paint_legend(p, at, width, shown, view.legend);
}

}  // namespace

void draw_slabs(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (picture.slabs.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const Frame f = frame_of(picture, at, size);
  const Theme& t = widgets::theme();
  widgets::drew("slabs");
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    for (std::size_t i = 0; i < picture.slabs.size(); ++i) {
      p.frame({f.x(i), f.top}, {f.x(i) + f.width, f.ground}, t.muted, t.px(1));
      widgets::fit_text(p, {f.x(i) + f.width / 2, f.top + t.px(6)}, picture.slabs[i].name, f.width - t.px(6), t.text,
                        Type::body, Font::bold, Align::center);
    }
    ImGui::Dummy(size);
    return;
  }
  paint_key(p, at, size.x, picture, view);
  paint_axis(p, f, picture);
  for (std::size_t i = 0; i < picture.slabs.size(); ++i) paint_slab(p, f, picture.slabs[i], f.x(i));
  paint_step(p, f, picture);
  paint_guess(p, f, picture);
  if (f.ground > f.top + t.px(30)) take_presses(in, f, picture);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::tensor_parallel
