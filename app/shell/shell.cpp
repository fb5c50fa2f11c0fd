#include "app/shell/shell.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/content/paper.h"
#include "app/platform/csv.h"
#include "app/platform/file.h"
#include "app/platform/svg.h"
#include "app/scenario/hand_on.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "app/shell/program_export.h"
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
    if (!document) {
      *said = document.error;
      return;
    }
    *said = write_document(path, *document).error;
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
    ui::end_focused_panel("canvas");
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
  const bool hero = !view.specs.empty() && view.ids[widgets::answering_panel(view.specs)] == shell.export_panel;
  for (const Form& form : {Form{"Picture (PNG)", ".png", ExportKind::png},
                           Form{"Picture alone, twice the pixels, light (PNG)", ".png", ExportKind::picture_light},
                           Form{"Picture alone, twice the pixels, dark (PNG)", ".png", ExportKind::picture_dark},
                           Form{"Drawing (SVG)", ".svg", ExportKind::svg}, Form{"Data (CSV)", ".csv", ExportKind::csv},
                           Form{"Data, one row an observation (CSV)", ".csv", ExportKind::long_csv}}) {
    const bool alone = form.kind == ExportKind::picture_light || form.kind == ExportKind::picture_dark;
    if (alone && !(hero && is_drawn_beside(shell, form.kind))) continue;
    if (ImGui::Selectable(form.label)) ask_export(shell, form.kind, form.suffix, shell.export_panel);
  }
  if (hero && shell.workspace.lab().info().document == printed_document)
    for (const Form& form : {Form{"Page for A4 (PDF)", "-page.pdf", ExportKind::document},
                             Form{"Page as text (Markdown)", "-page.md", ExportKind::document}})
      if (ImGui::Selectable(form.label)) ask_export(shell, form.kind, form.suffix);
  ImGui::EndPopup();
}

namespace {

/// Where the parts of the shell stand in this frame, in screen pixels.
struct Places {
  ImVec2 screen;
  bool full = false;        ///< rail, bar, inspector and drawer are there
  float rail = 0, top = 0;  ///< width of the rail, height of the bar
  float inspector = 0;      ///< its width beside the canvas
  float middle = 0;         ///< width of the canvas
  float lesson = 0;         ///< height of the lesson's bar
  float body = 0;           ///< height between the bar and the lesson's
  float drawer = 0;         ///< height that the drawer takes from the canvas
  float drawer_seen = 0;    ///< its own height, over the canvas too
};

Places places_of(Shell& shell, ImVec2 screen) {
  const auto& t = theme();
  const auto& settings = shell.workspace.settings;
  const bool chrome = !shell.hide_chrome;
  Places at{.screen = screen, .full = chrome && !shell.presentation};
  if (at.full) {
    at.rail = rail_width(shell, screen);
    at.top = t.px(48);
  }
  // In a narrow window the inspector slides over the canvas when it is asked for.
  shell.narrow = at.full && screen.x < t.px(900);
  if (at.full && !shell.narrow)
    at.inspector = std::min(t.px(static_cast<float>(settings.inspector_width)), screen.x * 0.36f);
  at.middle = screen.x - at.rail - at.inspector;
  if (chrome) at.lesson = lesson_bar_height(shell, screen.x - at.rail);
  at.body = screen.y - at.top - at.lesson;
  // Explore brings a picture of its own: it takes nearly half.
  const float set = t.px(static_cast<float>(settings.drawer_height));
  const float asked = shell.drawer == Drawer::explore ? std::max(set, at.body * 0.45f) : set;
  const float folded = t.px(40), open = std::min(asked, at.body * 0.5f);
  // Where an open drawer would leave no room for the panel that answers, it lies over the canvas, and folds by a word.
  shell.drawer_over = at.full && shell.drawer_open && at.body - open < t.px(300);
  if (shell.drawer_over && shell.drawer == Drawer::predict && question_open(shell))
    shell.drawer_open = shell.drawer_over = false;  // the question itself stands on the canvas
  if (at.full) at.drawer_seen = shell.drawer_open ? open : folded;
  at.drawer = shell.drawer_over ? folded : at.drawer_seen;
  return at;
}

/// Draws a part of the shell with its corner at (x, y) and the spacing that controls have.
template <class Part>
void put(float x, float y, Part&& part) {
  ImGui::SetCursorScreenPos({x, y});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme().px(8), theme().px(7)});
  part();
  ImGui::PopStyleVar();
}

void put_drawer(Shell& shell, const Places& at) {
  put(at.rail, at.top + at.body - at.drawer_seen, [&] { draw_drawer(shell, {at.middle, at.drawer_seen}); });
}

/// All that a person can set: it comes before the canvas, so that what is drawn belongs to what is set.
void draw_controls(Shell& shell, const Places& at) {
  if (at.rail > 0) put(0, 0, [&] { draw_rail(shell, {at.rail, at.screen.y}); });
  if (at.full) put(at.rail, 0, [&] { draw_top_bar(shell, {at.screen.x - at.rail, at.top}); });
  if (at.inspector > 0)
    put(at.screen.x - at.inspector, at.top, [&] { draw_inspector(shell, {at.inspector, at.body}); });
  if (at.drawer > 0 && !shell.drawer_over) put_drawer(shell, at);
  if (at.lesson > 0)
    put(at.rail, at.top + at.body, [&] { draw_lesson_bar(shell, {at.screen.x - at.rail, at.lesson}); });
}

void draw_over_canvas(Shell& shell, const Places& at) {
  if (shell.drawer_over) put_drawer(shell, at);
  if (!shell.narrow || !shell.slide_over) return;
  const float width = std::min(theme().px(300), at.screen.x * 0.8f);
  put(at.screen.x - width, at.top, [&] { draw_inspector(shell, {width, at.body}); });
}

void finish_document(Shell& shell) {
  if (!shell.document_job.ended()) return;
  const std::string why = shell.document_job.done() ? *shell.document_said : shell.document_job.error();
  if (why.empty())
    say_saved(shell, shell.document_path);
  else
    shell.workspace.say_failure(why);
  shell.document_job = {};
}

void serve_export(Shell& shell, const ExportRequest& request) {
  if (request.path.empty()) return;
  if (request.kind == ExportKind::document) return export_document(shell, request.path);
  if (request.kind == ExportKind::record) return save_record(shell, request.path);
  if (is_drawn_beside(shell, request.kind)) return export_beside(shell, request.kind, request.path);
  const auto exported = export_canvas(shell, request.kind, request.path);
  if (exported)
    say_saved(shell, request.path);
  else
    shell.workspace.say_failure(exported);
}

/// The canvas, and the export that was asked for, which keeps what the canvas draws.
void draw_recorded_canvas(Shell& shell, const Places& at) {
  widgets::Record kept;
  const ExportRequest request = std::exchange(shell.export_request, {});
  const bool records = !request.path.empty() && !shell.record;
  if (records) {
    shell.record = &kept;
    shell.record_panel = request.panel;
  }
  put(at.rail, at.top, [&] {
    draw_canvas(shell, {at.middle, at.body - at.drawer});
    draw_panel_export(shell);
  });
  draw_over_canvas(shell, at);
  finish_document(shell);
  serve_export(shell, request);
  if (records) {
    shell.record = nullptr;
    shell.record_panel = 0;
  }
}

/// The next frame must not wait for a hand: something moves, or a job works on what is shown.
void note_motion(Shell& shell) {
  Workspace& w = shell.workspace;
  if (w.update(ImGui::IsAnyItemActive()))
    shell.animating = true;  // a drag on the canvas: its picture follows next frame
  if (w.current().computing() || shell.document_job || widgets::motion().moving) shell.animating = true;
  if (const auto* playing = w.lab().view().find("playing"); playing && playing->toggle())
    shell.animating = true;  // a lab that plays
}

void draw_splitters(Shell& shell, const Places& at) {
  const auto& t = theme();
  auto& settings = shell.workspace.settings;
  const auto move = [](double& size, double least, float by) {
    size = std::clamp(size - static_cast<double>(by), least, 1200.0);
  };
  if (at.full && shell.drawer_open)
    move(settings.drawer_height, 80,
         splitter("drawer edge", {at.rail, at.top + at.body - at.drawer_seen - t.px(3)}, {at.middle, t.px(6)}, false));
  if (at.inspector > 0)
    move(settings.inspector_width, 200,
         splitter("inspector edge", {at.screen.x - at.inspector - t.px(3), at.top}, {t.px(6), at.body}, true));
}

}  // namespace

/// Did a hand move mouse, wheel or keys since the last frame?
static bool hand_moved() {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0 || ImGui::IsAnyMouseDown()) return true;
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END; ++key)
    if (ImGui::IsKeyDown(static_cast<ImGuiKey>(key))) return true;
  return false;
}

void draw_shell(Shell& shell) {
  Workspace& w = shell.workspace;
  if (hand_moved()) shell.hand_s = ImGui::GetTime();
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
  const Places at = places_of(shell, screen);
  draw_controls(shell, at);
  w.update(ImGui::IsAnyItemActive());
  draw_recorded_canvas(shell, at);
  note_motion(shell);
  draw_splitters(shell, at);
  ImGui::PopStyleVar();
  ImGui::End();
  draw_palette(shell);
  draw_ask_picker(shell);
  draw_help(shell);
  draw_closing(shell);
  draw_open_panel(shell);
  draw_asked_files(shell);
  // Over the drawer's lower right, beside the canvas; where there is no drawer, in the window's corner.
  const auto& t = theme();
  draw_toasts(shell, {at.drawer > 0 ? shell.canvas_max.x - t.px(8) : screen.x - t.px(12), at.top + at.body - t.px(4)});
}

void say_saved(Shell& shell, const std::string& path) {
  Action show;
  if (shell.host.show_folder)
    show = {"Show folder",
            [to = shell.host.show_folder, folder = std::filesystem::path(path).parent_path().string()] { to(folder); }};
  shell.workspace.say("Saved " + path + ".", std::move(show));
}

std::string window_title(const Shell& shell) {
  if (shell.page == Page::home) return "Ridgeline";
  if (shell.page == Page::glossary) return "Ridgeline: Glossary";
  if (shell.page == Page::chapter_test) return "Ridgeline: Chapter test";
  return "Ridgeline: " + std::string(shell.workspace.lab().info().title);
}

models::Status export_canvas(Shell& shell, ExportKind kind, const std::string& path) try {
  if (kind == ExportKind::scenario) {
    HandedOn scenario = scenario_to_hand_on(shell.workspace.lab(), std::filesystem::path(path).parent_path());
    auto written = write_file(path, scenario.text);
    if (written) shell.workspace.say_failure(std::move(scenario.notice));
    return written;
  }
  if (kind == ExportKind::png)
    return shell.host.save_png
               ? shell.host.save_png(shell.record && shell.record_panel != 0 ? shell.record->min : shell.canvas_min,
                                     shell.record && shell.record_panel != 0 ? shell.record->max : shell.canvas_max,
                                     path)
               : models::Status::fail("Pictures cannot be saved here.");
  if (!shell.record) return models::Status::fail("Nothing was recorded to export.");
  if ((kind == ExportKind::csv || kind == ExportKind::long_csv) && shell.record->tables.empty())
    return models::Status::fail("This lab shows no data to write as CSV.");
  if (kind == ExportKind::long_csv) {
    const chapters::Lab& lab = shell.workspace.lab();
    return write_file(path, to_long_csv(*shell.record, lab.info().id, link_of(lab)));
  }
  return write_file(path, kind == ExportKind::svg ? to_svg(*shell.record, theme().background) : to_csv(*shell.record));
} catch (const std::bad_alloc&) {
  return models::Status::fail("There is not enough memory to export this: close other programs.");
}

}  // namespace app
