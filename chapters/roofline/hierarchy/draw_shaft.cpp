#include "chapters/roofline/hierarchy/draw_shaft.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/roofline/hierarchy/draw_ladder.h"
#include "chapters/roofline/hierarchy/shaft.h"
#include "widgets/base/guess.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/stage/stage.h"

namespace chapters::roofline::hierarchy {
namespace {

using models::LevelKind, widgets::Align, widgets::Font, widgets::Line, widgets::Painter, widgets::Rect, widgets::theme,
    widgets::Type;

/// A list of as many levels as a chip may have, which a frame can fill without memory of its own.
template <class T>
struct FewLevels {
  std::array<T, 32> items{};
  std::size_t count = 0;
  void push_back(T item) {
    if (count < items.size()) items[count++] = item;
  }
  T* begin() { return items.data(); }
  T* end() { return items.data() + count; }
  T& operator[](std::size_t i) { return items[i]; }
};

class Shaft {
 public:
  Shaft(const Inputs& in, const Outputs& out, const Picture& pic, Rect area, bool hidden);
  void draw_axis(bool hidden) const;
  void draw_roads() const;
  void draw_stations(Inputs& in) const;
  void draw_empty() const;
  void draw_ways() const;
  void draw_guess() const;

 private:
  float small() const { return t_.type(Type::small); }
  float line() const { return small() + t_.px(3); }
  void road(float centre, float width, double from_s, double to_s, std::size_t row, bool named) const;
  void draw_way(std::size_t index, float centre, float width) const;
  void draw_trips(const Way& way, Rect bar, double first_s) const;

  const Inputs& in_;
  const Outputs& out_;
  const Picture& pic_;
  Rect area_;
  const widgets::Theme& t_ = theme();
  const Painter p_ = Painter::window();
  Depth depth_;
  float axis_x_, road_left_, road_right_, names_x_, ways_left_, ways_right_;
};

Shaft::Shaft(const Inputs& in, const Outputs& out, const Picture& pic, Rect area, bool hidden)
    : in_(in), out_(out), pic_(pic), area_(area) {
  const float width = area.width();
  // Under the deepest fetch there is room for its two lines of words.
  depth_ = {hidden ? 1e-10 : pic.lo_s, hidden ? 1.0 : pic.hi_s, area.min.y + line() + t_.px(4),
            area.max.y - 2 * line() - t_.px(12)};
  float ticks = t_.px(58);
  for (const DepthTick& tick : pic.human_ticks)
    if (tick.seconds >= depth_.lo_s && tick.seconds <= depth_.hi_s)
      ticks = std::max(ticks, widgets::text_size(tick.label, Type::small).x);
  axis_x_ = area.min.x + ticks + t_.px(14);
  ways_right_ = area.max.x - t_.px(40);
  road_left_ = axis_x_ + t_.px(10);
  road_right_ = axis_x_ + 0.33f * (width - t_.px(114));
  names_x_ = road_right_ + t_.px(16);
  ways_left_ = names_x_ + std::max(t_.px(178), 0.25f * width);
}

/// Human times at the left, true ones at the right: units alone, so that nothing of a fetch is told.
void Shaft::draw_axis(bool hidden) const {
  p_.line({axis_x_, depth_.top}, {axis_x_, depth_.bottom}, t_.accent, t_.px(1.5f));
  p_.text_fit({area_.min.x, area_.min.y}, "if one clock were a second", names_x_ - area_.min.x, t_.accent, Type::small);
  float free = depth_.top - line();
  for (const DepthTick& tick : pic_.human_ticks) {
    const float y = depth_.y(tick.seconds);
    if (tick.seconds < depth_.lo_s || tick.seconds > depth_.hi_s || y - free < line()) continue;
    free = y;
    p_.line({axis_x_ - t_.px(4), y}, {axis_x_, y}, t_.accent, t_.px(1.5f));
    p_.text({axis_x_ - t_.px(8), y - small() / 2}, tick.label, t_.accent, Type::small, Font::sans, Align::right);
  }
  for (double s = 1e-9; s <= depth_.hi_s; s *= 1e3) {
    const float y = depth_.y(s);
    p_.line({road_left_, y}, {ways_right_, y}, t_.grid);
    // In seconds all the way down: a thousand of them are no round number of minutes.
    const widgets::UnitScale scale = widgets::unit_scale(std::min(s, 1.0), "s");
    p_.text({area_.max.x, y - small() - t_.px(1)},
            widgets::format(s / scale.factor, scale.unit.view(), 3, widgets::Prefix::none).view(), t_.muted,
            Type::small, Font::mono, Align::right);
  }
  if (!hidden && ways_right_ - ways_left_ > t_.px(150))
    p_.text_fit({ways_left_, area_.min.y}, pic_.ways_title, ways_right_ - ways_left_, t_.text, Type::small, Font::bold);
}

/// A road down to a level, as wide as its bandwidth.
void Shaft::road(float centre, float width, double from_s, double to_s, std::size_t row, bool named) const {
  const Rect r{{centre - width / 2, depth_.y(from_s)}, {centre + width / 2, depth_.y(to_s)}};
  const ImU32 hue = t_.of(widgets::Meaning::memory_bound);
  const bool chosen = row == pic_.selected;
  p_.rect(r.min, {std::max(r.max.x, r.min.x + 1), std::max(r.max.y, r.min.y + 1)}, hue);
  if (chosen) p_.frame({r.min.x - 1, r.min.y}, {r.max.x + 1, r.max.y}, t_.accent, t_.px(2));
  if (!named || r.height() < small() + t_.px(2)) return;
  const auto words = widgets::format(out_.levels[row].bandwidth_bytes_per_s, "B/s");
  const float text = widgets::text_size(words, Type::small, Font::mono).x, y = (r.min.y + r.max.y - small()) / 2;
  if (text + t_.px(8) <= width)
    p_.text({centre, y}, words, widgets::text_on(hue, t_), Type::small, Font::mono, Align::center);
  else if (r.max.x + text + t_.px(6) <= road_right_ + t_.px(12))
    p_.text({r.max.x + t_.px(5), y}, words, t_.text, Type::small, Font::mono);
}

/// Near levels lie one under the other; from main memory on roads fork, and are drawn so many times as wide as said.
void Shaft::draw_roads() const {
  const float room = road_right_ - road_left_;
  double near_most = 0, far_most = 0;
  FewLevels<std::size_t> far;
  for (std::size_t i = 0; i < out_.levels.size(); ++i) {
    const LevelRow& row = out_.levels[i];
    if (!(row.time_s > 0)) continue;
    double& most = row.facts.kind < LevelKind::memory ? near_most : far_most;
    most = std::max(most, row.bandwidth_bytes_per_s);
    if (row.facts.kind > LevelKind::memory) far.push_back(i);
  }
  double wider = 1;
  for (const double step : {1000.0, 300.0, 100.0, 30.0, 10.0, 3.0})
    if (wider == 1 && near_most > 0 && far_most * step <= near_most) wider = step;
  const double near_px = static_cast<double>(room) / std::max(near_most, near_most > 0 ? 0 : far_most);
  const auto width_of = [&](const LevelRow& row) {
    const bool near = row.facts.kind < LevelKind::memory;
    return std::max(1.0f, static_cast<float>(row.bandwidth_bytes_per_s * near_px * (near ? 1 : wider)));
  };
  const float middle = (road_left_ + road_right_) / 2;
  double above_s = depth_.lo_s;
  for (std::size_t i = 0; i < out_.levels.size(); ++i) {
    const LevelRow& row = out_.levels[i];
    if (!(row.time_s > 0) || row.facts.kind > LevelKind::memory) continue;
    road(middle, width_of(row), above_s, row.latency_s, i, true);
    if (row.facts.kind == LevelKind::memory && wider > 1) {
      Line words;
      words.add(widgets::format(wider, "")).add("\xC3\x97 wider below");
      const float y = depth_.y(above_s);
      p_.dashed_line({road_left_, y}, {road_right_, y}, t_.text, t_.px(1), t_.px(3));
      if (y - line() > depth_.top && widgets::text_size(words.view(), Type::small).x < middle - road_left_ - t_.px(8))
        p_.text({road_left_, y - line()}, words.view(), t_.text, Type::small);
    }
    above_s = row.latency_s;
  }
  float total = 0;
  for (const std::size_t i : far) total += width_of(out_.levels[i]);
  const float gap = far.count == 0 ? 0 : std::max(t_.px(4), (room - total) / static_cast<float>(far.count + 1));
  float x = road_left_ + gap;
  ImVec2 last{};  // where the name of the last road ends
  for (const std::size_t i : far) {
    const LevelRow& row = out_.levels[i];
    const float width = width_of(row), centre = x + width / 2;
    road(centre, width, above_s, row.latency_s, i, false);
    x += width + gap;
    // Under its road's end, and under the name before it where they would touch.
    const auto words = widgets::format(row.bandwidth_bytes_per_s, "B/s");
    const float half = widgets::text_size(words, Type::small, Font::mono).x / 2;
    float y = depth_.y(row.latency_s) + t_.px(2);
    if (centre - half < last.x + t_.px(4) && y < last.y + line()) y = last.y + line();
    if (y + line() > area_.max.y) continue;
    p_.text({centre, y}, words, t_.text, Type::small, Font::mono, Align::center);
    last = {centre + half, y};
  }
  widgets::drew("roads");
}

void tell_level(const LevelRow& row, const LevelSources& from) {
  Line value, info;
  value.add(widgets::format(row.latency_s, "s")).add(", ").add(widgets::format(row.bandwidth_bytes_per_s, "B/s"));
  info.add("latency: ").add(from.latency);
  widgets::tip(row.facts.label, value.view(), info.view());
}

/// Names at their depth; those that would touch are moved down and joined to it by a dashed line.
void Shaft::draw_stations(Inputs& in) const {
  FewLevels<std::size_t> rows;
  for (std::size_t i = 0; i < out_.levels.size(); ++i)
    if (out_.levels[i].latency_s > 0) rows.push_back(i);
  std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(out_.levels[a].latency_s, a) < std::pair(out_.levels[b].latency_s, b);
  });
  FewLevels<float> tops;
  for (const std::size_t i : rows) tops.push_back(depth_.y(out_.levels[i].latency_s) - line() / 2);
  spread_labels({tops.begin(), tops.end()}, line() + t_.px(1), depth_.top - line() / 2, area_.max.y + t_.px(2));
  const float right = ways_left_ - t_.px(18);
  for (std::size_t k = 0; k < rows.count; ++k) {
    const LevelRow& row = out_.levels[rows[k]];
    const bool chosen = rows[k] == pic_.selected;
    const float depth = depth_.y(row.latency_s), middle = tops[k] + line() / 2;
    const ImVec2 lead[] = {
        {road_right_ - t_.px(4), depth}, {names_x_ - t_.px(10), depth}, {names_x_ - t_.px(3), middle}};
    p_.dashed_polyline(lead, chosen ? t_.accent : t_.muted, t_.px(1), t_.px(3));
    ImGui::SetCursorScreenPos({names_x_ - t_.px(4), tops[k]});
    ImGui::PushID(static_cast<int>(rows[k]));
    if (widgets::press_area(row.facts.label.c_str(), {right - names_x_ + t_.px(8), line()}) && row.time_s > 0)
      in.level = row.facts.kind;
    ImGui::PopID();
    const bool lit = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
    if (chosen || lit)
      p_.frame({names_x_ - t_.px(4), tops[k]}, {right + t_.px(4), tops[k] + line()}, chosen ? t_.accent : t_.line,
               t_.px(1.5f), t_.px(4));
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort)) tell_level(row, pic_.sources[rows[k]]);
    const float y = tops[k] + t_.px(1), human = widgets::text_size(row.human_latency, Type::small).x;
    p_.text_fit({names_x_, y}, row.facts.label, right - names_x_ - human - t_.px(8), t_.text, Type::small,
                chosen ? Font::bold : Font::sans);
    p_.text({right, y}, row.human_latency, chosen ? t_.accent : t_.text, Type::small, chosen ? Font::bold : Font::sans,
            Align::right);
  }
  widgets::drew("stations");
}

/// What a question gives: the levels in their order, without their depths.
void Shaft::draw_empty() const {
  const float step = std::min((depth_.bottom - depth_.top) / static_cast<float>(out_.levels.size() + 1), t_.px(46));
  float y = depth_.top + step / 2;
  for (const LevelRow& row : out_.levels) {
    p_.text_fit({names_x_, y}, row.facts.label, ways_left_ - names_x_ - t_.px(20), t_.text, Type::small);
    p_.dashed_line({road_left_, y + small() / 2}, {names_x_ - t_.px(6), y + small() / 2}, t_.muted, t_.px(1), t_.px(3));
    y += step;
  }
}

/// Each trip of a fetch as a line, until they run into one another.
void Shaft::draw_trips(const Way& way, Rect bar, double first_s) const {
  float last = bar.min.y;
  for (double trip = 2; trip < way.trips; ++trip) {
    const float y = depth_.y(first_s * trip);
    if (y > bar.max.y) return;
    if (y - last < t_.px(2.5f)) {
      p_.rect({bar.min.x, last}, bar.max, widgets::with_alpha(t_.text, 0.16f));
      return;
    }
    p_.line({bar.min.x, y}, {bar.max.x, y}, widgets::with_alpha(t_.text, 0.7f), t_.px(1));
    last = y;
  }
}

/// One way of asking: down to the level, then as deep as the whole fetch takes.
void Shaft::draw_way(std::size_t index, float centre, float width) const {
  const Way& way = pic_.ways[index];
  const float half = std::min(width * 0.28f, t_.px(22)), from = depth_.y(out_.chosen.latency_s),
              to = std::max(depth_.y(way.time_s), from + 1);
  const Rect bar{{centre - half, from}, {centre + half, to}};
  const ImU32 ink = way.chosen ? t_.accent : t_.muted;
  const Font font = way.chosen ? Font::bold : Font::sans;
  if (widgets::text_size(way.name, Type::small, font).x <= width - t_.px(4))
    p_.text({centre, depth_.top}, way.name, way.chosen ? t_.accent : t_.text, Type::small, font, Align::center);
  p_.dashed_line({centre, depth_.top + line()}, {centre, from}, ink, t_.px(1), t_.px(3));
  p_.rect(bar.min, bar.max, widgets::with_alpha(ink, way.chosen ? 0.55f : 0.3f));
  draw_trips(way, bar, out_.chosen.latency_s);
  p_.circle({centre, to}, t_.px(6), way.chosen ? t_.accent : t_.text);
  if (way.chosen) p_.ring({centre, to}, t_.px(6), IM_COL32_WHITE, t_.px(2));
  const float y = to + t_.px(8);
  const bool last = index + 1 == pic_.ways.size();  // to its right there is more room
  const float room = last ? area_.max.x - (centre - width / 2) : width;
  float at = y;
  for (const std::string_view words : {std::string_view(way.human), std::string_view(way.real)}) {
    const Font face = at == y ? Font::bold : Font::mono;
    const float wide = widgets::text_size(words, Type::small, face).x + t_.px(4);
    if (wide <= room) {
      const float middle = std::min(centre, area_.max.x - wide / 2);
      p_.rect({middle - wide / 2, at}, {middle + wide / 2, at + line()}, t_.background, t_.px(3));
      p_.text({middle, at}, words, way.chosen && at == y ? t_.accent : t_.text, Type::small, face, Align::center);
    }
    at += line();
  }
}

void Shaft::draw_ways() const {
  const float width = (ways_right_ - ways_left_) / static_cast<float>(pic_.ways.size());
  for (std::size_t i = 0; i < pic_.ways.size(); ++i)
    draw_way(i, ways_left_ + width * (static_cast<float>(i) + 0.5f), width);
  widgets::drew("fetch");
}

/// What the learner said: a time stands at its depth, anything else over the names.
void Shaft::draw_guess() const {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess) return;
  const bool off = guess->output == "time_s" && guess->value > depth_.hi_s;
  const Line words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), off);
  if (guess->output != "time_s") {
    widgets::paint_guess_words(p_, {names_x_, area_.min.y}, words.view());
    return;
  }
  const float y = depth_.y(guess->value);
  p_.dashed_line({ways_left_, y}, {ways_right_, y}, t_.accent, t_.px(1.5f), t_.px(4));
  widgets::paint_guess_words(p_, {ways_left_, y - line() - t_.px(2)}, words.view());
}

}  // namespace

void draw_shaft(Inputs& in, const Outputs& out, const Picture& pic, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (out.levels.empty() || pic.sources.size() != out.levels.size()) {
    ImGui::Dummy(size);
    return;
  }
  const Rect area{at, {at.x + size.x, at.y + size.y}};
  const bool hidden = widgets::veiled();
  if (hidden) {
    const widgets::GivenMarks given;
    const Shaft shaft(in, out, pic, area, true);
    shaft.draw_axis(true);
    shaft.draw_empty();
  } else {
    const Shaft shaft(in, out, pic, area, false);
    shaft.draw_axis(false);
    shaft.draw_roads();
    shaft.draw_stations(in);
    if (pic.selected < out.levels.size()) shaft.draw_ways();
    shaft.draw_guess();
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
  if (!hidden) record_levels(out, pic);
}

}  // namespace chapters::roofline::hierarchy
