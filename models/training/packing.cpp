#include "models/training/packing.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace models {
namespace {

std::vector<std::uint32_t> longest_first(std::span<const std::uint32_t> lengths) {
  std::vector<std::uint32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return lengths[a] > lengths[b]; });
  return order;
}

/// Room left in each row, and the first row that has enough: a tree of maxima.
class RowTree {
 public:
  explicit RowTree(std::size_t most_rows) {
    while (leaves_ < most_rows) leaves_ *= 2;
    most_.assign(2 * leaves_, 0);
  }
  void set(std::size_t row, std::uint32_t room) {
    std::size_t at = row + leaves_;
    most_[at] = room;
    for (at /= 2; at > 0; at /= 2) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
  }
  std::uint32_t room(std::size_t row) const { return most_[row + leaves_]; }
  std::optional<std::size_t> first(std::uint32_t needed) const {
    if (most_[1] < needed) return std::nullopt;
    std::size_t at = 1;
    while (at < leaves_) at = most_[2 * at] >= needed ? 2 * at : 2 * at + 1;
    return at - leaves_;
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<std::uint32_t> most_;
};

/// One row a document, as long as the longest of its batch.
void pad_batches(std::span<const std::uint32_t> lengths, const std::vector<std::uint32_t>& order, std::uint32_t batch,
                 Packing& out) {
  for (std::size_t from = 0; from < order.size(); from += batch) {
    const std::size_t end = std::min(order.size(), from + batch);
    std::uint32_t longest = 0;
    for (std::size_t i = from; i < end; ++i) longest = std::max(longest, lengths[order[i]]);
    for (std::size_t i = from; i < end; ++i) {
      out.pieces.push_back({order[i], static_cast<std::uint32_t>(out.row_room.size()), 0, lengths[order[i]]});
      out.row_room.push_back(longest);
    }
  }
}

/// Counts what lies in each row: a row that holds as many as it may takes no more.
class RowCounts {
 public:
  RowCounts(std::size_t documents, std::uint32_t most) : in_row_(documents, 0), most_(most) {}
  /// One more lies in `row`; is it full now?
  bool add(std::size_t row) {
    if (row >= in_row_.size()) in_row_.resize(row + 1, 0);
    return ++in_row_[row] == most_;
  }

 private:
  std::vector<std::uint32_t> in_row_;
  std::uint32_t most_;
};

void fit_first(std::span<const std::uint32_t> lengths, const std::vector<std::uint32_t>& order, std::uint32_t row,
               std::uint32_t most, Packing& out) {
  RowTree tree(lengths.size());
  RowCounts counts(lengths.size(), most);
  std::vector<std::uint32_t> used(lengths.size(), 0);
  for (const std::uint32_t d : order) {
    auto at = tree.first(lengths[d]);
    if (!at) {
      at = out.row_room.size();
      out.row_room.push_back(row);
      tree.set(*at, row);
    }
    out.pieces.push_back({d, static_cast<std::uint32_t>(*at), used[*at], lengths[d]});
    used[*at] += lengths[d];
    tree.set(*at, counts.add(*at) ? 0 : row - used[*at]);
  }
}

void fit_best(std::span<const std::uint32_t> lengths, const std::vector<std::uint32_t>& order, std::uint32_t row,
              std::uint32_t most, Packing& out) {
  RowCounts counts(lengths.size(), most);
  std::multimap<std::uint32_t, std::uint32_t> rows;  // room left, row
  for (const std::uint32_t d : order) {
    auto at = rows.lower_bound(lengths[d]);
    std::uint32_t room = row, index = 0;
    if (at == rows.end()) {
      index = static_cast<std::uint32_t>(out.row_room.size());
      out.row_room.push_back(row);
    } else {
      room = at->first;
      index = at->second;
      rows.erase(at);
    }
    out.pieces.push_back({d, index, row - room, lengths[d]});
    if (!counts.add(index)) rows.emplace(room - lengths[d], index);
  }
}

void fit_next(std::span<const std::uint32_t> lengths, std::uint32_t row, bool cut, std::uint32_t most, Packing& out) {
  RowCounts counts(lengths.size(), most);
  std::uint32_t used = row;
  for (std::uint32_t d = 0; d < lengths.size(); ++d)
    for (std::uint32_t left = lengths[d]; left > 0;) {
      if (used == row || (!cut && used + left > row)) {
        out.row_room.push_back(row);
        used = 0;
      }
      const std::uint32_t piece = std::min(left, row - used);
      out.pieces.push_back({d, static_cast<std::uint32_t>(out.row_room.size() - 1), used, piece});
      used = counts.add(out.row_room.size() - 1) ? row : used + piece;
      left -= piece;
    }
}

class RowSearch {
 public:
  RowSearch(std::vector<std::uint32_t> lengths, std::uint32_t row, std::uint32_t least, std::uint32_t known,
            std::uint64_t max_nodes)
      : lengths_(std::move(lengths)), row_(row), least_(least), best_(known), nodes_left_(max_nodes) {
    rest_.assign(lengths_.size() + 1, 0);
    for (std::size_t i = lengths_.size(); i-- > 0;) rest_[i] = rest_[i + 1] + lengths_[i];
  }
  std::optional<std::uint32_t> run() {
    if (nodes_left_ > 0) place(0, 0);
    return nodes_left_ > 0 || best_ == least_ ? std::optional(best_) : std::nullopt;
  }

 private:
  void place(std::size_t document, std::uint64_t free) {
    if (nodes_left_ == 0 || best_ == least_) return;
    --nodes_left_;
    if (document == lengths_.size()) {
      best_ = std::min(best_, static_cast<std::uint32_t>(rooms_.size()));
      return;
    }
    // What does not go into the rows that are open needs new ones.
    const std::uint64_t rest = rest_[document], more = rest > free ? (rest - free + row_ - 1) / row_ : 0;
    if (rooms_.size() + more >= best_) return;
    const std::uint32_t length = lengths_[document];
    for (std::size_t r = 0; r < rooms_.size(); ++r) {
      if (rooms_[r] < length) continue;
      const auto same = std::find(rooms_.begin(), rooms_.begin() + static_cast<std::ptrdiff_t>(r), rooms_[r]);
      if (same != rooms_.begin() + static_cast<std::ptrdiff_t>(r)) continue;  // a row like one that was tried
      rooms_[r] -= length;
      place(document + 1, free - length);
      rooms_[r] += length;
    }
    rooms_.push_back(row_ - length);
    place(document + 1, free + row_ - length);
    rooms_.pop_back();
  }

  std::vector<std::uint32_t> lengths_;
  std::uint32_t row_, least_, best_;
  std::uint64_t nodes_left_;
  std::vector<std::uint64_t> rest_;
  std::vector<std::uint32_t> rooms_;
};

}  // namespace

std::uint64_t least_rows(std::uint64_t tokens, std::uint32_t row) { return (tokens + row - 1) / row; }

Packing pack_documents(std::span<const std::uint32_t> lengths, std::uint32_t row, PackingPolicy policy,
                       std::uint32_t batch, std::uint32_t most) {
  Packing out;
  out.tokens = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  std::vector<std::uint32_t> arrival(lengths.size());
  std::iota(arrival.begin(), arrival.end(), 0u);
  switch (policy) {
    case PackingPolicy::padding:
      for (const std::uint32_t d : arrival) {
        out.pieces.push_back({d, d, 0, lengths[d]});
        out.row_room.push_back(row);
      }
      break;
    case PackingPolicy::longest:
      pad_batches(lengths, arrival, std::max(batch, 1u), out);
      break;
    case PackingPolicy::bucketing:
      pad_batches(lengths, longest_first(lengths), std::max(batch, 1u), out);
      break;
    case PackingPolicy::next_fit:
      fit_next(lengths, row, false, most, out);
      break;
    case PackingPolicy::greedy:
      fit_first(lengths, arrival, row, most, out);
      break;
    case PackingPolicy::first_fit_decreasing:
      fit_first(lengths, longest_first(lengths), row, most, out);
      break;
    case PackingPolicy::best_fit:
      fit_best(lengths, longest_first(lengths), row, most, out);
      break;
    case PackingPolicy::split:
      fit_next(lengths, row, true, most, out);
      break;
  }
  return out;
}

std::optional<std::uint32_t> fewest_rows(std::span<const std::uint32_t> lengths, std::uint32_t row,
                                         std::uint64_t max_nodes) {
  std::vector<std::uint32_t> sorted(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const std::uint64_t tokens = std::accumulate(sorted.begin(), sorted.end(), std::uint64_t{0});
  const auto least = static_cast<std::uint32_t>(least_rows(tokens, row));
  const auto known =
      static_cast<std::uint32_t>(pack_documents(sorted, row, PackingPolicy::best_fit, 1).row_room.size());
  return RowSearch(std::move(sorted), row, least, known, max_nodes).run();
}

std::uint64_t next_fit_rows(std::span<const std::uint32_t> lengths, std::uint32_t row) {
  std::uint64_t rows = 0;
  std::uint32_t used = row;
  for (const std::uint32_t length : lengths) {
    if (used + length > row) {
      ++rows;
      used = 0;
    }
    used += length;
  }
  return rows;
}

std::uint64_t best_fit_rows(std::span<const std::uint64_t> counts, std::uint32_t row, std::uint32_t most) {
  // Rows alike: by room left, and by how many documents may still come where there is a limit.
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> open;
  const std::uint32_t may = most > 0 ? most : row;
  std::uint64_t rows = 0;
  for (std::size_t i = counts.size(); i-- > 0;) {
    const auto length = static_cast<std::uint32_t>(i + 1);
    for (std::uint64_t left = counts[i]; left > 0;) {
      const auto at = open.lower_bound(length);
      const bool fresh = at == open.end();
      const std::uint32_t room = fresh ? row : at->first, more = fresh ? may : at->second.begin()->first;
      const std::uint64_t alike = fresh ? left : at->second.begin()->second;
      // A row that was just filled is the fullest with room again, until no more fits: each row takes its fill at once.
      const std::uint32_t each = std::min(room / length, more);
      const std::uint64_t whole = std::min(alike, left / each);
      const auto part = static_cast<std::uint32_t>(whole < alike ? left - whole * each : 0);
      const std::uint64_t used = whole + (part > 0 ? 1 : 0);
      if (fresh) {
        rows += used;
      } else {
        auto& kind = at->second;
        if ((kind.begin()->second -= used) == 0) kind.erase(kind.begin());
        if (kind.empty()) open.erase(at);
      }
      const auto keep = [&](std::uint32_t documents, std::uint64_t n) {
        const std::uint32_t room_left = room - documents * length, may_left = more - documents;
        if (n > 0 && room_left > 0 && may_left > 0) open[room_left][may_left] += n;
      };
      keep(each, whole);
      if (part > 0) keep(part, 1);
      left -= whole * each + part;
    }
  }
  return rows;
}

double attention_pairs(const Packing& packing, bool documents) {
  double pairs = 0;
  const auto triangle = [](double n) { return n * (n + 1) / 2; };
  if (documents)
    for (const PackedPiece& p : packing.pieces) pairs += triangle(p.length);
  else
    for (const std::uint32_t r : packing.row_room) pairs += triangle(r);
  return pairs;
}

}  // namespace models
