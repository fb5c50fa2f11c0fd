#pragma once
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/base/theme.h"

namespace widgets {

enum class Font : std::uint8_t { sans, bold, mono, italic };
enum class Align : std::uint8_t { left, center, right };

/// One drawn primitive, kept for SVG. Positions are screen pixels.
struct Stroke {
  enum class Kind : std::uint8_t { polyline, polygon, rect, circle, text, clip_push, clip_pop } kind;
  std::vector<ImVec2> points;  ///< rect and clip: min, max; circle: centre, (radius, 0); text: top left
  ImU32 fill = 0, stroke = 0;  ///< 0 alpha: none
  float width = 0, rounding = 0, size = 0, dash = 0;
  float rotation = 0;  ///< text: degrees clockwise about `pivot`
  ImVec2 pivot{};
  Font font = Font::sans;
  bool closed = false;
  std::string text;
};

/// A named table of what a widget shows, for CSV: every cell is already text, numbers with full precision.
struct DataTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

/// What a canvas drew, when somebody asked for it (export).
struct Record {
  ImVec2 min, max;
  std::vector<Stroke> strokes;
  std::vector<DataTable> tables;
};

/// The one way that widgets draw: onto an ImDrawList and, while a Record is attached, into it as well.
/// Cheap to make; make one where you draw.
class Painter {
 public:
  explicit Painter(ImDrawList* list);
  static Painter window() { return Painter(ImGui::GetWindowDrawList()); }

  void line(ImVec2 a, ImVec2 b, ImU32 colour, float width = 1.0f) const;
  void dashed_line(ImVec2 a, ImVec2 b, ImU32 colour, float width = 1.0f, float dash = 5.0f) const;
  void polyline(std::span<const ImVec2> points, ImU32 colour, float width = 1.5f, bool closed = false) const;
  void dashed_polyline(std::span<const ImVec2> points, ImU32 colour, float width = 1.5f, float dash = 5.0f) const;
  void polygon(std::span<const ImVec2> points, ImU32 fill) const;  ///< may be concave
  void rect(ImVec2 min, ImVec2 max, ImU32 fill, float rounding = 0.0f) const;
  void frame(ImVec2 min, ImVec2 max, ImU32 colour, float width = 1.0f, float rounding = 0.0f) const;
  void circle(ImVec2 centre, float radius, ImU32 fill) const;
  void ring(ImVec2 centre, float radius, ImU32 colour, float width = 1.0f) const;
  /// Text with its top at `at.y`; `align` says which end `at.x` is. Returns its width.
  float text(ImVec2 at, std::string_view s, ImU32 colour, Type type = Type::body, Font font = Font::sans,
             Align align = Align::left) const;
  /// A plate of the ground under where `text` will stand, so that grid and fills do not run through its letters.
  void plate(ImVec2 at, std::string_view s, ImU32 ground, Type type = Type::body, Font font = Font::sans) const;
  /// Text in a size of its own, in pixels: scripts in formulas.
  float text_sized(ImVec2 at, std::string_view s, ImU32 colour, float size_px, Font font = Font::sans) const;
  /// Text that reads along a line turned by `degrees` clockwise; `at` is the pivot: the top of the text at `align`'s
  /// end.
  void rotated_text(ImVec2 at, float degrees, std::string_view s, ImU32 colour, Type type = Type::body,
                    Font font = Font::sans, Align align = Align::left) const;
  /// The strip between two polylines of equal length with the same x at each index; no seams with a translucent fill.
  void band(std::span<const ImVec2> upper, std::span<const ImVec2> lower, ImU32 fill) const;
  /// Words shorten with an ellipsis to fit `max_width`; a number stays whole, loses its unit, or is not drawn
  /// (fit_text). Returns the width of what was drawn.
  float text_fit(ImVec2 at, std::string_view s, float max_width, ImU32 colour, Type type = Type::body,
                 Font font = Font::sans, Align align = Align::left) const;
  void clip(ImVec2 min, ImVec2 max) const;
  void unclip() const;

  /// Non-null only while an export is being taken: then add the widget's data to `record()->tables`.
  Record* record() const { return record_; }
  ImDrawList* list() const { return list_; }

 private:
  ImDrawList* list_;
  Record* record_;
};

/// Size in pixels of a text in the theme's type.
ImVec2 text_size(std::string_view s, Type type = Type::body, Font font = Font::sans);
/// The same for a size of its own, in pixels.
ImVec2 text_size_at(std::string_view s, float size_px, Font font = Font::sans);
ImFont* font_of(Font font);

/// While alive, everything painted between is kept in `record`. Only the shell makes one.
class Recording {
 public:
  explicit Recording(Record& record);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

/// While one lives, where texts are painted that can be seen goes into `places`: x and y of the upper left corner, then
/// of the lower right one.
class TextPlaces {
 public:
  explicit TextPlaces(std::vector<ImVec4>& places);
  ~TextPlaces();
  TextPlaces(const TextPlaces&) = delete;
  TextPlaces& operator=(const TextPlaces&) = delete;
};

/// While alive, nothing is kept: what is painted between is not to be seen.
class PausedRecording {
 public:
  PausedRecording();
  ~PausedRecording();
  PausedRecording(const PausedRecording&) = delete;
  PausedRecording& operator=(const PausedRecording&) = delete;

 private:
  Record *paused_, *outer_;
};

/// While alive within a PausedRecording, what is painted is kept after all.
class ResumedRecording {
 public:
  ResumedRecording();
  ~ResumedRecording();
  ResumedRecording(const ResumedRecording&) = delete;
  ResumedRecording& operator=(const ResumedRecording&) = delete;

 private:
  Record* before_;
};

}  // namespace widgets
