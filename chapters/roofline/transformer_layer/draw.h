#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/roofline/transformer_layer/lab.h"
#include "widgets/charts/stacked_bar.h"

namespace chapters::roofline::transformer_layer {

/// An operation in the table.
struct ShownOperation {
  std::size_t index = 0;  ///< among all operations
  OperationRow row;
  std::string short_name, detail;  ///< the name without the word projection; all about it in one line
};

struct View {
  std::int64_t layer = -1;     ///< kind of layer drawn; -1: the one that takes longest
  std::int64_t selected = -1;  ///< among all operations; -1: none
  DescribedTable<ShownOperation> table;
  widgets::StackedBarView time_bars, parameter_bars;
  std::vector<ShownOperation> rows;  ///< kept until the operations or the layer drawn change
  std::uint64_t rows_version = 0;
};

void describe(Fields& fields, View& view);
void describe(Fields& fields, OperationRow& row);
void describe(Fields& fields, ShownOperation& shown);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

// The parts of the picture, from top to bottom; each draws at the cursor in a box of this size.
void draw_flow(const Outputs& out, const Picture& picture, View& view, bool with_launch, float width, float height);
void draw_operations(const Outputs& out, const Picture& picture, View& view, float width, float height);

// What the parts share.
widgets::Meaning meaning_of(models::Regime regime);
widgets::Marker shape_of(models::Regime regime);
std::string_view name_of(models::Regime regime);
void select(View& view, std::size_t operation);  ///< Lets go of it when it was selected.
bool is_selected(const View& view, std::size_t operation);
/// What hovering an operation says.
void show_tip(const OperationRow& row, const OperationPicture& picture);
/// The kind of layer that is drawn, as a place in picture.layers, which must not be empty.
std::size_t drawn_layer(const Picture& picture, const View& view);

}  // namespace chapters::roofline::transformer_layer
