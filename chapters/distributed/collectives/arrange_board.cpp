#include <algorithm>
#include <bit>
#include <set>

#include "chapters/distributed/collectives/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::distributed::collectives {
namespace {

using namespace models::parallel;
using models::as_double;
using widgets::format_text;

std::string counted(std::size_t n, std::string_view one) {
  return std::to_string(n) + " " + std::string(one) + (n == 1 ? "" : "s");
}

/// Text for the bytes of a message. In a buffer with fewer bytes than chunks a message has one byte or none.
std::string message_size(double bytes) { return bytes < 1 ? "1 B at most" : format_text(bytes, "B"); }

/// What one step does: how many messages of which size, and how many ranks have nothing to do.
std::string step_text(const Inputs& in, const CollectiveSchedule& s, std::span<const ChunkTransfer> step,
                      const CollectiveRun& run) {
  std::set<std::pair<int, int>> pairs;
  std::set<int> sends, works;
  int least = 64, most = 0;
  bool adds = false, copies = false;
  for (const ChunkTransfer& t : step) {
    pairs.insert({t.source, t.target});
    if (t.source < in.ranks) {
      sends.insert(t.source);
      works.insert(t.source);
    }
    if (t.target < in.ranks) works.insert(t.target);
    adds = adds || t.action == ChunkAction::reduce;
    copies = copies || t.action == ChunkAction::copy;
    const int held = std::popcount(run.origins[run.cell(t.step, t.source, t.chunk)]);
    least = std::min(least, held);
    most = std::max(most, held);
  }
  const double chunks =
      as_double(static_cast<std::int64_t>(step.size())) / as_double(static_cast<std::int64_t>(pairs.size()));
  std::string text = counted(pairs.size(), "message") + " of " + message_size(chunks * in.bytes / as_double(s.chunks));
  if (adds && copies) {
    text += ", added on the way up, copied on the way down; ";
  } else if (adds) {
    const std::string sums = least != most
                                 ? ", with sums of " + std::to_string(least) + " to " + std::to_string(most) + " ranks"
                             : most == 1 ? std::string(", each with one rank's numbers")
                                         : ", each with the sum of " + std::to_string(most) + " ranks";
    text += sums + ", added on arrival; ";
  } else {
    text += s.spec.primitive == Primitive::all_to_all ? ", put next to what is there; " : ", copied; ";
  }
  const auto all = static_cast<std::size_t>(in.ranks), waits = all - works.size();
  if (waits > 0)
    text += counted(waits, "rank") + " of " + std::to_string(all) + (waits == 1 ? " waits" : " wait");
  else if (sends.empty())
    text += "the switch sends";
  else if (sends.size() == all)
    text += "every rank sends";
  else
    text += counted(sends.size(), "rank") + " of " + std::to_string(all) + (sends.size() == 1 ? " sends" : " send");
  return text;
}

/// The state after which nothing is added any more, and what is reached there.
void add_turn(const CollectiveSchedule& s, const CollectiveRun& run, BoardPicture& p) {
  std::int64_t turn = -1;
  bool copies_after = false;
  for (const ChunkTransfer& t : s.transfers)
    if (t.action == ChunkAction::reduce) turn = t.step + 1;
  for (const ChunkTransfer& t : s.transfers) copies_after = copies_after || t.step >= turn;
  if (turn < 0) {
    if (s.spec.algorithm == CollectiveAlgorithm::scatter_all_gather) {
      p.turn = ceil_log2(s.spec.ranks);
      p.turn_says = std::to_string(p.turn) + ": every rank has one chunk";
      p.before = "scatter";
      p.after = "all-gather";
    }
    return;
  }
  p.before = "sums grow";
  if (!copies_after) return;
  p.turn = turn;
  const std::uint64_t all = s.spec.ranks >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << s.spec.ranks) - 1;
  std::int64_t owners = 0;
  bool one_each = true;
  for (std::int64_t r = 0; r < run.participants; ++r) {
    std::int64_t whole = 0;
    for (std::int64_t c = 0; c < run.chunks; ++c) whole += run.origins[run.cell(turn, r, c)] == all;
    owners += whole > 0;
    one_each = one_each && (whole == 1 || r >= s.spec.ranks);
  }
  p.after = "whole sums are copied on";
  const std::string at = std::to_string(turn) + ": ";
  if (s.switch_rank >= 0)
    p.turn_says = at + "the switch has every sum";
  else if (one_each && owners == s.spec.ranks)
    p.turn_says = at + "every rank owns one whole sum";
  else if (owners == s.spec.ranks)
    p.turn_says = at + "every rank has the whole sum";
  else
    p.turn_says = at + "the sum is whole on " + counted(static_cast<std::size_t>(owners), "rank");
}

}  // namespace

namespace {

void add_names(const Inputs& in, const CollectiveSchedule& s, BoardPicture& p) {
  for (std::int64_t r = 0; r < in.ranks; ++r) {
    p.rank_names.push_back("rank " + std::to_string(r));
    for (std::int64_t c = 0; c < s.chunks; ++c) p.asked.push_back(asked_origins(s, r, c));
  }
  for (std::int64_t c = 0; c < s.chunks; ++c)
    p.chunk_names.push_back(s.chunks == 1 ? "all" : (p.travels ? "for " : "chunk ") + std::to_string(c));
  if (p.group > 0)
    for (std::int64_t g = 0; g * p.group < in.ranks; ++g) p.node_names.push_back("node " + std::to_string(g));
}

void add_steps(const Inputs& in, const CollectiveSchedule& s, const CollectiveRun& run, BoardPicture& p) {
  for (const ChunkTransfer& t : s.transfers)
    p.messages.push_back({t.step, t.source, t.target, t.chunk, t.action == ChunkAction::reduce, t.origin});
  std::size_t first = 0;
  for (std::int64_t step = 0; step < s.steps; ++step) {
    std::size_t last = first;
    while (last < s.transfers.size() && s.transfers[last].step == step) ++last;
    p.step_says.push_back(last > first ? step_text(in, s, std::span(s.transfers).subspan(first, last - first), run)
                                       : "");
    first = last;
  }
}

}  // namespace

BoardPicture arrange_board(const Inputs& in, const std::optional<ExecutedSchedule>& executed) {
  BoardPicture p;
  if (!executed || executed->state_s.empty()) return p;
  const CollectiveSchedule& s = executed->schedule;
  const CollectiveRun& run = executed->run;
  p.ranks = in.ranks;
  p.title = algorithm_name(in, s.spec.algorithm);
  p.chunks = s.chunks;
  p.steps = s.steps;
  p.hub = s.switch_rank >= 0;
  p.travels = in.primitive == Primitive::all_to_all;
  p.sums = p.travels || in.primitive == Primitive::all_reduce || in.primitive == Primitive::reduce_scatter ||
           in.primitive == Primitive::reduce;
  p.places = p.sums ? in.ranks : 1;
  p.group = s.spec.algorithm == CollectiveAlgorithm::hierarchical ? in.node_ranks : 0;
  add_names(in, s, p);
  add_steps(in, s, run, p);
  add_turn(s, run, p);
  p.places_say =
      p.places > 1 ? "whose numbers a cell holds, place by place" : "a filled cell: the rank holds that chunk";
  p.verdict = "executed on numbers: " + format_text(models::as_double(run.right), "", 9) + " of " +
              format_text(models::as_double(run.asked), "", 9) + " right";
  p.origins = run.origins;
  if (!p.sums) {
    // One place: what it holds is the chunk itself, whoever's it was.
    for (std::uint64_t& origins : p.origins) origins = origins != 0;
    for (std::uint64_t& origins : p.asked) origins = origins != 0;
  }
  p.numbers = run.numbers;
  p.number_width = run.width;
  p.state_s = executed->state_s;
  p.subtitle = std::to_string(p.steps) + (p.steps == 1 ? " step, " : " steps, ") + format_text(p.state_s.back(), "s") +
               " one after the other";
  const double pieces_s = collective_time(s.spec, in.bytes, links_of(in)).total_s();
  if (pieces_s < 0.999 * p.state_s.back()) p.subtitle += ", " + format_text(pieces_s, "s") + " in many pieces";
  return p;
}

double time_of_step(const BoardPicture& board, double step) {
  if (board.state_s.empty()) return 0;
  const double at = std::clamp(step, 0.0, static_cast<double>(board.state_s.size() - 1));
  const auto state = static_cast<std::size_t>(at);
  if (state + 1 >= board.state_s.size()) return board.state_s.back();
  return board.state_s[state] + (at - static_cast<double>(state)) * (board.state_s[state + 1] - board.state_s[state]);
}
double step_at(const BoardPicture& board, double time_s) {
  if (board.state_s.empty()) return 0;
  const auto after = std::upper_bound(board.state_s.begin(), board.state_s.end(), time_s);
  if (after == board.state_s.begin()) return 0;
  if (after == board.state_s.end()) return static_cast<double>(board.state_s.size() - 1);
  const auto state = static_cast<double>(after - board.state_s.begin() - 1);
  return state + (time_s - *(after - 1)) / (*after - *(after - 1));
}

namespace {

/// The numbers in a cell, in words.
void cell_says(const void* context, std::int64_t state, std::int64_t rank, std::int64_t chunk, widgets::Line& value,
               widgets::Line& info) {
  const BoardPicture& p = *static_cast<const BoardPicture*>(context);
  const std::int64_t participants = p.ranks + (p.hub ? 1 : 0);
  const auto cell = static_cast<std::size_t>((state * participants + rank) * p.chunks + chunk);
  if (cell >= p.origins.size()) return;
  const std::uint64_t origins = p.origins[cell];
  if (origins == 0) {
    value.add("nothing yet");
    return;
  }
  const auto width = static_cast<std::size_t>(p.number_width);
  if (width == 1) value.add_integer(std::llround(p.numbers[cell]));
  if (!p.sums) return;
  const int held = std::popcount(origins);
  info.add(p.travels ? "blocks of " : held == 1 ? "the number of " : "sum of the numbers of ");
  info.add(held == 1 ? "rank " : "ranks ");
  int said = 0;
  for (std::int64_t r = 0; r < p.ranks; ++r)
    if (origins >> r & 1) {
      if (said > 0) info.add(said + 1 == held ? " and " : ", ");
      info.add_integer(r);
      if (width > 1) {
        if (said > 0) value.add(", ");
        value.add_integer(std::llround(p.numbers[cell * width + static_cast<std::size_t>(r)]));
      }
      ++said;
    }
}

}  // namespace

widgets::ChunkBoardData board_of(const BoardPicture& p) {
  widgets::ChunkBoardData d;
  d.ranks = p.ranks;
  d.chunks = p.chunks;
  d.steps = p.steps;
  d.hub = p.hub;
  d.sums = p.sums;
  d.travels = p.travels;
  d.places = p.places;
  d.group = p.group;
  d.origins = p.origins;
  d.asked = p.asked;
  d.messages = p.messages;
  d.rank_names = p.rank_names;
  d.chunk_names = p.chunk_names;
  d.node_names = p.node_names;
  d.step_says = p.step_says;
  d.before = p.before;
  d.after = p.after;
  d.turn_says = p.turn_says;
  d.turn = p.turn;
  d.places_say = p.places_say;
  d.verdict = p.verdict;
  d.cell_says = cell_says;
  d.context = &p;
  return d;
}

}  // namespace chapters::distributed::collectives
