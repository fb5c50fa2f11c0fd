#pragma once
#include "chapters/roofline/transformer_layer.h"
#include "widgets/stacked_bar.h"
#include "widgets/table.h"

namespace chapters::roofline::layer {

struct View {
  std::int64_t layer = -1;  ///< kind of layer drawn; -1: the one that takes longest
  widgets::TableView table;
  widgets::StackedBarView time_bars, parameter_bars;
};

void describe(Fields& fields, View& view);
void draw(Inputs& inputs, const Outputs& out, View& view);

}  // namespace chapters::roofline::layer
