#pragma once
#include <set>
#include <string>
#include <vector>

#include "widgets/base/painter.h"
#include "widgets/base/theme.h"

/// Which colours a theme has, and which of them a picture is drawn with.
namespace support {

class ThemeColours {
 public:
  explicit ThemeColours(const widgets::Theme& theme);

  /// The name of a colour that says what a mark is: "meaning 3", "series 0", "accent", "bad"; empty where it is none.
  /// The alpha is not looked at.
  std::string name_of(ImU32 colour) const;
  /// Is it a colour of the theme: one with a name, a surface, an ink, a step of a ramp, or a share of one of these laid
  /// over a surface?
  bool has(ImU32 colour) const;

 private:
  struct Named {
    std::string name;
    ImU32 colour;
  };
  std::vector<Named> named_;
  std::vector<ImU32> grounds_, inks_;
  std::set<ImU32> steps_;  ///< the steps of ramps
};

/// The colours of everything that was drawn, each once, without alpha; what is wholly transparent is left out.
std::set<ImU32> colours_of(const widgets::Record& record);

/// What the legends of a picture say of its colours: "F forward" of each swatch, by colour and shape.
struct LegendWords {
  ImU32 colour = 0;
  std::string words;
};
/// What every legend that paint_legend drew into the record says.
std::vector<LegendWords> legends_of(const widgets::Record& record);

}  // namespace support
