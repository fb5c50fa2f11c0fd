#include <array>

#include "chapters/capstone/serve_70b/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::capstone::serve_70b {
namespace {

// "Case study: Optimizing a 70B LLM serving pipeline" of S4: seconds from token to token, seconds to the first token,
// tokens a second. Its gaps are for one request, its rates for 32.
constexpr std::array<std::string_view, 3> narrow{"int4", "cache_8bit", "batch_32"};
constexpr std::array<std::string_view, 3> fused{"compile", "flash", "graph"};
constexpr std::array<std::string_view, 1> guessed{"speculative"};
constexpr std::array<StudyRound, 3> rounds{{{"1: INT4, cache in 8 bits, batch 32", narrow, {0.048, not_claimed, 720}},
                                            {"2: fusion, FlashAttention, graph", fused, {0.032, 0.38, 1050}},
                                            {"3: speculation", guessed, {0.0103, not_claimed, not_claimed}}}};
constexpr std::array<BoardCause, cause_count> slab{{{"matrix products", widgets::Meaning::memory_bound},
                                                    {"caches", widgets::Meaning::kv_cache},
                                                    {"element-wise", widgets::Tint::series(4)},
                                                    {"all-reduce", widgets::Meaning::communication},
                                                    {"launch gaps", widgets::Meaning::launch_bound},
                                                    {"prompts", widgets::Meaning::compute_bound}}};

}  // namespace

std::span<const StudyRound> study_rounds() { return rounds; }
std::array<double, max_targets> study_start() { return {0.085, 1.2, 280, not_claimed}; }
std::span<const BoardCause> causes() { return slab; }

std::string link_of(const Inputs& in, const ServeRules& rules, CardSet cards) {
  using enum models::inference::RequestChange;
  const Service service = rules.service_of(cards);
  LinkWriter w("inference/optimize");
  const auto made = [&](std::string_view key, models::inference::RequestChange change) {
    w.choice(key, service.changes.has(change) ? "found" : "off");
  };
  made("flash", flash_attention);
  made("fusion", fusion);
  made("graph", graph);
  made("eight_bit", eight_bit_weights);
  made("four_bit", four_bit_weights);
  made("narrow_cache", eight_bit_cache);
  made("draft", speculative);
  made("sharded", tensor_parallel);
  w.choice("eight_bits", "fp8");
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.number("prompt", static_cast<double>(in.prompt));
  w.number("answer", static_cast<double>(in.answer));
  w.number("batch", static_cast<double>(service.batch));
  w.number("tensor_parallel", static_cast<double>(service.tensor_parallel));
  w.number("four_bits", in.four_bits);
  w.number("draft_length", static_cast<double>(in.draft_length));
  w.number("draft_layers", static_cast<double>(in.draft_layers));
  w.number("acceptance", in.acceptance);
  w.number("link_reached", in.link_reached);
  w.number("call_s", in.call_s);
  link_launch_host(w, in.launching);
  w.number("peak_reached", in.peak_reached);
  w.number("reached_16", in.reached_16);
  w.number("reached_4", in.reached_4);
  return w.text();
}

}  // namespace chapters::capstone::serve_70b
