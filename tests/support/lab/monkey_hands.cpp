#include "tests/support/lab/monkey_hands.h"

#include <algorithm>
#include <string_view>

namespace support {
namespace {

constexpr const char* typed_texts[] = {"7",
                                       "0",
                                       "-1",
                                       "1e400",
                                       "nan",
                                       "inf",
                                       "12 GB",
                                       "3.5 ms",
                                       "50 %",
                                       "2^20",
                                       "1/3",
                                       "[1,2]",
                                       "h100",
                                       "e",
                                       " ",
                                       "-",
                                       "0.000001",
                                       "999999999999999999999",
                                       "roofline",
                                       "predict",
                                       "\xC3\xA9\xF0\x9F\x98\x80",
                                       "\xE2\x80\xAE\xCC\x81",
                                       "\xFF\xC0\x80",
                                       "**a** $\\frac{1}{2}$ {time_s} [b](lab:roofline/roofline) `c`",
                                       "# h\n\n| a | b |\n|--|--|\n| $ |",
                                       "ridgeline://roofline/roofline?chip=b200_sxm&batch=4"};

constexpr const char* palette_words[] = {"light",
                                         "larger",
                                         "smaller",
                                         "preset",
                                         "lesson",
                                         "glossary",
                                         "export svg",
                                         "export csv",
                                         "export scenario",
                                         "export picture",
                                         "export data",
                                         "reset",
                                         "undo",
                                         "redo",
                                         "home",
                                         "keep my scenario",
                                         "record",
                                         "help",
                                         "open a file",
                                         "batching",
                                         "kernels",
                                         "drills",
                                         "bits",
                                         "trace",
                                         "hierarchy",
                                         "presentation",
                                         "fold",
                                         "copy",
                                         "bandwidth",
                                         "zzz",
                                         "ridgeline://precision/bits",
                                         "ridgeline://roofline/roofline?batch=64&phase=decode",
                                         "ridgeline://no/lab?a=%zz"};

constexpr ImGuiKey plain_keys[] = {ImGuiKey_Tab,       ImGuiKey_Space,      ImGuiKey_Enter,    ImGuiKey_Escape,
                                   ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow,  ImGuiKey_DownArrow,
                                   ImGuiKey_PageUp,    ImGuiKey_PageDown,   ImGuiKey_Home,     ImGuiKey_End,
                                   ImGuiKey_Delete,    ImGuiKey_Backspace,  ImGuiKey_A,        ImGuiKey_Equal,
                                   ImGuiKey_Minus,     ImGuiKey_F6,         ImGuiKey_KeypadAdd};

constexpr ImGuiKeyChord modifiers[] = {
    0, 0, ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt, ImGuiMod_Ctrl | ImGuiMod_Shift, ImGuiMod_Super};

/// Windows as people have them, and a few that only a window manager makes.
constexpr ImVec2 window_sizes[] = {{1280, 800}, {1600, 1000}, {1920, 1080}, {640, 480}, {900, 1400},
                                   {3840, 600}, {320, 240},   {1280, 120},  {90, 700},  {1, 1}};

std::string place(ImVec2 p) {
  return " " + std::to_string(static_cast<int>(p.x)) + "," + std::to_string(static_cast<int>(p.y));
}

std::string excerpt_of(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += c >= 32 && c < 127 ? c : '?';
  return "\"" + out + "\"";
}

}  // namespace

MonkeyHands::Aim MonkeyHands::aim() {
  // The inspector and the canvas are where a lab is set: they get half of what is aimed at an item.
  constexpr std::string_view parts[] = {"/inputs_", "/canvas_", "", ""};
  const std::string_view part = chance_.of(parts);
  const auto items = d_.ui.probe().all();
  if (!items.empty() && !chance_.one_in(4))
    for (int i = 0; i < 60; ++i) {
      const widgets::ProbedItem& item = items[chance_.below(items.size())];
      if (!item.visible() || (!item.in_popup && item.window.find(part) == std::string::npos)) continue;
      // The events are for the lab that is open, and each of the others has a walk of its own.
      const bool leads_away =
          item.window.find("/rail_") != std::string::npos || item.window.find("/home_") != std::string::npos;
      if (leads_away && !chance_.one_in(6)) continue;
      const ImVec2 span{item.visible_max.x - item.visible_min.x, item.visible_max.y - item.visible_min.y};
      const ImVec2 at{item.visible_min.x + span.x * static_cast<float>(chance_.share()),
                      item.visible_min.y + span.y * static_cast<float>(chance_.share())};
      return {at, place(at) + " " + excerpt_of(item.label)};
    }
  const ImVec2 size = io().DisplaySize;
  // A little beyond the edges too: a pointer that is held leaves the window.
  const ImVec2 at{size.x * static_cast<float>(chance_.share() * 1.04 - 0.02),
                  size.y * static_cast<float>(chance_.share() * 1.04 - 0.02)};
  return {at, place(at)};
}

/// Nobody stays for long in a dialog, on a page beside the labs or in a window too small to read.
bool MonkeyHands::come_back(const std::function<void(const std::string&)>& tell) {
  const ImVec2 size = io().DisplaySize;
  const bool small = size.x < 400 || size.y < 300;
  const bool away = d_.shell.page != app::Page::lab || d_.workspace.opening.asked() ||
                    ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  away_ = away || small ? away_ + 1 : 0;
  const int patience = d_.shell.page == app::Page::home ? 1 : 4;
  if (away_ < patience || !chance_.one_in(2)) return false;
  if (small) {
    tell("resize 1280,800");
    io().DisplaySize = {1280, 800};
  } else {
    tell("key Escape, out of a dialog or a page");
    queue_key(ImGuiKey_Escape, 0);
  }
  draw_();
  return true;
}

void MonkeyHands::queue_key(ImGuiKey key, ImGuiKeyChord mods) {
  const ImGuiKey all[] = {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt, ImGuiMod_Super};
  for (const ImGuiKey mod : all)
    if (mods & mod) io().AddKeyEvent(mod, true);
  if (key != ImGuiKey_None) io().AddKeyEvent(key, true);
  if (key != ImGuiKey_None) io().AddKeyEvent(key, false);
  for (const ImGuiKey mod : all)
    if (mods & mod) io().AddKeyEvent(mod, false);
}

void MonkeyHands::queue_click(ImVec2 at, ImGuiMouseButton button, int times) {
  io().AddMousePosEvent(at.x, at.y);
  draw_();  // what lies under the pointer is known from the frame before
  for (int i = 0; i < times; ++i) {
    io().AddMouseButtonEvent(button, true);
    io().AddMouseButtonEvent(button, false);
  }
}

void MonkeyHands::queue_drag(ImVec2 from, ImVec2 to, ImGuiMouseButton button) {
  io().AddMousePosEvent(from.x, from.y);
  draw_();
  io().AddMouseButtonEvent(button, true);
  draw_();
  const int steps = 1 + static_cast<int>(chance_.below(3));
  for (int i = 1; i <= steps; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(steps);
    io().AddMousePosEvent(from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t);
    draw_();
  }
  io().AddMouseButtonEvent(button, false);
}

void MonkeyHands::act(const std::function<void(const std::string&)>& tell) {
  constexpr float deltas_s[] = {1 / 240.0f, 1 / 60.0f, 1 / 60.0f, 1 / 30.0f, 0.3f};
  io().DeltaTime = chance_.of(deltas_s);
  if (come_back(tell)) return;
  const std::size_t what = chance_.below(100);
  const Aim a = aim();
  if (what < 34) {
    const std::size_t kind = chance_.below(12);
    const ImGuiMouseButton button = kind == 0 ? ImGuiMouseButton_Right : kind == 1 ? ImGuiMouseButton_Middle : 0;
    const int times = kind == 2 || kind == 3 ? 2 : 1;
    tell((times == 2 ? "double click" : button == 0 ? "click" : "other click") + a.what);
    queue_click(a.at, button, times);
  } else if (what < 50) {
    const Aim to = aim();
    tell("drag" + a.what + " to" + to.what);
    queue_drag(a.at, to.at, chance_.one_in(10) ? ImGuiMouseButton_Right : ImGuiMouseButton_Left);
  } else if (what < 58) {
    constexpr float turns[] = {1, -1, 3, -3, -20, 20, 0.1f};
    const float dy = chance_.of(turns), dx = chance_.one_in(5) ? chance_.of(turns) : 0;
    const ImGuiKeyChord mods = chance_.one_in(4) ? ImGuiMod_Ctrl : 0;
    tell((mods ? "Ctrl+wheel" : "wheel") + a.what);
    io().AddMousePosEvent(a.at.x, a.at.y);
    if (mods) io().AddKeyEvent(ImGuiMod_Ctrl, true);
    io().AddMouseWheelEvent(dx, dy);
    if (mods) io().AddKeyEvent(ImGuiMod_Ctrl, false);
  } else if (what < 68) {
    const char* text = chance_.of(typed_texts);
    tell(std::string("type ") + excerpt_of(text));
    io().AddInputCharactersUTF8(text);
    if (chance_.one_in(3)) queue_key(ImGuiKey_Enter, 0);
  } else if (what < 72) {  // a figure typed over: Ctrl+click opens a slider for typing
    const char* text = chance_.of(typed_texts);
    tell("Ctrl+click and type" + a.what + " " + excerpt_of(text));
    io().AddMousePosEvent(a.at.x, a.at.y);
    draw_();
    io().AddKeyEvent(ImGuiMod_Ctrl, true);
    io().AddMouseButtonEvent(0, true);
    io().AddMouseButtonEvent(0, false);
    io().AddKeyEvent(ImGuiMod_Ctrl, false);
    draw_();
    queue_key(ImGuiKey_A, ImGuiMod_Ctrl);
    io().AddInputCharactersUTF8(text);
    queue_key(ImGuiKey_Enter, 0);
  } else if (what < 79) {
    const bool any = chance_.one_in(4);
    const auto key = any ? static_cast<ImGuiKey>(ImGuiKey_Tab +
                                                 static_cast<int>(chance_.below(ImGuiKey_GamepadStart - ImGuiKey_Tab)))
                         : chance_.of(plain_keys);
    const ImGuiKeyChord mods = any ? chance_.of(modifiers) : chance_.one_in(5) ? ImGuiMod_Shift : 0;
    tell(std::string("key ") + ImGui::GetKeyName(key) + " with " + std::to_string(mods));
    queue_key(key, mods);
  } else if (what < 85) {
    const auto& commands = app::shortcut_commands();
    const app::Command& c = commands[chance_.below(commands.size())];
    tell("shortcut " + c.shortcut);
    queue_key(static_cast<ImGuiKey>(c.chord & ~ImGuiMod_Mask_), c.chord & ImGuiMod_Mask_);
  } else if (what < 88) {
    tell("undo or redo");
    for (std::size_t i = 1 + chance_.below(4); i > 0; --i)
      queue_key(chance_.one_in(3) ? ImGuiKey_Y : ImGuiKey_Z, ImGuiMod_Ctrl);
  } else if (what < 91) {
    const char* words = chance_.of(palette_words);
    tell(std::string("palette ") + words);
    queue_key(ImGuiKey_K, ImGuiMod_Ctrl);
    draw_();
    io().AddInputCharactersUTF8(words);
    draw_();
    for (std::size_t i = chance_.below(3); i > 0; --i) queue_key(ImGuiKey_DownArrow, 0);
    queue_key(chance_.one_in(8) ? ImGuiKey_Escape : ImGuiKey_Enter, 0);
  } else if (what < 93) {
    const ImVec2 size = chance_.of(window_sizes);
    tell("resize" + place(size));
    io().DisplaySize = size;
  } else if (what < 94) {
    const double scale = chance_.one_in(3) ? 0 : 0.5 + 3.5 * chance_.share() * chance_.share();
    tell("scale " + std::to_string(scale));
    d_.workspace.settings.scale = scale;
  } else if (what < 96 && !files_.empty()) {
    const std::string& file = files_[chance_.below(files_.size())];
    tell("drop " + file);
    d_.workspace.opening.open(file);
    if (what < 95) d_.workspace.opening.wait();  // else hands go on meanwhile
    ++dropped_;
  } else if (what < 98) {  // a button that stays down while other things happen, or is let go
    const bool down = chance_.one_in(2);
    tell((down ? "press" : "release") + a.what);
    io().AddMousePosEvent(a.at.x, a.at.y);
    io().AddMouseButtonEvent(0, down);
  } else if (what < 99) {
    const bool focus = chance_.one_in(2);
    tell(focus ? "focus" : "focus lost, the pointer away");
    io().AddFocusEvent(focus);
    if (!focus) io().AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  } else {
    tell("rest" + a.what);
    io().AddMousePosEvent(a.at.x, a.at.y);
    for (int i = 0; i < 6; ++i) draw_();
  }
  draw_();
}

void MonkeyHands::let_go() {
  io().DeltaTime = 1 / 60.0f;
  io().DisplaySize = {1280, 800};
  io().AddFocusEvent(true);
  for (int button = 0; button < 3; ++button) io().AddMouseButtonEvent(button, false);
  draw_();
  for (int i = 0; i < 8; ++i) {
    queue_key(ImGuiKey_Escape, 0);
    draw_();
  }
  io().AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  draw_();
}

}  // namespace support
