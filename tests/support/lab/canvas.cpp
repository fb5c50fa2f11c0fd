#include "tests/support/lab/canvas.h"

#include <utility>

#include "widgets/base/theme.h"

namespace support {

void draw_canvas(chapters::Lab& lab, widgets::StageView& view) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::Begin("canvas", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  widgets::Stage stage(view, {at, {at.x + room.x, at.y + room.y}}, {.scale = widgets::theme().scale});
  lab.draw(stage);
  ImGui::End();
  if (chapters::Requests* asks = lab.requests(); asks && asks->aside) {
    chapters::Progress here_and_now;
    std::exchange(asks->aside, nullptr)(here_and_now);
  }
}

void dark_theme() {
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {}));
  widgets::apply_to_imgui(widgets::theme());
}

Canvas::Canvas(chapters::Lab& lab, ImVec2 size) : lab_(lab), ui([this] { frame(); }, size, dark_theme) { ui.frames(3); }

void Canvas::frame() {
  if (!computed_ || !computed_->same_inputs(lab_)) {
    lab_.compute();
    computed_ = lab_.clone();
  }
  draw_canvas(lab_, stage_);
}

PictureFrame::PictureFrame(ImVec2 size)
    : ui_(
          [this] {
            if (lab_) draw_canvas(*lab_, stage_);
          },
          size, dark_theme) {}

std::string PictureFrame::strokes_of(chapters::Lab& lab) {
  lab_ = &lab;
  stage_ = {};
  ui_.frames(3);
  const widgets::Record record = ui_.record();
  lab_ = nullptr;
  std::string out;
  const auto add = [&](const auto& v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  for (const auto& s : record.strokes) {
    add(s.kind);
    add(s.fill);
    add(s.stroke);
    for (const ImVec2 p : s.points) {
      add(p.x);
      add(p.y);
    }
    (out += s.text) += '\0';
  }
  return out;
}

}  // namespace support
