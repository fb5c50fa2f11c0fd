#include "models/parallel/moe/moe_tokens.h"

#include <array>
#include <cmath>

#include "models/base/counter_random.h"

namespace models::parallel {
namespace {

constexpr double centre_spread = 1.0, word_spread = 0.7, token_noise = 0.3;
constexpr std::size_t moe_embedding = moe_inputs - 1;

using MoeMap = std::array<std::array<double, moe_inputs>, moe_outputs>;
using MoePlace = std::array<double, moe_embedding>;

std::vector<MoePlace> moe_places(std::uint64_t stream, std::size_t count, double spread) {
  std::vector<MoePlace> places(count);
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t i = 0; i < moe_embedding; ++i) places[p][i] = spread * normal_draw(stream, p * moe_embedding + i);
  return places;
}
std::vector<MoeMap> moe_maps(std::uint64_t stream, std::size_t count, double spread) {
  std::vector<MoeMap> maps(count);
  for (std::size_t m = 0; m < count; ++m)
    for (std::size_t o = 0; o < moe_outputs; ++o)
      for (std::size_t i = 0; i < moe_inputs; ++i)
        maps[m][o][i] = spread * normal_draw(stream, (m * moe_outputs + o) * moe_inputs + i);
  return maps;
}

/// Where tokens lie and what should become of them.
struct MoeWorld {
  std::vector<MoePlace> centres, offsets;  ///< by topic, by word
  std::vector<MoeMap> topic_maps, word_maps;
  double scale = 1;

  explicit MoeWorld(const MoeTaskSetting& s)
      : centres(moe_places(random_stream(s.seed, 11), static_cast<std::size_t>(s.topics), centre_spread)),
        offsets(moe_places(random_stream(s.seed, 12), moe_words, word_spread)),
        topic_maps(moe_maps(random_stream(s.seed, 13), static_cast<std::size_t>(s.topics), 1)),
        word_maps(moe_maps(random_stream(s.seed, 14), moe_words, s.word_difference)) {
    // The mean square of targets where all pairs are equally frequent: a fact of the maps, so that losses under
    // different skews compare.
    double total = 0;
    for (std::size_t topic = 0; topic < centres.size(); ++topic)
      for (std::size_t word = 0; word < moe_words; ++word)
        for (std::size_t o = 0; o < moe_outputs; ++o) {
          double mean = weight(topic, word, o, moe_embedding), variance = 0;
          for (std::size_t i = 0; i < moe_embedding; ++i) {
            const double w = weight(topic, word, o, i);
            mean += w * (centres[topic][i] + offsets[word][i]);
            variance += w * w * token_noise * token_noise;
          }
          total += mean * mean + variance;
        }
    scale = 1 / std::sqrt(total / static_cast<double>(centres.size() * moe_words * moe_outputs));
  }
  double weight(std::size_t topic, std::size_t word, std::size_t output, std::size_t input) const {
    return topic_maps[topic][output][input] + word_maps[word][output][input];
  }
};

std::vector<double> moe_power_shares(std::size_t count, double exponent) {
  std::vector<double> shares(count);
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) total += shares[i] = std::pow(static_cast<double>(i + 1), -exponent);
  for (double& share : shares) share /= total;
  return shares;
}
/// The index at which the running sum of `shares` passes `draw`.
std::size_t moe_drawn(const std::vector<double>& shares, double draw) {
  std::size_t i = 0;
  while (i + 1 < shares.size() && draw >= shares[i]) draw -= shares[i++];
  return i;
}

}  // namespace

std::vector<double> moe_topic_shares(const MoeTaskSetting& setting) {
  return moe_power_shares(static_cast<std::size_t>(setting.topics), setting.skew);
}

MoeTokens draw_moe_tokens(const MoeTaskSetting& setting, std::size_t tokens, std::uint64_t use) {
  const MoeWorld world(setting);
  const std::vector<double> topics = moe_topic_shares(setting), words = moe_power_shares(moe_words, 0.5);
  const std::uint64_t choices = random_stream(setting.seed, 100 + 2 * use),
                      noise = random_stream(setting.seed, 101 + 2 * use);
  MoeTokens out;
  out.x.resize(tokens * moe_inputs);
  out.y.resize(tokens * moe_outputs);
  out.words.resize(tokens);
  out.topics.resize(tokens);
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::size_t topic = moe_drawn(topics, unit_draw(choices, 2 * t));
    const std::size_t word = moe_drawn(words, unit_draw(choices, 2 * t + 1));
    out.topics[t] = static_cast<std::uint8_t>(topic);
    out.words[t] = static_cast<std::uint16_t>(word);
    float* x = &out.x[t * moe_inputs];
    for (std::size_t i = 0; i < moe_embedding; ++i)
      x[i] = static_cast<float>(world.centres[topic][i] + world.offsets[word][i] +
                                token_noise * normal_draw(noise, t * moe_embedding + i));
    x[moe_embedding] = 1;
    for (std::size_t o = 0; o < moe_outputs; ++o) {
      double y = 0;
      for (std::size_t i = 0; i < moe_inputs; ++i) y += world.weight(topic, word, o, i) * static_cast<double>(x[i]);
      out.y[t * moe_outputs + o] = static_cast<float>(world.scale * y);
    }
  }
  return out;
}

}  // namespace models::parallel
