#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/explore/explore.h"
#include "app/explore/fixes.h"
#include "app/explore/known_figures.h"
#include "app/shell/controls/controls.h"
#include "app/shell/home/home.h"
#include "app/shell/open/open_panel.h"
#include "app/shell/pages/aims.h"
#include "app/shell/pages/chapter_test_page.h"
#include "app/shell/pages/closing.h"
#include "app/shell/pages/palette_search.h"
#include "app/shell/predict/ask_picker.h"
#include "app/shell/predict/predict.h"
#include "app/shell/toasts.h"
#include "app/workspace/workspace.h"
#include "widgets/base/painter.h"
#include "widgets/charts/heat_map.h"
#include "widgets/plot/plot.h"
#include "widgets/prose/prose.h"
#include "widgets/stage/stage.h"
#include "widgets/table/table.h"

namespace app {

/// What the shell asks of whoever runs it (window, headless, test).
struct Host {
  std::function<void(const std::string& text)> copy;  ///< to the clipboard
  /// Writes the pixels of a screen rectangle as PNG once the frame is drawn.
  std::function<models::Status(ImVec2 min, ImVec2 max, const std::string& path)> save_png;
  std::function<void()> toggle_fullscreen;
  std::function<void()> quit;
  Chooser choose_file;                                         ///< the desktop's own; null: the shell's panel asks
  std::function<void(const std::string& folder)> show_folder;  ///< in the file manager; null: it is not offered
  std::string program{};  ///< path of this program, for what a second process of it draws; empty: that is not offered
  bool animates = false;  ///< a person watches: what changes may take its time. Headless pictures and tests skip that.
};

/// What the window shows: a lab, or one of the pages around the labs.
enum class Page : std::uint8_t { lab, home, glossary, chapter_test };
enum class Drawer : std::uint8_t {
  concept_,
  design,
  code,
  debug,
  frontier,
  claims,
  measured,
  predict,
  explore,
  notes,
  lesson
};
enum class ExportKind : std::uint8_t {
  png,
  svg,
  csv,
  scenario,
  document,
  record,
  long_csv,
  picture_light,
  picture_dark,
  handout
};

struct ExploreState {
  enum class Mode : std::uint8_t { sweep, sensitivity, solve, compare } mode = Mode::sweep;
  std::string input, second_input, output;
  std::string lo, hi, target;  ///< as typed
  Job job;
  bool running = false;
  bool choosing = false;  ///< the job looks for the pair to open with
  SweepResult sweep;
  SensitivityResult sensitivity;
  SolveResult solve;
  CompareResult compare;
  Job compare_job;  ///< job that compares, for labs that compute for longer than a frame
  std::shared_ptr<models::Result<CompareResult>> compare_found;  ///< what that job writes
  std::shared_ptr<void> result;                                  ///< what the worker writes
  chapters::LabPtr scenario_a;                                   ///< set aside for comparison
  widgets::PlotReference picture_a;                              ///< what its picture shows, for the canvas
  widgets::StageView stage_a;                                    ///< where that picture is drawn, out of sight
  int frames_of_a = 0;                                           ///< how often it was drawn
  std::string lab;                                               ///< the lab that the keys belong to
  std::vector<std::string> inputs, outputs;                      ///< keys that can be chosen there
  widgets::PlotView plot;
  widgets::HeatMapView heat;
  std::vector<std::string> row_texts, col_texts;
  std::vector<std::string_view> row_labels, col_labels;
  std::vector<double> places;  ///< places of options on their axis: 0, 1, 2...
  std::uint64_t for_version = 0, compared_version = 0;
  std::string error;
};

/// What would make the open lab feasible again, while it is not.
struct FixState {
  std::string lab;
  std::uint64_t version = 0;  ///< version of the Outputs that the fixes are for
  Job job;
  std::shared_ptr<std::vector<Fix>> result;  ///< what the job writes
  std::vector<Fix> found;
};

/// The table of published measurements in the drawer.
struct MeasuredState {
  std::string lab;
  const void* of = nullptr;  ///< the figures that the table shows
  std::uint64_t version = 0;
  widgets::TableView table;
};

/// The headline figures of the open lab as they were before the last edit.
struct HeadlineState {
  /// Cards that are drawn at once, and headlines that a lab may have where some stand only `when` others do not.
  static constexpr std::size_t drawn = 4, most = 8;
  std::string lab;
  std::uint64_t edits = 0;
  std::array<double, most> before{}, now{};
};

/// Which preset the open lab shows: its chip is lit until the inputs change.
struct PresetState {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::string lab;
  std::vector<std::string> inputs;  ///< all inputs of each preset, as text; empty where the preset cannot be read
  std::size_t lit = none, pressed = none;  ///< whose inputs the lab has; the one that was chosen by hand
  std::uint64_t edits = 0, version = 0;    ///< edits and version of the session when it was looked at last
};

struct LessonState {
  bool playing = false, recording = false;
  bool more = false;  ///< the person asked for all inputs of a step that shows a few
  std::size_t lesson = 0, step = 0;
  Lesson draft;
};

struct GlossaryState {
  char query[128] = {};
  bool just_opened = false;
  std::string prose, linked;  ///< a text as it is written, and with its terms as links
};

/// An input or output of the open lab that was looked for: the inspector shows it and marks it until the lab or an
/// input changes.
struct SoughtField {
  std::string lab, key;
  std::uint64_t edits = 0;  ///< edits of the session when it was found
  bool scroll = false;      ///< it is to come into view
};

struct Shell;
/// Something a person can ask for: from the palette, by its shortcut, or both.
struct Command {
  std::string label;
  std::string shortcut;  ///< as shown
  ImGuiKeyChord chord = 0;
  std::function<void(Shell&)> run;
  const char* section = "";              ///< shortcuts: where help lists them
  bool (*can)(const Shell&) = nullptr;   ///< null: always. What cannot act is neither offered nor run.
  ImGuiKeyChord also = 0, and_also = 0;  ///< other keys for the same
  FoundKind kind = FoundKind::command;
  std::string name{};                      ///< by which it is found, where that is not the whole label
  std::vector<std::string> known_as = {};  ///< other words for it
};

struct PaletteState {
  bool open = false, just_opened = false;
  char query[2048] = {};  ///< long enough for a link
  bool active = false;    ///< the box has the keyboard
  int selected = 0;
  std::vector<Command> commands{};  ///< gathered when it opens; behind them, what the query itself asks for
  std::size_t offered = 0;          ///< how many were gathered
  std::vector<std::size_t> hits{};  ///< in `commands`, best first
  std::string matched{};            ///< the query that `hits` are for
};

/// The labs' figures, in which the palette looks for a value.
struct FigureSearch {
  Job job;
  std::shared_ptr<std::vector<KnownFigure>> figures;  ///< what that job writes
  bool known = false;
  std::uint64_t catalogs = 0;  ///< Workspace::catalogs when it was submitted: another one has other figures
};

/// An export asked for in this frame, taken with the next picture.
struct ExportRequest {
  ExportKind kind = ExportKind::png;
  std::string path;   ///< empty: none
  ImGuiID panel = 0;  ///< the panel to export alone; 0: the whole canvas
};

/// One shell for window, headless and tests.
struct Shell {
  Shell(Workspace& w, Host h) : workspace(w), host(std::move(h)), openings_seen(w.openings()) {}

  Workspace& workspace;
  Host host;
  Page page = Page::lab;
  std::uint64_t openings_seen = 0;  ///< Workspace::openings when the page was chosen: a lab opened since shows
  HomeState home;
  GlossaryState glossary;
  AimsState aims;
  ChapterTestState chapter_test;
  bool help_open = false;
  bool presentation = false;
  bool drawer_open = true;
  Drawer drawer = Drawer::concept_;
  bool hide_chrome = false;    ///< canvas alone: exports of pictures
  bool picture_alone = false;  ///< the panel that answers, and nothing around it
  ControlState controls;
  ExploreState explore;
  PredictState predict;                                              ///< state of the question in the open lab
  std::map<std::string, PredictState, std::less<>> other_questions;  ///< the same in labs that were left, by lab
  std::map<std::string, std::vector<Guess>, std::less<>> guesses;    ///< by lab, the latest for each question
  AskPicker ask_picker;
  LessonState lesson;
  ClosingCard closing;
  PaletteState palette;
  FigureSearch figure_search;
  SoughtField sought;
  FixState fixes;
  MeasuredState measured;
  PresetState preset;
  HeadlineState headlines;
  std::map<std::string, widgets::StageView, std::less<>> stages;  ///< by lab
  OpenPanel open_panel;
  widgets::ProseView prose;
  std::string note;  ///< the text in the editor, of the lab `note_lab`
  std::string note_lab;
  ImVec2 canvas_min, canvas_max;      ///< where the canvas lay in the last frame, screen pixels
  int computing_frames = 0;           ///< how long the open lab's job has been running
  float strip_content_px = 0;         ///< height of the controls in the strip of presentation, in the frame before
  int opening_frames = 0;             ///< how long a file has been read
  widgets::Record* record = nullptr;  ///< set for one frame to keep what the canvas draws
  ImGuiID record_panel = 0;           ///< only this panel goes into `record`
  ImGuiID export_panel = 0;           ///< whose export is being chosen
  bool narrow = false;                ///< no room for the inspector beside the canvas
  bool drawer_over = false;           ///< in a low window, the open drawer lies over the canvas
  bool unfold_groups = false;         ///< every group of the inspector stands open
  bool slide_over = false;            ///< in a narrow window, the inspector stands over the canvas
  ExportRequest export_request;
  Job document_job;                            ///< writes a lab's document
  std::shared_ptr<std::string> document_said;  ///< why that job failed, when it is done; empty: it did not
  std::string document_path;                   ///< where it writes
  ToastState toasts;
  double hand_s = -1e9;     ///< when a hand last moved mouse, wheel or keys, on Dear ImGui's clock
  double counted_s = -1e9;  ///< until when the time spent is counted, on the clock of keep_place
  bool animating = false;   ///< something moves: the window must not sleep
  bool prediction_hides_outputs = false;
};

/// Draws the whole interface for this frame and reacts to input. Call between NewFrame and Render.
void draw_shell(Shell& shell);
/// What the window's title bar says: the lab, where one is shown.
std::string window_title(const Shell& shell);

/// Asks for an export with the next picture, named after the lab, into the folder for exports; `panel` 0: the whole
/// canvas.
void ask_export(Shell& shell, ExportKind kind, const char* extension, ImGuiID panel = 0);

/// Exports the canvas of the open lab.
models::Status export_canvas(Shell& shell, ExportKind kind, const std::string& path);

// The parts of the shell, each in its own file.
/// Width of the rail in pixels: folded to numbered rings in a narrow window, unless the person chose otherwise.
float rail_width(const Shell& shell, ImVec2 screen);
void draw_rail(Shell& shell, ImVec2 size);
/// Draws home, the glossary or a chapter's test in place of the lab; false when a lab is to be drawn.
bool draw_page(Shell& shell, ImVec2 screen);
void draw_home(Shell& shell, ImVec2 screen);
void draw_glossary(Shell& shell, ImVec2 screen);
void draw_help(Shell& shell);
/// Messages, newest on top of the stack, whose lower right corner is `corner`.
void draw_toasts(Shell& shell, ImVec2 corner);
void draw_top_bar(Shell& shell, ImVec2 size);
void draw_canvas(Shell& shell, ImVec2 size);
void draw_inspector(Shell& shell, ImVec2 size);
void draw_drawer(Shell& shell, ImVec2 size);
void draw_explore(Shell& shell);
void draw_predict(Shell& shell);
void draw_claims(Shell& shell);
void draw_measured(Shell& shell);
void draw_notes(Shell& shell);
void draw_lesson_editor(Shell& shell);
void draw_lesson_bar(Shell& shell, ImVec2 size);
/// What the lesson's bar needs in a window part this wide, in pixels: one line where its words fit; 0: there is none.
float lesson_bar_height(const Shell& shell, float width);
void draw_palette(Shell& shell);
void handle_shortcuts(Shell& shell);

/// Every command that makes sense now, presets, labs and terms included.
std::vector<Command> all_commands(Shell& shell);
void open_palette(Shell& shell);
/// Opens a lab and shows one of its inputs or outputs in the inspector, marked.
void seek_field(Shell& shell, std::string_view lab, std::string_view key);
/// Is this the field that was looked for? Then it carries a mark until an input changes or another lab is opened.
bool is_sought(const Shell& shell, const chapters::Field& field);
/// Marks the item made last where its field is sought, and brings it into view once.
void mark_sought(Shell& shell, const chapters::Field& field);
/// The commands with a chord: they do not change while the program runs.
const std::vector<Command>& shortcut_commands();

void go_home(Shell& shell);
/// Asks where the record of what the person did is to be written.
void ask_record(Shell& shell);
/// Writes it, and says so.
void save_record(Shell& shell, const std::string& path);
/// Says that a file was written, with a button that shows its folder.
void say_saved(Shell& shell, const std::string& path);
/// The glossary with what fits `query`; all terms when it is empty.
void open_glossary(Shell& shell, std::string_view query);
/// Markdown in which the first occurrence of every term of the glossary is a link to "term:TERM". Headings, code,
/// formulas and links stay as they are.
std::string link_terms(std::string_view markdown, const std::vector<Term>& glossary);
/// The same for a text that is drawn every frame: made anew only when the text changes.
const std::string& prose_with_terms(Shell& shell, const std::string& markdown);
/// After draw_prose: shows the meaning of a hovered term, opens the glossary at a clicked one. True when `clicked` was
/// a term.
bool serve_terms(Shell& shell, std::string_view hovered, std::string_view clicked);

/// The lesson's step that is shown now; null while no lesson plays or another lab than the step's is open.
const LessonStep* step_shown(const Shell& shell);
/// The lesson to begin or to go on with first: the first in teaching order that was not played to the end.
std::size_t next_lesson(const Shell& shell);
/// Starts a lesson, or goes on at the step where it was left.
void lesson_resume(Shell& shell, std::size_t lesson);
void lesson_leave(Shell& shell);
/// The drawer's tab and the lesson as they were when the program ended; call once, before the first frame.
void resume_shell(Shell& shell);
/// Writes them where Workspace::save and Workspace::keep_place keep them.
void note_shell(Shell& shell);
/// The same, and keeps everything: call it about once a second with a clock in seconds.
void keep_place(Shell& shell, double now_s);
/// The name of a drawer's tab as it is kept, and back; `concept` for an unknown name.
const char* name_of(Drawer drawer);
Drawer drawer_of(std::string_view name);

/// Shows a step, and asks what it asks.
void lesson_go(Shell& shell, std::size_t lesson, std::size_t step);
/// False, and it says why, while the question of the step that is shown is open.
bool lesson_may_go_on(Shell& shell);
/// To the step behind, where that may be.
void lesson_next(Shell& shell);
void lesson_record_step(Shell& shell);
void lesson_finish_recording(Shell& shell);

/// The current value of an input or output as text, for prose: "{total_bytes}", "{batch}".
std::string_view live_value(const chapters::Lab& lab, std::string_view key, widgets::NumberText& scratch);

}  // namespace app
