#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
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
constexpr std::array<const char*, worlds> area_names{"stalled world", "chunked world", "parted world"};

/// Where things stand, in screen pixels.
struct Places {
  Rect area, time;                   ///< `time`: from the first lane's left end to the last one's right
  std::array<Rect, worlds> world{};  ///< without the heading
  float heading = 0, ruler = 0, bill = 0;
  float x(float share) const { return time.min.x + share * time.width(); }
  float landing(const Picture& p) const { return x(static_cast<float>(-p.from_s / (p.until_s - p.from_s))); }
};

Places places_of(Rect area) {
  const auto& t = theme();
  Places out{.area = area};
  out.heading = t.type(Type::small) + t.px(5);
  out.ruler = t.type(Type::small) + t.px(8);
  out.bill = area.width() > t.px(560) ? std::clamp(area.width() * 0.25f, t.px(168), t.px(260)) : 0;
  const float names = area.width() > t.px(420) ? t.px(64) : t.px(8),
              right = out.bill > 0 ? out.bill + t.px(18) : t.px(4);
  out.time = {{area.min.x + names, area.min.y}, {std::max(area.min.x + names + 1, area.max.x - right), area.max.y}};
  const float gap = std::clamp(area.height() * 0.02f, t.px(2), t.px(12)),
              each = (area.height() - out.ruler) / static_cast<float>(worlds);
  for (std::size_t w = 0; w < worlds; ++w) {
    const float top = area.min.y + each * static_cast<float>(w);
    out.world[w] = {{out.time.min.x, top + out.heading},
                    {out.time.max.x, std::max(top + out.heading + 1, top + each - gap)}};
  }
  return out;
}

/// A band with its lane above its users' rows; either may be missing.
struct BandPlace {
  Rect lane, rows;
};

/// All bands of a world from its top down.
struct BandPlaces {
  std::array<BandPlace, 10> band{};
  std::size_t count = 0;
};
BandPlaces place_bands(const Scene& scene, Rect world) {
  const auto& t = theme();
  BandPlaces out;
  float lanes = 0, writers = 0;
  for (const Band& b : scene.bands) {
    lanes += b.lane || b.users == 0;
    writers += b.users > 0;
  }
  const float gap = std::min(t.px(4), world.height() * 0.04f),
              room = world.height() - gap * static_cast<float>(scene.bands.size());
  const float lane = std::min({t.px(17), room * 0.5f / std::max(1.0f, lanes), room * 0.24f}),
              rows = std::max(1.0f, (room - lane * lanes) / std::max(1.0f, writers));
  float y = world.min.y;
  for (const Band& b : scene.bands) {
    if (out.count == out.band.size()) break;
    BandPlace& place = out.band[out.count++];
    const auto take = [&](float height) {
      const Rect r{{world.min.x, y}, {world.max.x, y + height}};
      y += height;
      return r;
    };
    place.lane = take(b.lane || b.users == 0 ? lane : 0);
    place.rows = take(b.users > 0 ? rows : 0);
    y += gap;
  }
  return out;
}

float share_of(const Places& at, float x) { return (x - at.time.min.x) / std::max(1.0f, at.time.width()); }

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

/// Are the edges of chunks apart enough to be told from each other?
bool seen_edges(const Places& at, const PromptBar& bar) {
  return (bar.to - bar.from) * at.time.width() > theme().px(3) * static_cast<float>(bar.edges.size() + 1);
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
      p.ring(dot, radius, t.background, t.px(1));
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

/// A handle on a vertical edge; returns the share of the time at which it is held, or a negative number.
float take_edge(const Places& at, const char* name, float share, Rect lane, std::string_view hint) {
  const auto& t = theme();
  const float x = at.x(share), half = t.px(5);
  ImGui::SetCursorScreenPos(
      {std::clamp(x - half, at.time.min.x, std::max(at.time.min.x, at.time.max.x - 2 * half)), lane.min.y});
  widgets::press_area(name, {2 * half, std::max(1.0f, lane.height())});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  if (ImGui::IsItemHovered() || held) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (!held) widgets::tip(hint, {}, {});
  }
  const Painter p = Painter::window();
  const Rect grip{{x - t.px(3), lane.min.y}, {x + t.px(3), lane.max.y}};
  p.rect(grip.min, grip.max, t.accent, t.px(3));
  p.frame(grip.min, grip.max, IM_COL32_WHITE, t.px(1), t.px(3));
  return held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 2.0f) ? share_of(at, ImGui::GetMousePos().x) : -1;
}

std::int64_t stepped(double value, std::int64_t step, std::int64_t lo, std::int64_t hi) {
  const double near = std::round(value / static_cast<double>(step)) * static_cast<double>(step);
  return static_cast<std::int64_t>(std::clamp(near, static_cast<double>(lo), static_cast<double>(hi)));
}

/// The end of the whole prompt's bar sets its length, the first chunk's edge that of a step.
void take_edges(Inputs& in, const Places& at, const Picture& picture) {
  constexpr std::int64_t longest_prompt = 1 << 20, longest_step = 65536;
  const auto first_bar = [&](std::size_t w, Rect& lane) -> const PromptBar* {
    const Scene& scene = picture.scenes[w];
    const BandPlaces bands = place_bands(scene, at.world[w]);
    if (bands.count == 0 || scene.bands.front().prompts.empty()) return nullptr;
    lane = bands.band.front().lane;
    return &scene.bands.front().prompts.front();
  };
  Rect lane;
  if (const PromptBar* bar = first_bar(stalled, lane); bar && bar->to > bar->from && bar->to < 1)
    if (const float held = take_edge(at, "the prompt's end", bar->to, lane, "drag: a longer or shorter prompt");
        held >= 0)
      in.prompt = stepped(static_cast<double>(picture.prompt) *
                              static_cast<double>(std::max(0.0f, held - bar->from) / (bar->to - bar->from)),
                          picture.prompt >= 2048 ? 128 : 1, 1, longest_prompt);
  if (const PromptBar* bar = first_bar(chunked, lane); bar && !bar->edges.empty() && seen_edges(at, *bar))
    if (const float held =
            take_edge(at, "a chunk's edge", bar->edges.front(), lane, "drag: more or fewer tokens a step");
        held >= 0)
      in.chunk_tokens =
          stepped(static_cast<double>(picture.chunk_tokens) *
                      static_cast<double>(std::max(0.0f, held - bar->from) / (bar->edges.front() - bar->from)),
                  16, 16, longest_step);
}

/// Where the parted world's pools meet, in pixels.
float boundary_of(const Picture& picture, const BandPlaces& bands) {
  float y = 0;
  for (std::size_t i = 0; i < bands.count; ++i)
    if (picture.scenes[parted].bands[i].users == 0) y = bands.band[i].lane.max.y;
  return y;
}

/// A user's row dragged to the GPUs that read takes its GPU along, and a lane dragged down gives one back.
void take_rows(Inputs& in, const Places& at, const Picture& picture, View& view) {
  const BandPlaces bands = place_bands(picture.scenes[parted], at.world[parted]);
  const float boundary = boundary_of(picture, bands);
  const Rect world = at.world[parted];
  ImGui::SetCursorScreenPos(world.min);
  widgets::press_area(area_names[parted], {world.width(), world.height()});
  const ImVec2 mouse = ImGui::GetMousePos();
  if (ImGui::IsItemActivated() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    view.row_in_hand = mouse.y > boundary;
    view.moved = false;
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f) && !view.moved) {
    const bool over_readers = mouse.y <= boundary;
    if (view.row_in_hand && over_readers && !picture.writes_last) {
      in.prefill_chips += in.replica_chips;
      in.decode_chips -= in.replica_chips;
      view.moved = true;
    } else if (!view.row_in_hand && !over_readers && !picture.reads_last) {
      in.prefill_chips -= in.replica_chips;
      in.decode_chips += in.replica_chips;
      view.moved = true;
    }
  } else if (ImGui::IsItemHovered() && !ImGui::IsItemActive()) {
    const bool reads = mouse.y <= boundary;
    widgets::tip(
        reads ? "it reads prompts alone" : "they write answers alone", picture.pool_words,
        reads ? (picture.reads_last ? "the last one that reads stays" : "drag it down: it writes, too")
              : (picture.writes_last ? "the last one that writes stays" : "drag a row up: its GPU reads instead"));
  }
}

void take_hover(const Places& at, const Picture& picture, std::size_t w) {
  const Rect world = at.world[w];
  ImGui::SetCursorScreenPos(world.min);
  widgets::press_area(area_names[w], {world.width(), world.height()});
  if (!ImGui::IsItemHovered()) return;
  const BandPlaces bands = place_bands(picture.scenes[w], world);
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t i = 0; i < bands.count; ++i) {
    const Band& band = picture.scenes[w].bands[i];
    if (mouse.y > bands.band[i].rows.max.y) continue;
    Line name, value;
    name.add(band.name).add(", ").add_integer(band.users).add(band.users == 1 ? " user" : " users");
    value.add(band.disturbed ? "a prompt is read here, too" : "no prompt lands here");
    widgets::tip(name.view(), value.view(), "a tick: a token of each of its users");
    return;
  }
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
  take_edges(in, at, picture);
  take_hover(at, picture, stalled);
  take_hover(at, picture, chunked);
  take_rows(in, at, picture, view);
  add_tables(p, picture);
}

}  // namespace chapters::serving::chunked_disaggregated
