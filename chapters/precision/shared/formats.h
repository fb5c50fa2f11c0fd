#pragma once
#include <imgui.h>

#include <string>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "models/numerics/float_format.h"
#include "widgets/base/parts.h"
#include "widgets/base/tint.h"

/// Small pieces that the labs of this chapter share.
namespace chapters::precision {

/// Every float format as a choice: id, name, who defines it.
const Choices& format_choices();
const Choices& rounding_choices();  ///< nearest, zero, stochastic: in the order of models::Rounding
const Choices& overflow_choices();  ///< saturate, ieee: in the order of models::Overflow

/// "0x2E66", as many digits as the format's codes need.
std::string code_text(const models::FloatFormat& format, std::uint64_t code);

/// Part of a code a bit belongs to, and the colour it has in every picture of this chapter.
enum class BitPart : std::uint8_t { sign, exponent, mantissa };
BitPart part_of_bit(const models::FloatFormat& format, int bit);
ImU32 colour_of(BitPart part);
widgets::Tint tint_of(BitPart part);

/// What a format makes of a number, in this order in every picture of the chapter.
enum class Fate : std::uint8_t { zero, subnormal, normal, overflow };
inline constexpr std::size_t fate_count = 4;
widgets::Tint tint_of(Fate fate);
ImU32 colour_of(Fate fate);

/// What a question gives stands this far inside of its veil, px.
ImVec2 veil_inset();

/// A share in percent as a sentence says it, before "of them": "none", "hardly any" under 0.01 %, "4.01 %", "nearly
/// all" from 99.95 %, "all".
std::string share_words(double percent);

}  // namespace chapters::precision
