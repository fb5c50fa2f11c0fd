#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "chapters/debugging/hang/lab.h"
#include "widgets/number/number.h"

namespace chapters::debugging::hang {
namespace {

namespace hm = models::hang;
using widgets::Curve, widgets::Tint;

constexpr std::size_t max_columns = 30, max_plain_rows = 16, max_rows = 20;

std::size_t at_of(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Number of a record within its band: messages are counted apart.
std::int64_t column_number(const hm::FlightEntry& e) { return e.p2p ? e.p2p_sequence : e.sequence; }

/// Bands by the groups' descriptions, in the order in which records name them; messages are a band of their own.
struct BandKeys {
  std::map<std::pair<std::string, bool>, std::size_t> known;
  std::vector<std::string> titles;
  std::size_t of(const hm::FlightJob& job, const hm::FlightEntry& e) {
    const std::string& name = job.group(e).description;
    const auto [at, fresh] = known.emplace(std::pair(name, e.p2p), titles.size());
    if (fresh) titles.push_back(e.p2p ? name + ", messages" : name == "default_pg" ? "all ranks" : name);
    return at->second;
  }
};

/// Which calls are shown: the last ones of each band, more of those with more.
void add_bands(const hm::FlightJob& job, BandKeys& keys, Picture& picture) {
  std::vector<std::vector<std::int64_t>> numbers;
  for (const hm::FlightDump& dump : job.dumps)
    for (const hm::FlightEntry& e : dump.entries) {
      const std::size_t band = keys.of(job, e);
      if (band >= numbers.size()) numbers.resize(band + 1);
      numbers[band].push_back(column_number(e));
    }
  for (auto& list : numbers) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  const std::size_t bands = std::min<std::size_t>(numbers.size(), 6);
  std::size_t room = max_columns;
  for (std::size_t b = 0; b < bands; ++b) {
    const std::size_t shown = std::min(numbers[b].size(), std::max<std::size_t>(3, room / (bands - b)));
    Band band{keys.titles[b], picture.columns, shown, {}, static_cast<std::int64_t>(numbers[b].size() - shown)};
    band.sequences.assign(numbers[b].end() - static_cast<std::ptrdiff_t>(shown), numbers[b].end());
    picture.columns += shown;
    room -= std::min(room, shown);
    picture.bands.push_back(std::move(band));
  }
}

/// A word for a cell: "reduce" of "all_reduce".
std::string brief_of(const std::string& operation) {
  if (operation == "broadcast") return "bcast";
  if (operation == "all_reduce") return "reduce";
  if (operation == "all_gather" || operation == "_all_gather_base") return "gather";
  if (operation.starts_with("reduce_scatter") || operation == "_reduce_scatter_base") return "scatter";
  return operation.substr(0, 10);
}

void add_calls(const hm::FlightJob& job, Picture& picture) {
  for (std::size_t i = 0; i < job.calls.size(); ++i) {
    const hm::FlightCall& call = job.calls[i];
    const hm::Sizes& sizes = call.input_sizes.empty() ? call.output_sizes : call.input_sizes;
    const auto& dtypes = call.input_dtypes.empty() ? call.output_dtypes : call.input_dtypes;
    picture.calls.push_back({call.operation + (call.peers.empty() ? "" : " " + call.peers), brief_of(call.operation),
                             sizes.empty() ? "" : widgets::format_text(static_cast<double>(hm::numel(sizes)), "", 12),
                             dtypes.empty() ? "" : dtypes.front(), Tint::series(i)});
  }
}

/// Can no rank complete such a call before all have entered it? The root of a broadcast, for one, can.
bool needs_everybody(std::string_view operation) {
  return operation.starts_with("all") || operation.starts_with("_all") || operation.starts_with("barrier") ||
         operation.find("reduce_scatter") != std::string_view::npos;
}

/// One rank's row before rows that are alike are folded.
class RowMaker {
 public:
  RowMaker(const Run& run, BandKeys& keys, const Picture& picture) : run_(run), keys_(keys), picture_(picture) {
    // What any member of a group made: where others made a call and a rank did not, there is a hole.
    for (const hm::FlightDump& dump : run.job->dumps)
      for (const hm::FlightEntry& e : dump.entries)
        if (!e.p2p) ++made_[{e.group, e.sequence}];
    for (std::size_t d = 0; d < run.job->dumps.size(); ++d)
      if (const std::int32_t i = run.found.waits[d].entry; i >= 0) {
        const hm::FlightEntry& e = run.job->dumps[d].entries[at_of(i)];
        if (!e.p2p && needs_everybody(run.job->call(e).operation)) open_.emplace(e.group, e.sequence);
      }
  }

  std::vector<Cell> row(std::size_t dump) {
    const hm::FlightJob& job = *run_.job;
    const auto& entries = job.dumps[dump].entries;
    std::vector<Cell> cells(picture_.columns);
    std::map<std::size_t, std::int32_t> group_of_band;
    const std::int32_t waits = run_.found.waits[dump].entry;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const hm::FlightEntry& e = entries[i];
      const std::size_t band = keys_.of(job, e);
      group_of_band[band] = e.group;
      if (Cell* cell = cell_of(cells, band, column_number(e))) fill(*cell, e, static_cast<std::int32_t>(i), waits);
    }
    mark_holes(cells, dump, group_of_band);
    return cells;
  }

 private:
  Cell* cell_of(std::vector<Cell>& cells, std::size_t band, std::int64_t number) const {
    if (band >= picture_.bands.size()) return nullptr;
    const Band& b = picture_.bands[band];
    const auto at = std::lower_bound(b.sequences.begin(), b.sequences.end(), number);
    if (at == b.sequences.end() || *at != number) return nullptr;
    return &cells[b.first + at_of(at - b.sequences.begin())];
  }

  void fill(Cell& cell, const hm::FlightEntry& e, std::int32_t i, std::int32_t waits) const {
    if (cell.call >= 0) return;
    cell.call = e.call;
    cell.group = e.group;
    cell.sequence = column_number(e);
    cell.state = waits < 0 || i < waits ? Cell::State::done : i == waits ? Cell::State::waits : Cell::State::queued;
    if (cell.state == Cell::State::done && !e.p2p && open_.contains({e.group, e.sequence}))
      cell.state = Cell::State::parted;
    const hm::HangDiagnosis& d = run_.found;
    cell.differs = !e.p2p && d.found_call >= 0 && e.group == d.group && e.sequence == d.sequence &&
                   e.call == d.found_call && e.call != d.expected_call;
  }

  void mark_holes(std::vector<Cell>& cells, std::size_t dump,
                  const std::map<std::size_t, std::int32_t>& group_of_band) const {
    for (std::size_t b = 0; b < picture_.bands.size(); ++b) {
      const auto group = group_of_band.find(b);
      if (group == group_of_band.end()) continue;
      const hm::GroupCalls& own = run_.job->by_group[dump][at_of(group->second)];
      for (std::size_t c = 0; c < picture_.bands[b].columns; ++c) {
        Cell& cell = cells[picture_.bands[b].first + c];
        const std::int64_t sequence = picture_.bands[b].sequences[c];
        if (cell.call >= 0 || !made_.contains({group->second, sequence})) continue;
        cell.group = group->second;
        cell.sequence = sequence;
        cell.state = sequence < own.first_known ? Cell::State::dropped : Cell::State::hole;
      }
    }
  }

  const Run& run_;
  BandKeys& keys_;
  const Picture& picture_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> made_;
  std::set<std::pair<std::int32_t, std::int64_t>> open_;  ///< calls in which some rank still is
};

std::string ring_words(const hm::HangDiagnosis& d, std::int64_t rank) {
  const auto at = std::find(d.ring_order.begin(), d.ring_order.end(), rank);
  if (at == d.ring_order.end()) return "never rings";
  if (at == d.ring_order.begin()) return "rings first";
  const double after = static_cast<double>(d.ring_after_ns[at_of(at - d.ring_order.begin())]) * 1e-9;
  return "+" + widgets::format_text(after, "s");
}

/// What a press on a rank's row says.
std::string verdict_of(const Run& run, std::int64_t rank, std::int64_t dump, const MatrixRow& row) {
  const hm::HangDiagnosis& d = run.found;
  const bool guilty = std::find(d.culprits.begin(), d.culprits.end(), rank) != d.culprits.end();
  if (dump < 0) return guilty ? "It left no dump, and others wait: it is to blame." : "It left no dump.";
  const hm::RankWait& wait = d.waits[at_of(dump)];
  std::string text;
  if (wait.entry >= 0) {
    const hm::FlightEntry& e = run.job->dumps[at_of(dump)].entries[at_of(wait.entry)];
    text = "It waits in " + call_words(run.job->call(e));
    text += wait.waits_for.empty() ? ", which all have entered. " : " for rank " + list_ranks(wait.waits_for) + ". ";
  } else {
    text = d.hangs ? "It waits for nobody. " : "All its calls have ended. ";
    if (std::any_of(row.cells.begin(), row.cells.end(), [](const Cell& c) { return c.state == Cell::State::parted; }))
      text = "Its last call is retired, as one that failed is, too, and another rank is still in it. ";
  }
  if (guilty) return text + "It is to blame.";
  if (!d.decidable) return text + "The records do not say who is to blame.";
  return text + "It is innocent.";
}

/// Rows in the order of ranks; beyond sixteen, those that are alike become one.
void add_rows(const Run& run, BandKeys& keys, Picture& picture) {
  const hm::FlightJob& job = *run.job;
  RowMaker maker(run, keys, picture);
  std::vector<std::int64_t> all = job.missing;
  for (const hm::FlightDump& dump : job.dumps) all.push_back(dump.rank);
  std::sort(all.begin(), all.end());
  const bool fold = all.size() > max_plain_rows;
  std::vector<std::vector<std::int64_t>> members;
  std::map<std::int64_t, std::int32_t> row_of;
  for (const std::int64_t rank : all) {
    const std::int64_t dump = job.dump_of(rank);
    MatrixRow row;
    if (dump < 0)
      row.cells.assign(picture.columns, Cell{.state = Cell::State::no_dump});
    else
      row.cells = maker.row(at_of(dump));
    row.culprit = std::find(run.found.culprits.begin(), run.found.culprits.end(), rank) != run.found.culprits.end();
    row.rings_first = rank == run.found.rings_first;
    const auto alike = [&](const MatrixRow& other) {
      if (other.culprit != row.culprit || other.rings_first || row.rings_first) return false;
      for (std::size_t c = 0; c < row.cells.size(); ++c)
        if (row.cells[c].state != other.cells[c].state || row.cells[c].call != other.cells[c].call) return false;
      return true;
    };
    auto at = fold ? std::find_if(picture.rows.begin(), picture.rows.end(), alike) : picture.rows.end();
    if (at == picture.rows.end() && picture.rows.size() >= max_rows) at = picture.rows.end() - 1;
    if (at != picture.rows.end()) {
      members[at_of(at - picture.rows.begin())].push_back(rank);
      row_of[rank] = static_cast<std::int32_t>(at - picture.rows.begin());
      at->culprit |= row.culprit;
      continue;
    }
    row.verdict = verdict_of(run, rank, dump, row);
    row.ring = run.found.hangs ? ring_words(run.found, rank) : "";
    row_of[rank] = static_cast<std::int32_t>(picture.rows.size());
    members.push_back({rank});
    picture.rows.push_back(std::move(row));
  }
  for (std::size_t r = 0; r < picture.rows.size(); ++r) {
    MatrixRow& row = picture.rows[r];
    const auto& ranks = members[r];
    row.folded = ranks.size() > 1;
    row.label = row.folded ? std::to_string(ranks.size()) + " ranks" : "rank " + std::to_string(ranks.front());
    row.ranks = "rank " + list_ranks(ranks, 8);
    for (const std::int64_t rank : ranks)
      if (const std::int64_t dump = job.dump_of(rank); dump >= 0)
        for (const std::int64_t whom : run.found.waits[at_of(dump)].waits_for)
          if (const auto to = row_of.find(whom); to != row_of.end() && to->second != static_cast<std::int32_t>(r))
            row.waits_for.push_back(to->second);
    std::sort(row.waits_for.begin(), row.waits_for.end());
    row.waits_for.erase(std::unique(row.waits_for.begin(), row.waits_for.end()), row.waits_for.end());
  }
}

void add_cost(const Inputs& in, const Outputs& out, Picture& picture) {
  picture.most_s = std::max({1200.0, 2 * in.timeout_s, 2 * out.cost.best_timeout_s});
  picture.lost = {.label = "lost",
                  .info = "GPUs x (hangs x (timeout + restart) + false alarms x restart)",
                  .output = "lost_gpu_hours",
                  .tint = Tint::strong()};
  picture.waiting = {.label = "hangs: waiting and restarts", .dashed = true};
  picture.falsely = {.label = "false alarms", .tint = Tint::bad(), .dashed = true};
  constexpr int points = 160;
  for (int i = 1; i <= points; ++i) {
    const double at = picture.most_s * i / points;
    const auto cost = hm::alarm_cost({.gpus = static_cast<double>(in.gpus),
                                      .timeout_s = at,
                                      .restart_s = in.restart_s,
                                      .hangs = in.hangs,
                                      .pauses = in.pauses,
                                      .pause_mean_s = in.pause_mean_s});
    picture.lost.add(at, cost.lost_gpu_hours);
    picture.waiting.add(at, cost.waiting_gpu_hours + cost.restart_gpu_hours);
    picture.falsely.add(at, cost.false_gpu_hours);
  }
  picture.most_hours =
      1.15 * std::max({picture.lost.y.back(), out.cost.lost_gpu_hours, 2 * out.cost.best_lost_gpu_hours});
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!run.job) return picture;
  picture.answer = answer_of(in, out);
  BandKeys keys;
  add_calls(*run.job, picture);
  add_bands(*run.job, keys, picture);
  add_rows(run, keys, picture);
  add_cost(in, out, picture);
  return picture;
}

}  // namespace chapters::debugging::hang
