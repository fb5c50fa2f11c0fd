#include "chapters/interview/scenarios/draw_parts.h"
#include "widgets/base/marks.h"

namespace chapters::interview::scenarios {

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("case", {.title = "The case", .least = {600, 400}, .answers = true, .marks = "case"}, [&](ImVec2 size) {
    const Run& run = *picture.run;
    if (run.key.empty()) {
      ImGui::Dummy(size);
      return;
    }
    const double now = ImGui::GetTime();
    follow_deal(in, out, picture, view, now);
    if (run.kind == ScenarioKind::board)
      draw_board(in, out, picture, view, size);
    else if (run.kind == ScenarioKind::branching)
      draw_tree(in, out, picture, view, size);
    else
      draw_points(in, out, picture, view, size);
    end_and_keep(in, out, picture, view, now);
  });
}

}  // namespace chapters::interview::scenarios
