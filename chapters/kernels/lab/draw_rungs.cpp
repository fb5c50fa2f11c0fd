#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chapters/kernels/lab/draw_parts.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/charts/rows.h"
#include "widgets/number/number.h"

/// A row for each rung on one axis of rates: what the model allows (hatched), what you expect (a pin), what was
/// measured (filled, with its interquartile range), and the rung's roof, where its track ends.
namespace chapters::kernels::lab {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::theme, widgets::Type;

struct Columns {
  float name, bar_left, bar_right, share, rate, time, here, end;  ///< x; figures end at theirs; -1: no such column
  double highest;
  float at(double rate_now) const {
    return bar_left + (bar_right - bar_left) * static_cast<float>(std::clamp(rate_now / highest, 0.0, 1.0));
  }
};

Columns columns_of(float left, float width, double highest, bool any_time) {
  const auto& t = theme();
  Columns c{};
  c.name = left + t.px(6);
  c.end = left + width;
  c.bar_left = left + std::min(t.px(220), width * 0.3f);
  const bool timed_too = any_time && width >= t.px(840), rated_too = width >= t.px(480);
  float x = c.end - t.px(8);
  c.time = timed_too ? x : -1;
  if (timed_too) x -= t.px(112);
  c.here = !any_time && width >= t.px(560) ? x : -1;
  if (c.here > 0) x -= t.px(64);
  c.rate = rated_too ? x : -1;
  if (rated_too) x -= t.px(100);
  c.share = x;
  c.bar_right = x - t.px(66);
  c.highest = highest;
  return c;
}

ImU32 colour_of(const Bar& bar) {
  const auto& t = theme();
  return t.of(bar.bound == Bound::memory    ? Meaning::memory_bound
              : bar.bound == Bound::compute ? Meaning::compute_bound
                                            : Meaning::launch_bound);
}

/// The shape that goes with a regime's colour.
void paint_shape(const Painter& p, Bound bound, ImVec2 c, float r, ImU32 colour) {
  if (bound == Bound::memory) return p.circle(c, r, colour);
  if (bound == Bound::compute) return p.rect({c.x - r, c.y - r}, {c.x + r, c.y + r}, colour);
  const ImVec2 corners[] = {{c.x, c.y - r}, {c.x + r, c.y + r}, {c.x - r, c.y + r}};
  p.polygon(corners, colour);
}

/// The pin of a prediction: a line through the track with a head.
void paint_pin(const Painter& p, float x, float y0, float y1) {
  const auto& t = theme();
  p.line({x, y0 - t.px(3)}, {x, y1 + t.px(3)}, t.text, t.px(2.5f));
  p.circle({x, y0 - t.px(3)}, t.px(3), t.text);
}

/// What somebody else measured: filled like every measurement, on a rim so that it shows on a bar.
void paint_published(const Painter& p, ImVec2 c) {
  const auto& t = theme();
  const auto diamond = [&](float r, ImU32 colour) {
    const ImVec2 points[] = {{c.x, c.y - r}, {c.x + r, c.y}, {c.x, c.y + r}, {c.x - r, c.y}};
    p.polygon(points, colour);
  };
  diamond(t.px(6.5f), t.background);
  diamond(t.px(4.5f), t.text);
}

/// The track up to the roof and all that stands in it.
void paint_track(const Painter& p, const Columns& c, const Bar& bar, float top, float row, bool selected) {
  const auto& t = theme();
  const float h = std::min(t.px(64), std::min(row - t.px(8), row * 0.5f + t.px(4))), y0 = top + (row - h) / 2,
              y1 = y0 + h, middle = top + row / 2;
  const ImU32 hue = colour_of(bar);
  const bool shown = bar.shown();
  const float roof = bar.roof_rate > 0 ? c.at(bar.roof_rate) : c.bar_right;
  p.rect({c.bar_left, y0}, {roof, y1}, selected ? t.background : t.card, t.px(3));
  const bool elsewhere = !shown && bar.published_rate > 0;
  if (bar.predicted_rate > 0) {
    // What may be reached is hollow, what was measured is filled.
    const float x = std::max(c.at(bar.predicted_rate), c.bar_left + t.px(2)), from = shown ? y1 - t.px(4) : y0;
    p.rect({c.bar_left, from}, {x, y1}, widgets::with_alpha(hue, 0.12f), t.px(2));
    if (elsewhere)
      p.frame({c.bar_left, from}, {x, y1}, widgets::with_alpha(hue, 0.75f), t.px(1.2f), t.px(2));
    else
      widgets::hatch(p, {{c.bar_left, from}, {x, y1}}, widgets::with_alpha(hue, 0.75f), t.px(5));
    p.line({x, y0}, {x, y1}, hue, t.px(1.5f));
  }
  if (elsewhere) p.rect({c.bar_left, y0}, {std::max(c.at(bar.published_rate), c.bar_left + t.px(2)), y1}, hue, t.px(3));
  if (shown) {
    p.rect({c.bar_left, y0},
           {std::max(c.at(bar.measured_rate), c.bar_left + t.px(2)), bar.predicted_rate > 0 ? y1 - t.px(4) : y1}, hue,
           t.px(3));
    const float slow = bar.slow_rate > 0 ? c.at(bar.slow_rate) : 0, fast = bar.fast_rate > 0 ? c.at(bar.fast_rate) : 0;
    if (fast > slow && slow > 0) {
      const float y = (y0 + y1) / 2 - t.px(2), cap = t.px(3);
      p.line({slow, y}, {fast, y}, t.text, t.px(1.2f));
      for (const float x : {slow, fast}) p.line({x, y - cap}, {x, y + cap}, t.text, t.px(1.2f));
    }
  }
  if (bar.roof_rate > 0) p.line({roof, y0 - t.px(3)}, {roof, y1 + t.px(3)}, t.accent, t.px(2));
  if (bar.published_rate > 0 && shown) paint_published(p, {c.at(bar.published_rate), middle});
  if (bar.yours > 0 && bar.roof_rate > 0) paint_pin(p, c.at(bar.yours * bar.roof_rate), y0, y1);
}

void paint_row(const Painter& p, const Columns& c, const Bar& bar, std::size_t index, float top, float row,
               bool selected) {
  const auto& t = theme();
  if (selected) p.rect({c.name - t.px(6), top + 1}, {c.end, top + row - 1}, t.card, t.px(5));
  const float text_y = top + (row - t.type(Type::small)) / 2 - t.px(1);
  widgets::Line number;
  number.add_integer(static_cast<std::int64_t>(index) + 1);
  p.text({c.name + t.px(14), text_y}, number.view(), t.muted, Type::small, Font::mono, Align::right);
  p.text_fit({c.name + t.px(22), text_y}, bar.title, c.bar_left - c.name - t.px(30), t.text, Type::small);
  paint_track(p, c, bar, top, row, selected);
  const bool shown = bar.shown();
  const auto figure = [&](float x, std::string_view text, ImU32 ink) {
    if (x > 0 && !text.empty()) p.text({x, text_y}, text, ink, Type::small, Font::mono, Align::right);
  };
  if (bar.checked) {
    // What the model allows stays where there is room for both.
    if (c.rate > 0) figure(c.share, bar.share, t.muted);
    p.text({c.rate > 0 ? c.rate : c.share, text_y}, c.rate > 0 ? "right, not timed" : "right", t.good, Type::small,
           Font::sans, Align::right);
  } else if (bar.failed) {
    p.text({c.share, text_y}, "failed", t.bad, Type::small, Font::sans, Align::right);
  } else if (bar.hidden) {
    const float wide = widgets::text_size("predict it first", Type::small).x;
    p.text({c.rate > 0 ? c.rate : c.share, text_y}, c.rate > 0 || wide < t.px(66) ? "predict it first" : "predict",
           t.accent, Type::small, Font::sans, Align::right);
  } else if (!shown && !bar.published_share.empty()) {
    figure(c.share, bar.published_share, t.text);
    figure(c.rate, bar.share, t.muted);
  } else {
    figure(c.share, bar.share, bar.above_roof ? t.warning : shown ? t.text : t.muted);
    figure(c.rate, bar.rate, shown ? t.text : t.muted);
    figure(c.time, bar.time, t.muted);
  }
  if (c.here > 0 && !shown && !bar.failed && !bar.hidden && !bar.checked) {
    const ImVec2 box{c.here - t.px(30), text_y - t.px(3)};
    p.frame(box, {c.here, text_y + t.type(Type::small) + t.px(3)}, t.muted, 1, t.px(4));
    p.text({c.here - t.px(15), text_y}, "?", t.muted, Type::small, Font::mono, Align::center);
  }
}

/// What the figures of a column are, over it.
void paint_heads(const Painter& p, const Picture& picture, const Columns& c, float y) {
  const auto& t = theme();
  const auto any = [&](auto&& has) { return std::any_of(picture.bars.begin(), picture.bars.end(), has); };
  const bool ran = any([](const Bar& b) { return b.shown(); });
  const bool elsewhere = any([](const Bar& b) { return !b.shown() && !b.published_share.empty(); });
  const auto head = [&](float x, std::string_view words) {
    if (x > 0) p.text({x, y}, words, t.muted, Type::small, Font::sans, Align::right);
  };
  head(c.share, "of its roof");
  head(c.rate, ran && elsewhere ? "rate, or model" : ran ? "rate" : elsewhere ? "by the model" : "model's rate");
  head(c.time, "time");
  head(c.here, "yours");
}

void explain(const Bar& bar) {
  widgets::Line value;
  if (bar.checked)
    value.add("right against float64, and not timed");
  else if (bar.failed)
    value.add("failed");
  else if (bar.hidden)
    value.add("press where you expect its bar to end");
  else if (bar.above_roof)
    value.add("Above its roof: ").add(bar.why_above);
  else if (!bar.time.empty())
    value.add(bar.rate).add(", ").add(bar.time).add(", ").add(bar.share);
  else
    value.add(bar.share);
  if (!bar.published_text.empty()) value.add("\nmeasured elsewhere: ").add(bar.published_text);
  widgets::tip(bar.change, value.view(), bar.hover);
}

/// What the marks that stand in the rows mean, in one line.
void paint_legend(const Painter& p, const Picture& picture, ImVec2 at, float width) {
  const std::span<const Bar> bars(picture.bars);
  const auto& t = theme();
  float x = at.x;
  const float middle = at.y + t.px(8);
  const auto any = [&](auto&& has) { return std::any_of(bars.begin(), bars.end(), has); };
  const auto entry = [&](bool drawn, auto&& mark, std::string_view words) {
    if (!drawn) return;
    const float w = widgets::text_size(words, Type::small).x;
    if (x + t.px(19) + w > at.x + width) return;
    mark(ImVec2{x + t.px(7), middle});
    p.text({x + t.px(19), at.y}, words, t.muted, Type::small);
    x += t.px(19) + w + t.px(12);
  };
  entry(
      any([](const Bar& b) { return b.roof_rate > 0; }),
      [&](ImVec2 c) {
        p.line({c.x, c.y - t.px(6)}, {c.x, c.y + t.px(6)}, t.accent, t.px(2));
      },
      "its roof");
  entry(
      any([](const Bar& b) { return b.predicted_rate > 0; }),
      [&](ImVec2 c) {
        p.frame({c.x - t.px(7), c.y - t.px(5)}, {c.x + t.px(7), c.y + t.px(5)}, t.muted, 1, t.px(2));
      },
      "the model allows");
  entry(
      any([](const Bar& b) { return b.yours > 0 && b.roof_rate > 0; }),
      [&](ImVec2 c) { paint_pin(p, c.x, c.y - t.px(3), c.y + t.px(3)); }, "your prediction");
  widgets::Line elsewhere;
  elsewhere.add("measured on ").add(picture.elsewhere);
  entry(
      any([&](const Bar& b) { return b.published_rate > 0 && !b.shown(); }),
      [&](ImVec2 c) {
        p.rect({c.x - t.px(7), c.y - t.px(5)}, {c.x + t.px(7), c.y + t.px(5)}, t.muted, t.px(2));
      },
      elsewhere.view());
  entry(
      any([&](const Bar& b) { return b.published_rate > 0 && b.shown(); }), [&](ImVec2 c) { paint_published(p, c); },
      elsewhere.view());
  entry(
      any([&](const Bar& b) { return !b.shown() && !b.failed && !b.hidden && !b.checked; }),
      [&](ImVec2 c) {
        p.frame({c.x - t.px(7), c.y - t.px(6)}, {c.x + t.px(7), c.y + t.px(6)}, t.muted, 1, t.px(3));
        p.text({c.x, c.y - t.type(Type::small) / 2}, "?", t.muted, Type::small, Font::mono, Align::center);
      },
      "on your machine");
  for (const auto& [bound, name, meaning] : {std::tuple{Bound::memory, "memory-bound", Meaning::memory_bound},
                                             std::tuple{Bound::compute, "compute-bound", Meaning::compute_bound},
                                             std::tuple{Bound::latency, "latency-bound", Meaning::launch_bound}})
    entry(
        any([&, shape = bound](const Bar& b) { return b.bound == shape && (b.predicted_rate > 0 || b.shown()); }),
        [&, shape = bound, hue = meaning](ImVec2 c) { paint_shape(p, shape, c, t.px(4), t.of(hue)); }, name);
}

void keep_table(const Picture& picture, widgets::Record& record) {
  widgets::DataTable table{"Rungs",
                           {"rung", "title", "model share", "your share", "measured share", "published share", "rate",
                            "roof rate", "model rate", "time"},
                           {}};
  const auto number = [](double v) { return v >= 0 ? widgets::exact(v) : std::string(); };
  for (const Bar& b : picture.bars)
    table.rows.push_back({std::string(b.id), std::string(b.title), number(b.predicted), number(b.yours),
                          b.hidden ? "" : number(b.measured), number(b.published),
                          b.hidden ? "" : number(b.measured_rate), number(b.roof_rate), number(b.predicted_rate),
                          b.hidden ? "" : b.time});
  record.tables.push_back(std::move(table));
}

/// The share of its roof that the pointer stands at becomes the learner's prediction.
void predict_at(Inputs& in, std::string_view ladder, const Bar& bar, const Columns& c, float x) {
  if (!(bar.roof_rate > 0)) return;
  const double rate = static_cast<double>((x - c.bar_left) / std::max(c.bar_right - c.bar_left, 1.0f)) * c.highest;
  auto row_of = std::find_if(in.predictions.begin(), in.predictions.end(),
                             [&](const PredictionRow& r) { return r.ladder == ladder && r.rung == bar.id; });
  if (row_of == in.predictions.end())
    row_of = in.predictions.insert(row_of, {std::string(ladder), std::string(bar.id), 0});
  row_of->share = std::clamp(std::round(1000 * rate / bar.roof_rate) / 10, 0.1, 100.0);
}

/// One row: a press on its name chooses the rung, and one along its bar predicts it.
void draw_rung(Inputs& in, const Picture& picture, std::size_t i, const Columns& c, ImVec2 at, float row) {
  const Bar& bar = picture.bars[i];
  ImGui::PushID(static_cast<int>(i));
  ImGui::SetCursorScreenPos({at.x, at.y});
  char label[64];
  const int letters = static_cast<int>(std::min<std::size_t>(bar.id.size(), 40));
  std::snprintf(label, sizeof label, "rung %.*s", letters, bar.id.data());
  const bool chosen = widgets::press_area(label, {c.bar_left - at.x, row});
  bool hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort);
  ImGui::SetCursorScreenPos({c.bar_left, at.y});
  std::snprintf(label, sizeof label, "predict %.*s", letters, bar.id.data());
  widgets::press_area(label, {c.bar_right - c.bar_left, row});
  const bool predicting = ImGui::IsItemActive() && ImGui::IsMouseDown(0);
  hovered |= ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort);
  if (chosen || predicting) in.rung = static_cast<std::int64_t>(i) + 1;
  if (predicting) predict_at(in, picture.run->ladder->id, bar, c, ImGui::GetIO().MousePos.x);
  paint_row(Painter::window(), c, bar, i, at.y, row, i == picture.run->selected);
  if (hovered && !predicting) explain(bar);
  ImGui::PopID();
}

}  // namespace

namespace {

/// What the learner said that the chosen rung can reach, in its row.
void mark_guess(const Painter& p, const Picture& picture, const Columns& c, float top, float row) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "predicted_share" || picture.run->selected >= picture.bars.size()) return;
  const Bar& bar = picture.bars[picture.run->selected];
  if (!(bar.roof_rate > 0)) return;
  const auto& t = theme();
  const float y = top + row * static_cast<float>(picture.run->selected), x = c.at(guess->value / 100 * bar.roof_rate);
  p.dashed_line({x, y}, {x, y + row}, t.accent, t.px(2), t.px(4));
  widgets::paint_guess_words(p, {x + t.px(6), y + (row - t.type(Type::small)) / 2},
                             widgets::guess_words(widgets::format(guess->value, "%").view(), false).view());
}

/// While a question is open: the versions by name, each with an empty track.
void draw_given_rungs(const Picture& picture, ImVec2 at, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), scale = small + t.px(8);
  const float row = std::min((size.y - scale) / static_cast<float>(picture.bars.size()), t.px(64)),
              left = std::min(t.px(220), size.x * 0.3f);
  const float under = at.y + row * static_cast<float>(picture.bars.size());
  p.text({at.x + left, under}, "0", t.muted, Type::small, Font::mono);
  p.text({at.x + size.x - t.px(4), under}, "its roof", t.muted, Type::small, Font::sans, Align::right);
  for (std::size_t i = 0; i < picture.bars.size(); ++i) {
    const float top = at.y + row * static_cast<float>(i), text_y = top + (row - small) / 2;
    widgets::Line number;
    number.add_integer(static_cast<std::int64_t>(i) + 1);
    p.text({at.x + t.px(20), text_y}, number.view(), t.muted, Type::small, Font::mono, Align::right);
    widgets::fit_text(p, {at.x + t.px(28), text_y}, picture.bars[i].title, left - t.px(38), t.text, Type::small);
    p.frame({at.x + left, top + row * 0.25f}, {at.x + size.x, top + row * 0.75f}, t.muted, 1, t.px(3));
  }
}

}  // namespace

void draw_rungs(Inputs& in, const Picture& picture, ImVec2 size) {
  if (widgets::veiled()) return draw_given_rungs(picture, ImGui::GetCursorScreenPos(), size);
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool any_time = std::any_of(picture.bars.begin(), picture.bars.end(),
                                    [](const Bar& bar) { return !bar.time.empty() && !bar.hidden; });
  const Columns c = columns_of(at.x, size.x, picture.highest, any_time);
  const auto n = static_cast<float>(picture.bars.size());
  // From the bottom up, each where the rows keep their least height: the selected rung's words, the legend, the axis.
  const float least_row = t.px(24);
  float room = size.y;
  const auto take = [&](float height) {
    if (room - height < n * least_row) return false;
    room -= height;
    return true;
  };
  const bool axis = take(widgets::row_axis_height(2)), legend = take(t.px(24));
  const float words_width = size.x - t.px(12);
  const float change = widgets::wrapped_text(p, at, picture.change, words_width, t.text, {.paint = false}),
              caption = widgets::wrapped_text(p, at, picture.caption, words_width, t.muted, {.paint = false});
  const bool worded = take(change + caption + t.px(8)), headed = take(t.px(20));
  const float first = at.y + (headed ? t.px(20) : 0), row = std::min(room / std::max(n, 1.0f), t.px(180)),
              bottom = first + row * n;
  if (headed) paint_heads(p, picture, c, at.y);
  if (axis) {
    const widgets::AxisSpec spec{.lo = 0, .hi = picture.highest, .label = "rate", .unit = picture.unit};
    const widgets::Range range{0, picture.highest};
    const widgets::AxisMap map(spec.kind, range, static_cast<double>(c.bar_left), static_cast<double>(c.bar_right));
    widgets::paint_row_axis(p, spec, range, map, {{c.bar_left, first}, {c.bar_right, bottom}},
                            {at, {at.x + size.x, bottom + widgets::row_axis_height(2)}}, 2);
  }
  float top = first;
  for (std::size_t i = 0; i < picture.bars.size(); ++i, top += row) {
    draw_rung(in, picture, i, c, {at.x, top}, row);
  }
  mark_guess(p, picture, c, first, row);
  float y = bottom + (axis ? widgets::row_axis_height(2) : 0);
  if (legend) {
    paint_legend(p, picture, {at.x + t.px(6), y + t.px(6)}, words_width);
    y += t.px(24);
  }
  if (worded) {
    widgets::wrapped_text(p, {at.x + t.px(6), y + t.px(6)}, picture.change, words_width, t.text);
    widgets::wrapped_text(p, {at.x + t.px(6), y + t.px(6) + change}, picture.caption, words_width, t.muted);
  }
  widgets::drew("rungs");
  if (widgets::Record* record = p.record()) keep_table(picture, *record);
}

}  // namespace chapters::kernels::lab
