#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/explore/explore.h"
#include "app/shell/controls.h"
#include "app/shell/predict.h"
#include "app/workspace/workspace.h"
#include "widgets/base/painter.h"
#include "widgets/charts/heat_map.h"
#include "widgets/plot/plot.h"
#include "widgets/prose/prose.h"

namespace app {

/// What the shell asks of whoever runs it (window, headless, test).
struct Host {
  std::function<void(const std::string& text)> copy;  ///< to the clipboard
  /// Writes the pixels of a screen rectangle as PNG once the frame is drawn.
  std::function<models::Status(ImVec2 min, ImVec2 max, const std::string& path)> save_png;
  std::function<void()> toggle_fullscreen;
  std::function<void()> quit;
  bool animates = false;  ///< a person watches: what changes may take its time. Headless pictures and tests skip that.
};

enum class Drawer : std::uint8_t { concept_, design, code, debug, frontier, claims, predict, explore, notes, lesson };
enum class ExportKind : std::uint8_t { png, svg, csv, scenario, document };

struct ExploreState {
  enum class Mode : std::uint8_t { sweep, sensitivity, solve, compare } mode = Mode::sweep;
  std::string input, second_input, output;
  std::string lo, hi, target;  ///< as typed
  Job job;
  bool running = false;
  SweepResult sweep;
  SensitivityResult sensitivity;
  SolveResult solve;
  CompareResult compare;
  std::shared_ptr<void> result;              ///< what the worker writes
  chapters::LabPtr scenario_a;               ///< set aside for comparison
  std::string lab;                           ///< the lab that the keys belong to
  std::vector<std::string> inputs, outputs;  ///< keys that can be chosen there
  widgets::PlotView plot;
  widgets::HeatMapView heat;
  std::vector<std::string> row_texts, col_texts;
  std::vector<std::string_view> row_labels, col_labels;
  std::uint64_t for_version = 0, compared_version = 0;
  std::string error;
};

struct LessonState {
  bool playing = false, recording = false;
  std::size_t lesson = 0, step = 0;
  Lesson draft;
};

struct Shell;
/// Something a person can ask for: from the palette, by its shortcut, or both.
struct Command {
  std::string label;
  std::string shortcut;  ///< as shown
  ImGuiKeyChord chord = 0;
  std::function<void(Shell&)> run;
};

struct PaletteState {
  bool open = false, just_opened = false;
  char query[128] = {};
  int selected = 0;
  std::vector<Command> commands{};  ///< gathered when it opens
  struct Hit {
    int score;
    std::size_t index;  ///< in `commands`
  };
  std::vector<Hit> hits{};  ///< best first
  std::string matched{};    ///< the query that `hits` are for
};

/// An export asked for in this frame, taken with the next picture.
struct ExportRequest {
  ExportKind kind = ExportKind::png;
  std::string path;  ///< empty: none
};

/// One shell for window, headless and tests.
struct Shell {
  Shell(Workspace& w, Host h) : workspace(w), host(std::move(h)) {}

  Workspace& workspace;
  Host host;
  bool presentation = false;
  bool drawer_open = true;
  Drawer drawer = Drawer::concept_;
  bool hide_chrome = false;  ///< canvas alone: exports of pictures
  ControlState controls;
  ExploreState explore;
  PredictState predict;                                              ///< of the open lab
  std::map<std::string, PredictState, std::less<>> other_questions;  ///< of labs that were left, by id
  std::map<std::string, std::vector<Guess>, std::less<>> guesses;    ///< by lab, the latest for each question
  LessonState lesson;
  PaletteState palette;
  widgets::ProseView prose;
  char note[16384] = {};
  std::string note_lab;
  ImVec2 canvas_min, canvas_max;      ///< of the last frame, screen pixels
  int computing_frames = 0;           ///< how long the open lab's job has been running
  widgets::Record* record = nullptr;  ///< set for one frame to keep what the canvas draws
  ExportRequest export_request;
  Job document_job;                            ///< writes a lab's document
  std::shared_ptr<std::string> document_said;  ///< what that job has to say when it is done
  double message_until = 0;
  std::string message;
  bool animating = false;  ///< something moves: the window must not sleep
  bool prediction_hides_outputs = false;
};

/// Draws the whole interface for this frame and reacts to input. Call between NewFrame and Render.
void draw_shell(Shell& shell);

/// Exports the canvas of the open lab.
models::Status export_canvas(Shell& shell, ExportKind kind, const std::string& path);

// The parts of the shell, each in its own file.
void draw_rail(Shell& shell, ImVec2 size);
void draw_top_bar(Shell& shell, ImVec2 size);
void draw_canvas(Shell& shell, ImVec2 size);
void draw_inspector(Shell& shell, ImVec2 size);
void draw_drawer(Shell& shell, ImVec2 size);
void draw_explore(Shell& shell);
void draw_predict(Shell& shell);
void draw_claims(Shell& shell);
void draw_notes(Shell& shell);
void draw_lesson_editor(Shell& shell);
void draw_lesson_bar(Shell& shell, ImVec2 size);
void draw_palette(Shell& shell);
void handle_shortcuts(Shell& shell);

/// Every command that makes sense now, presets, labs and terms included.
std::vector<Command> all_commands(Shell& shell);
/// The commands with a chord: they do not change while the program runs.
const std::vector<Command>& shortcut_commands();

void lesson_go(Shell& shell, std::size_t lesson, std::size_t step);
void lesson_record_step(Shell& shell);
void lesson_finish_recording(Shell& shell);

/// The current value of an input or output as text, for prose: "{total_bytes}", "{batch}".
std::string_view live_value(const chapters::Lab& lab, std::string_view key, widgets::NumberText& scratch);

}  // namespace app
