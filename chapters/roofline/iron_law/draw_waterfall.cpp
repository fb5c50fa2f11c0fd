#include "chapters/roofline/iron_law/draw_waterfall.h"

#include <algorithm>
#include <cmath>

#include "chapters/roofline/iron_law/tints.h"
#include "widgets/base/guess.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/plot/axis.h"
#include "widgets/stage/stage.h"

namespace chapters::roofline::iron_law {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

constexpr std::string_view part_words[] = {"memory", "compute", "latency"};

class Bars {
 public:
  Bars(const Outputs& out, const Picture& pic, const View& view, Rect area)
      : out_(out), pic_(pic), view_(view), area_(area) {}
  void draw();

 private:
  float small() const { return t_.type(Type::small); }
  float x(double seconds) const { return static_cast<float>(map_.pixel(seconds)); }
  ImU32 ink(std::size_t part) const { return widgets::colour(tint_of(static_cast<models::IronPart>(part)), t_); }
  float draw_parts(float y) const;
  void draw_axis(float bottom) const;
  void draw_row(const WaterfallRow& row, float top, float height) const;
  void caption(std::size_t part, double seconds, float left, float right, float y, bool named) const;
  void draw_press(float top, float bottom) const;
  void draw_guess(float top, float bottom) const;

  const Outputs& out_;
  const Picture& pic_;
  const View& view_;
  Rect area_;
  const widgets::Theme& t_ = theme();
  const Painter p_ = Painter::window();
  widgets::AxisMap map_;
};

/// The parts by mark and colour with their seconds, however thin they are in the bars.
float Bars::draw_parts(float y) const {
  float at = area_.min.x;
  for (std::size_t i = 0; i < pic_.parts.size(); ++i) {
    const float width = widgets::text_size(pic_.parts[i], Type::small).x + t_.px(16);
    if (at > area_.min.x && at + width > area_.max.x) {
      at = area_.min.x;
      y += small() * 1.5f;
    }
    part_mark(p_, {at + t_.px(5), y + small() / 2}, i);
    p_.text({at + t_.px(16), y}, pic_.parts[i], t_.text, Type::small);
    at += width + t_.px(20);
  }
  return y + small() * 1.7f;
}

void Bars::draw_axis(float bottom) const {
  widgets::AxisTicks ticks;
  widgets::layout_ticks({.unit = "s"}, {0, pic_.longest_s}, map_,
                        {[](std::string_view s) { return widgets::measure_text(s, Type::small); }, small()}, ticks);
  for (const widgets::Tick& tick : ticks.major()) {
    const float px = std::floor(static_cast<float>(tick.pixel)) + 0.5f;
    p_.line({px, area_.min.y}, {px, bottom}, t_.grid);
    p_.text({px, bottom + t_.px(4)}, tick.label, t_.muted, Type::small, Font::sans, Align::center);
  }
  if (ticks.unit.length > 0)
    p_.text({area_.max.x, bottom + t_.px(4)}, ticks.unit, t_.muted, Type::small, Font::sans, Align::right);
}

void Bars::caption(std::size_t part, double seconds, float left, float right, float y, bool named) const {
  const auto value = widgets::format(seconds, "s");
  widgets::Line full;
  if (named) full.add(part_words[part]).add(" ");
  full.add(value);
  const ImU32 on = widgets::text_on(ink(part), t_);
  for (const std::string_view words : {full.view(), value.view()})
    if (widgets::text_size(words, Type::small).x + t_.px(12) <= right - left) {
      p_.text({(left + right) / 2, y}, words, on, Type::small, Font::sans, Align::center);
      return;
    }
}

void Bars::draw_row(const WaterfallRow& row, float top, float height) const {
  const float thick = std::clamp(height * 0.7f, small() + t_.px(2), t_.px(56));
  const float a = std::floor(top + (height - thick) / 2), b = a + thick, text_y = (a + b - small()) / 2;
  p_.text_fit({x(0) - t_.px(10), text_y}, row.label, x(0) - area_.min.x - t_.px(10), row.strong ? t_.text : t_.muted,
              Type::small, Font::sans, Align::right);
  double at = 0;
  for (std::size_t i = 0; i < row.seen.size(); ++i) {
    if (!(row.seen[i] > 0)) continue;
    const float left = x(at), right = std::max(x(at + row.seen[i]), left + 1);
    p_.rect({left, a}, {right, b}, t_.background);  // the grid must not show through
    p_.rect({left, a}, {right, b}, row.strong ? ink(i) : widgets::with_alpha(ink(i), 0.75f), t_.px(2));
    if (row.strong) caption(i, row.seen[i], left, right, text_y, true);
    at += row.seen[i];
  }
  double end = at;
  for (std::size_t i = 0; i < row.taken.size(); ++i) {
    if (!(row.taken[i] > 0)) continue;
    const Rect gone{{x(end), a}, {std::max(x(end + row.taken[i]), x(end) + 1), b}};
    widgets::hatch(p_, gone, widgets::with_alpha(ink(i), 0.75f), t_.px(6));
    p_.frame(gone.min, gone.max, ink(i), 1, t_.px(2));
    end += row.taken[i];
  }
  if (row.added_s > 0) p_.frame({x(at - row.added_s), a}, {x(at), b}, t_.bad, t_.px(2), t_.px(2));
  if (row.hidden_s > 0) {
    const float strip = t_.px(3);
    p_.rect({x(0), b + 1}, {x(row.hidden_s), b + 1 + strip}, ink(static_cast<std::size_t>(row.hidden)));
  }
  p_.text({x(end) + t_.px(8), text_y}, row.text, row.added_s > 0 ? t_.bad : t_.text, Type::small,
          row.strong ? Font::bold : Font::mono);
}

/// What a press of the technique under the pointer would make of the last bar.
void Bars::draw_press(float top, float bottom) const {
  if (view_.hovered < 0 || static_cast<std::size_t>(view_.hovered) >= pic_.presses.size()) return;
  const Press& press = pic_.presses[static_cast<std::size_t>(view_.hovered)];
  const float px = std::min(x(press.time_s), area_.max.x);
  p_.dashed_line({px, top}, {px, bottom}, t_.accent, t_.px(2), t_.px(4));
  p_.text({area_.max.x, area_.min.y - small() * 1.5f}, press.text, t_.accent, Type::small, Font::sans, Align::right);
}

/// What the learner said of the time, or how many times as fast it gets, across the last bar.
void Bars::draw_guess(float top, float bottom) const {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || !(guess->value > 0) || (guess->output != "time_s" && guess->output != "speedup")) return;
  const double seconds = guess->output == "time_s" ? guess->value : out_.before.time_s / guess->value;
  const bool off = seconds > pic_.longest_s;
  const float px = x(std::min(seconds, pic_.longest_s));
  p_.dashed_line({px, top}, {px, bottom}, t_.accent, t_.px(2), t_.px(4));
  widgets::paint_guess_words(p_, {px + t_.px(6), top + t_.px(2)},
                             widgets::guess_words(widgets::format(guess->value, guess->unit).view(), off).view());
}

void Bars::draw() {
  const Rect all = area_;
  float top = draw_parts(all.min.y);
  if (!out_.caution.empty())
    top += widgets::wrapped_text(p_, {all.min.x, top}, out_.caution, all.width(), t_.warning) + t_.px(4);
  float labels = 0, values = 0;
  for (const WaterfallRow& row : pic_.rows) {
    labels = std::max(labels, widgets::text_size(row.label, Type::small).x);
    values = std::max(values, widgets::text_size(row.text, Type::small, Font::mono).x);
  }
  labels = std::min(labels + t_.px(18), all.width() * 0.36f);
  const float bottom = all.max.y - small() - t_.px(8);
  map_ = {widgets::AxisKind::linear,
          {0, pic_.longest_s},
          static_cast<double>(all.min.x + labels),
          static_cast<double>(all.max.x - values - t_.px(14))};
  const float least = small() + t_.px(5);
  const auto fit = static_cast<std::size_t>(std::max((bottom - top) / least, 1.0f));
  const std::size_t count = pic_.rows.size(), shown = std::min(count, fit);
  const float height = std::min((bottom - top) / static_cast<float>(shown), t_.px(128));
  area_.min.y = top;
  const float end = top + height * static_cast<float>(shown);
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    const Painter p = Painter::window();
    for (std::size_t i = 0; i < shown; ++i)
      p.text_fit({x(0) - t_.px(10), top + height * (static_cast<float>(i) + 0.5f) - small() / 2}, pic_.rows[i].label,
                 labels - t_.px(10), t_.text, Type::small, Font::sans, Align::right);
    p.line({x(0), top}, {x(0), end}, t_.line, t_.px(1.5f));
    p.text_fit({x(0) + t_.px(10), top + height / 2 - small() / 2}, pic_.given, all.max.x - x(0) - t_.px(14), t_.text,
               Type::small);
    return;
  }
  draw_axis(end);
  widgets::drew("bars");
  for (std::size_t i = 0; i < shown; ++i) {
    // Where rows have no room, the last one is still where it ends.
    const std::size_t row = i + 1 == shown ? count - 1 : i;
    draw_row(pic_.rows[row], top + height * static_cast<float>(i), height);
  }
  draw_press(top + height * static_cast<float>(shown - 1), end);
  draw_guess(top + height * static_cast<float>(shown - 1), end);
}

}  // namespace

void draw_waterfall_rows(const Outputs& out, const Picture& pic, const View& view, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  if (pic.rows.empty() || !(pic.longest_s > 0)) return;
  Bars(out, pic, view, {at, {at.x + size.x, at.y + size.y}}).draw();
  widgets::Record* record = Painter::window().record();
  if (!record) return;
  widgets::DataTable table{"techniques in order", {"step", "memory (s)", "compute (s)", "latency (s)", "time (s)"}, {}};
  for (const WaterfallRow& row : pic.rows)
    table.rows.push_back({row.label, widgets::exact(row.seen[0]), widgets::exact(row.seen[1]),
                          widgets::exact(row.seen[2]), widgets::exact(row.total_s)});
  record->tables.push_back(std::move(table));
}

}  // namespace chapters::roofline::iron_law
