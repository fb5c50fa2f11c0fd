#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/scenario/fields_json.h"
#include "app/shell/controls/field_text.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/file_name.h"
#include "chapters/mechanism/registry.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

/// What a shared group reads now: "H100 SXM", "Prefill  1 × 4,096".
struct Shown {
  char chars[160] = {};
  std::size_t length = 0;
  std::string_view view() const { return {chars, length}; }
};

/// Empty where none of the group matters for the open lab.
Shown shown_of(const SharedChoices::Group& group, const chapters::Fields& inputs) {
  Shown out;
  const chapters::Field* before = nullptr;
  for (const auto* f : group.fields) {
    const chapters::Field* const file = file_instead(*f, inputs);
    if (!file && !chapters::holds(f->spec.when, inputs)) continue;
    // Counts are multiplied with each other; real numbers stand beside each other.
    const char* between = !before                                  ? ""
                          : before->kind == chapters::Kind::choice ? "  "
                          : f->kind == chapters::Kind::real        ? " \xC2\xB7 "
                                                                   : " × ";
    before = f;
    const bool counts = f->is_number();
    const auto number = widgets::format(counts ? f->number() : 0, f->spec.unit == "s" ? "s" : "", 4);
    std::string_view piece = number;
    if (file) {
      piece = chapters::file_name(file->file().path);
    } else if (f->kind == chapters::Kind::choice) {
      const double i = f->number();
      piece = i >= 0 ? std::string_view((*f->options)[static_cast<std::size_t>(i)].label) : f->choice_id();
    }
    const int n = std::snprintf(out.chars + out.length, sizeof out.chars - out.length, "%s%.*s", between,
                                static_cast<int>(piece.size()), piece.data());
    if (n > 0) out.length = std::min(out.length + static_cast<std::size_t>(n), sizeof out.chars - 1);
  }
  return out;
}

float chip_width(std::string_view name, std::string_view value) {
  const auto& t = theme();
  return (name.empty() ? 0 : widgets::text_size(name, Type::small).x + t.px(6)) +
         std::min(widgets::text_size(value, Type::small).x, t.px(170)) + t.px(25);
}

/// A chip of the top bar, laid out from the right: "chip  H100 SXM". True when pressed.
bool chip(const char* id, std::string_view name, std::string_view value, float& right, float y) {
  const auto& t = theme();
  const float name_width = name.empty() ? 0 : widgets::text_size(name, Type::small).x + t.px(6);
  const ImVec2 box{chip_width(name, value), t.px(28)};
  const ImVec2 at{right - box.x, y};
  right = at.x - t.px(8);
  ImGui::SetCursorScreenPos(at);
  const bool pressed = widgets::press_area(id, box);
  const Painter p = Painter::window();
  p.frame(at, {at.x + box.x, at.y + box.y}, ImGui::IsItemHovered() ? t.accent : t.line, 1, box.y / 2);
  p.text({at.x + t.px(12), at.y + t.px(7)}, name, t.muted, Type::small);
  p.text_fit({at.x + t.px(12) + name_width, at.y + t.px(7)}, value, box.x - name_width - t.px(24), t.text, Type::small);
  ui::focus_ring(box.y / 2);
  return pressed;
}

/// The chip of one shared group ("chip", "model", "workload") and the popup that changes it in every lab.
void shared_chip(Shell& shell, const SharedChoices::Group& group, std::string_view shown, float& right, float y) {
  if (chip(group.name.c_str(), group.name, shown, right, y)) {
    shell.controls.search[0] = '\0';
    ImGui::OpenPopup(group.popup.c_str());
  }
  ui::hint("Means the same in every lab while \"keep my scenario\" is on.");
  ImGui::SetNextWindowSizeConstraints({theme().px(280), 0}, {theme().px(360), theme().px(480)});
  if (!ImGui::BeginPopup(group.popup.c_str())) return;
  for (const auto* f : group.fields) {
    if (const chapters::Field* file = file_instead(*f, shell.workspace.lab().inputs())) {
      ui::wrapped("A file of your own stands in for it.", theme().muted, Type::small);
      if (ui::button("Go back to the published one")) file->file() = {};
      continue;
    }
    if (!chapters::holds(f->spec.when, shell.workspace.lab().inputs())) continue;
    bool changed = false;
    if (f->kind == chapters::Kind::choice && group.fields.size() == 1) {
      const double now = f->number();
      const int i =
          draw_option_list(*f->options, shell.controls, [&](std::size_t k) { return static_cast<double>(k) == now; });
      if (i >= 0) {
        f->set_number(i);
        changed = true;
        ImGui::CloseCurrentPopup();
      }
    } else {
      changed = draw_control(*f, shell.controls, theme().px(260));
    }
    if (changed) shell.workspace.share(std::string(f->spec.shared), field_to_json(*f));
  }
  ui::toggle("Keep my scenario", shell.workspace.settings.keep_my_scenario, theme().px(260));
  ImGui::EndPopup();
}

/// The chapter's labs from `at` to `right`; those without room stand in a list behind "more". The open one is always
/// shown.
void draw_lab_tabs(Shell& shell, ImVec2 at, float right) {
  const auto& t = theme();
  const std::string_view open = shell.workspace.lab().info().id;
  const std::string_view chapter = open.substr(0, open.find('/') + 1);
  const auto labs = chapters::all_labs();
  const auto width_of = [&](std::string_view id) {
    return widgets::text_size(shell.workspace.title_of(id), Type::body).x + t.px(28);
  };
  float all = 0;
  for (const auto& entry : labs)
    if (entry.id.starts_with(chapter)) all += width_of(entry.id);
  const float more = at.x + all > right ? widgets::text_size("more", Type::body).x + t.px(28) : 0;
  float x = at.x, owed = width_of(open);  // room that is kept for the open lab until it has its tab
  bool hidden = false;
  for (const auto& entry : labs) {
    if (!entry.id.starts_with(chapter)) continue;
    const float width = width_of(entry.id);
    if (entry.id == open) owed = 0;
    if (entry.id != open && x + width + owed + more > right) {
      hidden = true;
      continue;
    }
    ImGui::SetCursorScreenPos({x, at.y});
    if (ui::tab(shell.workspace.title_of(entry.id).c_str(), entry.id == open, false) && entry.id != open) {
      shell.workspace.open(entry.id);
      return;
    }
    x += width;
  }
  if (!hidden) return;
  ImGui::SetCursorScreenPos({x, at.y});
  if (ui::tab("more###more labs", false, false)) ImGui::OpenPopup("more labs");
  if (!ImGui::BeginPopup("more labs")) return;
  for (const auto& entry : labs)
    if (entry.id.starts_with(chapter) &&
        ImGui::Selectable(shell.workspace.title_of(entry.id).c_str(), entry.id == open) && entry.id != open) {
      shell.workspace.open(entry.id);
      break;
    }
  ImGui::EndPopup();
}

}  // namespace

void draw_top_bar(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  if (ui::begin_panel("top", size, t.panel, {16, 8},
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    float right = at.x + ImGui::GetContentRegionAvail().x;
    const float y = at.y + (size.y - t.px(16) - t.px(28)) / 2;
    if (chip("Ctrl K", "", "Ctrl K", right, y)) open_palette(shell);
    ui::hint("Everything by name: labs, presets, commands, terms.");
    if (shell.narrow && chip("Inputs", "", "Inputs", right, y)) shell.slide_over = !shell.slide_over;
    // Tabs come first: the chips that leave them room are shown, the most useful ones first.
    const std::string_view open = shell.workspace.lab().info().id;
    const std::string_view slug = open.substr(0, open.find('/'));
    float room = right - at.x;
    for (const auto& entry : chapters::all_labs())
      if (entry.id.substr(0, entry.id.find('/')) == slug)
        room -= widgets::text_size(shell.workspace.title_of(entry.id), Type::body).x + t.px(28);
    const auto& groups = shell.workspace.shared().groups();
    constexpr std::size_t most = 12;
    Shown shown[most];
    std::size_t fits = 0;
    for (; fits < std::min(groups.size(), most); ++fits) {
      shown[fits] = shown_of(groups[fits], shell.workspace.lab().inputs());
      if (shown[fits].length == 0) continue;
      room -= chip_width(groups[fits].name, shown[fits].view()) + t.px(8);
      if (room < 0) break;
    }
    for (std::size_t g = fits; g-- > 0;)
      if (shown[g].length > 0) shared_chip(shell, groups[g], shown[g].view(), right, y);

    draw_lab_tabs(shell, at, right);
  }
  ImGui::EndChild();
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  Painter::window().line({a.x, b.y - 1}, {b.x, b.y - 1}, t.line);
}

}  // namespace app
