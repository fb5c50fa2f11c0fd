// The ladder of attention in a decode step on the GPU: one query for each of 8 sequences of unequal length, 16 query
// heads of 128 numbers over 4 heads of K and V in BF16. Each version is a file of rungs/, decode_NAME.cu.
//
// cuda-paged-decode:
//   sequence  a block a query head and sequence
//   split     256 tokens a block, and a second kernel that joins the parts
//   paged     K and V in pages of 16 tokens that lie anywhere
//   gqa       a block for the four query heads that share a head of K and V
//
//   ridgeline kernels run cuda-paged-decode --size 131072
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/cuda/deviation.h"
#include "kernels/cuda/operation.h"
#include "kernels/sources.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t decode_heads = 16, decode_kv_heads = 4, decode_dim = 128, decode_page = 16, decode_chunk = 256;
constexpr std::size_t decode_sequences = 8;
enum DecodeInput : std::uint8_t { decode_q, decode_k, decode_v, decode_lengths, decode_table };

/// Half of all tokens belong to the first sequence, a quarter to the second, and so on: the last has what is left.
std::array<std::int64_t, decode_sequences> tokens_of(std::int64_t tokens) {
  std::array<std::int64_t, decode_sequences> all{};
  std::int64_t left = tokens;
  for (std::size_t s = 0; s < decode_sequences; ++s) {
    all[s] = s + 1 < decode_sequences ? tokens >> (s + 1) : left;
    left -= all[s];
  }
  return all;
}
/// The first page of each sequence, and the count of all pages behind them.
std::array<std::int64_t, decode_sequences + 1> pages_of(std::int64_t tokens) {
  std::array<std::int64_t, decode_sequences + 1> first{};
  const auto lengths = tokens_of(tokens);
  for (std::size_t s = 0; s < decode_sequences; ++s)
    first[s + 1] = first[s] + (lengths[s] + decode_page - 1) / decode_page;
  return first;
}
std::int64_t chunks_of(std::int64_t tokens) { return (tokens_of(tokens)[0] + decode_chunk - 1) / decode_chunk; }

std::int64_t cache_numbers(std::int64_t tokens) {
  return pages_of(tokens).back() * decode_page * decode_kv_heads * decode_dim;
}
std::int64_t query_numbers(std::int64_t) {
  return static_cast<std::int64_t>(decode_sequences) * decode_heads * decode_dim;
}

/// Tokens and first page of each sequence.
void make_lengths(std::int64_t tokens, std::uint32_t, std::byte* out) {
  const auto lengths = tokens_of(tokens);
  const auto first = pages_of(tokens);
  std::array<std::uint32_t, 2 * decode_sequences> words{};
  for (std::size_t s = 0; s < decode_sequences; ++s) {
    words[2 * s] = static_cast<std::uint32_t>(lengths[s]);
    words[2 * s + 1] = static_cast<std::uint32_t>(first[s]);
  }
  std::memcpy(out, words.data(), sizeof words);
}

/// Where each page lies: all places in a random order.
std::vector<std::uint32_t> page_table(std::int64_t tokens, std::uint32_t seed) {
  std::vector<std::uint32_t> table(static_cast<std::size_t>(pages_of(tokens).back()));
  std::iota(table.begin(), table.end(), 0u);
  for (std::size_t i = table.size(); i > 1; --i) {
    seed = seed * 1664525u + 1013904223u;
    std::swap(table[i - 1], table[(seed >> 8) % i]);
  }
  return table;
}
void make_table(std::int64_t tokens, std::uint32_t seed, std::byte* out) {
  const auto table = page_table(tokens, seed);
  std::memcpy(out, table.data(), 4 * table.size());
}

/// Two products of a query head with each token, as published attention FLOP/s count them. K and V are read once.
models::OpCost decode_cost(std::int64_t tokens) {
  const auto t = static_cast<double>(tokens), numbers = static_cast<double>(query_numbers(tokens));
  return {4.0 * decode_heads * decode_dim * t, t * 2 * decode_kv_heads * decode_dim * 2 + 2 * numbers, 4 * numbers};
}

std::vector<Launch> decode_launches(std::string_view rung, std::int64_t tokens, int) {
  const auto chunks = static_cast<unsigned>(chunks_of(tokens));
  const std::vector<Argument> read{input(decode_q), input(decode_k), input(decode_v), input(decode_lengths)};
  Launch parts{.grid_x = rung == "gqa" ? unsigned{decode_kv_heads} : unsigned{decode_heads},
               .grid_y = chunks,
               .block_x = 128,
               .grid_z = decode_sequences,
               .arguments = read};
  if (rung == "sequence") {
    parts.grid_y = decode_sequences;
    parts.grid_z = 1;
    parts.arguments.push_back(output());
    return {parts};
  }
  if (rung != "split") parts.arguments.push_back(input(decode_table));
  parts.arguments.push_back(scratch());
  return {parts,
          {.grid_x = decode_heads,
           .grid_y = decode_sequences,
           .block_x = 128,
           .entry = rung == "split"   ? "decode_split_join"
                    : rung == "paged" ? "decode_paged_join"
                                      : "decode_gqa_join",
           .arguments = {scratch(), input(decode_lengths), output(), whole(chunks)}}};
}

/// Attention of one query head in float64 over rows of the cache, of which `row_of` gives the place.
std::vector<double> attended(const Outcome& outcome, std::size_t sequence, std::int64_t head,
                             const std::vector<std::int64_t>& rows) {
  const auto value = [&](int which, std::int64_t at) {
    return input_value(outcome.operation, outcome.seed, which, at);
  };
  std::array<double, decode_dim> query{};
  for (std::size_t d = 0; d < query.size(); ++d)
    query[d] = value(decode_q, (static_cast<std::int64_t>(sequence) * decode_heads + head) * decode_dim +
                                   static_cast<std::int64_t>(d));
  const std::int64_t kv = head / (decode_heads / decode_kv_heads);
  std::vector<double> weights(rows.size());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    double dot = 0;
    for (std::size_t d = 0; d < query.size(); ++d)
      dot += query[d] * value(decode_k, (rows[t] * decode_kv_heads + kv) * decode_dim + static_cast<std::int64_t>(d));
    weights[t] = dot / std::sqrt(static_cast<double>(decode_dim));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  std::vector<double> out(query.size());
  double sum = 0;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const double weight = std::exp(weights[t] - largest);
    sum += weight;
    for (std::size_t d = 0; d < out.size(); ++d)
      out[d] += weight * value(decode_v, (rows[t] * decode_kv_heads + kv) * decode_dim + static_cast<std::int64_t>(d));
  }
  for (double& x : out) x /= sum;
  return out;
}

/// The largest error of a number. Of many tokens one query head of each sequence is compared, of few all; all of the
/// output is searched for NaN. The scores, sums of 128 products near -12, are floats that are known to about 1e-4, and
/// so are the weights. One token left out of 65,536 equal ones is an error of 4e-3.
Deviation decode_compare(const Outcome& outcome) {
  const auto out = floats_of(outcome);
  const bool in_pages = outcome.rung == "paged" || outcome.rung == "gqa";
  const auto table = page_table(outcome.size, input_seed(outcome.seed, decode_table));
  const auto lengths = tokens_of(outcome.size);
  const auto first = pages_of(outcome.size);
  Deviation d;
  d.never_written = std::count_if(out.begin(), out.end(), [](float v) { return !(v == v); });
  for (std::size_t s = 0; s < decode_sequences; ++s) {
    std::vector<std::int64_t> rows;
    for (std::int64_t t = 0; t < lengths[s]; ++t) {
      const std::int64_t page = first[s] + t / decode_page;
      rows.push_back((in_pages ? table[static_cast<std::size_t>(page)] : page) * decode_page + t % decode_page);
    }
    for (const std::int64_t head :
         chosen_lines(decode_heads, outcome.size > 4096 ? 1 : decode_heads, outcome.seed + static_cast<unsigned>(s))) {
      PeakError peak;
      const auto expected = attended(outcome, s, head, rows);
      const auto at = (s * decode_heads + static_cast<std::size_t>(head)) * decode_dim;
      for (std::size_t i = 0; i < expected.size(); ++i) peak.add(static_cast<double>(out[at + i]), expected[i]);
      if (!(peak.value() <= d.error)) d.error = peak.value();
    }
  }
  d.bound = 1e-3;
  return d;
}

const Ladder& decode_ladder() {
  static const std::array rungs{
      Rung{"sequence", "a block a sequence",
           "One block a query head and sequence: the longest sequence is the work of 16 blocks, and the rest of the "
           "GPU waits for them.",
           embedded_source("cuda/rungs/decode_sequence.cu"), "decode_sequence", "gpu_read"},
      Rung{"split", "split KV", "256 tokens a block, and a second kernel joins the parts: long sequences fill the GPU.",
           embedded_source("cuda/rungs/decode_split.cu"), "decode_split", "gpu_read"},
      Rung{"paged", "paged", "K and V lie in pages anywhere: a number from the table comes before each load of them.",
           embedded_source("cuda/rungs/decode_paged.cu"), "decode_paged", "gpu_read"},
      Rung{"gqa", "four heads a block",
           "The four query heads that share K and V are one block: each number that is loaded is used four times.",
           embedded_source("cuda/rungs/decode_gqa.cu"), "decode_gqa", "gpu_read"},
  };
  static const Ladder ladder{"cuda-paged-decode",
                             "GPU paged decode",
                             Device::cuda,
                             Measure::bytes_per_s,
                             "Tokens",
                             "",
                             512,
                             131072,
                             1048576,
                             rungs,
                             decode_cost};
  return ladder;
}

}  // namespace

/// Queries near 12 and keys near -1 give scores near -136, of which exp() is 0 in float: a maximum that is not
/// subtracted shows. The keys differ little, so that every token counts.
const Operation& decode_operation() {
  static const Operation operation{
      .ladder = &decode_ladder(),
      .edge_size = 1301,
      .inputs = {{.element = Element::bf16, .count = query_numbers, .lo = 8, .scale = 8},
                 {.element = Element::bf16, .count = cache_numbers, .lo = -1.05f, .scale = 0.1f},
                 {.element = Element::bf16, .count = cache_numbers, .lo = -1, .scale = 2},
                 {.element = Element::made,
                  .count = [](std::int64_t) { return static_cast<std::int64_t>(8 * decode_sequences); },
                  .make = make_lengths},
                 {.element = Element::made,
                  .count = [](std::int64_t tokens) { return 4 * pages_of(tokens).back(); },
                  .make = make_table}},
      .output_bytes = [](std::int64_t tokens) { return 4 * query_numbers(tokens); },
      .scratch_bytes =
          [](std::int64_t tokens) {
            return static_cast<std::int64_t>(decode_sequences) * decode_heads * chunks_of(tokens) * (decode_dim + 2) *
                   4;
          },
      .launches = decode_launches,
      .compare = decode_compare,
  };
  return operation;
}

}  // namespace kernels::cuda
