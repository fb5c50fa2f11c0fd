#include <algorithm>
#include <cmath>

#include "chapters/driving/jitter/lab.h"
#include "chapters/driving/shared/tasks.h"
#include "widgets/controls/button.h"
#include "widgets/plot/plot.h"

namespace chapters::driving::jitter {
namespace {

using models::FrameFate;
using widgets::AxisKind;
using widgets::Marker;

struct Room {
  float width = 0, height = 0;
};

void deadline_mark(widgets::Plot& plot, const Outputs& out) {
  plot.vertical_mark(out.deadline_s, "deadline", {.colour = widgets::theme().bad});
}

void draw_histogram(const Outputs& out, View& view, Room room) {
  const auto& t = widgets::theme();
  const auto& s = *out.summary;
  const double right = std::max(out.deadline_s * 1.06, s.bin_s.back());
  widgets::Plot plot("answers by time", view.histogram,
                     {
                         .x =
                             {
                                 .lo = std::min(s.bin_s.front(), out.deadline_s) * 0.98,
                                 .hi = right,
                                 .label = "response",
                                 .unit = "s",
                             },
                         .y =
                             {
                                 .kind = AxisKind::log10,
                                 .lo = 1e-3,
                                 .hi = 100,
                                 .label = "share",
                                 .unit = "%",
                             },
                         .size = {room.width, room.height},
                         .legend = false,
                     });
  plot.area("share of answers", s.bin_s, s.bin_share,
            {
                .colour = t.series_at(0),
                .alpha = 0.55f,
                .legend = false,
                .info = "120 bins up to P99.9",
                .version = out.version,
            });
  plot.vertical_mark(out.p50_s, "P50");
  plot.vertical_mark(out.p99_s, "P99", {.colour = t.accent});
  deadline_mark(plot, out);
}

void draw_tail(const Outputs& out, View& view, Room room) {
  const auto& t = widgets::theme();
  const auto& s = *out.summary;
  const double least = s.tail_share.empty() ? 1e-3 : *std::min_element(s.tail_share.begin(), s.tail_share.end());
  widgets::Plot plot("slower than", view.tail,
                     {
                         .x =
                             {
                                 .lo = std::min(out.summary->best_s, out.deadline_s) * 0.98,
                                 .hi = std::max(out.worst_s, out.deadline_s) * 1.05,
                                 .label = "response",
                                 .unit = "s",
                             },
                         .y =
                             {
                                 .kind = AxisKind::log10,
                                 .lo = least * 0.6,
                                 .hi = 150,
                                 .label = "take longer",
                                 .unit = "%",
                             },
                         .size = {room.width, room.height},
                         .legend = false,
                     });
  plot.line("frames slower than this", s.tail_s, s.tail_share,
            {
                .colour = t.series_at(0),
                .width = 2.5f,
                .label = false,
                .legend = false,
                .info = "share of answered frames that take longer",
                .version = out.version,
            });
  const std::array<double, 3> xs{out.p50_s, out.p99_s, out.p999_s}, ys{50, 1, 0.1};
  static constexpr std::array<std::string_view, 3> names{"P50", "P99", "P99.9"};
  plot.scatter("percentiles", xs, ys,
               {
                   .colour = t.accent,
                   .marker = Marker::diamond,
                   .radius = 5,
                   .labels = names,
                   .legend = false,
                   .info = "nearest rank",
               });
  deadline_mark(plot, out);
}

void draw_whole(const Outputs& out, View& view, Room room) {
  const auto& t = widgets::theme();
  const auto& e = *out.envelope;
  const double top = std::max(out.worst_s, out.deadline_s) * 1.08;
  widgets::Plot plot("frames over the run", view.whole,
                     {
                         .x = {.lo = 0, .hi = static_cast<double>(out.run->response_s.size()), .label = "frame"},
                         .y =
                             {
                                 .lo = 0,
                                 .hi = top,
                                 .label = "response",
                                 .unit = "s",
                             },
                         .size = {room.width, room.height},
                         .legend = false,
                     });
  plot.area("best to worst", e.frame, e.high_s, e.low_s,
            {
                .colour = t.series_at(0),
                .alpha = 0.4f,
                .legend = false,
                .info = "of each stretch of frames",
                .version = out.version,
            });
  plot.horizontal_mark(out.deadline_s, "deadline", {.colour = t.bad});
  double at = std::min(view.time_s, out.length_s) / out.period_s;
  if (plot.drag_x("drag time", at, {.label = "", .lo = 0, .hi = static_cast<double>(out.run->response_s.size() - 1)}))
    view.time_s = std::max(0.0, at * out.period_s);
}

/// The frames from the cursor on: a line through the answers, and a mark of its own shape on every miss.
void draw_window(const Outputs& out, View& view, Room room) {
  const auto& t = widgets::theme();
  const auto& run = *out.run;
  const std::size_t n = run.response_s.size(), shown = std::min(n, window_frames);
  const std::size_t first =
      std::min(n - shown, static_cast<std::size_t>(std::max(0.0, std::floor(view.time_s / out.period_s + 1e-6))));
  auto& [x, y, late_x, late_y, reused_x, reused_y, skipped_x, skipped_y] = view.room;
  std::size_t late = 0, reused = 0, skipped = 0;
  double top = out.deadline_s;
  for (std::size_t i = 0; i < shown; ++i) {
    const FrameFate fate = run.fate[first + i];
    const double at = static_cast<double>(first + i), response = static_cast<double>(run.response_s[first + i]);
    x[i] = at;
    y[i] = fate == FrameFate::skipped ? std::nan("") : response;
    top = std::max(top, response);
    if (fate == FrameFate::late) late_x[late] = at, late_y[late++] = response;
    if (fate == FrameFate::reused) reused_x[reused] = at, reused_y[reused++] = response;
    if (fate == FrameFate::skipped) skipped_x[skipped] = at, skipped_y[skipped++] = out.deadline_s;
  }
  const double begin = static_cast<double>(first), end = static_cast<double>(first + shown - 1);
  widgets::Plot plot("frames at the cursor", view.window,
                     {.x = {.lo = begin, .hi = std::max(end, begin + 1), .label = "frame"},
                      .y =
                          {
                              .lo = 0,
                              .hi = top * 1.12,
                              .label = "response",
                              .unit = "s",
                          },
                      .size = {room.width, room.height}});
  plot.line("response", {x.data(), shown}, {y.data(), shown},
            {
                .colour = t.series_at(0),
                .width = 1.5f,
                .label = false,
                .info = "from arrival to an answer",
            });
  plot.scatter("late", {late_x.data(), late}, {late_y.data(), late},
               {
                   .colour = t.bad,
                   .marker = Marker::triangle,
                   .radius = 4.5f,
                   .info = "answered after the deadline",
               });
  if (out.reused > 0)
    plot.scatter("last result again", {reused_x.data(), reused}, {reused_y.data(), reused},
                 {
                     .colour = t.series_at(1),
                     .marker = Marker::square,
                     .radius = 4,
                     .info = "given up at the watchdog's limit",
                 });
  if (out.skipped > 0)
    plot.scatter("skipped", {skipped_x.data(), skipped}, {skipped_y.data(), skipped},
                 {
                     .colour = t.series_at(3),
                     .marker = Marker::diamond,
                     .radius = 4,
                     .info = "arrived while the stack was busy",
                 });
  plot.horizontal_mark(out.deadline_s, "deadline", {.colour = t.bad});
}

/// The road under the frames above: a stretch of it for each, hatched where the car drove without a fresh result in
/// time.
void draw_road(const Outputs& out, const View& view, float width) {
  const auto& t = widgets::theme();
  const auto& run = *out.run;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float lane = t.px(16), height = lane + t.type(widgets::Type::small) + t.px(8);
  ImGui::Dummy({width, height});
  const float left = view.window.data_area().min.x, right = view.window.data_area().max.x;
  if (!(right > left) || !(view.window.x_hi > view.window.x_lo)) return;
  const auto p = widgets::Painter::window();
  const auto x_of = [&](double i) { return std::clamp(view.window.x_pixel(i), left, right); };
  p.rect({left, at.y}, {right, at.y + lane}, t.card, t.px(3));
  const auto missed = [&](std::size_t i) { return run.fate[i] != FrameFate::fresh; };
  const std::size_t n = run.response_s.size(),
                    last = std::min(n, static_cast<std::size_t>(std::max(0.0, view.window.x_hi)) + 1);
  float labelled = left - 1;
  for (std::size_t i = static_cast<std::size_t>(std::max(0.0, view.window.x_lo)); i < last;) {
    std::size_t end = i + 1;
    while (end < last && missed(end) == missed(i)) ++end;
    if (missed(i)) {
      const float x0 = x_of(static_cast<double>(i)), x1 = std::max(x_of(static_cast<double>(end)), x0 + t.px(2));
      p.rect({x0, at.y}, {x1, at.y + lane}, widgets::with_alpha(t.bad, 0.35f));
      widgets::hatch(p, {{x0, at.y}, {x1, at.y + lane}}, t.bad);
      widgets::Line metres;
      metres.add(widgets::format(static_cast<double>(end - i) * out.frame_m, "m")).add(" blind");
      const float half = widgets::text_size(metres.view(), widgets::Type::small).x / 2,
                  centre = std::clamp((x0 + x1) / 2, left + half, std::max(left + half, right - half));
      if (centre - half > labelled) {  // dropped where there is no room
        p.text({centre, at.y + lane + t.px(3)}, metres.view(), t.muted, widgets::Type::small, widgets::Font::sans,
               widgets::Align::center);
        labelled = centre + half + t.px(8);
      }
    }
    i = end;
  }
}

void draw_effects(const Outputs& out, View& view, float width) {
  static constexpr std::array<widgets::TableColumn, 7> columns{{{.title = "source", .number = false},
                                                                {.title = "frames hit"},
                                                                {.title = "share", .unit = "%"},
                                                                {.title = "mean hit", .value_unit = "s"},
                                                                {.title = "largest hit", .value_unit = "s"},
                                                                {.title = "P99 without it", .value_unit = "s"},
                                                                {.title = "P99 saved", .value_unit = "s"}}};
  widgets::TableSource source{.context = &out, .rows = out.effects.size(), .version = out.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const EffectRow& r = static_cast<const Outputs*>(context)->effects[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 7> values{
        0, static_cast<double>(r.hits), r.share, r.mean_s, r.largest_s, r.p99_without_s, r.p99_saved_s};
    cell.value = values[column];
    cell.number = widgets::format(cell.value, column >= 3 ? "s" : "");
  };
  widgets::draw_table("what each source costs", columns, source, view.effects, {width, 0});
}

}  // namespace

void draw(Inputs&, const Outputs& out, View& view) {
  if (!out.reason.empty() || !out.run || out.run->response_s.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, gap = t.px(24);
  const bool beside = width >= t.px(620);
  const float half = beside ? std::floor((width - gap) / 2) : width;
  heading(out.verdict, out.story, width);
  const auto pair = [&](std::string_view left_name, const auto& left, std::string_view right_name, const auto& right) {
    ImGui::BeginGroup();
    heading(left_name, {}, half);
    left();
    ImGui::EndGroup();
    if (beside)
      ImGui::SameLine(0, gap);
    else
      ImGui::Dummy({width, t.px(6)});
    ImGui::BeginGroup();
    heading(right_name, {}, half);
    right();
    ImGui::EndGroup();
    ImGui::Dummy({width, t.px(6)});
  };
  pair(
      "How often each response time",
      [&] {
        draw_histogram(out, view, {half, t.px(210)});
      },
      "How many are slower still",
      [&] {
        draw_tail(out, view, {half, t.px(210)});
      });
  heading("The whole run", "best to worst of each stretch of frames; drag the cursor", width);
  draw_whole(out, view, {width, t.px(170)});
  heading("Frame by frame from the cursor on, and the road that the car travels meanwhile", {}, width);
  if (out.misses > 0) {
    ImGui::PushFont(nullptr, t.type(widgets::Type::body));
    if (widgets::button("Longest blind stretch")) view.time_s = std::max(0.0, out.blind_from_s - 20 * out.period_s);
    ImGui::SameLine(0, t.px(10));
    widgets::Line line;
    line.add(widgets::format(out.blind_worst_m, "m"))
        .add(" without a fresh result, from ")
        .add(widgets::format(out.blind_from_s, "s"))
        .add(" on");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float row = widgets::button_size("Longest blind stretch").y;
    widgets::fit_text(widgets::Painter::window(), {at.x, at.y + (row - t.type(widgets::Type::small)) / 2}, line.view(),
                      width * 0.7f, t.muted, widgets::Type::small);
    ImGui::Dummy({width * 0.7f, row});
    ImGui::PopFont();
  }
  draw_window(out, view, {width, t.px(200)});
  draw_road(out, view, width);
  ImGui::Dummy({width, t.px(6)});
  heading("What each source costs",
          "P99 of the first 20,000 frames with the source switched off and all other luck the same", width);
  draw_effects(out, view, width);
}

}  // namespace chapters::driving::jitter
