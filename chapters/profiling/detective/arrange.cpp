#include <algorithm>

#include "chapters/profiling/detective/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::detective {
namespace {

using models::trace::Case, models::trace::CaseLanes, models::trace::CaseWork, models::trace::Event, widgets::Meaning,
    widgets::TimelineMark, widgets::TimelineSpan, widgets::Tint;

constexpr Tint copy_tint = Tint::series(0), wait_tint = Tint::series(5), save_tint = Tint::series(3);

Tint tint_of(CaseWork work) {
  switch (work) {
    case CaseWork::decode:
    case CaseWork::next_batch:
      return Meaning::data_loading;
    case CaseWork::batch_copy:
      return copy_tint;
    case CaseWork::forward:
      return Meaning::forward;
    case CaseWork::backward:
      return Meaning::backward;
    case CaseWork::optimizer:
      return Meaning::optimizer;
    case CaseWork::all_reduce:
      return Meaning::communication;
    case CaseWork::read_loss:
    case CaseWork::sync:
      return wait_tint;
    case CaseWork::save_copy:
    case CaseWork::saver:
      return save_tint;
    case CaseWork::silent:
      return Meaning::idle;
    default:
      return {};
  }
}

/// Which row of the board each lane of the graph has, or none.
class CaseBoard {
 public:
  CaseBoard(const Dealt& dealt, Picture& picture) : dealt_(dealt), picture_(picture) {
    for (std::size_t w = 0; w < models::trace::case_work_count; ++w)
      picture.names.emplace_back(work_words(static_cast<CaseWork>(w)));
    place_.assign(dealt.played.job().tasks.size(), {-1, -1});
    row_of_.assign(dealt.played.job().graph.lanes.size(), -1);
  }

  void build() {
    const Case& c = dealt_.played;
    const auto ranks = static_cast<std::size_t>(c.spec().ranks);
    for (std::size_t r = 0; r < ranks; ++r) add_rank(r, ranks);
    for (std::uint32_t task = 0; task < c.job().tasks.size(); ++task) add_task(task);
    for (std::size_t i = 0; i < picture_.lanes.size(); ++i) finish(i);
    picture_.end_ns = c.length_ns();
  }
  widgets::TimelineSelection place(std::uint32_t task) const {
    return task < place_.size() ? place_[task] : widgets::TimelineSelection{};
  }

 private:
  /// As many rows as a projector holds.
  static constexpr std::size_t most_rows = 9, many_ranks = 4;

  std::size_t all_rows() const {
    std::size_t rows = 0;
    for (const CaseLanes& lanes : dealt_.played.job().lanes)
      rows += 4 + lanes.workers.size() + (lanes.saver != models::trace::no_task ? 1 : 0);
    return rows;
  }
  /// With more than two ranks, or more rows than a projector holds, rows beyond those that every rank needs are shown
  /// where a suspect's longest span stands: whoever is guilty has a row in sight, and so have all the others.
  bool wanted(std::uint32_t lane) const {
    if (dealt_.played.spec().ranks <= 2 && all_rows() <= most_rows) return true;
    const auto& tasks = dealt_.played.job().graph.tasks;
    return std::any_of(dealt_.line_up.begin(), dealt_.line_up.end(),
                       [&](const models::trace::Suspect& s) { return tasks[s.longest].lane == lane; });
  }
  void add_row(std::size_t rank, std::uint32_t lane, std::string_view name, bool head) {
    BoardLane row{.rank = static_cast<std::uint32_t>(rank), .indent = head ? 0u : 1u};
    if (head && dealt_.played.spec().ranks > 1) {
      row.label = "rank " + std::to_string(rank) + ", " + std::string(name);
    } else {
      row.label = name;
    }
    row_of_[lane] = static_cast<int>(picture_.lanes.size());
    picture_.lanes.push_back(std::move(row));
  }
  void add_rank(std::size_t r, std::size_t ranks) {
    const CaseLanes& lanes = dealt_.played.job().lanes[r];
    add_row(r, lanes.main, "main", true);
    // Of many ranks the first one's kernels stand for all that nobody suspects.
    if (r == 0 || ranks <= many_ranks || wanted(lanes.compute)) add_row(r, lanes.compute, "compute", false);
    if (ranks > 1 && (r == 0 || wanted(lanes.collectives))) add_row(r, lanes.collectives, "all-reduce", false);
    if (wanted(lanes.copies)) add_row(r, lanes.copies, "copies", false);
    for (std::size_t w = 0; w < lanes.workers.size(); ++w)
      if (wanted(lanes.workers[w])) add_row(r, lanes.workers[w], "worker " + std::to_string(w), false);
    if (lanes.saver != models::trace::no_task && wanted(lanes.saver)) add_row(r, lanes.saver, "saver", false);
  }
  void add_task(std::uint32_t task) {
    const Case& c = dealt_.played;
    const int at = row_of_[c.job().graph.tasks[task].lane];
    if (at < 0) return;
    const auto& t = c.times();
    const std::int64_t start = t.start_ns[task], end = std::min(t.end_ns[task], c.length_ns());
    if (end <= start) return;
    const models::trace::CaseTask& what = c.job().tasks[task];
    TimelineSpan span{.start_ns = start,
                      .duration_ns = end - start,
                      .name = static_cast<std::uint32_t>(what.work),
                      .tint = tint_of(what.work)};
    if (what.name.empty()) {
      // A silence is seen as the gap that it is; as a span it can be pressed.
      if (static_cast<double>(end - start) * 100 < c.spec().step_ns) return;
      span.name = static_cast<std::uint32_t>(CaseWork::silent);
      span.tint = Meaning::idle;
      span.mark = TimelineMark::hatched;
    }
    BoardLane& row = picture_.lanes[static_cast<std::size_t>(at)];
    row.spans.push_back(span);
    row.source.push_back(task);
  }
  /// Where each task has gone, and whom it accuses.
  void finish(std::size_t i) {
    BoardLane& row = picture_.lanes[i];
    for (std::size_t s = 0; s < row.source.size(); ++s) {
      place_[row.source[s]] = {static_cast<std::int64_t>(i), static_cast<std::int64_t>(s)};
      const models::trace::SuspectKey key = dealt_.played.key_of(row.source[s]);
      std::int8_t found = -1;
      for (std::size_t k = 0; k < dealt_.line_up.size(); ++k)
        if (dealt_.line_up[k].key == key) found = static_cast<std::int8_t>(k);
      row.suspect.push_back(found);
    }
  }

  const Dealt& dealt_;
  Picture& picture_;
  std::vector<widgets::TimelineSelection> place_;
  std::vector<int> row_of_;
};

/// A span that carries a letter has no word, which the letter would stand on, and neither have those that begin under
/// the letter; a silence keeps its own.
void leave_room_for_letter(Picture& p, const widgets::TimelineSelection& at, std::uint32_t silence) {
  if (at.lane < 0 || at.span < 0) return;
  auto& spans = p.lanes[static_cast<std::size_t>(at.lane)].spans;
  constexpr std::uint32_t without_word = 0xFFFFFFFF;
  const auto first = static_cast<std::size_t>(at.span);
  const std::int64_t under_ns = spans[first].start_ns + p.end_ns / 40;
  for (std::size_t i = first; i < spans.size() && (i == first || spans[i].start_ns < under_ns); ++i)
    if (spans[i].name != silence) spans[i].name = without_word;
}

void add_suspects(const Inputs& in, const Outputs& out, const Run& run,
                  const std::vector<widgets::TimelineSelection>& places, std::uint32_t silence, Picture& p) {
  double longest = 0;
  for (const SuspectRow& row : out.suspects) longest = std::max(longest, row.longest_s);
  const auto accused = std::min<std::int64_t>(in.accused, static_cast<std::int64_t>(out.suspects.size()));
  const double scale = longest > 0 ? longest : 1;
  for (std::size_t i = 0; i < out.suspects.size(); ++i) {
    const SuspectRow& row = out.suspects[i];
    BoardSuspect s{.letter = row.letter, .name = row.name, .length = widgets::format_text(row.longest_s, "s")};
    s.length_part = static_cast<float>(row.longest_s / scale);
    s.accused = accused == static_cast<std::int64_t>(i) + 1;
    s.span = places[i];
    leave_room_for_letter(p, s.span, silence);
    if (run.open) {
      const double won = std::max(0.0, row.won_s);
      s.won = widgets::format_text(won, "s");
      s.won_part = static_cast<float>(std::min(1.0, won / scale));
      s.guilty = run.guilty(i);
      s.verdict = row.verdict;
    }
    p.letters.push_back(static_cast<std::uint32_t>(i));
    p.suspects.push_back(std::move(s));
  }
  std::stable_sort(p.letters.begin(), p.letters.end(), [&](std::uint32_t a, std::uint32_t b) {
    return p.suspects[a].length_part > p.suspects[b].length_part;
  });
}

void add_thread(const Run& run, const CaseBoard& board, Picture& p) {
  const Case& c = run.dealt->played;
  if (!run.open || c.spec().cause == models::trace::Cause::nothing || c.spec().ranks < 2) return;
  for (const models::trace::JobLinks& link : c.chain())
    for (const std::uint32_t task : {link.first, link.last}) {
      const auto at = board.place(task);
      if (at.lane < 0) continue;
      const widgets::TimelineStep step{static_cast<std::uint32_t>(at.lane), static_cast<std::uint32_t>(at.span)};
      if (p.thread.empty() || p.thread.back().lane != step.lane || p.thread.back().span != step.span)
        p.thread.push_back(step);
    }
}

/// A recording of the learner's own: the streams of its device, and the threads that launch.
void add_recording(const trace_viewer::Recording& recording, std::size_t rank, Picture& p) {
  const auto& trace = recording.trace;
  const auto first_name = static_cast<std::uint32_t>(p.names.size());
  p.names.insert(p.names.end(), trace.strings.begin(), trace.strings.end());
  for (const std::uint32_t t : models::trace::display_order(trace)) {
    const auto& track = trace.tracks[t];
    const bool stream = track.kind == models::trace::TrackKind::stream;
    if (!stream && track.kind != models::trace::TrackKind::thread) continue;
    bool launches = stream;
    BoardLane row{.label = track.name.empty() ? track.tid : track.name,
                  .sublabel = "rank " + std::to_string(rank),
                  .rank = static_cast<std::uint32_t>(rank)};
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace.events[i];
      if (e.kind != models::trace::EventKind::span) continue;
      launches |= e.link != models::trace::none;
      if (!stream && e.depth > 2) continue;
      const Tint tint = e.cls == models::trace::EventClass::communication ? Tint(Meaning::communication)
                        : e.cls == models::trace::EventClass::memory      ? copy_tint
                        : e.cls == models::trace::EventClass::computation ? Tint(Meaning::forward)
                                                                          : Tint();
      row.spans.push_back({.start_ns = e.start_ns - trace.first_ns,
                           .duration_ns = e.duration_ns,
                           .name = first_name + e.name,
                           .depth = stream ? std::uint16_t{0} : e.depth,
                           .tint = tint});
      row.source.push_back(i);
    }
    if (launches && !row.spans.empty() && p.lanes.size() < 64) p.lanes.push_back(std::move(row));
  }
  p.end_ns = std::max(p.end_ns, trace.last_ns - trace.first_ns);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out, run);
  if (run.real) {
    const auto places = add_recorded_board(run, p);
    add_suspects(in, out, run, places, static_cast<std::uint32_t>(models::trace::RecordedWork::silent), p);
    p.line_words = run.open ? out.origin : out.origin + "; press a row or a span to accuse it";
    return p;
  }
  if (!run.dealt) {
    p.graded = false;
    for (std::size_t r = 0; r < run.recorded.size(); ++r) add_recording(*run.recorded[r], r, p);
    p.board_words = "A recording of your own: wheel zooms, drag pans. Nobody planted anything, so nothing is graded.";
    return p;
  }
  CaseBoard board(*run.dealt, p);
  board.build();
  std::vector<widgets::TimelineSelection> places;
  for (const models::trace::Suspect& s : run.dealt->line_up) places.push_back(board.place(s.longest));
  add_suspects(in, out, run, places, static_cast<std::uint32_t>(CaseWork::silent), p);
  add_thread(run, board, p);
  p.line_words = run.open ? "each taken out alone and the run computed again: its longest span above, what is won below"
                          : "press a row or a span to accuse it; what is won without it is sealed till then";
  return p;
}

}  // namespace chapters::profiling::detective
