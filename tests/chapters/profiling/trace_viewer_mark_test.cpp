#include <catch2/catch_test_macros.hpp>
#include <utility>

#include "chapters/profiling/trace_viewer/marked_part.h"
#include "chapters/profiling/trace_viewer/rows.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"
#include "widgets/base/theme.h"
#include "widgets/number/number.h"

using namespace support;
namespace viewer = chapters::profiling::trace_viewer;

// Shift-drag marks a part of the recording, and what the device did in it is answered aside.

namespace {

std::shared_ptr<const viewer::Lanes> lanes_of(models::SampleFault fault) {
  const viewer::RecordingPtr recording = viewer::sample_recordings(fault).front();
  return viewer::Lanes::make({{.recording = recording, .label = "", .device = 0}}, "");
}

void drag_with_shift(UiDriver& ui) {
  const ImVec2 from = ui.point_in("timeline", {0.3f, 0.5f}), to = ui.point_in("timeline", {0.8f, 0.5f});
  ui.move_to(from);
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, true);
  ui.frames(1);
  ui.press();
  ui.move_to(to);
  ui.frames(3);
}
void let_go(UiDriver& ui) {
  ui.release();
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, false);
  ui.frames(3);
}

}  // namespace

TEST_CASE("a part that is marked is measured from its earlier end to its later one, whichever was marked first") {
  const auto lanes = lanes_of(models::SampleFault::hidden_sync);
  const auto& steps = lanes->sources().front().recording->metrics.steps;
  const double from_s = lanes->seconds(0, steps[1].start_ns), to_s = lanes->seconds(0, steps[1].end_ns);
  const viewer::MeasuredPart part = viewer::measure_part({lanes, from_s, to_s});
  const auto& trace = lanes->sources().front().recording->trace;
  const auto whole = models::trace::measure_window(trace, 0, steps[1].start_ns, steps[1].end_ns);
  CHECK(part.metrics.window_ns == steps[1].end_ns - steps[1].start_ns);
  CHECK(part.metrics.busy_ns == whole.busy_ns);
  CHECK(part.metrics.busy_ns + part.metrics.idle_ns == part.metrics.window_ns);
  CHECK(part.metrics.idle.host_wait_ns == whole.idle.host_wait_ns);
  CHECK(viewer::measure_part({lanes, to_s, from_s}).words == part.words);
  const LabPtr lab = open_lab("profiling/trace-viewer");
  compute(set(*lab, "step", 2.0));
  // The step that the lab measures is the same part, so the sentence has the lab's own figures.
  const auto said = [&](const char* key) { return widgets::format_text(out(*lab, key), "s"); };
  CHECK(part.words.starts_with("Selected " + said("span_s") + ": "));
  CHECK(part.words.find(", busy " + said("busy_s") + ", computing " + said("compute_s") + ", communicating " +
                        said("communication_s") + " (" + said("exposed_communication_s") + " exposed), idle " +
                        said("idle_s") + " (" + said("idle_host_s") + " for the host)") != std::string::npos);
}

TEST_CASE("nothing is asked while the button is down; then the part is measured, and Escape lets go of it") {
  const LabPtr lab = open_lab("profiling/trace-viewer");
  Canvas canvas(*lab, {1280, 900});
  drag_with_shift(canvas.ui);
  CHECK(canvas.ui.all_text().find("Selected ") == std::string::npos);
  let_go(canvas.ui);
  const std::string text = canvas.ui.all_text();
  CHECK(text.find("Selected ") != std::string::npos);
  CHECK(text.find(" tasks on the device, busy ") != std::string::npos);
  canvas.ui.key(ImGuiKey_Escape);
  canvas.ui.frames(3);
  CHECK(canvas.ui.all_text().find("Selected ") == std::string::npos);
}

namespace {

/// The lab in a window of its own, whose questions nobody answers but the test.
struct Unanswered {
  LabPtr lab = computed();
  widgets::StageView view;
  UiDriver ui{[this] { draw(); }, {1280, 900}, dark_theme};

  Unanswered() { ui.frames(3); }
  static LabPtr computed() {
    LabPtr made = open_lab("profiling/trace-viewer");
    made->compute();
    return made;
  }
  void draw() {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    widgets::Stage stage(view, {at, {at.x + room.x, at.y + room.y}}, {.scale = widgets::theme().scale});
    lab->draw(stage);
    ImGui::End();
  }
  bool asked() const { return static_cast<bool>(lab->requests()->aside); }
  void answer() {
    chapters::Progress progress;
    std::exchange(lab->requests()->aside, nullptr)(progress);
    ui.frames(2);
  }
};

}  // namespace

TEST_CASE("until the answer is there, the picture says that the part is being measured") {
  Unanswered open;
  drag_with_shift(open.ui);
  open.lab->requests()->aside = nullptr;  // what the file says of the spans that the pointer crossed
  open.ui.frames(2);
  CHECK(open.ui.all_text().find("Measuring") == std::string::npos);
  let_go(open.ui);
  REQUIRE(open.asked());
  CHECK(open.ui.all_text().find("Measuring the part selected...") != std::string::npos);
  open.answer();
  CHECK(open.ui.all_text().find("Measuring") == std::string::npos);
  CHECK(open.ui.all_text().find("Selected ") != std::string::npos);
}

TEST_CASE("what the file says of a span is read aside, and shown once it is known") {
  Unanswered open;
  const auto says = [&] { return open.ui.all_text().find("\"correlation\"") != std::string::npos; };
  // The first place of the timeline at which a span with arguments lies under the pointer.
  bool asked = false;
  for (float y = 0.1f; y < 0.95f && !asked; y += 0.02f) {
    open.ui.move_to(open.ui.point_in("timeline", {0.5f, y}));
    open.ui.frames(2);
    if (!open.asked()) continue;
    CHECK_FALSE(says());
    open.answer();
    asked = says();
  }
  REQUIRE(asked);
  CHECK_FALSE(open.asked());  // what is answered is not asked again
}
