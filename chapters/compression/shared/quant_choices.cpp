#include "chapters/compression/shared/quant_choices.h"

#include "chapters/mechanism/choices_in_order.h"

namespace chapters::compression {

const Choices& quant_format_choices() {
  static const Choices choices = choices_in_order<models::QuantFormat::fp4>(
      {{"int8", "INT8", "256 even levels."},
       {"int6", "INT6", "64 even levels."},
       {"int5", "INT5", "32 even levels."},
       {"int4", "INT4", "16 even levels."},
       {"int3", "INT3", "8 even levels."},
       {"int2", "INT2", "4 even levels."},
       {"fp8", "FP8 E4M3", "253 levels, denser near zero."},
       {"nf4", "NF4", "16 levels at the quantiles of a normal distribution."},
       {"fp4", "FP4 E2M1", "15 levels, denser near zero."}});
  return choices;
}

const Choices& quant_grain_choices() {
  static const Choices choices = choices_in_order<models::QuantGrain::group>(
      {{"tensor", "the whole tensor", "One scale for all weights."},
       {"channel", "each row", "One scale for each output channel."},
       {"group", "each group", "One scale for a few neighbours in a row."}});
  return choices;
}

}  // namespace chapters::compression
