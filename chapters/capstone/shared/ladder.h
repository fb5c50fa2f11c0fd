#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/capstone/shared/board.h"

/// Published ladders as games: a record stands, the name of the next one is read, its figure is said, and then shown.
namespace chapters::capstone {

struct LadderRecord {
  std::string_view name;
  double value = 0;
};
/// Records in the order in which they were published; some ladders have more that are not carried here.
struct Ladder {
  std::string_view id, name, unit;
  std::string_view source;  ///< whose figures, on which machine
  std::span<const LadderRecord> records;
};
/// gpt-fast, Segment Anything Fast, the NanoGPT speedrun, BEVDet in TensorRT.
std::span<const Ladder> published_ladders();
inline constexpr std::size_t ladder_count = 4;

/// Records that stand: one more than guesses, at most all.
std::size_t records_shown(const Ladder& ladder, std::size_t guesses);
/// Geometric mean of how far the guesses were off, as a factor; 1 where nobody guessed.
double ladder_off(const Ladder& ladder, std::span<const double> guesses);
/// The ladder as a board of rows, whose hand is the next record.
Board ladder_board(const Ladder& ladder, std::span<const double> guesses);

}  // namespace chapters::capstone
