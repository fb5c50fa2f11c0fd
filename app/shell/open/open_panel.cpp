#include "app/shell/open/open_panel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/scenario/sentences.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 10> kind_ids = {"png",    "svg", "csv", "scenario", "document",
                                                  "record", "csv", "png", "png",      "handout"};
constexpr std::array<const char*, 10> kind_titles = {"Save the picture (PNG)",
                                                     "Save the picture (SVG)",
                                                     "Save the data (CSV)",
                                                     "Save the scenario",
                                                     "Save the document",
                                                     "Save my record (HTML, to print)",
                                                     "Save the data, one row an observation (CSV)",
                                                     "Save the picture alone (PNG)",
                                                     "Save the picture alone (PNG)",
                                                     "Save the handout (HTML)"};
static_assert(kind_ids.size() == static_cast<std::size_t>(ExportKind::handout) + 1);

std::size_t index_of(ExportKind kind) { return static_cast<std::size_t>(kind); }

fs::path home_folder() {
  const char* home = process_environment()("HOME");
  return home && fs::path(home).is_absolute() ? fs::path(home) : fs::path("/");
}

bool is_there(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error);
}

void set_typed(OpenPanel& p, const std::string& text) {
  const std::size_t n = std::min(text.size(), sizeof p.typed - 1);
  std::memcpy(p.typed, text.data(), n);
  p.typed[n] = '\0';
}

void close_panel(OpenPanel& p) {
  p.open = false;
  ImGui::CloseCurrentPopup();
}

/// The person has chosen `path`, here or in the desktop's chooser.
void take_path(Shell& shell, const OpenPanel& p, fs::path path) {
  Workspace& w = shell.workspace;
  if (!p.ask.save) {
    w.opening.open(path.string());
    return;
  }
  if (!path.has_extension()) path += fs::path(p.ask.name).extension();
  w.files.folder[kind_ids[index_of(p.kind)]] = path.parent_path().string();
  shell.export_request = {p.kind, path.string(), std::exchange(shell.export_panel, 0u)};
  w.save();
}

void go_to(OpenPanel& p, const fs::path& folder) {
  const fs::path whole = folder.lexically_normal();
  p.ask.folder = (whole.has_filename() ? whole : whole.parent_path()).string();
  p.selected = 0;
  p.error.clear();
  p.replace.clear();
  if (!p.ask.save) p.typed[0] = '\0';
}

/// Saving: asks once before a file that is there is written over.
void save_as(Shell& shell, OpenPanel& p, fs::path path) {
  std::error_code none;
  if (path.filename().empty() || is_there(path)) {
    p.error = "Type a name for the file.";
    return;
  }
  if (!path.has_extension()) path += fs::path(p.ask.name).extension();
  if (fs::exists(path, none) && p.replace != path) {
    p.replace = path.string();
    p.error = "\"" + excerpt(path.filename().string()) + "\" is there already: press Replace to write over it.";
    return;
  }
  take_path(shell, p, path);
  close_panel(p);
}

void choose_entry(Shell& shell, OpenPanel& p, const FolderEntry& entry) {
  const fs::path path = fs::path(p.ask.folder) / entry.name;
  if (entry.folder) return go_to(p, path);
  if (p.ask.save) return set_typed(p, entry.name);
  take_path(shell, p, path);
  close_panel(p);
}

/// Enter, or the button: what was typed, else what is selected.
void accept(Shell& shell, OpenPanel& p) {
  const std::string typed = p.typed;
  const bool a_path = typed.find('/') != std::string::npos || typed == "~" || typed == "..";
  const fs::path path = typed_path(typed, p.ask.folder, home_folder());
  if (!typed.empty() && (a_path || p.ask.save) && typed.back() != '/' && p.ask.save && !is_there(path))
    return save_as(shell, p, path);
  if (a_path && is_there(path)) {
    go_to(p, path);
    p.typed[0] = '\0';
    if (p.ask.save) set_typed(p, p.ask.name);
    return;
  }
  std::error_code none;
  const bool file = !typed.empty() && fs::exists(path, none) && !is_there(path);
  if (file && !p.ask.save) {
    take_path(shell, p, path);
    return close_panel(p);
  }
  if (p.ask.save) return save_as(shell, p, path);
  const auto at = static_cast<std::size_t>(p.selected);
  if (!a_path && at < p.list.entries.size()) {
    const FolderEntry entry = p.list.entries[at];  // a copy: going to a folder replaces the list
    return choose_entry(shell, p, entry);
  }
  p.error = typed.empty() ? "Choose a file first." : "There is no file \"" + excerpt(path.string(), 80) + "\".";
}

/// Lists the folder when it, the filter or the kind of files is another; a frame in which none is allocates nothing.
void refresh(const Shell& shell, OpenPanel& p) {
  const std::string_view part =
      p.ask.save || std::strchr(p.typed, '/') ? std::string_view() : std::string_view(p.typed);
  if (p.is_listed && p.listed_folder == p.ask.folder && p.listed_part == part && p.listed_every == p.every_file) return;
  p.is_listed = true;
  p.listed_folder = p.ask.folder;
  p.listed_part = part;
  p.listed_every = p.every_file;
  p.folder_words = excerpt(p.ask.folder, 200);
  p.list = list_folder(p.ask.folder, p.every_file ? std::vector<std::string>() : p.ask.suffixes, part);
  for (FolderEntry& e : p.list.entries) {
    e.shown = excerpt(e.name, 120) + (e.folder ? "/" : "");
    if (!e.folder) e.readers = shell.workspace.opening.readers_of(e.name);
  }
  if (p.ask.save && !is_there(p.ask.folder)) p.list.note = "This folder is made when you save.";
  p.selected = 0;
}

/// Home, the folders used last and, for opening, the files opened last.
void find_places(const Shell& shell, OpenPanel& p) {
  const auto& files = shell.workspace.files;
  const auto add = [&](const std::string& path, bool folder) {
    p.places.push_back({excerpt(fs::path(path).filename().string(), 40), path, folder});
  };
  p.places = {{"Home", home_folder().string(), true}};
  constexpr std::size_t max_folders = 7;
  for (const auto& folder : files.folders())
    if (folder != home_folder() && p.places.size() < max_folders) add(folder, true);
  if (!p.ask.save)
    for (const auto& path : files.opened) add(path, false);
}

void draw_places(Shell& shell, OpenPanel& p, ImVec2 size) {
  const auto& t = theme();
  const OpenPanel::Place* chosen = nullptr;
  if (ImGui::BeginChild("places", size, ImGuiChildFlags_NavFlattened)) {
    bool folders = false, opened = false;
    for (const OpenPanel::Place& place : p.places) {
      bool& headed = place.folder ? folders : opened;
      if (!std::exchange(headed, true)) ui::section(place.folder ? "Folders" : "Opened last");
      ImGui::PushID(place.path.c_str());
      if (ImGui::Selectable(place.label.c_str(), place.folder && p.ask.folder == place.path,
                            ImGuiSelectableFlags_NoAutoClosePopups))
        chosen = &place;
      ui::hint(place.path);
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  Painter::window().line({b.x, a.y}, b, t.line);
  if (!chosen) return;
  if (chosen->folder) return go_to(p, chosen->path);
  take_path(shell, p, chosen->path);
  close_panel(p);
}

void draw_entry(const FolderEntry& e, ImVec2 at, float width) {
  const auto& t = theme();
  const Painter painter = Painter::window();
  const bool room = width >= t.px(520);  // for who reads it
  painter.text_fit({at.x + t.px(6), at.y}, e.shown, width - t.px(room ? 350 : 100), e.folder ? t.accent : t.text);
  if (e.folder) return;
  const float y = at.y + t.px(2);
  if (room) painter.text_fit({at.x + width - t.px(330), y}, e.readers, t.px(240), t.muted, Type::small);
  painter.text({at.x + width - t.px(6), y}, widgets::format(static_cast<double>(e.size_bytes), "B", 3), t.muted,
               Type::small, Font::mono, widgets::Align::right);
}

void draw_entries(Shell& shell, OpenPanel& p, ImVec2 size) {
  const auto& t = theme();
  int chosen = -1;
  if (ImGui::BeginChild("entries", size, ImGuiChildFlags_NavFlattened)) {
    const float width = ImGui::GetContentRegionAvail().x;
    ImGuiListClipper rows;  // thousands of names cost as much as those that are seen
    rows.Begin(static_cast<int>(p.list.entries.size()));
    if (!p.list.entries.empty()) rows.IncludeItemByIndex(p.selected);
    while (rows.Step())
      for (int i = rows.DisplayStart; i < rows.DisplayEnd; ++i) {
        ImGui::PushID(i);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        if (ImGui::Selectable("##entry", i == p.selected, ImGuiSelectableFlags_NoAutoClosePopups, {width, 0}))
          chosen = i;
        draw_entry(p.list.entries[static_cast<std::size_t>(i)], at, width);
        if (i == p.selected && (ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow)))
          ImGui::SetScrollHereY();
        ImGui::PopID();
      }
    if (!p.list.note.empty()) ui::wrapped(p.list.note, t.muted, Type::small);
  }
  ImGui::EndChild();
  if (chosen < 0) return;
  p.selected = chosen;
  const FolderEntry entry = p.list.entries[static_cast<std::size_t>(chosen)];
  choose_entry(shell, p, entry);
}

void draw_typed(OpenPanel& p) {
  const bool was_empty = p.typed[0] == '\0';
  if (p.just_opened || p.focus) ImGui::SetKeyboardFocusHere();
  p.just_opened = p.focus = false;
  ImGui::SetNextItemWidth(-1);
  const char* hint = p.ask.save ? "a name for the file" : "a path, or a part of a name";
  // The box keeps the keyboard while the arrow keys walk the list.
  const auto walk = [](ImGuiInputTextCallbackData* data) {
    auto& panel = *static_cast<OpenPanel*>(data->UserData);
    panel.selected += data->EventKey == ImGuiKey_DownArrow ? 1 : -1;
    return 0;
  };
  if (ImGui::InputTextWithHint("##path", hint, p.typed, sizeof p.typed, ImGuiInputTextFlags_CallbackHistory, walk,
                               &p)) {
    p.error.clear();
    p.replace.clear();
  }
  const bool up = (was_empty && ImGui::IsKeyPressed(ImGuiKey_Backspace)) ||
                  (ImGui::GetIO().KeyAlt && ImGui::IsKeyPressed(ImGuiKey_UpArrow));
  if (up) go_to(p, fs::path(p.ask.folder).parent_path());
}

void draw_body(Shell& shell, OpenPanel& p) {
  const auto& t = theme();
  const bool first = p.just_opened;  // the key that opened the panel is not meant for it
  ui::text(p.ask.title, t.text, Type::title, Font::bold);
  draw_typed(p);
  refresh(shell, p);
  p.selected = std::clamp(p.selected, 0, std::max(0, static_cast<int>(p.list.entries.size()) - 1));
  const bool enter = !first && (ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter));
  if (ui::button("Up")) go_to(p, fs::path(p.ask.folder).parent_path());
  ImGui::SameLine();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + t.px(7));  // in the middle of the button's height
  ui::text(p.folder_words, t.muted, Type::small, Font::mono);
  ui::spacing(4);
  const float height = std::max(t.px(60), ImGui::GetContentRegionAvail().y - t.px(70));
  const float width = ImGui::GetContentRegionAvail().x, places = std::min(t.px(190), width * 0.3f);
  const bool typing = ImGui::GetIO().WantTextInput;
  draw_places(shell, p, {places, height});
  ImGui::SameLine();
  draw_entries(shell, p, {width - places - t.px(8), height});
  if (!p.error.empty())
    ui::text(p.error, t.warning, Type::small);
  else
    ui::text(p.ask.save ? "" : "Backspace goes up, arrow keys choose, Enter opens.", t.muted, Type::small);
  if (!p.ask.save) {
    ui::toggle("Every file", p.every_file, t.px(140));
    ImGui::SameLine();
  }
  const bool replacing = !p.replace.empty();
  const bool pressed = ui::button(!p.ask.save ? "Open" : replacing ? "Replace" : "Save", true);
  ImGui::SameLine();
  const bool leave = ui::button("Cancel") || (!first && ImGui::IsKeyPressed(ImGuiKey_Escape));
  if (leave) return close_panel(p);
  if (!p.open || !(pressed || (enter && typing))) return;
  accept(shell, p);
  p.focus = p.open;  // back into the box, which Enter has left
}

void begin_panel_of(Shell& shell, FileAsk ask) {
  OpenPanel& p = shell.open_panel;
  if (p.chooser && !p.chooser.ended()) return;  // the desktop's chooser is asking already
  p = {};
  p.ask = std::move(ask);
  set_typed(p, p.ask.name);
  find_places(shell, p);
  if (!shell.host.choose_file) {
    p.open = p.just_opened = true;
    return;
  }
  p.chosen = std::make_shared<models::Result<std::string>>(models::Result<std::string>::ok({}));
  p.chooser = shell.workspace.jobs.submit(
      "chooser", [choose = shell.host.choose_file, what = p.ask, to = p.chosen](chapters::Progress& progress) {
        *to = choose(what, [&] { return progress.cancelled.load(); });
      });
}

/// What the desktop's chooser says; where it does not work, our own panel asks.
void take_chosen(Shell& shell) {
  OpenPanel& p = shell.open_panel;
  if (!p.chooser || !p.chooser.ended()) return;
  const auto chosen = std::exchange(p.chosen, nullptr);
  const bool done = p.chooser.done();
  p.chooser = {};
  if (done && *chosen && !(*chosen)->empty()) take_path(shell, p, **chosen);
  if (done && !*chosen) p.open = p.just_opened = true;
}

}  // namespace

void ask_for_file(Shell& shell) {
  const auto folders = shell.workspace.files.folders();
  const auto there = std::find_if(folders.begin(), folders.end(), [](const auto& f) { return is_there(f); });
  begin_panel_of(shell, {.title = "Open a file",
                         .folder = there == folders.end() ? home_folder().string() : *there,
                         .suffixes = shell.workspace.opening.suffixes()});
}

void ask_where(Shell& shell, ExportKind kind, const std::string& name) {
  const auto& remembered = shell.workspace.files.folder;
  const auto at = remembered.find(kind_ids[index_of(kind)]);
  const std::string folder =
      at != remembered.end() && is_there(at->second) ? at->second : shell.workspace.export_folder();
  begin_panel_of(
      shell, {.save = true, .title = kind_titles[index_of(kind)], .folder = folder, .name = free_name(folder, name)});
  shell.open_panel.kind = kind;
}

void draw_open_panel(Shell& shell) {
  OpenPanel& p = shell.open_panel;
  take_chosen(shell);
  if (!p.open) return;
  const auto& t = theme();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.1f}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(t.px(860), screen.x - t.px(24)), std::min(t.px(560), screen.y * 0.8f)});
  if (p.just_opened) ImGui::OpenPopup("open panel");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(16), t.px(14)});
  if (ImGui::BeginPopupModal(
          "open panel", nullptr,
          ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    draw_body(shell, p);
    ImGui::EndPopup();
  } else {
    p.open = false;
  }
  ImGui::PopStyleVar();
}

}  // namespace app
