#include <algorithm>
#include <array>

#include "chapters/training/data_loader/draw_parts.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

/// The river: samples flow from the storage to the GPU through channels as wide as what each part lets through. It is
/// full up to the neck, as wide as the neck after it, and what of the GPU stays dry is hatched.
namespace chapters::training::data_loader {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

/// Where the river lies, in screen pixels.
struct RiverPlace {
  Rect area;
  float middle = 0, half = 1;  ///< y of its middle; half of the widest channel that is drawn
  double widest = 1;           ///< samples/s of that channel
  std::size_t stations = 1;
  float pitch() const { return area.width() / static_cast<float>(stations); }
  float centre(std::size_t i) const { return area.min.x + pitch() * (static_cast<float>(i) + 0.5f); }
  float half_of(double per_s) const {
    return half * static_cast<float>(std::clamp(std::isfinite(per_s) ? per_s / widest : 1.0, 0.0, 1.0));
  }
};

/// Points of a bank: level at each station, and a smooth step from one to the next; before the first the river comes
/// from as much as there is.
class Bank {
 public:
  static constexpr std::size_t max_stations = 6, per_step = 16;
  template <class Half>
  Bank(const RiverPlace& place, const Half& half_at) {
    step(place, place.area.min.x, place.half, place.centre(0) - flat_of(place), half_at(0));
    for (std::size_t i = 0; i < place.stations; ++i) {
      const float x = place.centre(i), flat = flat_of(place), h = half_at(i);
      if (i > 0) step(place, place.centre(i - 1) + flat, half_at(i - 1), x - flat, h);
      add(place, x - flat, h);
      add(place, i + 1 == place.stations ? place.area.max.x : x + flat, h);
    }
  }
  std::span<const ImVec2> upper() const { return {upper_.data(), n_}; }
  std::span<const ImVec2> lower() const { return {lower_.data(), n_}; }

 private:
  static float flat_of(const RiverPlace& place) { return 0.22f * place.pitch(); }
  /// A smooth step from one width to the next.
  void step(const RiverPlace& place, float from, float half_from, float to, float half_to) {
    for (std::size_t k = 0; k < per_step; ++k) {
      const float s = static_cast<float>(k) / per_step;
      add(place, from + (to - from) * s, half_from + (half_to - half_from) * s * s * (3 - 2 * s));
    }
  }
  void add(const RiverPlace& place, float x, float half) {
    if (n_ >= upper_.size()) return;
    upper_[n_] = {x, place.middle - half};
    lower_[n_++] = {x, place.middle + half};
  }
  std::array<ImVec2, (max_stations + 1) * (per_step + 2)> upper_{}, lower_{};
  std::size_t n_ = 0;
};

/// The channel that twice the workers would have, where it is another: from the part before to the part after.
void paint_ghost(const Painter& p, const RiverPlace& place, const Picture& picture) {
  const auto& t = theme();
  const auto& stations = picture.stations;
  if (picture.ghost_words.empty()) return;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    const float half = place.half_of(stations[i].twice_per_s);
    if (half - place.half_of(stations[i].per_s) < t.px(2)) continue;
    const Bank ghost(place, [&](std::size_t k) { return place.half_of(stations[k].twice_per_s); });
    const float from = i > 0 ? place.centre(i - 1) : place.area.min.x,
                to = i + 1 < stations.size() ? place.centre(i + 1) : place.area.max.x;
    p.clip({from, place.area.min.y - t.px(2)}, {to, place.area.max.y + t.px(2)});
    for (const auto& side : {ghost.upper(), ghost.lower()}) p.dashed_polyline(side, t.text, t.px(1.2f), t.px(5));
    p.unclip();
    const float y = place.middle - half + t.px(5);
    if (widgets::text_size(picture.ghost_words, Type::small).x < 0.8f * place.pitch() &&
        half - place.half_of(stations[i].per_s) > t.type(Type::small) + t.px(8))
      p.text({place.centre(i), y}, picture.ghost_words, t.text, Type::small, Font::sans, Align::center);
  }
}

/// Water and banks; the channel that twice the workers would have is dashed.
void paint_water(const Painter& p, const RiverPlace& place, const Picture& picture) {
  const auto& t = theme();
  const auto& stations = picture.stations;
  const auto bank_at = [&](std::size_t i) { return place.half_of(stations[i].per_s); };
  const auto water_at = [&](std::size_t i) {
    // What reaches the GPU is no more than arrives, even where no part before it is narrower.
    const bool full = i < picture.neck && i + 1 < stations.size();
    return full ? bank_at(i) : std::min(bank_at(i), place.half_of(picture.flow));
  };
  const Bank bank(place, bank_at), water(place, water_at);
  p.band(bank.upper(), bank.lower(), t.card);
  p.band(water.upper(), water.lower(), widgets::with_alpha(t.ramp_at(0, 4), 0.85f));
  for (const auto& side : {bank.upper(), bank.lower()}) p.polyline(side, t.muted, t.px(1.5f));
  paint_ghost(p, place, picture);
}

/// As wide as what the learner said that arrives.
void paint_guess(const Painter& p, const RiverPlace& place) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "samples_per_s") return;
  const auto& t = theme();
  const float half = place.half_of(guess->value), from = place.area.max.x - 0.75f * place.pitch();
  for (const float y : {place.middle - half, place.middle + half})
    p.dashed_line({from, y}, {place.area.max.x, y}, t.accent, t.px(2), t.px(5));
  widgets::Line figure;
  figure.add(widgets::format(guess->value, "", 4)).add("/s");
  const widgets::Line words = widgets::guess_words(figure.view(), guess->value > place.widest);
  widgets::paint_guess_words(p, {from, std::max(place.area.min.y, place.middle - half - t.type(Type::small) - t.px(5))},
                             words.view());
}

/// A word on a plate, so that it reads over water and hatching.
void paint_plate(const Painter& p, const RiverPlace& place, ImVec2 middle, std::string_view words, ImU32 ink, Type type,
                 Font font) {
  if (words.empty()) return;
  const auto& t = theme();
  const ImVec2 size = widgets::text_size(words, type, font);
  middle.x = std::min(middle.x, place.area.max.x - size.x / 2 - t.px(6));
  p.rect({middle.x - size.x / 2 - t.px(6), middle.y - size.y / 2 - t.px(3)},
         {middle.x + size.x / 2 + t.px(6), middle.y + size.y / 2 + t.px(3)}, widgets::with_alpha(t.panel, 0.85f),
         t.px(4));
  p.text({middle.x, middle.y - size.y / 2}, words, ink, type, font, Align::center);
}

/// The GPU's dry share on both sides of the water that reaches it.
void paint_dry(const Painter& p, const RiverPlace& place, const Picture& picture) {
  const auto& t = theme();
  const std::size_t gpu = picture.stations.size() - 1;
  const float bank = place.half_of(picture.stations[gpu].per_s), water = place.half_of(picture.flow),
              x0 = place.centre(gpu) - 0.22f * place.pitch(), x1 = place.area.max.x, room = bank - water;
  if (room > t.px(1)) {
    for (const float y : {place.middle - bank, place.middle + water}) {
      const Rect dry{{x0, y}, {x1, y + room}};
      p.rect(dry.min, dry.max, widgets::with_alpha(t.of(Meaning::data_loading), 0.12f));
      widgets::hatch(p, dry, t.of(Meaning::data_loading), t.px(7));
    }
    const float y = room > t.px(22) ? place.middle - water - room / 2 : place.middle - bank - t.px(12);
    paint_plate(p, place, {(x0 + x1) / 2, y}, picture.dry_words, t.text, Type::body, Font::bold);
  }
  // Where the GPU is the neck, the neck says it.
  if (picture.neck != gpu && 2 * water > t.px(20))
    paint_plate(p, place, {(x0 + x1) / 2, place.middle}, picture.fed_words, t.text, Type::small, Font::sans);
  widgets::drew("GPU's dry share");
}

void paint_neck(const Painter& p, const RiverPlace& place, const Picture& picture) {
  if (picture.neck >= picture.stations.size()) return;
  const auto& t = theme();
  const Station& station = picture.stations[picture.neck];
  const float x = place.centre(picture.neck), half = place.half_of(station.per_s), wide = 0.22f * place.pitch();
  for (const float y : {place.middle - half, place.middle + half})
    p.line({x - wide, y}, {x + wide, y}, t.accent, t.px(4));
  // Above the channel that twice the workers would have.
  const float top = std::max(half, picture.ghost_words.empty() ? 0.0f : place.half_of(station.twice_per_s));
  if (const float y = place.middle - top - t.type(Type::small) - t.px(8); y > place.area.min.y)
    p.text({x, y}, "the neck", t.accent, Type::small, Font::bold, Align::center);
  paint_plate(p, place, {x, place.middle}, picture.neck_words, t.accent, Type::body, Font::mono);
  widgets::drew("neck");
}

/// Names under the river, what each part lets through, and of what that is made; `lines` of them have room.
void paint_names(const Painter& p, const RiverPlace& place, const Picture& picture, int lines, bool veiled) {
  const auto& t = theme();
  const float line = t.type(Type::small) + t.px(4), room = place.pitch() - t.px(8);
  for (std::size_t i = 0; i < picture.stations.size(); ++i) {
    const Station& s = picture.stations[i];
    const bool neck = !veiled && i == picture.neck;
    ImVec2 at{place.centre(i), place.area.max.y + t.px(6)};
    widgets::fit_text(p, at, s.name, room, neck ? t.accent : t.text, Type::small, Font::bold, Align::center);
    if (lines < 2) continue;
    at.y += line;
    if (!veiled) {
      widgets::fit_text(p, at, s.rate, room, neck ? t.accent : t.text, Type::small, Font::mono, Align::center);
      at.y += line;
    }
    if ((veiled && s.given_note) || (!veiled && lines > 2))
      widgets::fit_text(p, at, s.note, room, t.muted, Type::small, Font::sans, Align::center);
  }
}

void show_tip(const RiverPlace& place, const Picture& picture) {
  const float x = ImGui::GetMousePos().x - place.area.min.x;
  const auto i = static_cast<std::size_t>(std::max(0.0f, x / place.pitch()));
  if (i >= picture.stations.size()) return;
  const Station& s = picture.stations[i];
  widgets::tip(s.name, s.rate, s.note);
}

}  // namespace

void draw_river(const Picture& picture, ImVec2 size) {
  const auto& t = theme();
  const Rect all = widgets::canvas("river", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const float line = t.type(Type::small) + t.px(4);
  const int lines = all.height() > t.px(190) ? 3 : all.height() > t.px(130) ? 2 : 1;
  RiverPlace place{.area = {all.min, {all.max.x, all.max.y - t.px(8) - line * static_cast<float>(lines)}},
                   .widest = picture.widest,
                   .stations = picture.stations.size()};
  place.middle = (place.area.min.y + place.area.max.y) / 2;
  place.half = std::max(1.0f, place.area.height() / 2 - t.px(2));
  if (widgets::veiled()) {
    // The question gives which parts there are; how wide each is comes from the outputs.
    const widgets::GivenMarks given;
    const Painter on_veil = Painter::window();  // one made before it records nothing
    for (const float y : {place.middle - place.half * 0.5f, place.middle + place.half * 0.5f})
      on_veil.dashed_line({place.area.min.x, y}, {place.area.max.x, y}, t.muted, 1, t.px(5));
    paint_names(on_veil, place, picture, lines, true);
    return;
  }
  paint_water(p, place, picture);
  paint_dry(p, place, picture);
  paint_neck(p, place, picture);
  paint_guess(p, place);
  paint_names(p, place, picture, lines, false);
  widgets::drew("river");
  if (hovered) show_tip(place, picture);
  if (widgets::Record* record = p.record()) {
    widgets::DataTable table{"river", {"part", "samples_per_s"}, {}};
    for (const Station& s : picture.stations) table.rows.push_back({s.name, widgets::exact(s.per_s)});
    table.rows.push_back({"what flows", widgets::exact(picture.flow)});
    record->tables.push_back(std::move(table));
  }
}

}  // namespace chapters::training::data_loader
