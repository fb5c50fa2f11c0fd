#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/serving/chunked_disaggregated/draw_places.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// The hand on the three worlds.
namespace chapters::serving::chunked_disaggregated {
namespace {

using widgets::Line, widgets::Painter, widgets::Rect, widgets::theme;

constexpr std::array<const char*, worlds> area_names{"stalled world", "chunked world", "parted world"};

float share_of(const Places& at, float x) { return (x - at.time.min.x) / std::max(1.0f, at.time.width()); }

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
  constexpr std::int64_t longest_prompt = 1 << 18, longest_step = 65536;
  const auto first_bar = [&](std::size_t w, Rect& lane) -> const PromptBar* {
    const Scene& scene = picture.scenes[w];
    const BandPlaces bands = place_bands(scene, at.world[w]);
    if (bands.count == 0 || scene.bands.front().prompts.empty()) return nullptr;
    lane = bands.band.front().lane;
    return &scene.bands.front().prompts.front();
  };
  Rect lane;
  if (const PromptBar* bar = first_bar(stalled, lane); bar && bar->to > bar->from)
    if (const float held = take_edge(at, "the prompt's end", bar->to, lane, "drag: a longer or shorter prompt");
        held >= 0)
      in.prompt = stepped(static_cast<double>(picture.prompt) *
                              static_cast<double>(std::max(0.0f, held - bar->from) / (bar->end - bar->from)),
                          picture.prompt >= 2048 ? 128 : 1, 1, longest_prompt);
  if (const PromptBar* bar = first_bar(chunked, lane); bar && !bar->edges.empty() && seen_edges(at, *bar))
    if (const float held =
            take_edge(at, "a chunk's edge", bar->edges.front(), lane, "drag: more or fewer tokens per step");
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
      in.prefill_chips += replica_chips(in);
      in.decode_chips -= replica_chips(in);
      view.moved = true;
    } else if (!view.row_in_hand && !over_readers && !picture.reads_last) {
      in.prefill_chips -= replica_chips(in);
      in.decode_chips += replica_chips(in);
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

}  // namespace

void take_hands(Inputs& in, const Places& at, const Picture& picture, View& view) {
  take_edges(in, at, picture);
  take_hover(at, picture, stalled);
  take_hover(at, picture, chunked);
  take_rows(in, at, picture, view);
}

}  // namespace chapters::serving::chunked_disaggregated
