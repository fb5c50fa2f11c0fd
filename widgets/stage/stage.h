#pragma once
#include <imgui.h>

#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot_veil.h"
#include "widgets/stage/stage_layout.h"

/// The place where a lab draws its panels. A lab says which panels it has and how each is painted; the stage decides
/// which of them have room, folds the others into tabs, and enlarges one when asked.
namespace widgets {

/// What lies over the panels.
enum class Cover {
  none,
  dimmed,  ///< the last good picture of inputs for which there is none
  veiled   ///< a question is open: of the picture only what is given is seen (GivenMarks), and the axes of plots
};

/// What a stage remembers between frames.
struct StageView {
  ImGuiID front = 0;         ///< the panel that was brought to the front; 0: the one that answers
  bool enlarged = false;     ///< the front panel has the stage for itself
  ImGuiID export_panel = 0;  ///< this panel's export button was pressed in this frame
  // Of the last frame:
  std::vector<PanelSpec> specs;
  std::vector<ImGuiID> ids;
  std::vector<PlacedPanel> placed;
  StagePlan plan;
  std::size_t main = 0;                 ///< index of the panel that is shown whatever the room
  std::vector<std::string_view> drawn;  ///< names of marks that the main panel said it drew
  std::vector<ImVec4> given_texts;      ///< corners of the texts on the veil of the main panel
};

class Stage {
 public:
  /// A stage in `area`, screen pixels, of the current Dear ImGui window.
  Stage(StageView& view, Rect area, const StageOptions& options, Cover cover = Cover::none)
      : view_(view), area_(area), options_(options), cover_(cover) {}

  /// Declares a panel and, where it has a place, paints it: `body(ImVec2 size)` draws from the cursor in `size` px and
  /// no more. `id` tells the panels of a lab apart and is a literal.
  template <class Body>
  void panel(const char* id, const PanelSpec& spec, const Body& body) {
    if (!painting_) {
      declare(id, spec);
      return;
    }
    ImVec2 size;
    if (begin_panel(id, size)) {
      paint_body(size, body);
      end_panel();
    }
  }

  /// Calls `paint`, which declares the panels, twice: to learn what there is, and to paint what has a place. Allocates
  /// nothing once the view has seen the panels.
  template <class Paint>
  void run(const Paint& paint) {
    start();
    paint();
    place();
    paint();
    finish();
  }

  /// What a question gives: stands on the axes of veiled plots. Must outlive the stage.
  void give(std::span<const GivenAxis> given) { given_ = given; }

  /// What this one panel draws goes into `record`, with the place of its body.
  void record(ImGuiID panel, Record* record) {
    recorded_ = panel;
    record_ = record;
  }

  /// Where the panel's body is drawn in this frame; empty for one that is folded away.
  Rect place_of(const char* id) const;

 private:
  template <class Body>
  void paint_body(ImVec2 size, const Body& body) {
    const bool main = next_ - 1 == view_.main;
    if (cover_ == Cover::veiled) {
      const PausedRecording paused;
      const VeilPlots plots;
      const BodyMarks marks(&current_, nullptr);
      if (main) {
        view_.given_texts.clear();
        const TextPlaces places(view_.given_texts);
        body(size);
      } else {
        body(size);
      }
      gave_ = marks.gave();
      return;
    }
    const BodyMarks marks(nullptr, main ? &view_.drawn : nullptr);
    const LitTexts lit;
    if (record_ && view_.ids[next_ - 1] == recorded_) {
      record_->min = current_.min;
      record_->max = current_.max;
      const Recording recording(*record_);
      body(size);
    } else {
      body(size);
    }
  }
  void start();
  void declare(const char* id, const PanelSpec& spec);
  void place();
  bool begin_panel(const char* id, ImVec2& size);
  void end_panel();
  void finish();
  void draw_tabs();
  void draw_heading(const PlacedPanel& placed, const char* id);

  StageView& view_;
  Rect area_;
  StageOptions options_;
  Cover cover_;
  bool painting_ = false;
  bool gave_ = false;     ///< the veiled body that was painted last drew something that is given
  std::size_t next_ = 0;  ///< index of the panel that comes next while painting
  Rect current_{};
  ImGuiID recorded_ = 0;
  Record* record_ = nullptr;
  std::span<const GivenAxis> given_;
};

/// Brings the panel `steps` behind the front one to the front, around the end. Nothing where there is one panel.
void turn_panels(StageView& view, int steps);

/// A plate that is hatched at 45 degrees: something is there and is not shown. `words` stand in its middle.
void draw_veil(const Painter& painter, Rect area, std::string_view words);

}  // namespace widgets
