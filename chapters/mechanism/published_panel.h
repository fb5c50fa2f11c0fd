#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "widgets/charts/measured_strip.h"
#include "widgets/stage/stage.h"

/// A panel that shows a lab's published measurements beside its model: the model hollow, the measurement filled.
namespace chapters {

/// Published measurements as texts and places of a strip. A lab whose Picture has a member `PublishedMarks published`
/// gets them from the mechanism, once the figures of its model are known; LabTraits::published_keys says which of them
/// are strong.
struct PublishedMarks {
  std::vector<widgets::MeasuredMark> marks;  ///< those that agree most with what is set first
  std::vector<std::size_t> agreement;        ///< by mark: in how many keys
  bool bounds = true;                        ///< every model here is a bound
  bool any = false;                          ///< there are such measurements, though their models may not be known yet
};

/// Sets the inputs of `fields` that the row states: numbers, choices, toggles and texts.
void set_published_inputs(const Fields& fields, const Published& row);
/// The best measurement of those that agree most, in one line of the answering panel, `words` before its name; returns
/// the line's height, 0 where there is none or no room for `least` pixels of picture under it.
float published_line(std::string_view words, const PublishedMarks& marks, ImVec2 room, float least);
/// The measurements as a strip at the cursor, in `size` px; nothing where the models' figures are not known yet.
void published_strip(const PublishedMarks& marks, ImVec2 size);
/// The panel under `title`; nothing where there are no measurements. It has its place before the models' figures are
/// known, so that no other panel moves when they are.
void published_panel(widgets::Stage& stage, std::string_view title, const PublishedMarks& marks);

}  // namespace chapters
