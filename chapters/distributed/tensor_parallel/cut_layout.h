#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "widgets/base/parts.h"

/// Where the matrices of a block and the collectives between them stand. Pure.
namespace chapters::distributed::tensor_parallel {

/// Cells [first_row, first_row + rows) x [first_col, ...) of a matrix that one rank holds.
struct CutPiece {
  std::int64_t rank = -1;  ///< -1: every rank
  std::size_t first_row = 0, rows = 0, first_col = 0, cols = 0;
  std::vector<double> values;  ///< rows x cols, over the largest of the matrix, 0 to 1
};

/// A matrix, or what lies on the ranks instead of it. Sheets: every rank has one of the whole size, and they add up.
struct CutMatrix {
  std::string name;                    ///< "A", in bold
  std::string rows_text, cols_text;    ///< size of the real model's matrix
  std::string piece_rows, piece_cols;  ///< size of a rank's piece; empty where it is the whole
  std::string info;                    ///< for the hover
  std::size_t rows = 0, cols = 0;      ///< cells
  std::vector<CutPiece> pieces;
  bool sheets = false, sum = false;  ///< sum: a plus stands between the sheets
  std::string glyph;                 ///< in front of it: "×", "="
};

/// Between two matrices: a collective, or the absence of one.
struct CutCapsule {
  std::size_t before = 0;          ///< index of the matrix behind it
  std::vector<std::string> lines;  ///< "all-", "reduce", "134 MB", "0.42 ms"
  std::string info;                ///< for the hover
  bool empty = false;              ///< nothing is sent
};

struct CutScene {
  std::vector<CutMatrix> matrices;
  std::vector<CutCapsule> capsules;
  std::int64_t drawn_ranks = 1;
  std::string ranks_note;  ///< "drawn with 4 ranks; sizes are those of 8"; empty where all are drawn
};

struct PlacedMatrix {
  widgets::Rect area{};  ///< the area of all cells, sheets and their gaps
  std::vector<widgets::Rect> pieces;
  float middle = 0;   ///< screen x
  float glyph_x = 0;  ///< middle of the glyph in front; 0: none
};
struct CutPlaces {
  float cell = 0, cell_high = 0;  ///< px
  std::vector<PlacedMatrix> matrices;
  std::vector<widgets::Rect> capsules;
  float name_y = 0, whole_y = 0, piece_y = 0;  ///< tops of the texts over and under the matrices
  int shape_lines = 1;                         ///< lines that a shape takes; 0: there is no room for shapes
  bool piece_texts = true;                     ///< who holds what, under the matrices; a low picture has no room
  widgets::Rect pieces_area{};                 ///< from the highest to the lowest cell
};

/// Sizes in px that the texts of a scene need.
struct CutTexts {
  float line = 0;                   ///< height of small type
  float shape = 0, half_shape = 0;  ///< the widest shape in one line, and in two
  float capsule = 0;                ///< the widest line of a capsule
};

/// Matrices side by side on one middle line, cells of one size for all, as large as fits and at most 1.8 times as high
/// as wide. Where the room is low, cells keep it: first the texts under them go, then the shapes over them.
void layout_cut(const CutScene& scene, widgets::Rect area, float scale, const CutTexts& texts, CutPlaces& out);

}  // namespace chapters::distributed::tensor_parallel
