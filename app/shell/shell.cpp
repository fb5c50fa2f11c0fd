#include "app/shell/shell.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/platform/csv.h"
#include "app/platform/file.h"
#include "app/platform/svg.h"
#include "app/scenario/scenario.h"
#include "app/shell/ui.h"

namespace app {
namespace {

using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

/// A bar that can be dragged to resize what is beside it. Returns by how many design pixels it was moved.
float splitter(const char* id, ImVec2 at, ImVec2 size, bool vertical) {
  ImGui::SetCursorScreenPos(at);
  // A child of its own over the panels on both sides, which would take the mouse otherwise.
  float moved = 0;
  if (ImGui::BeginChild(id, size, ImGuiChildFlags_None,
                        ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollbar |
                            ImGuiWindowFlags_NoScrollWithMouse)) {
    ImGui::InvisibleButton(id, size);
    if (ImGui::IsItemHovered() || ImGui::IsItemActive())
      ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    if (ImGui::IsItemActive())
      moved = (vertical ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y) / theme().scale;
  }
  ImGui::EndChild();
  return moved;
}

void draw_message(Shell& shell, ImVec2 canvas_min, ImVec2 canvas_max) {
  Workspace& w = shell.workspace;
  const double now = ImGui::GetTime();
  if (now >= shell.message_until && !w.messages().empty()) {
    shell.message = std::move(w.messages().front());
    w.messages().erase(w.messages().begin());
    shell.message_until = now + 4.0 + 0.04 * static_cast<double>(shell.message.size());
  }
  if (now >= shell.message_until || shell.message.empty()) return;
  shell.animating = true;  // so that it goes away by itself
  const auto& t = theme();
  const float width = std::min(t.px(560), canvas_max.x - canvas_min.x - t.px(32));
  ImGui::SetNextWindowPos({canvas_min.x + t.px(16), canvas_max.y - t.px(16)}, ImGuiCond_Always, {0, 1});
  ImGui::SetNextWindowSize({width, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, t.panel);
  ImGui::PushStyleColor(ImGuiCol_Border, t.accent);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, t.px(6));
  if (ImGui::Begin("message", nullptr,
                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings |
                       ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav)) {
    ui::wrapped(shell.message, t.text, Type::small);
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(0)) shell.message_until = 0;
  }
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor(2);
}

/// A job that lasts longer than a blink shows how far it is, and can be stopped; the last good picture stays meanwhile.
void draw_job(Shell& shell, ImVec2 top_right) {
  Session& session = shell.workspace.current();
  shell.computing_frames = session.computing() ? shell.computing_frames + 1 : 0;
  constexpr int blink = 8;
  if (shell.computing_frames <= blink) return;
  const auto& t = theme();
  const float stop = t.px(64), bar = t.px(150);
  ImGui::SetCursorScreenPos({top_right.x - stop, top_right.y});
  if (ui::button("Stop")) session.cancel();
  const ImVec2 at{top_right.x - stop - bar - t.px(10), top_right.y + t.px(15)};
  ui::bar(at, bar, session.fraction(), t.accent);
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.0f %%", 100 * session.fraction());
  Painter::window().text({at.x, at.y - t.px(16)}, percent, t.muted, Type::small);
}

/// What the open lab asks of the shell: to go elsewhere, or to keep the window awake.
void serve_requests(Shell& shell) {
  chapters::Requests* asks = shell.workspace.lab().requests();
  if (!asks) return;
  if (asks->awake) shell.animating = true;
  if (asks->open_link.empty()) return;
  const std::string link = std::exchange(asks->open_link, {});
  shell.workspace.say_failure(shell.workspace.open_link(link));
}

/// A document may be as large as the file it came from: a job writes it, from a copy of the lab.
void export_document(Shell& shell, const std::string& path) {
  Workspace& w = shell.workspace;
  if (question_open(shell)) return w.say("The document is veiled until you commit to an answer.");
  if (!w.lab().reason().empty()) return w.say("There is nothing to export yet: " + w.lab().reason());
  shell.document_said = std::make_shared<std::string>();
  const std::shared_ptr<const chapters::Lab> lab = w.lab().clone();
  shell.document_job = w.jobs.submit("document", [lab, path, said = shell.document_said](chapters::Progress&) {
    const auto document = lab->document();
    const auto written = document ? write_file(path, *document) : models::Status::fail(document.error);
    *said = written ? "Saved " + path + "." : written.error;
  });
}

}  // namespace

void draw_canvas(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  shell.canvas_min = corner;
  shell.canvas_max = {corner.x + size.x, corner.y + size.y};
  if (ui::begin_panel("canvas", size, t.background, {18, 14})) {
    chapters::Lab& lab = shell.workspace.lab();
    const auto draw = [&] {
      const Painter p = Painter::window();
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      if (question_shown(shell)) {
        const float room = std::max(ImGui::GetContentRegionAvail().y, t.px(320));
        const float used = draw_question(shell, {at, {at.x + width, at.y + room}});
        ImGui::SetCursorScreenPos({at.x, at.y + used});
        ImGui::Dummy({width, 0});
        if (!question_takes_stage(shell)) lab.draw();
        return;
      }
      p.text_fit(at, lab.info().title, width, t.text, Type::title, Font::bold);
      p.text_fit({at.x, at.y + t.px(29)}, lab.info().question, width, t.muted, Type::body);
      draw_job(shell, {at.x + width, at.y});
      ImGui::SetCursorScreenPos(at);
      ImGui::Dummy({width, t.px(52)});
      if (!lab.reason().empty()) {
        const ImVec2 here = ImGui::GetCursorScreenPos();
        p.rect(here, {here.x + width, here.y + t.px(30)}, t.card, t.px(6));
        p.text_fit({here.x + t.px(10), here.y + t.px(7)}, lab.reason(), width - t.px(20), t.warning, Type::small);
        ImGui::Dummy({width, t.px(36)});
      }
      lab.draw();
    };
    if (shell.record) {
      shell.record->min = corner;
      shell.record->max = shell.canvas_max;
      const widgets::Recording recording(*shell.record);
      draw();
    } else {
      draw();
    }
    serve_requests(shell);
  }
  ImGui::EndChild();
}

void draw_shell(Shell& shell) {
  Workspace& w = shell.workspace;
  shell.animating = false;
  handle_shortcuts(shell);
  w.serve();
  follow_question(shell);
  if (w.services.running()) shell.animating = true;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(screen);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::Begin("Ridgeline", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const auto& t = theme();
  const bool chrome = !shell.hide_chrome, full = chrome && !shell.presentation;
  const float rail = full ? std::min(t.px(195), screen.x * 0.2f) : 0;
  const float top = chrome ? t.px(51) : 0;
  const float inspector =
      chrome
          ? std::min(t.px(static_cast<float>(shell.presentation ? 300 : w.settings.inspector_width)), screen.x * 0.36f)
          : 0;
  const float lesson = chrome && (shell.lesson.playing || shell.lesson.recording) ? t.px(76) : 0;
  const float body = screen.y - top - lesson;
  // Explore brings a picture of its own: it takes nearly half.
  const float asked = shell.drawer == Drawer::explore
                          ? std::max(t.px(static_cast<float>(w.settings.drawer_height)), body * 0.45f)
                          : t.px(static_cast<float>(w.settings.drawer_height));
  const float drawer = !full ? 0 : shell.drawer_open ? std::min(asked, body * 0.5f) : t.px(40);
  const auto place = [](float x, float y) { ImGui::SetCursorScreenPos({x, y}); };
  const auto spaced = [](auto&& part) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme().px(8), theme().px(7)});
    part();
    ImGui::PopStyleVar();
  };
  place(0, 0);
  if (rail > 0) spaced([&] { draw_rail(shell, {rail, screen.y}); });
  if (chrome) {
    place(rail, 0);
    spaced([&] { draw_top_bar(shell, {screen.x - rail, top}); });
    place(screen.x - inspector, top);
    spaced([&] { draw_inspector(shell, {inspector, body}); });
  }
  const float middle = screen.x - rail - inspector;
  if (drawer > 0) {
    place(rail, top + body - drawer);
    spaced([&] { draw_drawer(shell, {middle, drawer}); });
  }
  if (lesson > 0) {
    place(rail, top + body);
    spaced([&] { draw_lesson_bar(shell, {screen.x - rail, lesson}); });
  }
  // Controls first, then the model, then the picture: what is drawn belongs to what is set.
  w.update(ImGui::IsAnyItemActive());
  place(rail, top);
  widgets::Record export_record;
  const ExportRequest request = std::exchange(shell.export_request, {});
  if (!request.path.empty() && !shell.record) shell.record = &export_record;
  spaced([&] { draw_canvas(shell, {middle, body - drawer}); });
  if (shell.document_job.ended()) {
    w.say(shell.document_job.done() ? *shell.document_said : shell.document_job.error());
    shell.document_job = {};
  }
  if (request.kind == ExportKind::document && !request.path.empty())
    export_document(shell, request.path);
  else if (!request.path.empty()) {
    const auto exported = export_canvas(shell, request.kind, request.path);
    w.say(exported ? "Saved " + request.path + "." : exported.error);
  }
  if (shell.record == &export_record) shell.record = nullptr;
  if (w.update(ImGui::IsAnyItemActive()))
    shell.animating = true;  // a drag on the canvas: its picture follows next frame
  if (w.current().computing() || shell.document_job) shell.animating = true;
  if (const auto* playing = w.lab().view().find("playing"); playing && playing->toggle())
    shell.animating = true;  // a lab that plays
  if (full && shell.drawer_open)
    w.settings.drawer_height = std::clamp(
        w.settings.drawer_height - static_cast<double>(splitter("drawer edge", {rail, top + body - drawer - t.px(3)},
                                                                {middle, t.px(6)}, false)),
        80.0, 1200.0);
  if (full)
    w.settings.inspector_width =
        std::clamp(w.settings.inspector_width -
                       static_cast<double>(
                           splitter("inspector edge", {screen.x - inspector - t.px(3), top}, {t.px(6), body}, true)),
                   200.0, 1200.0);
  ImGui::PopStyleVar();
  ImGui::End();
  draw_palette(shell);
  draw_message(shell, shell.canvas_min, shell.canvas_max);
}

models::Status export_canvas(Shell& shell, ExportKind kind, const std::string& path) {
  if (kind == ExportKind::scenario) return write_file(path, to_text(scenario_to_json(shell.workspace.lab()), 2) + "\n");
  if (kind == ExportKind::png)
    return shell.host.save_png ? shell.host.save_png(shell.canvas_min, shell.canvas_max, path)
                               : models::Status::fail("Pictures cannot be saved here.");
  if (!shell.record) return models::Status::fail("Nothing was recorded to export.");
  if (kind == ExportKind::csv && shell.record->tables.empty())
    return models::Status::fail("This lab shows no data to write as CSV.");
  return write_file(path, kind == ExportKind::svg ? to_svg(*shell.record, theme().background) : to_csv(*shell.record));
}

}  // namespace app
