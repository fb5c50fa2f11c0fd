#include <algorithm>
#include <cmath>

#include "chapters/roofline/tiling_waves/draw.h"
#include "widgets/base/guess.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/stage/stage.h"

/// C and its waves beside the chip that computes one of them; under both, the matmul on a clock with what was measured.
namespace chapters::roofline::tiling_waves {
namespace {

using models::Schedule, widgets::Align, widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect,
    widgets::Type;

/// Blocks that run in the wave under the cursor.
std::int64_t busy_in(const Outputs& out, std::int64_t wave) {
  if (out.setting.schedule == Schedule::stream_k) return out.result.work_units;
  return wave + 1 == out.result.waves ? out.last_wave_blocks : out.slots;
}

/// The slots of the chip: those that compute in this wave are lit, the others wait in the dark.
void draw_chip(const Outputs& out, const View& view, Rect area, bool hidden) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float line = t.type(Type::small) + t.px(4);
  const std::int64_t wave = wave_at(out, view.time), busy = hidden ? 0 : busy_in(out, wave);
  const auto slots = static_cast<double>(std::max<std::int64_t>(1, out.slots));
  const Rect grid{{area.min.x, area.min.y + 2 * line}, area.max};
  const double across = std::ceil(std::sqrt(slots * static_cast<double>(grid.width() / std::max(1.0f, grid.height()))));
  const double columns = std::clamp(across, 1.0, slots), rows = std::ceil(slots / columns);
  const float w = grid.width() / static_cast<float>(columns), h = grid.height() / static_cast<float>(rows);
  const float gap = w > t.px(5) && h > t.px(5) ? t.px(2) : 0;
  for (std::int64_t i = 0; i < out.slots; ++i) {
    const auto column = static_cast<float>(i % static_cast<std::int64_t>(columns)),
               row = static_cast<float>(i / static_cast<std::int64_t>(columns));
    const ImVec2 from{grid.min.x + column * w, grid.min.y + row * h}, to{from.x + w - gap, from.y + h - gap};
    if (i < busy)
      p.rect(from, to, widgets::colour(tint_of_wave(out, wave), t), gap);
    else
      p.rect(from, to, t.card, gap);
    if (gap > 0 && i >= busy) p.frame(from, to, t.line, 1, gap);
  }
  if (hidden) return;
  Line head, words;
  if (out.setting.schedule == Schedule::stream_k)
    head.add("one share of the steps for each slot");
  else
    head.add("wave ").add_integer(wave + 1).add(" of ").add_integer(out.result.waves);
  words.add_integer(busy).add(" of ").add_integer(out.slots).add(out.slots == 1 ? " slot computes" : " slots compute");
  if (busy < out.slots) words.add(", ").add_integer(out.slots - busy).add(" wait");
  p.text_fit(area.min, head.view(), area.width(), t.text, Type::small, Font::bold);
  p.text_fit({area.min.x, area.min.y + line}, words.view(), area.width(), busy < out.slots ? t.warning : t.muted,
             Type::small);
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "waves") return;
  const Line said = widgets::guess_words(widgets::format(guess->value, "").view(), false);
  widgets::paint_guess_words(
      p, {area.max.x - widgets::text_size(said.view(), Type::small).x - t.px(6), area.min.y + t.px(1)}, said.view());
}

/// What a question gives of C: its frame, and one tile in it to scale.
void draw_given_tile(const Picture& pic, Rect frame) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const Rect tile{frame.min,
                  {frame.min.x + std::max(t.px(3), frame.width() * static_cast<float>(pic.tile_share_n)),
                   frame.min.y + std::max(t.px(3), frame.height() * static_cast<float>(pic.tile_share_m))}};
  p.frame(frame.min, frame.max, t.line);
  p.rect(tile.min, tile.max, widgets::with_alpha(t.muted, 0.5f));
  p.frame(tile.min, tile.max, t.text);
  if (tile.max.y + t.px(20) < frame.max.y)
    p.text({tile.min.x + t.px(4), tile.max.y + t.px(3)}, "one tile", t.text, Type::small);
}

/// One matmul on the clock: a block per wave, of which the hatched end is time in which nothing is multiplied.
class Lanes {
 public:
  Lanes(const Outputs& out, const Picture& pic, Rect area) : out_(out), pic_(pic), area_(area) {
    for (const Lane& lane : pic.lanes) {
      names_ = std::max(names_, widgets::text_size(lane.name, Type::small).x);
      words_ = std::max(words_, widgets::text_size(lane.words, Type::small).x);
      longest_s_ = std::max({longest_s_, lane.time_s, lane.measured_s > 0 ? lane.measured_s : 0.0});
    }
    names_ = std::min(names_ + t_.px(12), 0.26f * area.width());
    words_ = std::min(words_ + t_.px(20), 0.42f * area.width());
  }
  void draw(View& view) const;

 private:
  float x(double seconds) const {
    const float from = area_.min.x + names_, room = area_.max.x - words_ - from;
    return from + room * static_cast<float>(seconds / longest_s_);
  }
  void draw_lane(const Lane& lane, float top, float height) const;

  const Outputs& out_;
  const Picture& pic_;
  Rect area_;
  float names_ = 0, words_ = 0;
  double longest_s_ = 1e-12;
  const widgets::Theme& t_ = widgets::theme();
  const Painter p_ = Painter::window();
};

void Lanes::draw_lane(const Lane& lane, float top, float height) const {
  const float small = t_.type(Type::small), bar = std::max(small, height - t_.px(6)), y = top + (height - bar) / 2;
  const float text_y = top + (height - small) / 2;
  p_.text_fit({x(0) - t_.px(8), text_y}, lane.name, names_ - t_.px(8), lane.yours ? t_.accent : t_.text, Type::small,
              lane.yours ? Font::bold : Font::sans, Align::right);
  const ImU32 hue = t_.of(Meaning::compute_bound);
  constexpr double most = 60;  // more blocks than this would be a comb
  const double waves = std::min(static_cast<double>(lane.waves), most), each_s = lane.time_s / waves;
  for (double wave = 0; wave < waves; ++wave) {
    const float from = x(wave * each_s), to = std::max(from + 1, x((wave + 1) * each_s) - (waves < most ? 1.0f : 0));
    const float useful = from + (to - from) * static_cast<float>(lane.useful);
    p_.rect({from, y}, {useful, y + bar}, hue);
    if (useful + 1 >= to) continue;
    p_.rect({useful, y}, {to, y + bar}, widgets::with_alpha(t_.warning, 0.2f));
    widgets::hatch(p_, {{useful, y}, {to, y + bar}}, widgets::with_alpha(t_.warning, 0.7f), t_.px(6));
    const float words = widgets::text_size(lane.lost, Type::small).x;
    if (wave > 0 || words <= 0 || words + t_.px(10) > to - useful) continue;
    const float left = (useful + to - words) / 2;
    p_.rect({left - t_.px(3), text_y - t_.px(1)}, {left + words + t_.px(3), text_y + small + t_.px(1)}, t_.background,
            t_.px(3));
    p_.text({left, text_y}, lane.lost, t_.text, Type::small);
  }
  float end = x(lane.time_s);
  if (lane.measured_s > 0) {
    const float m = x(lane.measured_s), c = y + bar / 2, r = t_.px(6);
    p_.line({std::min(end, m), c}, {m, c}, t_.text, t_.px(1));
    const ImVec2 diamond[] = {{m, c - r}, {m + r, c}, {m, c + r}, {m - r, c}};
    p_.polygon(diamond, t_.text);
    end = std::max(end, m + r);
  }
  p_.text_fit({end + t_.px(8), text_y}, lane.words, area_.max.x - end - t_.px(8), t_.text, Type::small);
}

void Lanes::draw(View& view) const {
  const float height = area_.height() / static_cast<float>(std::max<std::size_t>(1, pic_.lanes.size()));
  float top = area_.min.y;
  for (const Lane& lane : pic_.lanes) {
    draw_lane(lane, top, height);
    if (lane.yours) {
      ImGui::SetCursorScreenPos({x(0), top});
      widgets::press_area("waves", {x(lane.time_s) - x(0), height}, ImGuiButtonFlags_EnableNav);
      const auto waves = static_cast<double>(out_.result.waves);
      if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left))
        view.time =
            std::clamp(static_cast<double>((ImGui::GetIO().MousePos.x - x(0)) / (x(lane.time_s) - x(0))), 0., 1.);
      if (const int steps = widgets::play_keys().steps; steps != 0)
        view.time = std::clamp(view.time + steps / waves, 0.0, 1.0);
      if (ImGui::IsItemHovered())
        widgets::tip("waves", {}, "drag along them: tiles light as they are computed, and slots that wait go dark");
      const float at = x(view.time * lane.time_s);
      p_.line({at, top}, {at, top + height}, t_.accent, t_.px(2));
      p_.circle({at, top + height / 2}, t_.px(5), t_.accent);
      p_.ring({at, top + height / 2}, t_.px(5), IM_COL32_WHITE, t_.px(1.5f));
    }
    top += height;
  }
  widgets::drew("lanes");
}

}  // namespace

void draw_hero(const Outputs& out, const Picture& pic, View& view, Room room) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (out.result.tiles < 1 || out.slots < 1 || pic.lanes.empty()) {
    ImGui::Dummy({room.width, room.height});
    return;
  }
  const bool hidden = widgets::veiled();
  const float line = t.type(Type::small) + t.px(4);
  const float lanes = static_cast<float>(pic.lanes.size()) * std::clamp(0.075f * room.height, line + t.px(4), t.px(34));
  const float middle = std::floor(0.6f * room.width), body = room.height - lanes - t.px(14);
  const Rect chip{{at.x + middle + t.px(24), at.y}, {at.x + room.width - t.px(4), at.y + body}};
  const Painter p = Painter::window();
  if (hidden) {
    const widgets::GivenMarks given;
    p.text_fit(at, pic.given_story, room.width, t.text, Type::small);
    draw_given_tile(pic, {{at.x, at.y + 2 * line}, {at.x + middle, at.y + body}});
    draw_chip(out, view, chip, true);
  } else {
    p.text_fit(at, pic.tile_story, middle, t.text, Type::small, Font::bold);
    p.text_fit({at.x, at.y + line}, pic.edge_story, middle, t.muted, Type::small);
    ImGui::SetCursorScreenPos({at.x, at.y + 2 * line});
    draw_tiles(out, pic, view, {middle, body - 2 * line});
    widgets::drew("tiles");
    draw_chip(out, view, chip, false);
    widgets::drew("chip");
    Lanes(out, pic, {{at.x, at.y + room.height - lanes}, {at.x + room.width, at.y + room.height}}).draw(view);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({room.width, room.height});
}

}  // namespace chapters::roofline::tiling_waves
