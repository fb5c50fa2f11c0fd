#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/serving/chunked_disaggregated/draw_places.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/axis.h"

/// The three worlds under each other on one clock: every token a tick, silence a hole.
namespace chapters::serving::chunked_disaggregated {
namespace {

using widgets::Align, widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme,
    widgets::Type;

constexpr std::array<std::string_view, worlds> gap_keys{"longest_gap_s_stalled", "longest_gap_s_chunked",
                                                        "longest_gap_s_parted"},
    ttft_keys{"ttft_s_stalled", "ttft_s_chunked", "ttft_s_parted"};

/// Ticks through all rows of a band, then the ground between the rows: as many lines as ticks and rows, not one each.
void paint_rows(const Painter& p, const Places& at, const Band& band, Rect rows) {
  const auto& t = theme();
  const ImU32 hue = widgets::with_alpha(t.of(Meaning::memory_bound), band.disturbed ? 1.0f : 0.42f);
  const float top = rows.min.y + t.px(1), bottom = rows.max.y;
  if (bottom <= top) return;
  const float width = std::max(1.0f, std::round(std::min(at.time.width() / 420, t.px(2))));
  for (const float tick : band.ticks) {
    const float x = std::floor(at.x(tick));  // on whole pixels, so that equal distances look equal
    p.rect({x, top}, {x + width, bottom}, hue);
  }
  for (const Tone& tone : band.tones)
    if (tone.level > 0)
      p.rect({at.x(tone.from), top}, {at.x(tone.to), bottom},
             widgets::with_alpha(hue, (band.disturbed ? 0.85f : 0.36f) * tone.level));
  const float row = (bottom - top) / static_cast<float>(std::max<std::int64_t>(1, band.users));
  if (row < t.px(3)) return;
  for (std::int64_t i = 1; i < band.users; ++i) {
    const float y = top + row * static_cast<float>(i);
    p.line({rows.min.x, y}, {rows.max.x, y}, t.panel, std::min(t.px(2), row * 0.35f));
  }
}

/// A word of these, the longest that fits, in the middle; none where none does.
void paint_words_within(const Painter& p, Rect r, std::initializer_list<std::string_view> words, ImU32 hue, Font font) {
  const auto& t = theme();
  if (r.height() < t.type(Type::small)) return;
  for (const std::string_view s : words) {
    if (s.empty() || widgets::text_size(s, Type::small, font).x > r.width() - t.px(10)) continue;
    p.text({(r.min.x + r.max.x) / 2, (r.min.y + r.max.y - t.type(Type::small)) / 2 - t.px(1)}, s, hue, Type::small,
           font, Align::center);
    return;
  }
}

void paint_holes(const Painter& p, const Places& at, const Band& band, Rect rows) {
  const auto& t = theme();
  if (rows.height() <= 2) return;
  for (const Hole& h : band.holes) {
    const Rect hole{{at.x(h.from) + t.px(2), rows.min.y + 1}, {at.x(h.to) - t.px(2), rows.max.y - 1}};
    if (hole.width() < t.px(5)) continue;
    p.rect(hole.min, hole.max, widgets::with_alpha(t.bad, 0.10f), t.px(2));
    const std::array<ImVec2, 5> corners{hole.min, ImVec2{hole.max.x, hole.min.y}, hole.max,
                                        ImVec2{hole.min.x, hole.max.y}, hole.min};
    p.dashed_polyline(corners, t.bad, t.px(1), t.px(4));
    paint_words_within(p, hole, {h.words}, t.text, Font::bold);
  }
}

void paint_lane(const Painter& p, const Places& at, const Band& band, Rect lane, bool pool) {
  const auto& t = theme();
  if (lane.height() <= 0) return;
  const Rect r{{lane.min.x, lane.min.y + t.px(1)}, {lane.max.x, lane.max.y - t.px(1)}};
  p.rect(r.min, r.max, t.card, t.px(2));
  if (pool) widgets::hatch(p, r, widgets::with_alpha(t.muted, 0.35f), t.px(7));
  const ImU32 reads = t.of(Meaning::compute_bound), sends = t.of(Meaning::communication);
  for (const PromptBar& bar : band.prompts) {
    const Rect read{{at.x(bar.from), r.min.y}, {std::max(at.x(bar.from) + 1, at.x(bar.to)), r.max.y}};
    p.rect(read.min, read.max, reads, t.px(2));
    if (seen_edges(at, bar))
      for (const float edge : bar.edges) p.line({at.x(edge), r.min.y}, {at.x(edge), r.max.y}, t.background, t.px(1));
    if (bar.edges.empty())
      paint_words_within(p, read, {"the prompt is read", "is read"}, widgets::text_on(reads, t), Font::bold);
    if (bar.sent.to > bar.sent.from) {
      const Rect sent{{at.x(bar.sent.from), r.min.y},
                      {std::max(at.x(bar.sent.from) + t.px(2), at.x(bar.sent.to)), r.max.y}};
      p.rect(sent.min, sent.max, sends, t.px(1));
      paint_words_within(p, sent, {"its cache is sent", "sent"}, widgets::text_on(sends, t), Font::sans);
    }
  }
  for (const PromptBar& bar : band.prompts) {
    if (bar.from > bar.lands)  // it waits for its turn
      p.rect({at.x(bar.lands), r.max.y - t.px(3)}, {at.x(bar.from), r.max.y}, t.bad);
    if (bar.to < 1) {
      const ImVec2 dot{at.x(bar.to), (r.min.y + r.max.y) / 2};
      const float radius = std::min(t.px(5), r.height() / 2);
      p.circle(dot, radius, IM_COL32_WHITE);
      p.ring(dot, radius, t.text, t.px(1));
    }
  }
}

/// What a question gives: the worlds, their GPUs and when the prompt lands.
void paint_frame(const Places& at, const Picture& picture) {
  const auto& t = theme();
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  for (std::size_t w = 0; w < worlds; ++w) {
    const Scene& scene = picture.scenes[w];
    const float y = at.world[w].min.y - at.heading;
    float x = at.area.min.x + p.text({at.area.min.x, y}, scene.name, t.text, Type::small, Font::bold) + t.px(8);
    if (x < at.time.max.x) {
      widgets::fit_text(p, {x, y}, scene.how, at.time.max.x - x, t.muted, Type::small);
      x += widgets::text_size(scene.how, Type::small).x + t.px(14);
    }
    if (x + widgets::text_size(scene.key, Type::small).x < at.time.max.x)
      p.text({at.time.max.x, y}, scene.key, t.muted, Type::small, Font::sans, Align::right);
    const BandPlaces bands = place_bands(scene, at.world[w]);
    for (std::size_t i = 0; i < bands.count; ++i) {
      const BandPlace& b = bands.band[i];
      const Rect whole{b.lane.min, b.rows.max};
      if (widgets::veiled()) p.frame(whole.min, whole.max, t.line);
      if (at.time.min.x - at.area.min.x < t.px(40) || whole.height() < t.type(Type::small) - t.px(1)) continue;
      p.text({at.time.min.x - t.px(8), (whole.min.y + whole.max.y - t.type(Type::small)) / 2}, scene.bands[i].name,
             t.muted, Type::small, Font::sans, Align::right);
    }
  }
}

void paint_ruler(const Places& at, const Picture& picture) {
  const auto& t = theme();
  const widgets::GivenMarks given;
  const Painter p = Painter::window();
  const widgets::AxisSpec spec{.kind = widgets::AxisKind::linear, .label = "time", .unit = "s"};
  const widgets::Range range{picture.from_s, picture.until_s};
  const widgets::AxisMap map(spec.kind, range, static_cast<double>(at.time.min.x), static_cast<double>(at.time.max.x));
  widgets::AxisTicks ticks;
  widgets::layout_ticks(spec, range, map, {[](std::string_view s) {
                          return widgets::text_size(s, Type::small, Font::mono).x +
                                 widgets::text_size(" ms ", Type::small, Font::mono).x;
                        }},
                        ticks);
  const float y = at.area.max.y - at.ruler + t.px(5);
  for (const widgets::Tick& tick : ticks.major()) {
    const float x = static_cast<float>(tick.pixel);
    p.line({x, y - t.px(4)}, {x, y}, t.line);
    Line label;
    const bool lands = tick.value == 0;
    if (lands)
      label.add("lands");
    else
      label.add(tick.label.view()).add(" ").add(ticks.unit.view());
    const float half = widgets::text_size(label.view(), Type::small, Font::mono).x / 2;
    p.text({std::clamp(x, at.time.min.x + half, std::max(at.time.min.x + half, at.time.max.x - half)), y}, label.view(),
           lands ? t.text : t.muted, Type::small, lands ? Font::bold : Font::mono, Align::center);
  }
  const float x = at.landing(picture);
  for (const Rect& world : at.world)
    p.dashed_line({x, world.min.y - t.px(2)}, {x, world.max.y}, t.text, t.px(1.5f), t.px(3));
}

/// What the learner said of a silence or of a first token, as a length from the landing on.
void paint_guess(const Painter& p, const Places& at, const Picture& picture, std::size_t world) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || (guess->output != gap_keys[world] && guess->output != ttft_keys[world])) return;
  const auto& t = theme();
  const float from = at.landing(picture), y = at.world[world].max.y - t.px(3),
              wanted = from + static_cast<float>(guess->value / (picture.until_s - picture.from_s)) * at.time.width(),
              to = std::clamp(wanted, from, at.time.max.x);
  for (const float x : {from, to}) p.line({x, y - t.px(4)}, {x, y + t.px(4)}, t.accent, t.px(2));
  p.line({from, y}, {to, y}, t.accent, t.px(2));
  widgets::paint_guess_words(p, {from + t.px(4), y - t.type(Type::small) - t.px(10)},
                             widgets::guess_words(widgets::format(guess->value, guess->unit), to < wanted).view());
}

void add_tables(const Painter& p, const Picture& picture) {
  widgets::Record* record = p.record();
  if (!record) return;
  widgets::DataTable table{"worlds", {"world", "tokens not written", "users who pay", "the prompt's own answer"}, {}};
  for (const Scene& s : picture.scenes)
    table.rows.push_back({s.name, widgets::exact(s.lost), std::to_string(s.payers), widgets::exact(s.newcomers_lost)});
  record->tables.push_back(std::move(table));
}

}  // namespace

void draw_worlds(Inputs& in, const Outputs&, const Picture& picture, View& view, ImVec2 size) {
  if (picture.scenes[stalled].bands.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const Rect area = widgets::reserve(size, {16, 16});
  const Places at = places_of(area);
  paint_frame(at, picture);
  if (widgets::veiled()) return paint_ruler(at, picture);
  const Painter p = Painter::window();
  p.clip(area.min, area.max);
  for (std::size_t w = 0; w < worlds; ++w) {
    const Scene& scene = picture.scenes[w];
    const BandPlaces bands = place_bands(scene, at.world[w]);
    for (std::size_t i = 0; i < bands.count; ++i) {
      const BandPlace& b = bands.band[i];
      paint_rows(p, at, scene.bands[i], b.rows);
      paint_lane(p, at, scene.bands[i], b.lane, w == parted && scene.bands[i].users == 0);
      paint_holes(p, at, scene.bands[i], b.rows);
    }
    paint_guess(p, at, picture, w);
    const float top = at.world[w].min.y - at.heading;
    if (at.bill > 0) paint_bill(picture, w, {at.area.max.x - at.bill, top}, {at.bill, at.world[w].max.y - top});
  }
  widgets::drew("worlds");
  paint_ruler(at, picture);
  p.unclip();
  take_hands(in, at, picture, view);
  add_tables(p, picture);
}

}  // namespace chapters::serving::chunked_disaggregated
