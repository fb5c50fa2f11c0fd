#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/training/dashboard/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::training::dashboard {
namespace {

using models::memory::memory_owner_count;
using models::memory::MemoryOwner;

constexpr std::array<const char*, step_switch_count> control_ids{
    "switch loader", "switch bf16",    "switch compile",    "switch fused_optimizer", "switch flash",
    "switch fp8",    "switch overlap", "switch accumulate", "switch checkpoint"};
constexpr std::array<std::string_view, part_count> part_info{
    "matmuls of layers and output, forward and backward",
    "scores, softmax and values",
    "norms, activations, rotation, residual adds, embedding and loss",
    "operands of FP8 matmuls are made from wider values",
    "forward passes of layers, recomputed",
    "AdamW's kernels",
    "the optimizer waits for gradients",
    "the compute stream waits for a batch",
    "the compute stream waits for the host to launch",
    "the compute stream waits for a copy, or for the host to read the loss"};

void fill_looks(View& view) {
  for (std::size_t i = 0; i < part_count; ++i) {
    const PartLook& look = part_look(i);
    view.looks[i] = {.label = part_names[i], .info = part_info[i], .tint = look.tint, .wait = look.wait};
  }
}

/// While a question is open: the memory that the chip has, empty.
void draw_given_memory(const Outputs& out, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  size.y -= widgets::theme().px(36);  // its name keeps clear of the word that says that it is veiled
  const widgets::Vessel empty{.label = "the chip's memory", .layers = {}, .rim = out.chip_bytes};
  widgets::draw_vessels("vessel", {&empty, 1}, view.vessel, {.unit = "B", .size = size, .axis = true});
}

/// The vessel, and next to it what the switch under the pointer, or else the one to press next, does to the peak.
void draw_memory(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (widgets::veiled()) return draw_given_memory(out, view, size);
  view.layers.clear();
  view.found_layers.clear();
  for (std::size_t k = 0; k < memory_owner_count; ++k) {
    const OwnerLook& look = owner_look(static_cast<MemoryOwner>(k));
    const auto layer = [&](double value, bool pale) {
      return widgets::VesselLayer{
          .label = look.name, .value = value, .tint = look.tint, .pale = pale, .info = look.info};
    };
    view.layers.push_back(layer(out.now.held.bytes[k], look.pale));
    view.found_layers.push_back(layer(out.found.held.bytes[k], true));
  }
  const bool hovered = view.bites.hovered >= 0;
  const auto shown = static_cast<std::size_t>(hovered ? view.bites.hovered : std::max<std::ptrdiff_t>(picture.lit, 0));
  widgets::VesselBracket change;
  if (shown < out.switches.size() && (hovered || picture.lit >= 0) && !picture.rows[shown].memory.empty()) {
    const double other = picture.rows[shown].other_peak_bytes;
    change = {.from = std::min(other, out.peak_bytes), .to = std::max(other, out.peak_bytes)};
  }
  const bool told = (hovered || picture.lit >= 0) && shown < picture.rows.size() && !picture.rows[shown].memory.empty();
  // What stands above the rim has its words there.
  const widgets::Vessel now{.label = told ? std::string_view(picture.rows[shown].memory) : "now",
                            .note = out.fits ? std::string_view(picture.since_found) : "",
                            .layers = view.layers,
                            .rim = out.chip_bytes};
  const widgets::Vessel found{.label = "as found", .layers = view.found_layers, .rim = out.chip_bytes};
  const std::array<widgets::Vessel, 2> both{found, now};
  // The state as found stands next to it where there is room. What a switch changes stands in the place of the axis.
  const bool pair = size.x >= widgets::theme().px(300);
  widgets::draw_vessels("vessel", pair ? std::span<const widgets::Vessel>(both) : std::span(&now, 1), view.vessel,
                        {.unit = "B",
                         .size = size,
                         .ribbons = false,
                         .brackets = {&change, hovered ? 1u : 0u},
                         .axis = !hovered,
                         .levels = "peak_bytes"});
  widgets::drew("vessel");
}

/// While a question is open: which switches are on.
void draw_given_switches(const Inputs& in, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  view.rows.clear();
  for (std::size_t i = 0; i < in.on.size(); ++i)
    view.rows.push_back({.label = switch_name(i), .id = control_ids[i], .on = in.on[i]});
  widgets::draw_bites("switches", view.rows, view.bites,
                      {.parts = view.looks,
                       .first = {.label = "as found"},
                       .main = {.label = "now"},
                       .rows_title = "Switches",
                       .bites_title = "what each saves",
                       .size = size});
}

/// How long the learner said that a step is, as a line through the slabs.
void mark_guess(const widgets::BiteLayout& l) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "step_s" || !(l.px_per_unit > 0)) return;
  const auto& t = widgets::theme();
  const float wanted = l.slab.min.x + l.px_per_unit * static_cast<float>(guess->value),
              x = std::min(wanted, l.slab.max.x), top = l.first.empty() ? l.main_rect.min.y : l.first_rect.min.y;
  const widgets::Painter p = widgets::Painter::window();
  p.dashed_line({x, top}, {x, l.main_rect.max.y}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), x < wanted);
  const float width = widgets::text_size(words.view(), widgets::Type::small).x;
  widgets::paint_guess_words(
      p, {x + t.px(6) + width > l.slab.max.x ? x - t.px(6) - width : x + t.px(6), l.main_rect.min.y + t.px(3)},
      words.view());
}

void draw_switches(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  fill_looks(view);
  view.rows.clear();
  for (std::size_t i = 0; i < out.switches.size(); ++i) {
    const SwitchRow& row = out.switches[i];
    widgets::BiteRow drawn{.label = row.name, .id = control_ids[i]};
    if (row.possible) {
      drawn.before = row.before;
      drawn.after = row.after;
    }
    drawn.on = in.on[i];
    drawn.lit = static_cast<std::ptrdiff_t>(i) == picture.lit;
    drawn.note = picture.rows[i].note;
    drawn.info = picture.rows[i].info;
    for (std::size_t c = 0; c < widgets::bite_columns; ++c) drawn.figures[c] = picture.rows[i].figures[c];
    view.rows.push_back(drawn);
  }
  const bool next = size.x >= t.px(700);
  // Wide enough for the names of what is in it, as found and now.
  const float vessel = next ? std::clamp(size.x * (size.x > t.px(1000) ? 0.29f : 0.24f), t.px(180), t.px(420)) : 0;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::BiteOptions options{.parts = view.looks};
  options.first = {.label = "as found", .values = out.found.parts, .total = picture.found_total};
  options.main = {.label = "now", .note = picture.now_note, .values = out.now.parts, .total = picture.now_total};
  options.floor = out.floor_s;
  options.floor_label = "loader";
  options.floor_note = picture.floor_note;
  options.rows_title = "Switches";
  options.bites_title = "what each saves, and what comes back";
  options.titles = picture.titles;
  options.size = {size.x - vessel - (next ? t.px(34) : 0), size.y};
  if (widgets::veiled()) {
    draw_given_switches(in, view, options.size);
  } else {
    widgets::drew("slab");
    const std::ptrdiff_t pressed_row = widgets::draw_bites("switches", view.rows, view.bites, options);
    if (pressed_row >= 0) in.on[static_cast<std::size_t>(pressed_row)] ^= true;
    mark_guess(view.bites.layout);
  }
  if (!next) return;
  ImGui::SetCursorScreenPos({at.x + size.x - vessel, at.y});
  draw_memory(out, picture, view, {vessel, size.y});
}

void draw_stages(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "name", .title = "after"},
                                                           {.key = "step_s", .title = "step", .bar = true},
                                                           {.key = "peak_bytes", .title = "memory"},
                                                           {.key = "cost_usd", .title = "the run"},
                                                           {.key = "bottleneck", .title = "bottleneck"},
                                                           {.key = "share", .title = "share", .priority = 1}}};
  view.stages.draw("after each switch", out.stages, columns, size);
}

void draw_slabs(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  constexpr const char* trace = "The same step as a trace";
  const float button = picture.trace_link.empty() ? 0 : widgets::button_size(trace).y + widgets::theme().px(8);
  view.segments.clear();
  view.segments.resize(out.stages.size());
  view.drawn.clear();
  for (std::size_t i = 0; i < out.stages.size(); ++i) {
    std::size_t used = 0;  // the legend names the segments that there are
    for (std::size_t k = 0; k < part_count; ++k) {
      if (std::none_of(out.stages.begin(), out.stages.end(),
                       [&](const StageRow& s) { return s.parts[k] > slight * s.step_s; }))
        continue;
      const PartLook& look = part_look(k);
      view.segments[i][used++] = {.label = part_names[k],
                                  .value = out.stages[i].parts[k],
                                  .tint = look.tint,
                                  .info = part_info[k],
                                  .hatched = look.wait};
    }
    view.drawn.push_back({.label = out.stages[i].name, .segments = std::span(view.segments[i]).first(used)});
  }
  widgets::draw_stacked_bars("after each", view.drawn, view.bars,
                             {.unit = "s", .axis_label = "one step", .size = {size.x, size.y - button}, .bar_px = 26});
  if (button > 0 && widgets::button(trace)) view.requests.open_link = picture.trace_link;
}

void draw_study(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 7> columns{
      {{.key = "name", .title = "the study's order"},
       {.key = "claimed", .title = "claimed"},
       {.key = "computed", .title = "here"},
       {.key = "claimed_product", .title = "claimed so far"},
       {.key = "computed_product", .title = "here so far"},
       {.key = "claimed_usd", .title = "run claimed", .priority = 1},
       {.key = "computed_usd", .title = "run here", .priority = 1}}};
  view.study.draw("the study's stack", out.study, columns, size);
}

/// Two pictures in one panel: the first gets `share` of the height.
template <class First, class Second>
void one_over_the_other(ImVec2 size, float share, const First& first, const Second& second) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = widgets::theme().px(12), high = std::floor((size.y - gap) * share);
  first(ImVec2{size.x, high});
  ImGui::SetCursorScreenPos({corner.x, corner.y + high + gap});
  second(ImVec2{size.x, size.y - high - gap});
}

void draw_workers(Inputs& in, const Outputs&, const Picture& picture, View& view, ImVec2 size) {
  if (picture.by_workers.empty() || picture.by_workers.front().x.size() < 2) return;
  const double most = picture.by_workers.front().x.back();
  widgets::Plot plot("workers", view.plot,
                     {.x = {.lo = 1, .hi = most, .label = "workers of the loader"},
                      .y = {.lo = 0, .label = "one step", .unit = "s"},
                      .size = size});
  plot.curves(picture.by_workers);
  double workers = static_cast<double>(in.workers);
  if (plot.drag_x("drag workers", workers, {.lo = 1, .hi = most}))
    in.workers = std::clamp<std::int64_t>(static_cast<std::int64_t>(workers + 0.5), 1, 32);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("switches", {.title = "Slab and memory", .least = {820, 380}, .answers = true, .marks = "slab, vessel"},
              [&](ImVec2 size) { draw_switches(in, out, picture, view, size); });
  stage.panel("stages", {.title = "After each switch", .least = {600, 230}, .ideal = {0, 480}, .scrolls = true},
              [&](ImVec2 size) {
                const auto slabs = [&](ImVec2 room) { draw_slabs(out, picture, view, room); };
                const auto table = [&](ImVec2 room) { draw_stages(out, view, room); };
                if (size.x < widgets::theme().px(900)) return one_over_the_other(size, 0.58f, slabs, table);
                const ImVec2 corner = ImGui::GetCursorScreenPos();
                const float gap = widgets::theme().px(24), each = std::floor((size.x - gap) / 2);
                slabs({each, size.y});
                ImGui::SetCursorScreenPos({corner.x + each + gap, corner.y});
                table({size.x - each - gap, size.y});
              });
  stage.panel("study",
              {.title = "The study's stack, and the workers", .least = {560, 380}, .ideal = {0, 520}, .scrolls = true},
              [&](ImVec2 size) {
                one_over_the_other(
                    size, 0.38f, [&](ImVec2 room) { draw_study(out, view, room); },
                    [&](ImVec2 room) { draw_workers(in, out, picture, view, room); });
              });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::training::dashboard
