#include "app/shell/shell.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/platform/csv.h"
#include "app/platform/file.h"
#include "app/platform/svg.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "app/shell/stage_area.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

/// A bar that can be dragged to resize what is beside it. Returns by how many design pixels it was moved.
float splitter(const char* id, ImVec2 at, ImVec2 size, bool vertical) {
  ImGui::SetCursorScreenPos(at);
  // A child of its own over the panels on both sides, which would take the mouse otherwise.
  float moved = 0;
  if (ImGui::BeginChild(id, size, ImGuiChildFlags_None,
                        ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollbar |
                            ImGuiWindowFlags_NoScrollWithMouse)) {
    widgets::press_area(id, size, ImGuiButtonFlags_None);
    if (ImGui::IsItemHovered() || ImGui::IsItemActive())
      ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    if (ImGui::IsItemActive())
      moved = (vertical ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y) / theme().scale;
  }
  ImGui::EndChild();
  return moved;
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

/// Says where an export went, and offers to show it.
void say_saved(Shell& shell, const std::string& path) {
  Action show;
  if (shell.host.show_folder)
    show = {"Show folder",
            [to = shell.host.show_folder, folder = std::filesystem::path(path).parent_path().string()] { to(folder); }};
  shell.workspace.say("Saved " + path + ".", std::move(show));
}

/// A document may be as large as the file it came from: a job writes it, from a copy of the lab.
void export_document(Shell& shell, const std::string& path) {
  Workspace& w = shell.workspace;
  if (question_open(shell)) return w.say("The document is veiled until you commit to an answer.");
  if (!w.lab().reason().empty()) return w.say("There is nothing to export yet: " + w.lab().reason());
  shell.document_said = std::make_shared<std::string>();
  shell.document_path = path;
  const std::shared_ptr<const chapters::Lab> lab = w.lab().clone();
  shell.document_job = w.jobs.submit("document", [lab, path, said = shell.document_said](chapters::Progress&) {
    const auto document = lab->document();
    const auto written = document ? write_file(path, *document) : models::Status::fail(document.error);
    *said = written.error;
  });
}

}  // namespace

void draw_canvas(Shell& shell, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  shell.canvas_min = corner;
  shell.canvas_max = {corner.x + size.x, corner.y + size.y};
  const ImVec2 padding = shell.presentation ? ImVec2{0, 0} : ImVec2{18, 12};
  if (ui::begin_panel("canvas", size, t.background, padding,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const auto draw = [&] {
      if (shell.presentation)
        draw_presentation(shell, corner, size);
      else
        draw_stage_area(shell, ImGui::GetContentRegionAvail());
    };
    if (shell.record && shell.record_panel == 0) {
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

/// A press on a panel's export button asks in which form.
static void draw_panel_export(Shell& shell) {
  widgets::StageView& view = stage_view(shell);
  if (view.export_panel != 0) {
    shell.export_panel = view.export_panel;
    ImGui::OpenPopup("export panel");
  }
  if (!ImGui::BeginPopup("export panel")) return;
  struct Form {
    const char *label, *suffix;
    ExportKind kind;
  };
  for (const Form& form : {Form{"Picture (PNG)", ".png", ExportKind::png},
                           Form{"Drawing (SVG)", ".svg", ExportKind::svg}, Form{"Data (CSV)", ".csv", ExportKind::csv}})
    if (ImGui::Selectable(form.label)) ask_export(shell, form.kind, form.suffix, shell.export_panel);
  ImGui::EndPopup();
}

void draw_shell(Shell& shell) {
  Workspace& w = shell.workspace;
  shell.animating = false;
  widgets::begin_motion(shell.host.animates, ImGui::IsAnyItemActive(), ImGui::GetIO().DeltaTime);
  handle_shortcuts(shell);
  w.serve();
  follow_question(shell);
  if (w.services.running()) shell.animating = true;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  if (draw_page(shell, screen)) return;
  ui::begin_screen(screen);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const auto& t = theme();
  const bool chrome = !shell.hide_chrome, full = chrome && !shell.presentation;
  const float rail = full ? rail_width(shell, screen) : 0;
  const float top = full ? t.px(48) : 0;
  // In a narrow window the inspector slides over the canvas when it is asked for.
  shell.narrow = full && screen.x < t.px(900);
  const float panel = std::min(t.px(static_cast<float>(w.settings.inspector_width)), screen.x * 0.36f);
  const float inspector = full && !shell.narrow ? panel : 0;
  const float lesson = chrome && (shell.lesson.playing || shell.lesson.recording) ? t.px(76) : 0;
  const float body = screen.y - top - lesson;
  // Explore brings a picture of its own: it takes nearly half.
  const float asked = shell.drawer == Drawer::explore
                          ? std::max(t.px(static_cast<float>(w.settings.drawer_height)), body * 0.45f)
                          : t.px(static_cast<float>(w.settings.drawer_height));
  const float folded = t.px(40), open = std::min(asked, body * 0.5f);
  // Where an open drawer would leave no room for the panel that answers, it lies over the canvas, and folds by a word.
  shell.drawer_over = full && shell.drawer_open && body - open < t.px(300);
  if (shell.drawer_over && shell.drawer == Drawer::predict && question_open(shell))
    shell.drawer_open = shell.drawer_over = false;  // the question itself stands on the canvas
  const float drawer_seen = !full ? 0 : shell.drawer_open ? open : folded;
  const float drawer = shell.drawer_over ? folded : drawer_seen;
  const auto place = [](float x, float y) { ImGui::SetCursorScreenPos({x, y}); };
  const auto spaced = [](auto&& part) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme().px(8), theme().px(7)});
    part();
    ImGui::PopStyleVar();
  };
  place(0, 0);
  if (rail > 0) spaced([&] { draw_rail(shell, {rail, screen.y}); });
  if (full) {
    place(rail, 0);
    spaced([&] { draw_top_bar(shell, {screen.x - rail, top}); });
  }
  if (inspector > 0) {
    place(screen.x - inspector, top);
    spaced([&] { draw_inspector(shell, {inspector, body}); });
  }
  const float middle = screen.x - rail - inspector;
  const auto put_drawer = [&] {
    place(rail, top + body - drawer_seen);
    spaced([&] { draw_drawer(shell, {middle, drawer_seen}); });
  };
  if (drawer > 0 && !shell.drawer_over) put_drawer();
  if (lesson > 0) {
    place(rail, top + body);
    spaced([&] { draw_lesson_bar(shell, {screen.x - rail, lesson}); });
  }
  // Controls first, then the model, then the picture: what is drawn belongs to what is set.
  w.update(ImGui::IsAnyItemActive());
  place(rail, top);
  widgets::Record export_record;
  const ExportRequest request = std::exchange(shell.export_request, {});
  if (!request.path.empty() && !shell.record) {
    shell.record = &export_record;
    shell.record_panel = request.panel;
  }
  spaced([&] { draw_canvas(shell, {middle, body - drawer}); });
  spaced([&] { draw_panel_export(shell); });
  if (shell.drawer_over) put_drawer();
  if (shell.narrow && shell.slide_over) {
    const float width = std::min(t.px(300), screen.x * 0.8f);
    place(screen.x - width, top);
    spaced([&] { draw_inspector(shell, {width, body}); });
  }
  if (shell.document_job.ended()) {
    const std::string why = shell.document_job.done() ? *shell.document_said : shell.document_job.error();
    if (why.empty())
      say_saved(shell, shell.document_path);
    else
      w.say_failure(why);
    shell.document_job = {};
  }
  if (request.kind == ExportKind::document && !request.path.empty())
    export_document(shell, request.path);
  else if (!request.path.empty()) {
    const auto exported = export_canvas(shell, request.kind, request.path);
    if (exported)
      say_saved(shell, request.path);
    else
      w.say_failure(exported);
  }
  if (shell.record == &export_record) {
    shell.record = nullptr;
    shell.record_panel = 0;
  }
  if (w.update(ImGui::IsAnyItemActive()))
    shell.animating = true;  // a drag on the canvas: its picture follows next frame
  if (w.current().computing() || shell.document_job || widgets::motion().moving) shell.animating = true;
  if (const auto* playing = w.lab().view().find("playing"); playing && playing->toggle())
    shell.animating = true;  // a lab that plays
  if (full && shell.drawer_open)
    w.settings.drawer_height =
        std::clamp(w.settings.drawer_height -
                       static_cast<double>(splitter("drawer edge", {rail, top + body - drawer_seen - t.px(3)},
                                                    {middle, t.px(6)}, false)),
                   80.0, 1200.0);
  if (inspector > 0)
    w.settings.inspector_width =
        std::clamp(w.settings.inspector_width -
                       static_cast<double>(
                           splitter("inspector edge", {screen.x - inspector - t.px(3), top}, {t.px(6), body}, true)),
                   200.0, 1200.0);
  ImGui::PopStyleVar();
  ImGui::End();
  draw_palette(shell);
  draw_help(shell);
  draw_open_panel(shell);
  draw_asked_files(shell);
  // Over the drawer's lower right, beside the canvas; where there is no drawer, in the window's corner.
  draw_toasts(shell, {drawer > 0 ? shell.canvas_max.x - t.px(8) : screen.x - t.px(12), top + body - t.px(4)});
}

models::Status export_canvas(Shell& shell, ExportKind kind, const std::string& path) try {
  if (kind == ExportKind::scenario)
    return write_file(path, scenario_file_text(shell.workspace.lab(), std::filesystem::path(path).parent_path()));
  if (kind == ExportKind::png)
    return shell.host.save_png
               ? shell.host.save_png(shell.record && shell.record_panel != 0 ? shell.record->min : shell.canvas_min,
                                     shell.record && shell.record_panel != 0 ? shell.record->max : shell.canvas_max,
                                     path)
               : models::Status::fail("Pictures cannot be saved here.");
  if (!shell.record) return models::Status::fail("Nothing was recorded to export.");
  if (kind == ExportKind::csv && shell.record->tables.empty())
    return models::Status::fail("This lab shows no data to write as CSV.");
  return write_file(path, kind == ExportKind::svg ? to_svg(*shell.record, theme().background) : to_csv(*shell.record));
} catch (const std::bad_alloc&) {
  return models::Status::fail("There is not enough memory to export this: close other programs.");
}

}  // namespace app
