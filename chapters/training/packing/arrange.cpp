#include <algorithm>

#include "chapters/training/packing/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::packing {
namespace {

using widgets::format_text;

/// What the whole data set needs, where it is known.
std::string corpus_of(const Inputs& in, const Outputs& out) {
  if (std::isnan(out.corpus_rows)) return {};
  std::string limit;
  if (in.most_documents > 0) limit = ", at most `" + std::to_string(in.most_documents) + "` a row,";
  return " The whole data set" + limit + " fills `" + format_text(out.corpus_rows, "", 9) + "` rows, " +
         widgets::figure(out.corpus_share, "%", 4) + " useful.";
}

std::string sample_answer(const Inputs& in, const Outputs& out) {
  const std::string air = "Padded, " + widgets::figure(100 - out.padded_useful_share, "%") + " of the positions and " +
                          widgets::figure(out.padded_air_share, "%") + " of the FLOPs are air";
  const std::string documents =
      format_text(static_cast<double>(out.padded_rows), "", 9) + (out.padded_rows == 1 ? " document" : " documents");
  if (in.policy == models::PackingPolicy::padding)
    return air + ": " + documents + " fill " + widgets::figure(out.useful_share, "%") + " of `" +
           format_text(static_cast<double>(out.rows), "", 9) + "` rows.";
  std::string rest = "; the same " + documents + " in `" + format_text(static_cast<double>(out.rows), "", 9) +
                     (out.rows == 1 ? "` row" : "` rows") + " are " + widgets::figure(out.useful_share, "%") +
                     " useful and take " + widgets::figure(out.speedup, "", 3) + " times fewer FLOPs";
  if (in.policy < models::PackingPolicy::next_fit || in.document_mask) return air + rest + ".";
  return air + rest + ", while " + widgets::figure(out.foreign_share, "%") + " of the pairs cross documents.";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  std::string lost;
  if (out.lost_tokens > 0) lost = " " + widgets::figure(out.lost_tokens, "tokens") + " beyond the row are left out.";
  return sample_answer(in, out) + lost + corpus_of(in, out);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
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
