#include <algorithm>
#include <cmath>

#include "chapters/distributed/tensor_parallel/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::distributed::tensor_parallel {
namespace {

using namespace models::parallel;
using models::as_double, widgets::figure, widgets::format_text, widgets::Meaning;

/// The collectives of a cut's forward pass that are sent, in words: "all-reduce after".
std::string bar_words(const CutRow& row, bool gathers) {
  std::string text = gathers ? "all-gather before, " : "";
  if (row.between == "nothing") return text + "nothing between, " + row.behind + " after";
  return text + row.between + " between, " + row.behind + " after";
}

std::string_view cut_words(TensorCut cut) {
  switch (cut) {
    case TensorCut::column_row:
      return "by columns, then rows";
    case TensorCut::column_column:
      return "by columns twice";
    case TensorCut::row_column:
      return "by rows, then columns";
    case TensorCut::row_row:
      break;
  }
  return "by rows twice";
}

std::string with_article(const std::string& collective) {
  return (collective.starts_with('a') ? "an " : "a ") + collective;
}

/// What the cut sends, and instead of what.
std::string sends_text(const Inputs& in, const Outputs& out) {
  const std::string per_rank = figure(out.block_bytes, "B") + " per rank";
  if (in.cut != TensorCut::column_row) {
    const CutRow& row = out.cuts[static_cast<std::size_t>(in.cut)];
    return "Cut " + std::string(cut_words(in.cut)) + ", a block sends " + per_rank + " instead of " +
           figure(out.columns_rows_bytes, "B") + ": " +
           (row.between == "nothing" ? std::string() : with_article(row.between) + " between its matmuls, ") +
           with_article(row.behind) + " after.";
  }
  const std::string cut = "Cut by columns, then rows, nothing is sent between the two matmuls; ";
  if (in.sequence_parallel)
    return cut + "a gather before and a scatter after send " + per_rank +
           (in.overlap == models::parallel::TensorOverlap::ring ? " while they run." : ".");
  return cut + "one all-reduce " + (out.forward.collectives == 1 ? "for both blocks " : "") + "(" + per_rank + ", " +
         figure(out.one_collective_s, "s") + ") follows.";
}

/// How long a layer takes, and how much of that is waiting.
std::string waits_text(const Inputs& in, const Outputs& out) {
  const std::string on =
      "On " + figure(as_double(in.ranks), "") + " ranks" + (in.ranks > in.ranks_per_node ? " over several nodes" : "");
  const std::string waiting = figure(out.exposed_share, "%");
  if (out.kv_copies > 1)
    return on + " " + waiting + " of a layer is waiting for collectives; " + figure(out.kv_copies, "") +
           " ranks hold each key head.";
  return on + " a layer takes " + figure(out.layer_s, "s") + ", and " + waiting +
         " of that is waiting for collectives.";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.ranks < 2)
    return "One rank holds the whole layer and sends nothing: a layer takes " + figure(out.layer_s, "s") + ".";
  return sends_text(in, out) + "\n" + waits_text(in, out);
}

std::string check_of(const Outputs& out, std::int64_t drawn) {
  std::string text = "Computed on " + std::to_string(drawn) + (drawn == 1 ? " rank" : " ranks") +
                     ": the pieces give Z, " +
                     (out.sum_error > 0 ? "off by " + format_text(out.sum_error, "", 1) + " of its largest number"
                                        : std::string("exactly"));
  if (std::isfinite(out.without_between))
    text += "; without the collective between, off by " + format_text(out.without_between, "%", 2);
  return text + ".";
}

std::vector<double> shades(const models::Matrix& m, std::size_t row, std::size_t rows, std::size_t col,
                           std::size_t cols, double most) {
  std::vector<double> out;
  out.reserve(rows * cols);
  for (std::size_t r = row; r < row + rows; ++r)
    for (std::size_t c = col; c < col + cols; ++c) out.push_back(most > 0 ? std::abs(m.at(r, c)) / most : 0);
  return out;
}
double most_of(const models::Matrix& m) {
  double most = 0;
  for (const double v : m.values) most = std::max(most, std::abs(v));
  return most;
}

/// How a matrix of the small block lies on the ranks.
enum class Lie { whole, columns, rows, sheets };

struct MatrixMaker {
  CutMatrix m;
  MatrixMaker(std::string name, std::string_view glyph, double rows, double cols, std::string info) {
    m.name = std::move(name);
    m.glyph = glyph;
    m.rows_text = format_text(rows, "");
    m.cols_text = format_text(cols, "");
    m.info = std::move(info);
  }
  void piece_text(double rows, double cols) {
    m.piece_rows = format_text(rows, "");
    m.piece_cols = format_text(cols, "");
  }
  /// Pieces of one matrix; `ranges` of its columns or rows.
  CutMatrix of(const models::Matrix& values, Lie lie, std::span<const PieceRange> ranges) {
    m.rows = values.rows;
    m.cols = values.cols;
    const double most = most_of(values);
    if (lie == Lie::whole) {
      m.pieces.push_back({-1, 0, m.rows, 0, m.cols, shades(values, 0, m.rows, 0, m.cols, most)});
      return std::move(m);
    }
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      const bool columns = lie == Lie::columns;
      CutPiece p{static_cast<std::int64_t>(r),        columns ? 0 : ranges[r].first,
                 columns ? m.rows : ranges[r].size(), columns ? ranges[r].first : 0,
                 columns ? ranges[r].size() : m.cols, {}};
      p.values = shades(values, p.first_row, p.rows, p.first_col, p.cols, most);
      m.pieces.push_back(std::move(p));
    }
    return std::move(m);
  }
  CutMatrix sheets(std::span<const models::Matrix> parts, bool sum) {
    m.sheets = true;
    m.sum = sum;
    double most = 0;
    for (const models::Matrix& part : parts) most = std::max(most, most_of(part));
    for (std::size_t r = 0; r < parts.size(); ++r) {
      m.rows = parts[r].rows;
      m.cols = parts[r].cols;
      m.pieces.push_back(
          {static_cast<std::int64_t>(r), 0, m.rows, 0, m.cols, shades(parts[r], 0, m.rows, 0, m.cols, most)});
    }
    return std::move(m);
  }
};

/// Attention and feed-forward that read the same input are summed together: the collectives are those of the latter.
CutCapsule capsule_of(const Inputs& in, const TensorLayer& layer, bool joined, TensorPlace place, std::size_t before) {
  CutCapsule capsule{.before = before, .lines = {"nothing", "to send"}, .empty = true};
  capsule.info = "What a rank holds here is what it needs next.";
  for (const TimedCollective& c : layer.collectives)
    if ((c.block == in.block || joined) && !c.collective.backward && c.collective.place == place) {
      const std::string name(collective_words(c.collective.primitive));
      const std::size_t hyphen = name.find('-') + 1;
      capsule.lines = {name.substr(0, hyphen), name.substr(hyphen), format_text(c.sent_bytes, "B"),
                       format_text(c.time_s, "s")};
      capsule.info = name + ": each rank sends " + capsule.lines[2] + " in " + capsule.lines[3];
      capsule.empty = false;
    }
  return capsule;
}

/// The scene, matrix by matrix from left to right.
struct SceneMaker {
  const Inputs& in;
  const Run& made;
  const TensorRun& run = made.small;
  const BlockSizes& z = made.sizes;
  const bool attention = in.block == TensorBlock::attention, row_first = first_by_row(in.cut);
  const bool one = in.ranks == 1, by_token = made.split_tokens && !one;
  const double t = as_double(in.ranks), copies = attention ? made.layer.kv_copies : 1;
  std::vector<PieceRange> tokens{};
  CutScene scene{};

  void note_ranks() {
    const std::size_t drawn = run.a_cols.size();
    for (std::size_t r = 0; r < drawn; ++r) tokens.push_back({r * run.x.rows / drawn, (r + 1) * run.x.rows / drawn});
    scene.drawn_ranks = static_cast<std::int64_t>(drawn);
    if (scene.drawn_ranks != in.ranks)
      scene.ranks_note =
          "drawn with " + std::to_string(drawn) + " ranks; sizes are those of " + std::to_string(in.ranks);
    if (copies > 1)
      scene.ranks_note += (scene.ranks_note.empty() ? "" : "; ") + std::string("each key and value head is held by ") +
                          format_text(copies, "") + " ranks";
  }
  void gap(TensorPlace place) {
    if (!one)
      scene.capsules.push_back(
          capsule_of(in, made.layer, made.joined && place != TensorPlace::between, place, scene.matrices.size()));
  }
  /// X, A, and the parts of their product where A is cut by row.
  void add_first() {
    // A copied key and value head is held by every rank that it is copied to.
    const double a_piece = attention ? z.inner / t + (z.projected - z.inner) * copies / t : z.projected / t;
    const Lie a_lie = one ? Lie::whole : row_first ? Lie::rows : Lie::columns;
    const std::string a_name = attention ? "A: Q, K, V" : made.gated ? "A: gate, up" : "A: up";
    if (by_token) {
      MatrixMaker cut("X", "", z.rows, z.hidden, "Between blocks each rank has its own tokens.");
      cut.piece_text(z.rows / t, z.hidden);
      scene.matrices.push_back(cut.of(run.x, Lie::rows, tokens));
      gap(TensorPlace::before);
    }
    MatrixMaker x("X", "", z.rows, z.hidden,
                  row_first ? "Every rank has X, and multiplies its own columns of it." : "Every rank has all of X.");
    if (row_first && !one) x.piece_text(z.rows, z.hidden / t);
    scene.matrices.push_back(x.of(run.x, row_first && !one ? Lie::columns : Lie::whole, run.x_cols));
    MatrixMaker a(a_name, "×", z.hidden, z.projected, "The first matrix of the block.");
    if (!one) a.piece_text(row_first ? z.hidden / t : z.hidden, row_first ? z.projected : a_piece);
    scene.matrices.push_back(a.of(run.a, a_lie, row_first ? run.x_cols : run.a_cols));
    if (row_first && !one) {
      MatrixMaker parts("XA in parts", "=", z.rows, z.projected, "One part of the sum on each rank; f needs the sum.");
      scene.matrices.push_back(parts.sheets(run.first_pieces, true));
      gap(TensorPlace::between);
    }
  }
  /// f of the product, gathered where the second matrix needs all of it.
  void add_function() {
    const std::string f_name = attention ? "attention(XA)" : "f(XA)";
    const bool y_whole = one || in.cut == TensorCut::row_column;
    MatrixMaker y(f_name, "f", z.rows, z.inner,
                  attention ? "Attention, head by head." : "The activation, number by number.");
    if (!y_whole) y.piece_text(z.rows, z.inner / t);
    scene.matrices.push_back(y.of(run.y, y_whole ? Lie::whole : Lie::columns, run.y_cols));
    if (!row_first) gap(TensorPlace::between);
    if (in.cut == TensorCut::column_column && !one) {
      MatrixMaker all(f_name, "", z.rows, z.inner, "Gathered: every rank has all columns.");
      scene.matrices.push_back(all.of(run.y, Lie::whole, {}));
    }
  }
  /// B, and Z as it lies on the ranks before and after the collective.
  void add_second() {
    const bool by_row = second_by_row(in.cut);
    MatrixMaker b(attention ? "B: output" : "B: down", "×", z.inner, z.hidden, "The second matrix of the block.");
    if (!one) b.piece_text(by_row ? z.inner / t : z.inner, by_row ? z.hidden : z.hidden / t);
    scene.matrices.push_back(b.of(run.b,
                                  one      ? Lie::whole
                                  : by_row ? Lie::rows
                                           : Lie::columns,
                                  by_row ? run.y_cols : run.z_cols));
    if (!one && by_row) {
      MatrixMaker parts("Z in parts", "=", z.rows, z.hidden, "One part of the sum on each rank.");
      scene.matrices.push_back(parts.sheets(run.result_pieces, true));
    } else if (!one) {
      MatrixMaker parts("Z", "=", z.rows, z.hidden, "Its own columns on each rank.");
      parts.piece_text(z.rows, z.hidden / t);
      scene.matrices.push_back(parts.of(run.z, Lie::columns, run.z_cols));
    }
    gap(TensorPlace::behind);
    MatrixMaker last("Z", one ? "=" : "", z.rows, z.hidden,
                     by_token ? "Each rank has its own tokens." : "On every rank.");
    if (by_token) last.piece_text(z.rows / t, z.hidden);
    scene.matrices.push_back(last.of(run.joined, by_token ? Lie::rows : Lie::whole, tokens));
  }
};

CutScene scene_of(const Inputs& in, const Run& made) {
  SceneMaker maker{in, made};
  maker.note_ranks();
  maker.add_first();
  maker.add_function();
  maker.add_second();
  return std::move(maker.scene);
}

/// A layer's time and activations against ranks.
void add_ranks(const Inputs& in, const Run& run, Picture& p) {
  std::array<std::vector<double>, 3> parts;
  for (const RankPoint& point : run.by_ranks) {
    const auto place = static_cast<std::int64_t>(p.rank_places.size());
    if (point.ranks == in.ranks) p.yours = place;
    if (point.ranks <= in.ranks_per_node) p.node_place = as_double(place) + 0.5;
    p.rank_places.push_back(as_double(place));
    p.rank_names.push_back(std::to_string(point.ranks));
    parts[0].push_back(point.products_s);
    parts[1].push_back(point.other_s);
    parts[2].push_back(point.exposed_s);
    if (in.phase != models::Phase::train) continue;
    p.activation.push_back(point.activation_bytes);
    p.activation_split.push_back(point.activation_split_bytes);
  }
  for (const auto& part : parts) p.layers.insert(p.layers.end(), part.begin(), part.end());
}

std::int64_t in_ns(double s) { return std::llround(s * 1e9); }

void add_ring(const RingRun& run, Picture& p) {
  if (run.spans.empty()) return;
  p.ring_end_s = std::max(run.total_s, run.whole_s);
  const std::array<std::string_view, 4> labels{"matmuls", "link", "in blocks", "link"};
  for (std::size_t i = 0; i < p.ring.size(); ++i) p.ring[i].label = labels[i];
  const auto add = [&](std::size_t lane, double start_s, double end_s, std::string name, widgets::Tint tint) {
    if (in_ns(end_s) <= in_ns(start_s)) return;
    p.ring[lane].spans.push_back({in_ns(start_s), in_ns(end_s) - in_ns(start_s),
                                  static_cast<std::uint32_t>(p.ring_names.size()), 0, tint,
                                  widgets::TimelineMark::solid});
    p.ring_names.push_back({std::move(name), in_ns(end_s) - in_ns(start_s)});
  };
  double product_s = run.total_s - run.exposed_s;
  add(1, 0, run.whole_s - product_s, "gather", Meaning::communication);
  add(0, run.whole_s - product_s, run.whole_s, "all rows", Meaning::forward);
  for (const RingSpan& span : run.spans)
    add(span.transfer ? 3 : 2, span.start_s, span.end_s, std::to_string(span.block),
        span.transfer ? Meaning::communication : Meaning::forward);
  p.ring_words = format_text(run.whole_s, "s") + " one after the other, " + format_text(run.total_s, "s") +
                 " block by block, on every rank at once";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || out.cuts.size() != tensor_cut_count) return p;
  p.answer = answer_of(in, out);
  p.scene = scene_of(in, run);
  p.check = check_of(out, p.scene.drawn_ranks);
  for (std::size_t i = 0; i < p.bars.size(); ++i) {
    const CutRow& row = out.cuts[i];
    p.bars[i] = {row.cut, bar_words(row, run.split_tokens && i == 0), row.forward_bytes, row.backward_bytes};
    p.most_bytes = std::max(p.most_bytes, row.forward_bytes + row.backward_bytes);
  }
  add_ranks(in, run, p);
  add_ring(run.ring, p);
  return p;
}

}  // namespace chapters::distributed::tensor_parallel
