#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/capstone/shared/ladder.h"
#include "widgets/number/number.h"

namespace chapters::capstone {
namespace {

constexpr std::array<LadderRecord, 5> gpt_fast{{{"Eager PyTorch", 25.5},
                                                {"torch.compile, a cache of fixed size", 107.0},
                                                {"INT8 weights", 157.4},
                                                {"INT4 weights in INT8's place", 202.1},
                                                {"Speculative decoding on top", 244.7}}};
constexpr std::array<LadderRecord, 6> segment_anything{{{"FP32", 12.1234},
                                                        {"BF16", 39.7795},
                                                        {"Fused attention (SDPA)", 73.1571},
                                                        {"A kernel of its own in Triton", 85.5366},
                                                        {"INT8", 90.3465},
                                                        {"2:4 sparsity", 81.4912}}};
constexpr double minute = 60;
constexpr std::array<LadderRecord, 20> nanogpt{{{"1: llm.c baseline", 45 * minute},
                                                {"2: learning rate tuned, rotary embeddings", 31.4 * minute},
                                                {"4: Muon improved", 22.3 * minute},
                                                {"5: padded embeddings, ReLU squared, QK-norm", 15.2 * minute},
                                                {"7: PyTorch 2.5", 12.0 * minute},
                                                {"8: embedding and head untied", 10.8 * minute},
                                                {"10: activations in BF16", 7.8 * minute},
                                                {"11: skip connections as in a U-net", 7.2 * minute},
                                                {"13: attention window grows", 4.66 * minute},
                                                {"14: value embeddings", 4.41 * minute},
                                                {"16: block sliding window", 3.8 * minute},
                                                {"17: one attention layer less", 3.57 * minute},
                                                {"19: head in FP8", 3.142 * minute},
                                                {"20: QKV merged, long and short attention", 2.992 * minute},
                                                {"23: gradients sent while computing", 2.979 * minute},
                                                {"29: FlashAttention 3", 2.731 * minute},
                                                {"41: NorMuon", 2.345 * minute},
                                                {"54: logits rescaled", 1.94 * minute},
                                                {"67: softcap and FP8 kernels fused", 1.54 * minute},
                                                {"85: gates between layers", 1.271 * minute}}};
constexpr std::array<LadderRecord, 4> bevdet{{{"PyTorch", 96.052e-3},
                                              {"TensorRT, FP32, images prepared in Python", 25.534e-3},
                                              {"TensorRT, FP32, images resized on the GPU, bicubic", 33.96e-3},
                                              {"TensorRT, FP16, nearest neighbour", 13.817e-3}}};
const std::array<Ladder, ladder_count> ladders{{
    {"gpt_fast", "gpt-fast, Llama 7B", "tokens/s",
     "PyTorch, Accelerating Generative AI II, 2023: one A100-80GB at 330 W", gpt_fast},
    {"segment_anything", "Segment Anything, ViT-B", "images/s",
     "meta-pytorch/segment-anything-fast, results.csv: batch 8, 4,952 images, one A100", segment_anything},
    {"nanogpt", "NanoGPT speedrun", "s", "KellerJordan/modded-nanogpt, README: 8 H100 to a loss of 3.28", nanogpt},
    {"bevdet", "BEVDet on an RTX A4000", "s", "LCH1238/bevdet-tensorrt-cpp, README: milliseconds per frame", bevdet},
}};

BoardRound ladder_round(const Ladder& ladder, std::size_t i, double said) {
  const double value = ladder.records[i].value, before = i == 0 ? 0 : ladder.records[i - 1].value;
  BoardRound round;
  round.name = std::string(ladder.records[i].name);
  round.number = std::to_string(i);
  round.total = value;
  round.total_words = widgets::format_text(value, ladder.unit);
  round.before = before;
  if (i > 0) round.change = "times " + widgets::format_text(value / before, "", 3) + " of the one before";
  if (said > 0) {
    round.said = said;
    round.said_words = "you said " + widgets::format_text(said, ladder.unit);
    round.change += ", you said " + widgets::format_text(said, ladder.unit);
  }
  round.pieces.push_back({0, value, round.total_words});
  return round;
}

}  // namespace

std::span<const Ladder> published_ladders() { return ladders; }

std::size_t records_shown(const Ladder& ladder, std::size_t guesses) {
  return std::min(ladder.records.size(), guesses + 1);
}

double ladder_off(const Ladder& ladder, std::span<const double> guesses) {
  double off = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < guesses.size() && i + 1 < ladder.records.size(); ++i) {
    if (!(guesses[i] > 0)) continue;
    off += std::abs(std::log(guesses[i] / ladder.records[i + 1].value));
    ++count;
  }
  return count == 0 ? 1 : std::exp(off / static_cast<double>(count));
}

Board ladder_board(const Ladder& ladder, std::span<const double> guesses) {
  static constexpr std::array<BoardCause, 1> figure{{{"the record", widgets::Tint::series(0)}}};
  Board board;
  board.rows = true;
  board.round_word = "record";
  board.causes.assign(figure.begin(), figure.end());
  board.unit = std::string(ladder.unit);
  const std::size_t shown = records_shown(ladder, guesses.size());
  double most = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    board.rounds.push_back(ladder_round(ladder, i, i > 0 ? guesses[i - 1] : nothing_said));
    most = std::max({most, board.rounds.back().total, board.rounds.back().said});
  }
  // The axis has the same room for a next record that is faster, whatever it is.
  board.targets.push_back({.name = {}, .line_words = {}, .axis_words = std::string(ladder.unit), .most = 2 * most});
  board.over = shown == ladder.records.size();
  if (!board.over) {
    const LadderRecord& next = ladder.records[shown];
    board.hand.push_back({"record", std::string(next.name), "What came next: say how fast it is.", shown, false});
  }
  add_axis_ticks(board);
  return board;
}

}  // namespace chapters::capstone
