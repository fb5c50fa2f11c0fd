#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/moe/lab.h"
#include "chapters/distributed/shared/guess_marks.h"
#include "chapters/distributed/shared/panel_parts.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::distributed::moe {
namespace {

constexpr double fall_s = 7, clock_s = 3, rain_s = fall_s + clock_s;  ///< all copies fall, then the clock runs

/// Yours is accent in every panel; the others have no hue, since hues are topics here.
ImU32 balance_colour(const Picture& picture, std::size_t balance) {
  const auto& t = widgets::theme();
  if (balance == picture.mine) return t.accent;
  return balance == 0 ? t.muted : t.text;
}
widgets::Marker balance_marker(std::size_t balance) {
  return std::array{widgets::Marker::circle, widgets::Marker::square, widgets::Marker::triangle,
                    widgets::Marker::diamond}[balance];
}

void draw_rain_buttons(View& view, const Outputs& out) {
  const auto& t = widgets::theme();
  if (widgets::button(view.playback.playing ? "Pause##rain" : "Play##rain")) {
    view.playback.time_s = std::min(view.playback.time_s, rain_s);
    widgets::start_or_stop(view.playback, rain_s);
  }
  ImGui::SameLine(0, t.px(12));
  widgets::Line words;
  words.add("2,048 tokens, ").add(widgets::format(out.copies, "", 9)).add(" copies; each grain is one");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = widgets::button_size("Play").y;
  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + (height - t.type(widgets::Type::small)) / 2},
                    words.view(), ImGui::GetContentRegionAvail().x, t.muted, widgets::Type::small);
  ImGui::Dummy({1, height});
}

/// While a question is open: the experts as empty vessels, with an even share as a dashed line.
void draw_empty_experts(const Inputs& in, ImVec2 size) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float words = t.type(widgets::Type::small) + t.px(6), pitch = size.x / static_cast<float>(in.experts);
  const float wall = std::max(1.0f, 0.8f * pitch), even = at.y + 0.62f * size.y;
  for (std::int64_t e = 0; e < in.experts; ++e) {
    const float x = at.x + pitch * static_cast<float>(e);
    painter.frame({x, at.y + 0.2f * size.y}, {x + wall, at.y + size.y - words}, t.line, t.px(1.5f), t.px(2));
    widgets::Line name;
    name.add_integer(e);
    if (widgets::text_size(name.view(), widgets::Type::small).x < wall)
      painter.text({x + wall / 2, at.y + size.y - words + t.px(4)}, name.view(), t.muted, widgets::Type::small,
                   widgets::Font::sans, widgets::Align::center);
  }
  painter.dashed_line({at.x, even}, {at.x + size.x, even}, t.muted, t.px(1.5f), t.px(5));
  painter.text({at.x + t.px(4), even - words}, "an even share", t.text, widgets::Type::small);
}

/// How many times as long as an even load's the learner said that the layer is, on the clock; anything else in words.
void mark_guess(const Picture& picture, const View& view, ImVec2 end) {
  const widgets::TokenRainLayout& l = view.rain.layout;
  const auto* guess = guess_about({"slowdown"});
  if (!guess || !(picture.rain.reference_s > 0)) {
    if (const auto* other = guess_about({"slowdown", "rank_max", "even_dispatch_bytes"})) say_guess(*other, end);
    return;
  }
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const float wanted = l.clock.min.y + static_cast<float>(guess->value) * (l.reference_y - l.clock.min.y);
  const float y = std::min(wanted, l.clock.max.y);
  p.dashed_line({l.clock.min.x - t.px(4), y}, {l.clock.max.x + t.px(4), y}, t.accent, t.px(2), t.px(5));
  widgets::paint_guess_words(p, {l.clock.min.x + t.px(6), y - t.type(widgets::Type::small) - t.px(4)},
                             guess_line(*guess, y != wanted).view());
}

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.rain.buckets.empty()) {
    ImGui::Dummy(size);
    return;
  }
  widgets::advance(view.playback, rain_s, static_cast<double>(ImGui::GetIO().DeltaTime));
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    draw_empty_experts(in, size);
    ImGui::Dummy(size);
    return;
  }
  widgets::drew("experts");
  const float buttons = size.y > t.px(260) ? widgets::button_size("Play").y + t.px(8) : 0.0f;
  if (buttons > 0) draw_rain_buttons(view, out);
  ImGui::SetCursorScreenPos({corner.x, corner.y + buttons});
  const double at_s = view.playback.time_s;
  const double rim = widgets::draw_token_rain("rain", picture.rain, view.rain,
                                              {.size = {size.x, size.y - buttons},
                                               .progress = at_s / fall_s,
                                               .clock = std::clamp((at_s - fall_s) / clock_s, 0.0, 1.0)});
  mark_guess(picture, view, {corner.x + size.x, corner.y + t.px(8)});
  if (rim > 0 && in.capacity_factor > 0)
    in.capacity_factor = std::clamp(std::round(rim * out.capacity / picture.rain_even * 100) / 100, 0.05, 4.0);
}

/// Loss against the time of a layer: each way of balancing, and yours.
void draw_trade(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  double loss_lo = out.loss, loss_hi = out.loss, time_lo = out.even.layer_s, time_hi = out.layer.layer_s;
  for (const BalanceRow& r : out.balances) {
    loss_lo = std::min(loss_lo, r.loss);
    loss_hi = std::max(loss_hi, r.loss);
    time_lo = std::min(time_lo, r.layer_s);
    time_hi = std::max(time_hi, r.layer_s);
  }
  for (const AlphaRow& r : out.alphas) {
    loss_lo = std::min(loss_lo, r.loss);
    loss_hi = std::max(loss_hi, r.loss);
    time_lo = std::min(time_lo, r.layer_s);
    time_hi = std::max(time_hi, r.layer_s);
  }
  const double dx = std::max(0.12 * (time_hi - time_lo), 0.02 * time_hi),
               dy = std::max(0.15 * (loss_hi - loss_lo), 0.05 * loss_hi);
  widgets::Plot plot("trade", view.trade,
                     {.x = {.lo = time_lo - dx, .hi = time_hi + dx, .label = "one layer", .unit = "s"},
                      .y = {.lo = std::max(0.0, loss_lo - dy), .hi = loss_hi + dy, .label = "test loss", .unit = "%"},
                      .size = size,
                      .legend = false});
  for (std::size_t b = 0; b < out.balances.size(); ++b) {
    const BalanceRow& r = out.balances[b];
    const std::string_view name = picture.names[b];
    plot.scatter(name, std::span(&r.layer_s, 1), std::span(&r.loss, 1),
                 {.colour = balance_colour(picture, b),
                  .marker = balance_marker(b),
                  .radius = r.mine ? 8.0f : 5.0f,
                  .labels = std::span(&name, 1),
                  .info = "trained on the same tokens"});
  }
  if (!picture.path.x.empty()) {
    plot.curve(picture.path);
    plot.curve(picture.path_weights);
  }
  if (picture.mine == 3) {
    const std::string_view name = "yours";
    plot.scatter(name, std::span(&out.layer.layer_s, 1), std::span(&out.loss, 1),
                 {.colour = balance_colour(picture, 3),
                  .marker = balance_marker(3),
                  .radius = 8,
                  .labels = std::span(&name, 1)});
  }
  plot.vertical_mark(out.even.layer_s, "even load", {.colour = t.muted});
}

void draw_steps(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool beside = size.x > t.px(300);
  const float gap = t.px(20);
  const ImVec2 each = beside ? ImVec2{(size.x - gap) / 2, size.y} : ImVec2{size.x, (size.y - gap) / 2};
  for (const bool load : {true, false}) {
    if (!load)
      ImGui::SetCursorScreenPos(beside ? ImVec2{corner.x + each.x + gap, corner.y}
                                       : ImVec2{corner.x, corner.y + each.y + gap});
    widgets::Plot plot(load ? "load by step" : "loss by step", load ? view.load : view.loss,
                       {.x = {.label = "step"},
                        .y = {.lo = load ? 1.0 : 0.0,
                              .hi = load ? std::max(1.5, 1.05 * picture.most_load) : 110.0,
                              .label = load ? "fullest expert over mean" : "training loss",
                              .unit = load ? "" : "%"},
                        .size = each,
                        .legend = load});
    plot.curves(load ? picture.load : picture.loss);
  }
}

void draw_ranks(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{
      {{.key = "rank", .title = "rank"},
       {.key = "rows", .title = "rows", .bar = true, .whole = true},
       {.key = "dispatch_s", .title = "busiest link", .priority = 1},
       {.key = "experts_s", .title = "experts", .bar = true},
       {.key = "idle", .title = "waits"}}};
  view.ranks.draw("ranks", out.ranks, columns, size);
}

void draw_experts(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{
      {{.key = "expert", .title = "expert"},
       {.key = "ranks", .title = "rank"},
       {.key = "asked", .title = "asked for", .bar = true, .digits = 9},
       {.key = "kept", .title = "kept", .digits = 9},
       {.key = "dropped", .title = "dropped", .bar = true, .digits = 9},
       {.key = "main_topic", .title = "main topic", .bar = true, .full = 100}}};
  view.experts.draw("experts", out.experts, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("rain", {.title = "Tokens into experts", .least = {560, 380}, .answers = true, .marks = "experts"},
              [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  // Experts that are dealt ask for no balance; what their exchange takes is the question then.
  const bool waits = picture.rain.buckets.empty();  // for the first answer: panels have their places before it
  const bool communication = waits ? in.rule == models::parallel::MoeRule::dealt : out.balances.empty();
  if (communication) published_panel(stage, "Published times", picture.published);
  if (communication)
    stage.panel("steps", {.title = "Balancing by step", .least = {330, 190}}, [&](ImVec2 size) {
      if (!waits) draw_steps(picture, view, size);
    });
  else
    stage.panel("trade", {.title = "Balancing", .least = {620, 190}}, [&](ImVec2 all) {
      if (waits) return;
      draw_parts(
          all, 280, [&](ImVec2 size) { draw_trade(out, picture, view, size); },
          [&](ImVec2 size) { draw_steps(picture, view, size); });
    });
  stage.panel("experts", {.title = "Experts and ranks", .least = {740, 200}, .scrolls = true}, [&](ImVec2 all) {
    draw_parts(
        all, 340, [&](ImVec2 size) { draw_experts(out, view, size); },
        [&](ImVec2 size) { draw_ranks(out, view, size); });
  });
  if (!communication) published_panel(stage, "Published times", picture.published);
}

}  // namespace chapters::distributed::moe
