#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/rare_gradients/lab.h"
#include "chapters/distributed/shared/guess_marks.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

/// The same nine runs twice: loss over bytes and over time, with a lane each under both.
namespace chapters::distributed::rare_gradients {
namespace {

using models::rare::rare_method_is_local;
using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Type;

/// One of the two halves, and what lies under its plot.
struct Half {
  bool time = false;
  ImVec2 corner{}, plot{};  ///< size of the plot alone
  float lanes_top = 0, lane = 0;
  const widgets::PlotView* view = nullptr;

  // A plot under a veil tells nobody where its data would lie.
  bool hidden() const { return widgets::veiled() || view->data_area().empty(); }
  float left() const { return hidden() ? corner.x + widgets::theme().px(24) : view->data_area().min.x; }
  float right() const { return hidden() ? corner.x + plot.x - widgets::theme().px(4) : view->data_area().max.x; }
  float x(double value) const { return std::clamp(view->x_pixel(value), left(), right()); }
  float middle(std::size_t row) const { return lanes_top + (static_cast<float>(row) + 0.5f) * lane; }
};

ImU32 lane_colour(const Picture& picture, std::size_t method) {
  return widgets::colour(picture.by_time[method].tint, widgets::theme());
}

/// Axes under a veil may not come from what is asked.
void draw_half(Inputs& in, const Picture& picture, widgets::PlotView& view, const Half& half) {
  const auto& t = widgets::theme();
  const bool veiled = widgets::veiled();
  widgets::AxisSpec x;
  if (half.time)
    x = {.lo = 0, .hi = veiled ? 150 * in.step_s : picture.time_hi, .label = "time", .unit = "s"};
  else
    x = {.kind = widgets::AxisKind::log10,
         .lo = veiled ? in.parameters / 10 : picture.bytes_lo,
         .hi = veiled ? in.parameters * 1000 : picture.bytes_hi,
         .label = "sent by one worker",
         .unit = "B"};
  ImGui::SetCursorScreenPos(half.corner);
  widgets::Plot plot(half.time ? "loss over time" : "loss over bytes", view,
                     {.x = x,
                      .y = {.lo = picture.loss_lo, .hi = picture.loss_hi, .label = "loss, nats"},
                      .size = half.plot,
                      .legend = false,
                      .interactive = false,
                      .x_axis = false});
  const std::vector<widgets::Curve>& curves = half.time ? picture.by_time : picture.by_bytes;
  for (const std::size_t m : picture.draw_order) plot.curve(curves[m]);
  for (const Lane& lane : picture.lanes) {
    if (!lane.reached) continue;
    const double at = half.time ? lane.time_s : lane.bytes;
    plot.scatter(lane.name, std::span(&at, 1), std::span(&in.target, 1),
                 {.colour = lane_colour(picture, lane.method), .radius = lane.yours ? 6.0f : 3.5f, .legend = false});
  }
  double goal = in.target;
  if (plot.drag_y(half.time ? "drag the goal over time" : "drag the goal", goal,
                  {.colour = t.text, .label = "goal", .lo = 0.5, .hi = 2.3}))
    in.target = std::round(goal * 100) / 100;
}

/// What the hues say, from the right end of the head, as far as there is room.
void paint_kinds(const Painter& p, ImVec2 right, float left) {
  const auto& t = widgets::theme();
  struct Kind {
    std::string_view words;
    widgets::Tint tint;
  };
  static constexpr std::array<Kind, 4> kinds{
      {{"late", late_tint}, {"seldom", seldom_tint}, {"less", less_tint}, {"all", widgets::Tint::strong()}}};
  const float title = widgets::text_size("The same runs over time", Type::body, Font::bold).x + t.px(16);
  float x = right.x - t.px(8);
  for (const Kind& kind : kinds) {
    const float wide = widgets::text_size(kind.words, Type::small).x;
    if (x - wide - t.px(14) < left + title) return;
    p.text({x - wide, right.y + t.px(2)}, kind.words, t.muted, Type::small);
    p.circle({x - wide - t.px(7), right.y + t.px(2) + t.type(Type::small) / 2}, t.px(3.5f),
             widgets::colour(kind.tint, t));
    x -= wide + t.px(24);
  }
}

void paint_ground(const Painter& p, const Half& half, bool names_axis) {
  const auto& t = widgets::theme();
  const float bottom = half.lanes_top + half.lane * static_cast<float>(rare_method_count);
  const widgets::PlotFrame& frame = half.view->scratch.frame;
  for (const widgets::Tick& tick : frame.x_ticks.major()) {
    const float at = static_cast<float>(tick.pixel);
    if (at < half.left() - 1 || at > half.right() + 1) continue;
    p.line({at, half.lanes_top}, {at, bottom}, t.grid);
    p.text({at, bottom + t.px(3)}, tick.label.view(), t.muted, Type::small, Font::mono, Align::center);
  }
  p.line({half.left(), bottom}, {half.right(), bottom}, t.line);
  if (!names_axis) return;
  widgets::fit_text(p, {(half.left() + half.right()) / 2, bottom + t.px(5) + t.type(Type::small)}, frame.x_title.view(),
                    half.right() - half.left(), t.muted, Type::small, Font::sans, Align::center);
}

/// A thread from where a curve meets the goal to the end of its lane.
void paint_threads(const Painter& p, const Inputs& in, const Picture& picture, const Half& half) {
  for (std::size_t row = 0; row < picture.lanes.size(); ++row) {
    const Lane& lane = picture.lanes[row];
    const double at = half.time ? lane.time_s : lane.bytes;
    if (!lane.reached || half.view->x_pixel(at) > half.right()) continue;
    const float x = half.x(at);
    p.line({x, half.view->y_pixel(in.target)}, {x, half.middle(row)},
           widgets::with_alpha(lane_colour(picture, lane.method), lane.yours ? 0.8f : 0.35f),
           widgets::theme().px(lane.yours ? 1.6f : 1.0f));
  }
}

/// Words right of `x`, or left of it where the picture ends.
void paint_end_words(const Painter& p, const Half& half, float x, float middle, std::string_view words, bool yours) {
  const auto& t = widgets::theme();
  const float wide = widgets::text_size(words, Type::small, Font::mono).x, gap = t.px(yours ? 12 : 7);
  const bool room = x + gap + wide <= half.right();
  const ImVec2 at{room ? x + gap : x - gap - wide, middle - t.type(Type::small) / 2};
  p.plate(at, words, t.panel, Type::small, Font::mono);
  p.text(at, words, yours ? t.accent : t.text, Type::small, Font::mono);
}

void paint_bytes(const Painter& p, const Picture& picture, const Half& half) {
  const auto& t = widgets::theme();
  for (std::size_t row = 0; row < picture.lanes.size(); ++row) {
    const Lane& lane = picture.lanes[row];
    const float y = half.middle(row), end = half.x(lane.bytes), radius = t.px(lane.yours ? 5.0f : 4.0f);
    const ImU32 colour = lane_colour(picture, lane.method);
    // The axis has no zero: a place says what a length would not.
    p.line({end, y}, {half.right(), y}, lane.yours ? t.accent : t.line, t.px(1.2f));
    if (lane.reached)
      p.circle({end, y}, radius, colour);
    else
      p.ring({end, y}, radius, colour, t.px(1.5f));
    if (lane.yours) p.ring({end, y}, radius, t.text, t.px(1.5f));
    paint_end_words(p, half, end, y, lane.bytes_words, lane.yours);
  }
}

/// Who talks when: green is a sync on the links, nothing is silence.
void paint_talks(const Painter& p, const Picture& picture, const Half& half) {
  const auto& t = widgets::theme();
  for (std::size_t row = 0; row < picture.lanes.size(); ++row) {
    const Lane& lane = picture.lanes[row];
    const float y = half.middle(row), tall = half.lane * 0.32f, end = half.x(lane.time_s);
    p.line({half.left(), y}, {end, y}, lane.yours ? t.accent : t.line, t.px(lane.yours ? 2.0f : 1.2f));
    float painted = half.left();
    for (std::size_t i = 0; i + 1 < lane.talks.size(); i += 2) {
      float from = std::max(half.x(static_cast<double>(lane.talks[i])), painted);
      const float to = half.x(static_cast<double>(lane.talks[i + 1]));
      if (i > 0 && from < painted + 1 && to - from < 1) continue;
      // A gap that no pixel can show is none.
      if (i > 0 && from - painted < t.px(0.6f)) from = painted;
      const float end_of = std::max(to, from + 1);
      p.rect({from, y - tall}, {end_of, y + tall}, t.of(Meaning::communication));
      painted = end_of;
    }
    if (lane.yours && lane.talks.size() > 2 && !picture.silence_words.empty()) {
      const float from = half.x(static_cast<double>(lane.talks[1])), to = half.x(static_cast<double>(lane.talks[2]));
      const float wide = widgets::text_size(picture.silence_words, Type::small).x;
      if (to - from > wide + t.px(10)) {
        const ImVec2 at{(from + to - wide) / 2, y - t.type(Type::small) / 2};
        p.plate(at, picture.silence_words, t.panel, Type::small);
        p.text(at, picture.silence_words, t.accent, Type::small);
      }
    }
    const bool beyond = half.view->x_pixel(lane.time_s) > half.right();
    if (!beyond && lane.reached) {
      p.circle({end, y}, t.px(lane.yours ? 5.0f : 3.5f), lane_colour(picture, lane.method));
      if (lane.yours) p.ring({end, y}, t.px(5), t.text, t.px(1.5f));
    }
    paint_end_words(p, half, end, y, lane.time_words, lane.yours);
  }
}

/// Names between the halves; a press makes a lane yours.
void draw_names(Inputs& in, const Painter& p, const Picture& picture, const Half& bytes, const Half& time) {
  const auto& t = widgets::theme();
  const float right = time.left() - t.px(10), left = bytes.right() + t.px(6);
  const bool veiled = widgets::veiled();
  const widgets::GivenMarks given;
  for (std::size_t row = 0; row < picture.lanes.size(); ++row) {
    // Under a veil they stand in the order of the choice: places are what is asked.
    const std::size_t method = veiled ? row : picture.lanes[row].method;
    const bool yours = static_cast<RareMethod>(method) == in.method;
    const float y = time.middle(row), line = t.type(Type::small);
    ImGui::SetCursorScreenPos({left, y - time.lane / 2});
    const std::string_view name = runner_name(method);
    bool lit = false;
    if (!veiled) {
      ImGui::PushID(static_cast<int>(method));
      if (widgets::press_area("make it yours", {right - left, time.lane})) in.method = static_cast<RareMethod>(method);
      ImGui::PopID();
      lit = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
      if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
    if (lit || yours)
      p.rect({left, y - time.lane / 2 + 1}, {right + t.px(4), y + time.lane / 2 - 1},
             widgets::with_alpha(t.accent, yours ? 0.18f : 0.1f), t.px(3));
    widgets::fit_text(p, {right, y - line / 2}, name, right - left - t.px(14), t.text, Type::small,
                      yours ? Font::bold : Font::sans, Align::right);
    p.circle({left + t.px(6), y}, t.px(3.5f), yours ? t.accent : lane_colour(picture, method));
  }
}

/// A knob on the lane of yours: the first sync of local methods, the end of the bytes of the others.
void drag_lane(Inputs& in, const Painter& p, const Picture& picture, View& view, const Half& bytes, const Half& time) {
  if (picture.handle_words.empty()) return;
  const auto& t = widgets::theme();
  const bool local = rare_method_is_local(in.method);
  const auto row = static_cast<std::size_t>(
      std::find_if(picture.lanes.begin(), picture.lanes.end(), [](const Lane& l) { return l.yours; }) -
      picture.lanes.begin());
  if (row >= picture.lanes.size()) return;
  const Half& half = local ? time : bytes;
  const ImVec2 at{half.x(local ? picture.first_talk_s : picture.lanes[row].bytes), half.middle(row)};
  const float reach = std::max(t.px(9), half.lane / 2);
  ImGui::SetCursorScreenPos({at.x - reach, at.y - reach});
  widgets::press_area(local ? "drag the first sync" : "drag what is sent", {2 * reach, 2 * reach});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  const int keys = ImGui::IsItemFocused() ? widgets::play_keys().steps : 0;
  const bool kept = in.method == RareMethod::top_k;
  const double now = local ? static_cast<double>(in.period) : kept ? in.kept : static_cast<double>(in.rank);
  const float mouse = ImGui::GetIO().MousePos.x;
  if (held && !view.holding) {
    view.grabbed = now;
    view.grabbed_px = mouse;
  }
  view.holding = held;
  double wanted = now;
  if (held && mouse != view.grabbed_px) {
    if (local) {
      const double per_s = static_cast<double>(half.right() - half.left()) / picture.time_hi;
      wanted = view.grabbed + static_cast<double>(mouse - view.grabbed_px) / per_s / std::max(picture.period_s, 1e-9);
    } else {
      const double decades = std::log10(picture.bytes_hi / picture.bytes_lo);
      const double per_decade = static_cast<double>(half.right() - half.left()) / decades;
      wanted = view.grabbed * std::pow(10.0, static_cast<double>(mouse - view.grabbed_px) / per_decade);
    }
  }
  if (keys != 0) wanted = kept ? now * std::pow(1.1, keys) : now + keys;
  if (wanted != now) {
    if (local)
      in.period = static_cast<std::int64_t>(std::llround(std::clamp(wanted, 1.0, 48.0)));
    else if (kept)
      in.kept = std::clamp(std::round(wanted * 100) / 100, 0.1, 50.0);
    else
      in.rank = static_cast<std::int64_t>(std::llround(std::clamp(wanted, 1.0, 8.0)));
  }
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  p.circle(at, t.px(lit ? 7.0f : 5.5f), t.accent);
  p.ring(at, t.px(lit ? 7.0f : 5.5f), t.text, t.px(1.5f));
  if (!lit) return;
  const float wide = widgets::text_size(picture.handle_words, Type::small, Font::bold).x;
  const ImVec2 words{std::clamp(at.x - wide / 2, half.left(), std::max(half.left(), half.right() - wide)),
                     at.y - half.lane / 2 - t.type(Type::small) - t.px(4)};
  p.plate(words, picture.handle_words, t.panel, Type::small, Font::bold);
  p.text(words, picture.handle_words, t.accent, Type::small, Font::bold);
}

}  // namespace

void draw_race(Inputs& in, const Outputs&, const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (picture.version == 0 || picture.lanes.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  // In a small window the head and the names of the axes go before anything else.
  const bool compact = size.y < t.px(330);
  const float line = t.type(Type::small), head = compact ? 0 : t.type(Type::body) + t.px(8);
  const float axis = compact ? line + t.px(4) : 2 * line + t.px(8);
  const float names = t.px(64), gap = t.px(4);
  const float lane = std::clamp(0.42f * size.y / rare_method_count, line, t.px(22));
  const float lanes = lane * static_cast<float>(rare_method_count);
  const float wide = (size.x - names - gap) / 2, tall = std::max(t.px(40), size.y - head - lanes - axis - t.px(6));
  Half bytes{.time = false, .corner = {corner.x, corner.y + head}, .plot = {wide, tall}, .view = &view.bytes};
  Half time{.time = true,
            .corner = {corner.x + wide + names + gap, corner.y + head},
            .plot = {wide, tall},
            .view = &view.time};
  for (Half* half : {&bytes, &time}) {
    half->lanes_top = corner.y + head + tall + t.px(6);
    half->lane = lane;
  }
  if (!compact) {
    widgets::heading("Loss over bytes sent", "", wide);
    ImGui::SetCursorScreenPos({time.corner.x, corner.y});
    widgets::heading("The same runs over time", "", wide);
    paint_kinds(p, {corner.x + size.x, corner.y}, time.corner.x);
  }
  draw_half(in, picture, view.bytes, bytes);
  draw_half(in, picture, view.time, time);
  widgets::drew("loss");
  if (!widgets::veiled()) {
    for (const Half* half : {&bytes, &time}) {
      paint_ground(p, *half, !compact);
      paint_threads(p, in, picture, *half);
    }
    paint_bytes(p, picture, bytes);
    paint_talks(p, picture, time);
  }
  draw_names(in, p, picture, bytes, time);
  if (!widgets::veiled()) drag_lane(in, p, picture, view, bytes, time);
  widgets::drew("lanes");
  if (const widgets::ShownGuess* guess = guess_about({"time_s", "first_s", "least_s"}))
    mark_guess_down(*guess, {{time.left(), time.corner.y}, {time.right(), time.lanes_top + lanes}},
                    view.time.x_pixel(guess->value));
  if (const widgets::ShownGuess* guess = guess_about({"bytes", "least_bytes", "first_bytes"}))
    mark_guess_down(*guess, {{bytes.left(), bytes.corner.y}, {bytes.right(), bytes.lanes_top + lanes}},
                    view.bytes.x_pixel(guess->value));
  if (const widgets::ShownGuess* guess = guess_about({"sync_s", "sync_bytes", "end_bytes", "end_s", "faster"}))
    say_guess(*guess, {corner.x + wide, corner.y});
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::rare_gradients
