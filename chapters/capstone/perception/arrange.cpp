#include <algorithm>
#include <cmath>

#include "chapters/capstone/perception/lab.h"
#include "widgets/number/number.h"

namespace chapters::capstone::perception {
namespace {

using widgets::format_text;

// In the order of Stage; what luck adds stands behind them.
constexpr std::array<BoardCause, stage_count + 1> causes{
    {{"camera", widgets::Tint::series(0)},
     {"backbone", widgets::Tint::series(1)},
     {"heads", widgets::Tint::series(2)},
     {"forecast", widgets::Tint::series(3)},
     {"code", widgets::Tint::series(4)},
     {"luck, up to the 99th frame of 100", widgets::Meaning::idle, true}}};

constexpr std::array<std::size_t, models::stack_resource_count> from_camera_to_plan{3, 1, 2, 0};

void arrange_lanes(const Inputs& in, const Run& run, Picture& p) {
  const models::TaskGraph& graph = run.frame.graph;
  const models::GraphSchedule& s = run.frame.schedule;
  std::vector<std::size_t> span_of(s.segments.size(), 0);
  for (const std::size_t r : from_camera_to_plan) {
    const bool used = std::any_of(s.segments.begin(), s.segments.end(),
                                  [&](const auto& g) { return graph.tasks[g.task].resource == r; });
    if (!used) continue;
    for (std::size_t i = 0; i < s.segments.size(); ++i) {
      const models::GraphSegment& g = s.segments[i];
      if (graph.tasks[g.task].resource != r) continue;
      const bool critical = std::find(run.frame.chain.begin(), run.frame.chain.end(), i) != run.frame.chain.end();
      const double room = static_cast<double>(run.frame.float_ns[g.task]) * 1e-9;
      span_of[i] = p.lanes.spans.size();
      p.lanes.spans.push_back(
          {.lane = p.lanes.names.size(),
           .from_s = static_cast<double>(g.start_ns) * 1e-9,
           .to_s = static_cast<double>(g.end_ns) * 1e-9,
           .slack_s = critical ? 0 : room,
           .name = graph.tasks[g.task].name + " " + format_text(static_cast<double>(g.end_ns - g.start_ns) * 1e-9, "s"),
           .short_name = g.task < in.tasks.size() ? in.tasks[g.task].short_name : "",
           .stage = stage_of(in.tasks, g.task),
           .critical = critical});
    }
    p.lanes.names.emplace_back(models::stack_resource_names[r]);
  }
  for (const std::size_t i : run.frame.chain)
    if (s.segments[i].end_ns > s.segments[i].start_ns) p.lanes.thread.push_back(span_of[i]);
}

/// Heights over the tallest bin of both.
void arrange_tail(const Run& run, Picture& p) {
  p.bin_s = run.tail.bin_s;
  p.bins = run.tail.share;
  p.bins_before = run.before.share;
  float most = 1e-9f;
  for (const float x : p.bins) most = std::max(most, x);
  // The root, so that a hundredth of the frames can be seen beside the rest.
  for (auto* bins : {&p.bins, &p.bins_before})
    for (float& x : *bins) x = std::sqrt(std::min(1.0f, x / most));
}

void arrange_axis(Picture& p) {
  p.axis_s = p.board.targets.empty() ? 0.05 : p.board.targets[0].most;
  for (const auto& [at, words] : p.board.ticks) {
    p.ticks_s.push_back(at);
    p.tick_words.push_back(words);
  }
}

void arrange_road(const Inputs& in, const Outputs& out, Picture& p) {
  p.now_m = out.travelled_m;
  p.start_m = out.start_travelled_m;
  p.due_m = in.speed_m_per_s * out.deadline_s;
  p.axis_m = in.speed_m_per_s * p.axis_s;
  p.road_now = format_text(p.now_m, "m") + " at " + format_text(in.speed_m_per_s, "m/s");
  p.road_start = format_text(p.start_m, "m") + " as found";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.game) return p;
  p.answer = answer_of(out, run);
  Played shown = run.played;
  for (Round& r : shown.rounds) {
    double path = 0;
    for (std::size_t i = 0; i < stage_count; ++i) path += r.figures.slab[i];
    r.figures.slab[stage_count] = std::max(0.0, r.figures.said_of - path);
  }
  p.board = make_board(*run.game, shown,
                       {.causes = causes,
                        .start_name = "As found",
                        .start_note = "the critical path, then luck",
                        .opens = "opens the frame budget",
                        .rows = true});
  p.board.room_words.clear();  // a frame fills no memory: there is no vessel
  arrange_axis(p);
  arrange_lanes(in, run, p);
  arrange_tail(run, p);
  arrange_road(in, out, p);
  p.deadline_s = out.deadline_s;
  p.p99_s = out.p99_s;
  p.p50_s = out.p50_s;
  p.deadline_words = "due " + format_text(out.deadline_s, "s");
  p.p99_words = "99 in 100 by " + format_text(out.p99_s, "s");
  p.tail_words = format_text(static_cast<double>(in.frames), "") + " frames: " + format_text(out.late, "%") + " late";
  p.links = run.links;
  const auto opens = [&](const char* label, const char* words, models::Result<std::string> link) {
    p.doors.push_back({label, words, std::move(link)});
  };
  opens("open the frame", "This frame's schedule", models::Result<std::string>::ok(run.links.back()));
  opens("open its jitter", "What disturbs it", jitter_link(in, run.now));
  return p;
}

}  // namespace chapters::capstone::perception
