#include <algorithm>
#include <limits>
#include <numeric>

#include "chapters/training/packing/lab.h"

namespace chapters::training::packing {
namespace {

using models::PackingPolicy;

/// FLOPs of training on a model, as PaLM counts them (Chowdhery et al. 2022, appendix B): 6 a parameter and token, and
/// 12 a layer, head, element of a head and pair of positions that attend.
struct Price {
  double parameters = 0, pair_flops = 0;
  double linear(double tokens) const { return 6 * parameters * tokens; }
  double attention(double pairs) const { return pair_flops * pairs; }
};

Price price_of(const models::Architecture& a) {
  const double layers = static_cast<double>(a.layers), heads = static_cast<double>(a.heads);
  const double keys = static_cast<double>(a.has_latent() ? a.latent.nope_dim + a.latent.rope_dim : a.head_dim),
               values = static_cast<double>(a.has_latent() ? a.latent.v_dim : a.head_dim);
  return {static_cast<double>(models::count_parameters(a).active_without_input_embedding),
          6 * layers * heads * (keys + values)};
}

/// A packing with a document mask skips what lies between documents; padding and rows without a mask are computed.
bool masked(PackingPolicy policy, bool document_mask) { return document_mask && policy >= PackingPolicy::next_fit; }

double flops_of(const models::Packing& p, PackingPolicy policy, bool document_mask, const Price& price) {
  return price.linear(static_cast<double>(p.room())) +
         price.attention(models::attention_pairs(p, masked(policy, document_mask)));
}

double cut_documents(const models::Packing& p, std::size_t documents) {
  std::vector<int> pieces(documents, 0);
  for (const models::PackedPiece& piece : p.pieces) ++pieces[piece.document];
  return static_cast<double>(std::count_if(pieces.begin(), pieces.end(), [](int n) { return n > 1; }));
}

void fill_corpus(const Inputs& in, Outputs& out) {
  if (in.lengths != Lengths::wikipedia || in.sequence < 512) return;
  const auto counts = models::wikipedia_length_counts();
  double documents = 0, tokens = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    documents += static_cast<double>(counts[i]);
    tokens += static_cast<double>(counts[i]) * static_cast<double>(i + 1);
  }
  out.corpus_rows = static_cast<double>(models::best_fit_rows(counts, static_cast<std::uint32_t>(in.sequence),
                                                              static_cast<std::uint32_t>(in.most_documents)));
  out.corpus_share = 100 * tokens / (out.corpus_rows * static_cast<double>(in.sequence));
  out.corpus_speedup = documents / out.corpus_rows;
}

/// The documents' lengths: typed in, or drawn and cut at the row; why there are none.
std::string fill_lengths(const Inputs& in, std::uint32_t row, Outputs& out, Run& run) {
  if (in.lengths == Lengths::list) {
    auto lengths = models::parse_lengths(in.list, row);
    if (!lengths) return lengths.error;
    run.lengths = std::move(*lengths);
    return "";
  }
  const auto drawn = [&](std::uint32_t longest) {
    return models::draw_lengths(static_cast<models::LengthSource>(in.lengths), static_cast<std::size_t>(in.documents),
                                longest, in.median, in.spread, in.seed);
  };
  run.lengths = drawn(row);
  const auto whole = drawn(std::numeric_limits<std::uint32_t>::max());
  for (std::size_t i = 0; i < whole.size(); ++i) out.lost_tokens += static_cast<double>(whole[i] - run.lengths[i]);
  return "";
}

/// Rows, and the fewest that could be.
void fill_rows(const Inputs& in, std::uint32_t row, const Run& run, Outputs& out) {
  out.tokens = static_cast<double>(run.packing.tokens);
  out.mean_length = out.tokens / static_cast<double>(run.lengths.size());
  out.rows = static_cast<std::int64_t>(run.packing.row_room.size());
  out.padded_rows = static_cast<std::int64_t>(run.lengths.size());
  out.least_rows = static_cast<std::int64_t>(models::least_rows(run.packing.tokens, row));
  if (in.most_documents > 0)
    out.least_rows = std::max(out.least_rows, (out.padded_rows + in.most_documents - 1) / in.most_documents);
  // The search is for small cases; of many documents it knows only that best fit reached the bound, if it did.
  const std::uint64_t nodes = run.lengths.size() <= 64 ? 5'000 : 0;
  if (in.most_documents == 0)
    if (const auto best = models::fewest_rows(run.lengths, row, nodes)) out.optimum_rows = *best;
  out.computed_tokens = static_cast<double>(run.packing.room());
  out.useful_share = 100 * out.tokens / out.computed_tokens;
  out.padding_share = 100 - out.useful_share;
  out.padded_useful_share = 100 * out.tokens / static_cast<double>(run.padded.room());
}

/// Arithmetic: what documents need, their tokens and a triangle of pairs each, and what is computed.
void fill_flops(const Inputs& in, const Price& price, const Run& run, Outputs& out) {
  models::Packing alone;
  for (std::uint32_t d = 0; d < run.lengths.size(); ++d) alone.pieces.push_back({d, d, 0, run.lengths[d]});
  const double needed = price.linear(out.tokens) + price.attention(models::attention_pairs(alone, true));
  out.linear_flops = price.linear(out.computed_tokens);
  out.attention_flops = price.attention(models::attention_pairs(run.packing, masked(in.policy, in.document_mask)));
  out.flops = out.linear_flops + out.attention_flops;
  out.padded_flops = flops_of(run.padded, PackingPolicy::padding, in.document_mask, price);
  out.padded_air_share = 100 * (1 - needed / out.padded_flops);
  // A document that is cut attends to less than it would whole, so that less than what is needed is computed.
  out.air_share = std::max(0.0, 100 * (1 - needed / out.flops));
  out.speedup = out.padded_flops / out.flops;
  out.flops_share = 100 * out.flops / out.padded_flops;
  const double inside = models::attention_pairs(run.packing, true), all = models::attention_pairs(run.packing, false);
  out.mask_share = 100 * inside / all;
  double filled = 0;  // triangles of what is filled in each row
  std::vector<double> used(run.packing.row_room.size(), 0);
  for (const models::PackedPiece& p : run.packing.pieces) used[p.row] += p.length;
  for (const double n : used) filled += n * (n + 1) / 2;
  out.foreign_share = 100 * (1 - inside / filled);
  out.cut_documents = cut_documents(run.packing, run.lengths.size());
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in) {
  const auto model = find_model(in.model);
  if (!model) return {{.reason = model.error}};
  Outputs out;
  Run run;
  const auto row = static_cast<std::uint32_t>(in.sequence), batch = static_cast<std::uint32_t>(in.batch),
             most = static_cast<std::uint32_t>(in.most_documents);
  out.reason = fill_lengths(in, row, out, run);
  if (!out.reason.empty()) return {std::move(out)};
  const Price price = price_of((*model)->architecture);
  run.padded = models::pack_documents(run.lengths, row, PackingPolicy::padding, batch);
  run.packing = models::pack_documents(run.lengths, row, in.policy, batch, most);
  fill_rows(in, row, run, out);
  fill_flops(in, price, run, out);
  for (int p = 0; p < models::packing_policy_count; ++p) {
    const auto policy = static_cast<PackingPolicy>(p);
    const models::Packing packing = models::pack_documents(run.lengths, row, policy, batch, most);
    const double flops = flops_of(packing, policy, in.document_mask, price);
    out.policies.push_back({
        .policy = policy_choices()[static_cast<std::size_t>(p)].label,
        .rows = static_cast<std::int64_t>(packing.row_room.size()),
        .useful_share = 100 * out.tokens / static_cast<double>(packing.room()),
        .flops = flops,
        .speedup = out.padded_flops / flops,
    });
  }
  fill_corpus(in, out);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::training::packing
