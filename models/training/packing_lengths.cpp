#include "models/training/packing_lengths.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>

#include "models/base/counter_random.h"

namespace models {
namespace {

// Counts of graphcore/tutorials, blogs_code/packedBERT/histograms.py (MIT).
constexpr std::array<std::uint64_t, 512> wikipedia_counts{
    0,     0,     0,     0,     1821,  1226,  1969,  1315,  1794,  1953,  3082,  3446,  4166,  5062,  9554,  16475,
    19173, 17589, 17957, 19060, 21555, 23524, 26954, 30661, 33470, 36614, 40134, 43256, 46094, 49350, 52153, 55428,
    58109, 60624, 63263, 64527, 65421, 66983, 68123, 68830, 70230, 70486, 72467, 72954, 73955, 74311, 74836, 74489,
    74990, 75377, 74954, 75096, 74784, 74698, 74337, 74638, 74370, 73537, 73597, 73153, 72358, 71580, 71082, 70085,
    69733, 69445, 67818, 67177, 66641, 65709, 64698, 63841, 63218, 62799, 61458, 60848, 60148, 59858, 58809, 58023,
    56920, 55999, 55245, 55051, 53979, 53689, 52819, 52162, 51752, 51172, 50469, 49907, 49201, 49060, 47948, 47724,
    46990, 46544, 46011, 45269, 44792, 44332, 43878, 43984, 42968, 42365, 42391, 42219, 41668, 41072, 40616, 40587,
    39999, 40169, 39340, 38906, 38438, 38142, 37757, 37818, 37535, 37217, 36757, 36589, 36151, 35953, 35531, 35496,
    35089, 35053, 34567, 34789, 34009, 33952, 33753, 33656, 33227, 32954, 32686, 32880, 32709, 31886, 32126, 31657,
    31466, 31142, 31106, 30650, 30316, 30494, 30328, 30157, 29611, 29754, 29445, 28921, 29271, 29078, 28934, 28764,
    28445, 28319, 28141, 28282, 27779, 27522, 27333, 27470, 27289, 27102, 27018, 27066, 26925, 26384, 26188, 26385,
    26392, 26082, 26062, 25660, 25682, 25547, 25425, 25072, 25079, 25346, 24659, 24702, 24862, 24479, 24288, 24127,
    24268, 24097, 23798, 23878, 23893, 23817, 23398, 23382, 23280, 22993, 23018, 23242, 22987, 22894, 22470, 22612,
    22452, 21996, 21843, 22094, 21916, 21756, 21955, 21444, 21436, 21484, 21528, 21597, 21301, 21197, 21281, 21066,
    20933, 21023, 20888, 20575, 20574, 20511, 20419, 20312, 20174, 20023, 20087, 19955, 19946, 19846, 19562, 19710,
    19556, 19477, 19487, 19387, 19225, 19069, 19360, 18655, 19034, 18763, 18800, 19012, 18893, 18714, 18645, 18577,
    18317, 18458, 18374, 18152, 17822, 18102, 17735, 17940, 17805, 17711, 17690, 17703, 17669, 17410, 17583, 17331,
    17313, 16892, 16967, 16870, 16926, 17233, 16845, 16861, 16576, 16685, 16455, 16687, 16747, 16524, 16473, 16349,
    16273, 16255, 16228, 16219, 16021, 16111, 15867, 15751, 16081, 15703, 15751, 15854, 15665, 15469, 15431, 15428,
    15464, 15517, 15335, 15461, 15237, 15292, 15305, 15351, 15078, 14810, 15119, 14780, 14664, 14869, 14722, 14890,
    14672, 14439, 14685, 14706, 14840, 14373, 14286, 14596, 14615, 14168, 14299, 13987, 14167, 14107, 14096, 14202,
    13985, 14118, 14094, 14127, 13896, 13864, 13597, 13572, 13717, 13669, 13782, 13617, 13284, 13333, 13425, 13457,
    13256, 13404, 13318, 13425, 13317, 13179, 13193, 13257, 13160, 12813, 13149, 13010, 12867, 12958, 12818, 12801,
    12749, 12810, 12575, 12673, 12514, 12735, 12523, 12677, 12298, 12469, 12341, 12445, 12477, 12326, 12110, 12087,
    12305, 12156, 12032, 12190, 12150, 11980, 12022, 11825, 11969, 11831, 11997, 11924, 11739, 11685, 11702, 11783,
    11783, 11659, 11647, 11610, 11526, 11577, 11538, 11536, 11497, 11480, 11374, 11234, 11433, 11466, 11475, 11147,
    11376, 11217, 11002, 11245, 11124, 11000, 11129, 10923, 10966, 11071, 11029, 11036, 10972, 11012, 10800, 10936,
    10904, 10750, 10669, 10766, 10780, 10675, 10905, 10511, 10598, 10583, 10658, 10471, 10667, 10601, 10430, 10440,
    10510, 10148, 10468, 10346, 10257, 10286, 10235, 10351, 10182, 10182, 10095, 10192, 9866,  10070, 10148, 9956,
    10132, 10043, 9741,  10003, 10056, 9920,  10021, 9838,  9854,  9740,  9782,  9799,  9798,  9788,  9840,  9747,
    9797,  9893,  9593,  9535,  9658,  9554,  9593,  9530,  9523,  9488,  9548,  9418,  9418,  9508,  9638,  9521,
    9277,  9289,  9255,  9322,  9281,  9351,  9259,  9255,  9225,  9098,  9268,  9227,  9224,  9106,  9239,  3815044,
};

// The shortest, then every 64th part, of 20,000 lengths: microsoft/sarathi-serve, sharegpt_8k_filtered (Apache-2.0),
// and microsoft/vidur, arxiv_summarization (MIT); prompt and answer together, Llama 2 tokens.
constexpr std::array<std::uint32_t, 65> sharegpt_quantiles{
    11,   129,  215,  294,  366,  430,  486,  539,  594,  641,  695,  741,  795,  839,  883,  935,  996,
    1053, 1110, 1169, 1246, 1317, 1383, 1446, 1529, 1596, 1669, 1743, 1818, 1915, 2006, 2097, 2187, 2277,
    2376, 2489, 2590, 2699, 2818, 2935, 3061, 3178, 3303, 3442, 3579, 3732, 3871, 4039, 4207, 4379, 4552,
    4741, 4922, 5143, 5352, 5546, 5783, 6012, 6297, 6560, 6836, 7125, 7422, 7744, 8143};
constexpr std::array<std::uint32_t, 65> arxiv_quantiles{
    39,   913,  1119, 1280, 1424, 1538, 1631, 1726, 1808, 1886, 1955, 2013, 2063, 2119, 2177, 2233, 2283,
    2333, 2382, 2432, 2484, 2526, 2570, 2616, 2658, 2698, 2745, 2787, 2825, 2865, 2905, 2948, 2990, 3027,
    3063, 3103, 3144, 3185, 3225, 3264, 3302, 3337, 3375, 3415, 3455, 3492, 3526, 3563, 3599, 3635, 3669,
    3703, 3735, 3768, 3796, 3828, 3858, 3890, 3924, 3949, 3979, 4008, 4037, 4066, 4096};

double between(const std::array<std::uint32_t, 65>& quantiles, double share) {
  const double at = share * 64;
  const auto i = std::min<std::size_t>(63, static_cast<std::size_t>(at));
  const double from = quantiles[i], to = quantiles[i + 1];
  return from + (to - from) * (at - static_cast<double>(i));
}

double of_wikipedia(double share) {
  static const std::array<double, 512> cumulated = [] {
    std::array<double, 512> out{};
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = sum += static_cast<double>(wikipedia_counts[i]);
    return out;
  }();
  const auto at = std::upper_bound(cumulated.begin(), cumulated.end(), share * cumulated.back());
  return static_cast<double>(std::min<std::ptrdiff_t>(511, at - cumulated.begin()) + 1);
}

}  // namespace

std::span<const std::uint64_t> wikipedia_length_counts() { return wikipedia_counts; }

std::vector<std::uint32_t> draw_lengths(LengthSource source, std::size_t n, std::uint32_t longest, double median,
                                        double sigma, std::int64_t seed) {
  const std::uint64_t stream = random_stream(seed, 61);
  std::vector<std::uint32_t> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double share = open_draw(stream, i);
    double length = 0;
    switch (source) {
      case LengthSource::wikipedia:
        length = of_wikipedia(share);
        break;
      case LengthSource::sharegpt:
        length = between(sharegpt_quantiles, share);
        break;
      case LengthSource::arxiv:
        length = between(arxiv_quantiles, share);
        break;
      case LengthSource::lognormal:
        length = median * std::exp(-sigma * upper_normal_quantile(share));
        break;
    }
    out[i] = static_cast<std::uint32_t>(std::clamp(std::round(length), 1.0, static_cast<double>(longest)));
  }
  return out;
}

Result<std::vector<std::uint32_t>> parse_lengths(std::string_view text, std::uint32_t longest) {
  using Out = Result<std::vector<std::uint32_t>>;
  std::vector<std::uint32_t> lengths;
  while (true) {
    const std::size_t skip = text.find_first_not_of(" ,;\t\r\n");
    if (skip == std::string_view::npos) break;
    text.remove_prefix(skip);
    std::uint32_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto taken = static_cast<std::size_t>(end - text.data());
    const bool ends = taken == text.size() || std::string_view(" ,;\t\r\n").find(text[taken]) != std::string_view::npos;
    if (error != std::errc() || !ends || length < 1 || length > longest)
      return Out::fail("Number " + std::to_string(lengths.size() + 1) + " of the list is no whole number from 1 to " +
                       std::to_string(longest) + ": write lengths such as 120, 35, 512.");
    if (lengths.size() == max_listed_lengths) return Out::fail("The list has more than 4,096 lengths; give fewer.");
    lengths.push_back(length);
    text.remove_prefix(taken);
  }
  if (lengths.empty()) return Out::fail("The list is empty: write lengths such as 120, 35, 512.");
  return Out::ok(std::move(lengths));
}

}  // namespace models
