#include <array>
#include <span>
#include <string>
#include <utility>

#include "models/measure/timings_csv.h"

namespace models::measure {
namespace {

// Microseconds in the order of the clock. Three products of two vectors of 600 numbers each a run, in an interpreter; a
// machine of two cores on which others worked too, 2026-11-30.
// Both vectors in lists, 60 runs, and 60 more of the same code.
constexpr std::array<double, 120> same_us{
    96.8,  93.7,  86.3, 86.4, 87.2,  123.1, 97.5, 86.3,  87.7,    88.6, 91.6,     88.3,  96.3,  89.9, 84273.5,
    105.9, 88.9,  96.2, 90.5, 88.7,  93.4,  93.5, 89,    94.5,    92.7, 94.4,     93.6,  93.7,  91.5, 96.7,
    101.7, 94.6,  91.4, 87.3, 89.5,  122.3, 90.7, 93.3,  97.5,    97.2, 99.2,     95.5,  96.2,  97.2, 95.5,
    127,   97,    98.6, 99.5, 95.1,  98.3,  98.3, 95.1,  82931.9, 98.2, 85.7,     85.9,  126.9, 90.7, 90.2,
    94,    86.9,  86.6, 86.3, 131.7, 118.5, 88.6, 115.6, 90.6,    91.2, 93.5,     90.3,  86,    88.1, 91.4,
    92.5,  86.2,  109,  68.4, 54.2,  54.1,  54.1, 54.1,  54.1,    54.1, 54.1,     54.2,  54.1,  54.1, 54.5,
    53.5,  51,    50.8, 51,   64.7,  106.4, 85,   83.5,  85.2,    84.9, 85.1,     82.2,  83,    84.4, 83.9,
    84.1,  107.1, 88.7, 82,   85.1,  86.4,  87.1, 87,    87.8,    87.5, 112192.2, 149.4, 90.3,  91.9, 94.7};
// In lists and in tuples, in turns, the lists first.
constexpr std::array<double, 120> two_us{
    97.5, 87.2,  85.9,  87,   89.3, 87.9,    127.8, 89,   91.5, 93.1,    93.6,  87,    95,    90.4,    90.4,
    91.1, 92.1,  113.8, 91.2, 91.4, 93.1,    88.8,  92.7, 90.1, 96.3,    90.9,  97.6,  130.2, 93,      97.3,
    97.7, 97.8,  94.9,  94.5, 95.4, 80276.6, 102,   88.2, 90,   89.8,    95.2,  90.9,  92,    87.3,    93.8,
    92.1, 123.5, 94.5,  95,   95.5, 96.9,    92.1,  91.5, 94.4, 95.3,    92.5,  129.9, 95.5,  96.9,    94.8,
    95.6, 95.9,  98.9,  97.5, 97.2, 97.9,    120,   96.7, 98.1, 97.6,    98.5,  97.9,  134.7, 84220.4, 141.9,
    90.9, 93,    93.2,  100,  99.1, 100.4,   83,    87.9, 83.3, 106.7,   88.4,  90.7,  89.4,  88.1,    86.6,
    91.1, 89.6,  90.4,  88.9, 92.5, 125.9,   91.6,  90.4, 91.1, 90.9,    92.3,  89.7,  86,    78.8,    85,
    81.5, 107.3, 82.1,  93.8, 89,   93.4,    90.2,  92.2, 94.4, 78111.2, 115.8, 122.3, 90.2,  93.3,    88.4};

// By the program itself: 50,000 rounds of multiply-adds in eight chains and in twelve, in turns, the eight first, on
// the same machine.
constexpr std::array<double, 120> rungs_us{
    601.5, 455.4, 495,   439.8, 482.2, 392,   467.9, 429.5, 488.1, 417.3, 523.5, 404.3, 497.4, 425.7, 485.4,
    422.7, 518.3, 407.6, 516.1, 409.1, 527.9, 415.4, 572.5, 387.6, 478.7, 414.4, 482.8, 432.8, 459.5, 409.2,
    446.5, 396.2, 466.3, 408.9, 491.3, 449.7, 453.3, 470.3, 453,   488.4, 470.7, 492.1, 510.7, 423.5, 492.5,
    419.1, 487.3, 427.5, 487.9, 412.6, 514.2, 401,   488.7, 433.6, 492.5, 425.1, 510.7, 404.1, 505.5, 401.3,
    512.1, 396.7, 431,   412.2, 473,   411.8, 504.7, 395.1, 498.3, 419.6, 488,   395.3, 476.4, 412.1, 445.5,
    418.8, 475.4, 440.7, 500.1, 423.6, 530,   414.3, 518,   434.1, 502.6, 427.2, 517.1, 409.7, 515.3, 411,
    513.1, 443,   523.8, 406.2, 507.7, 407.2, 533.1, 406.7, 493.1, 420.1, 496.9, 415.8, 484.7, 421.3, 495.8,
    484.7, 503.6, 439.6, 494.6, 412.9, 511.1, 421.5, 491.8, 417.5, 453.7, 405.8, 482.1, 456.7, 484.4, 431.8};

Timings timings_in(std::span<const double> us, std::array<std::string, 2> names, bool in_turns) {
  Timings out{.names = std::move(names), .runs = {}};
  for (std::size_t i = 0; i < us.size(); ++i)
    out.runs.push_back({.is_b = in_turns ? i % 2 == 1 : i >= us.size() / 2, .time_s = us[i] * 1e-6});
  return out;
}

}  // namespace

const Timings& recorded_same() {
  static const Timings all = timings_in(same_us, {"first", "second"}, false);
  return all;
}

const Timings& recorded_rungs() {
  static const Timings all = timings_in(rungs_us, {"chains-8", "chains-12"}, true);
  return all;
}

const Timings& recorded_two() {
  static const Timings all = timings_in(two_us, {"lists", "tuples"}, true);
  return all;
}

}  // namespace models::measure
