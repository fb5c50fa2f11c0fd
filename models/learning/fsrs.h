#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

/// FSRS-6, the free spaced repetition scheduler: how a memory fades, what an answer makes of it, and when to ask again.
/// Source: the open-spaced-repetition project's "The Algorithm" (FSRS-6, 2025), with its default parameters, which were
/// fitted to several hundred million reviews of Anki users.
namespace models {

enum class FsrsGrade : std::uint8_t { again = 1, hard = 2, good = 3, easy = 4 };
inline constexpr std::array<FsrsGrade, 4> fsrs_grades{FsrsGrade::again, FsrsGrade::hard, FsrsGrade::good,
                                                      FsrsGrade::easy};

/// The default parameters w0 to w20 of FSRS-6.
inline constexpr std::array<double, 21> fsrs6_parameters{0.212,  1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194,
                                                         0.001,  1.8722, 0.1666, 0.796,  1.4835, 0.0614, 0.2629,
                                                         1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542};

inline constexpr double fsrs_longest_days = 36500;

/// What is known of a card in a memory. Stability is the time in days after which it is still known with 90 %.
struct FsrsMemory {
  double stability_days = 0;  ///< 0: the card was never answered
  double difficulty = 0;      ///< 1 to 10
  bool seen() const { return stability_days > 0; }
  bool operator==(const FsrsMemory&) const = default;
};

/// The chance, 0 to 1, that a card is known `elapsed_days` after its last answer: (1 + f t / S)^-w20, with f such that
/// it is 0.9 at t = S.
double fsrs_retrievability(double elapsed_days, double stability_days);

/// Days after which the chance has fallen to `retention` (0 to 1, both excluded), not rounded.
double fsrs_interval_days(double stability_days, double retention);
/// The same in whole days, from 1 to `fsrs_longest_days`, as the scheduler sets it.
double fsrs_next_interval_days(double stability_days, double retention);

/// The memory after the first answer ever.
FsrsMemory fsrs_first(FsrsGrade grade);
/// The memory after an answer `elapsed_days` after the one before; under a day the formulas of the same day hold. A
/// card that was never answered gets its first answer.
FsrsMemory fsrs_review(const FsrsMemory& memory, double elapsed_days, FsrsGrade grade);

/// Days that a card of this memory is kept on average when it is asked `elapsed_days` after its last answer: known, it
/// counts as good, else as forgotten; weighed by the chance of both.
double fsrs_expected_interval_days(const FsrsMemory& memory, double elapsed_days, double retention);

}  // namespace models
