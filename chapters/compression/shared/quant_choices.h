#pragma once
#include "chapters/mechanism/field.h"
#include "models/compression/quantizer.h"

/// Choices that the labs of this chapter share.
namespace chapters::compression {

const Choices& quant_format_choices();  ///< in the order of models::QuantFormat
const Choices& quant_grain_choices();   ///< in the order of models::QuantGrain
inline constexpr std::size_t quant_format_count = static_cast<std::size_t>(models::QuantFormat::fp4) + 1;
inline constexpr std::size_t quant_grain_count = static_cast<std::size_t>(models::QuantGrain::group) + 1;

}  // namespace chapters::compression
