#include <algorithm>
#include <cmath>

#include "chapters/training/packing/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::packing {
namespace {

using models::PackingPolicy;
using widgets::figure;
using widgets::format_text;

std::string whole(std::int64_t n) { return figure(format_text(static_cast<double>(n), "", 9)); }
std::string counted(std::int64_t n, const char* one) { return whole(n) + " " + one + (n == 1 ? "" : "s"); }
std::string percent(double share) { return figure(share, "%"); }

/// The batch as it is against the padded one.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string useful = percent(out.useful_share), flops = percent(out.flops_share),
                    documents = counted(out.padded_rows, "document");
  const std::string gain =
      out.flops_share < 99.95 ? "for " + flops + " of the FLOPs of padding." : "for as many FLOPs as padding.";
  switch (in.policy) {
    case PackingPolicy::padding:
      return "With a row for each, " + documents + (out.padded_rows == 1 ? " is " : " are ") + useful +
             " useful: " + percent(out.padded_air_share) + " of the FLOPs are wasted.";
    case PackingPolicy::longest:
    case PackingPolicy::bucketing:
      return std::string(in.policy == PackingPolicy::longest ? "In the order of arrival" : "Sorted by length") +
             ", padded to the longest of " + whole(in.batch) + ", the batch is " + useful + " useful, " + gain;
    case PackingPolicy::split:
      return documents + " cut to the row" + (out.padded_rows == 1 ? " fills " : " fill ") + counted(out.rows, "row") +
             ", " + useful + " useful, " + gain;
    default:
      if (out.rows == out.padded_rows)
        return "Packing changes nothing here: " + documents + (out.padded_rows == 1 ? " takes " : " take ") +
               counted(out.rows, "row") + ", " + useful + " useful.";
      return "Packed into " + counted(out.rows, "row") + " instead of " + whole(out.padded_rows) + ", the batch is " +
             useful + " useful, " + gain;
  }
}

/// What the verdict leaves out: the whole data set, what was cut off, what leaks, or what padding costs.
std::string why_of(const Inputs& in, const Outputs& out) {
  const bool packs = in.policy >= PackingPolicy::next_fit;
  if (!std::isnan(out.corpus_rows)) {
    const std::string limit =
        in.most_documents > 0 ? ", at most " + whole(in.most_documents) + " per row," : std::string();
    return "The whole data set" + limit + " packs into " + figure(out.corpus_rows, "", 4) + " rows, " +
           figure(out.corpus_share, "%", 4) + " useful.";
  }
  if (out.lost_tokens == 1) return "`1` token lies beyond the rows and is left out.";
  if (out.lost_tokens > 0) return figure(out.lost_tokens, "tokens") + " lie beyond the rows and are left out.";
  if (packs && !in.document_mask && out.foreign_share > 0)
    return "Without a document mask " + percent(out.foreign_share) +
           " of the pairs of tokens that attend cross documents.";
  if (in.policy == PackingPolicy::split && out.cut_documents > 0)
    return whole(static_cast<std::int64_t>(out.cut_documents)) +
           (out.cut_documents == 1 ? " document is" : " documents are") +
           " cut: what follows does not see what came before.";
  if (in.policy == PackingPolicy::longest) return "One long document makes every row of its batch as long.";
  const PolicyRow& best = out.policies[static_cast<std::size_t>(PackingPolicy::best_fit)];
  if (!packs && best.rows < out.padded_rows)
    return "Best-fit packing would need " + counted(best.rows, "row") + ", " + percent(best.useful_share) + " useful.";
  if (packs && in.most_documents > 0)
    return "A row takes at most " + counted(in.most_documents, "document") + ", although more would fit in some.";
  if (packs && !std::isnan(out.optimum_rows) && out.optimum_rows < static_cast<double>(out.rows))
    return "The search finds a packing into " + counted(static_cast<std::int64_t>(out.optimum_rows), "row") +
           "; the rule misses it.";
  return "With a row for each document only " + percent(out.padded_useful_share) + " of the positions hold text.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = verdict_of(in, out) + "\n" + why_of(in, out);
  p.policy_name = policy_choices()[static_cast<std::size_t>(in.policy)].label;
  p.packed_words = format_text(static_cast<double>(out.rows), "", 9) + (out.rows == 1 ? " row, " : " rows, ") +
                   format_text(out.useful_share, "%") + " useful";
  if (out.cut_documents > 0)
    p.packed_words +=
        ", " + format_text(out.cut_documents, "", 9) + (out.cut_documents == 1 ? " document cut" : " documents cut");
  p.shows_optimum = in.policy >= models::PackingPolicy::next_fit && in.policy != models::PackingPolicy::split &&
                    out.optimum_rows < static_cast<double>(out.rows);
  p.by_row.resize(run.packing.row_room.size());
  for (std::uint32_t i = 0; i < run.packing.pieces.size(); ++i) p.by_row[run.packing.pieces[i].row].push_back(i);
  std::size_t most = 0;
  for (std::size_t r = 0; r < p.by_row.size(); ++r) {
    double used = 0, inside = 0;
    for (const std::uint32_t i : p.by_row[r]) {
      const double tokens = run.packing.pieces[i].length;
      used += tokens;
      inside += 0.5 * tokens * (tokens + 1);
    }
    const double room = run.packing.row_room[r];
    p.row_tokens.push_back(used);
    p.row_pairs.push_back(100 * inside / (0.5 * room * (room + 1)));
    p.row_words.push_back(std::to_string(p.by_row[r].size()) +
                          (p.by_row[r].size() == 1 ? " document, " : " documents, ") + format_text(used, "tokens", 5) +
                          " of " + format_text(run.packing.row_room[r], "", 5));
    if (p.by_row[r].size() <= most) continue;
    most = p.by_row[r].size();
    p.fullest_mixed_row = static_cast<std::int64_t>(r);
  }
  return p;
}

std::size_t shown_row(const Picture& picture, const View& view) {
  const std::int64_t row = view.row > 0 ? view.row - 1 : picture.fullest_mixed_row;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(row, 0, static_cast<std::int64_t>(picture.by_row.size()) - 1));
}

}  // namespace chapters::training::packing
