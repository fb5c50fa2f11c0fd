#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "chapters/interview/scenarios/draw_parts.h"

namespace chapters::interview::scenarios {
namespace {

using widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

ScenarioRecord record_of(const Inputs& in, const Run& run, double now_s) {
  static constexpr std::array<std::string_view, 4> kind_names{"board", "branching", "design", "pitch"};
  ScenarioRecord record;
  record.kind = kind_names[static_cast<std::size_t>(run.kind)];
  record.seed = in.seed;
  record.time_s = now_s;
  return record;
}

void keep_end(Inputs& in, const Outputs& out, const Run& run, double now_s) {
  ScenarioRecord record = record_of(in, run, now_s);
  if (run.kind == ScenarioKind::board) {
    for (std::size_t i = 0; i < run.board.cases.size(); ++i) {
      record.id = run.board.cases[i]->id;
      record.topic = run.board.cases[i]->topic;
      record.right = run.play.right_of[i];
      record.of = 3;
      record.wrong = run.play.wrong_of[i];
      record.seconds = run.play.seconds_of[i];
      add_record(in.history, record);
    }
    return;
  }
  record.id = run.branching ? run.branching->id : run.design ? run.design->id : run.pitch->id;
  record.topic = run.branching ? run.branching->topic : run.design ? run.design->topic : run.pitch->topic;
  record.right = out.right;
  record.of = out.of;
  record.wrong = run.branching ? 0 : out.wrong;
  record.seconds = out.elapsed_s;
  add_record(in.history, std::move(record));
}

/// Part of a ring from one share of a turn to another, clockwise from the top.
void paint_arc(const Painter& p, ImVec2 centre, float radius, double from, double to, ImU32 colour, float width) {
  constexpr int most = 48;
  constexpr float turn = 6.2831853f;
  ImVec2 arc[most + 1];
  const int n = std::clamp(static_cast<int>(std::ceil((to - from) * most)), 1, most);
  for (int i = 0; i <= n; ++i) {
    const float a = turn * (static_cast<float>(from + (to - from) * i / n) - 0.25f);
    arc[i] = {centre.x + radius * std::cos(a), centre.y + radius * std::sin(a)};
  }
  p.polyline({arc, static_cast<std::size_t>(n) + 1}, colour, width);
}

}  // namespace

widgets::Line clock_words(double seconds) {
  widgets::Line line;
  const int whole = static_cast<int>(std::clamp(std::ceil(seconds), 0.0, 1e6));
  char text[24];
  std::snprintf(text, sizeof text, "%d:%02d", whole / 60, whole % 60);
  return line.add(text);
}

void follow_deal(const Inputs&, const Outputs& out, const Picture& picture, View& view, double now) {
  if (view.first < 0) view.first = now;
  if (view.key == picture.run->key) return;
  view.key = picture.run->key;
  view.running = view.touched = view.dragging = false;
  view.held_column = -1;
  view.base_s = out.elapsed_s;
}

void start_clock(View& view, double now) {
  if (view.running) return;
  view.running = true;
  view.since = now;
}

double elapsed_s(const Outputs& out, const View& view, double now) {
  if (out.ended) return out.elapsed_s;
  return std::max(out.elapsed_s, view.base_s + (view.running ? std::max(0.0, now - view.since) : 0));
}

void take_move(Inputs& in, const Outputs& out, const Picture& picture, View& view, Move move) {
  const double now = ImGui::GetTime();
  start_clock(view, now);
  view.touched = true;
  move.at_s = elapsed_s(out, view, now);
  in.moves = with_move(in.moves, picture.run->key, move);
}

void end_and_keep(Inputs& in, const Outputs& out, const Picture& picture, View& view, double now) {
  const bool out_of_time = out.limit_s > 0 && !out.ended && view.running && elapsed_s(out, view, now) >= out.limit_s;
  if (out_of_time && view.ended_key != view.key) {
    view.ended_key = view.key;
    in.moves = with_move(in.moves, picture.run->key, {.kind = MoveKind::give_up, .at_s = out.limit_s});
  }
  if (out.ended && view.touched && view.kept_key != view.key) {
    view.kept_key = view.key;
    keep_end(in, out, *picture.run, in.now_s > 0 ? in.now_s + (now - view.first) : 0);
  }
  if (out.ended) view.running = false;
  if (!out.ended) view.kept_key.clear();
  view.requests.awake = view.running && !out.ended;
}

void paint_ring(const Painter& p, ImVec2 centre, float radius, const Outputs& out, const BoardPlay& play,
                double elapsed) {
  const auto& t = theme();
  const float width = std::max(t.px(4), radius * 0.16f);
  p.ring(centre, radius, t.line, width);
  const double whole = out.limit_s > 0 ? out.limit_s : std::max(60.0, elapsed);
  double last = 0;
  for (const ClockPart& part : play.parts) {
    const double from = part.from_s / whole, to = std::min(1.0, part.to_s / whole);
    last = part.to_s;
    if (to > from)
      paint_arc(p, centre, radius, from, std::max(from + 0.002, to - 0.006), part.right ? t.good : t.bad, width);
  }
  if (elapsed > last && !out.ended)
    paint_arc(p, centre, radius, last / whole, std::min(1.0, elapsed / whole), t.accent, width);
  const widgets::Line words = clock_words(out.limit_s > 0 ? std::max(0.0, out.limit_s - elapsed) : elapsed);
  const Type type = radius > t.px(34) ? Type::title : Type::small;
  const ImVec2 size = widgets::text_size(words.view(), type, Font::mono);
  if (size.x < 2 * radius - width)
    p.text({centre.x, centre.y - size.y / 2}, words.view(), t.text, type, Font::mono, widgets::Align::center);
}

}  // namespace chapters::interview::scenarios
