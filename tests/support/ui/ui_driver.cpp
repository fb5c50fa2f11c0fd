#include "tests/support/ui/ui_driver.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/ui/full_window.h"

namespace support {
namespace {

std::string one_spaced(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same =
          std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
      diagonal = std::exchange(row[j], std::min({diagonal + (same ? 0 : 1), row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

UiDriver::UiDriver(std::function<void()> frame, ImVec2 display, const std::function<void()>& set_up)
    : context_(ImGui::CreateContext()), frame_(std::move(frame)) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.DisplaySize = display;
  io.DeltaTime = 1.0f / 60.0f;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigNavEscapeClearFocusItem = false;     // Escape leaves the keyboard where it is, and its ring is seen
  io.ConfigErrorRecoveryEnableTooltip = false;  // an error must stop the test, not decorate the picture
  if (set_up) set_up();
  probe_ = std::make_unique<widgets::ItemProbe>(context_);
  frames(2);  // windows that fit themselves to their contents are hidden in their first frame
}

UiDriver::~UiDriver() {
  ImGui::SetCurrentContext(context_);
  probe_.reset();
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    texture->SetTexID(ImTextureID_Invalid);
    texture->SetStatus(ImTextureStatus_Destroyed);
  }
  ImGui::DestroyContext(context_);
}

void UiDriver::draw_frame() {
  ImGui::SetCurrentContext(context_);
  ImGui::NewFrame();
  frame_();
  ImGui::Render();
  accept_textures();
}

void UiDriver::frames(int count) {
  for (int i = 0; i < count; ++i) draw_frame();
}

void UiDriver::wait(double seconds) {
  ImGui::SetCurrentContext(context_);
  float& step = ImGui::GetIO().DeltaTime;
  const float usual = step;
  step = 0.1f;
  frames(static_cast<int>(std::ceil(seconds * 10)));
  step = usual;
}

void UiDriver::resize(ImVec2 display) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().DisplaySize = display;
  frames(2);
}

std::string UiDriver::near_labels(std::string_view label) const {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const widgets::ProbedItem& item : probe_->all()) {
    if (item.label.empty()) continue;
    const bool contains = item.label.find(label) != std::string::npos;
    ranked.emplace_back(
        contains ? 0 : edit_distance(item.visible_label().empty() ? item.label : item.visible_label(), label),
        "\"" + item.label + "\" in \"" + item.window + "\"");
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 8); ++i) out += (i ? ", " : "") + ranked[i].second;
  return out.empty() ? "nothing with a label" : out;
}

const widgets::ProbedItem& UiDriver::item(std::string_view label) {
  const widgets::ProbedItem* found = probe_->find(label);
  if (!found)
    throw std::runtime_error("no control is labelled \"" + std::string(label) + "\"; this frame has " +
                             near_labels(label));
  // Beyond its window's edge: turn the wheel over that window, as a reader would.
  constexpr int max_turns = 400;
  for (int turn = 0; turn < max_turns && found && !found->visible(); ++turn) {
    ImGuiWindow* window = ImGui::FindWindowByID(found->window_id);
    if (!window) break;
    const ImRect seen = window->InnerClipRect;
    const float before = found->min.y;
    wheel_at(seen.GetCenter(), found->min.y >= seen.Max.y ? -1.0f : 1.0f);
    frames(1);
    found = probe_->find(label);
    if (found && found->min.y == before) break;
  }
  if (!found || !found->visible())
    throw std::runtime_error("\"" + std::string(label) +
                             "\" exists but is outside what its window shows, and scrolling does not reach it");
  return *found;
}

ImVec2 UiDriver::point_in(std::string_view label, ImVec2 fraction) {
  const widgets::ProbedItem& it = item(label);
  const ImVec2 at{it.min.x + (it.max.x - it.min.x) * fraction.x, it.min.y + (it.max.y - it.min.y) * fraction.y};
  // The last pixel belongs to the neighbour.
  return {std::clamp(at.x, it.visible_min.x, it.visible_max.x - 1),
          std::clamp(at.y, it.visible_min.y, it.visible_max.y - 1)};
}

void UiDriver::ensure_uncovered(std::string_view label, ImGuiID window_id) {
  const ImGuiWindow* target = ImGui::FindWindowByID(window_id);
  const ImGuiWindow* top = context_->HoveredWindow;
  if (target && (!top || top->RootWindow != target->RootWindow))
    throw std::runtime_error("\"" + std::string(label) + "\" is covered by " +
                             (top ? "window \"" + std::string(top->Name) + "\"" : std::string("a modal popup")));
}

void UiDriver::move_to(ImVec2 at) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddMousePosEvent(at.x, at.y);
  frames(2);  // what lies under the mouse is known from the frame before
}

void UiDriver::press(ImGuiMouseButton button) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddMouseButtonEvent(button, true);
  frames(1);
}

void UiDriver::release(ImGuiMouseButton button) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddMouseButtonEvent(button, false);
  frames(2);  // popups opened by the release appear in the second
}

void UiDriver::click_at(ImVec2 at, ImGuiMouseButton button) {
  move_to(at);
  press(button);
  release(button);
}

void UiDriver::drag_points(ImVec2 from, ImVec2 to, ImGuiMouseButton button) {
  move_to(from);
  press(button);
  constexpr int steps = 6;
  for (int i = 1; i <= steps; ++i) {
    const float t = static_cast<float>(i) / steps;
    move_to({from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t});
  }
  release(button);
}

void UiDriver::wheel_at(ImVec2 at, float dy) {
  move_to(at);
  ImGui::GetIO().AddMouseWheelEvent(0.0f, dy);
  frames(2);
}

void UiDriver::hover(std::string_view label, int for_frames) {
  const ImGuiID window = item(label).window_id;
  // What is above it may grow or go when a job ends: the hand follows until it stands still for a frame.
  constexpr int max_tries = 200;
  for (int tries = 0;; ++tries) {
    const ImVec2 at = item(label).centre();
    move_to(at);
    const ImVec2 now = item(label).centre();
    if (now.x == at.x && now.y == at.y) break;
    if (tries == max_tries) throw std::runtime_error("\"" + std::string(label) + "\" does not stand still");
  }
  ensure_uncovered(label, window);
  frames(for_frames);
}

void UiDriver::click(std::string_view label, ImGuiMouseButton button) {
  hover(label, 0);
  press(button);
  release(button);
}

void UiDriver::double_click(std::string_view label) {
  click(label);
  press();
  release();
}

void UiDriver::drag(std::string_view label, float to_fraction, float from_fraction) {
  hover(label, 0);
  const ImVec2 from = point_in(label, {from_fraction, 0.5f});
  drag_points(from, point_in(label, {to_fraction, 0.5f}));
}

void UiDriver::drag_by(std::string_view label, ImVec2 delta_px, ImVec2 from_fraction) {
  hover(label, 0);
  const ImVec2 from = point_in(label, from_fraction);
  drag_points(from, {from.x + delta_px.x, from.y + delta_px.y});
}

void UiDriver::wheel(std::string_view label, float dy) {
  hover(label, 0);
  wheel_at(item(label).centre(), dy);
}

void UiDriver::fill(std::string_view label, std::string_view text) {
  hover(label, 0);
  press();
  release();
  if (!ImGui::GetIO().WantTextInput) {  // a slider
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, true);
    frames(1);
    press();
    release();
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, false);
    frames(1);
  }
  if (!ImGui::GetIO().WantTextInput)
    throw std::runtime_error("\"" + std::string(label) + "\" takes no text, neither by click nor by Ctrl+click");
  key(ImGuiKey_A, ImGuiMod_Ctrl);
  key(ImGuiKey_Delete);
  type(text);
  key(ImGuiKey_Enter);
}

void UiDriver::type(std::string_view text) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddInputCharactersUTF8(std::string(text).c_str());
  frames(2);
}

void UiDriver::key(ImGuiKey k, ImGuiKeyChord mods) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  const ImGuiKey modifiers[] = {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt, ImGuiMod_Super};
  for (const ImGuiKey modifier : modifiers)
    if (mods & modifier) io.AddKeyEvent(modifier, true);
  io.AddKeyEvent(k, true);
  frames(2);
  io.AddKeyEvent(k, false);
  for (const ImGuiKey modifier : modifiers)
    if (mods & modifier) io.AddKeyEvent(modifier, false);
  frames(2);
}

widgets::Record UiDriver::record() {
  widgets::Record record;
  const widgets::Recording recording(record);
  draw_frame();
  return record;
}

std::string UiDriver::all_text() {
  // Dear ImGui's own log, switched on for a frame without LogToBuffer(), which would unclip items and open tree nodes.
  ImGui::SetCurrentContext(context_);
  ImGuiContext& g = *context_;
  g.LogEnabled = true;
  g.LogFlags = ImGuiLogFlags_OutputBuffer;
  g.LogWindow = nullptr;
  g.LogFile = nullptr;
  g.LogDepthRef = 0;
  g.LogDepthToExpand = 0;
  g.LogLinePosY = FLT_MAX;
  g.LogLineFirstItem = true;
  g.LogBuffer.clear();
  const widgets::Record painted = record();
  g.LogEnabled = false;
  std::string text = one_spaced(g.LogBuffer.c_str());
  g.LogBuffer.clear();
  for (const widgets::Stroke& stroke : painted.strokes)
    if (stroke.kind == widgets::Stroke::Kind::text) text += "\n" + one_spaced(stroke.text);
  return text;
}

bool UiDriver::text_present(std::string_view text) { return all_text().find(one_spaced(text)) != std::string::npos; }

}  // namespace support
