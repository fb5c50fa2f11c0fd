#include <algorithm>
#include <numeric>

#include "chapters/profiling/detective/lab.h"

namespace chapters::profiling::detective {
namespace {

using models::trace::RecordedCase, models::trace::RecordedLane, models::trace::RecordedSpan,
    models::trace::RecordedWork, widgets::Meaning, widgets::TimelineMark, widgets::TimelineSpan, widgets::Tint;

Tint tint_of(RecordedWork work) {
  switch (work) {
    case RecordedWork::loading:
      return Meaning::data_loading;
    case RecordedWork::kernels:
      return Meaning::forward;
    case RecordedWork::collectives:
      return Meaning::communication;
    case RecordedWork::copies:
    case RecordedWork::paging_copy:
      return Tint::series(0);
    case RecordedWork::saving:
      return Tint::series(3);
    case RecordedWork::syncing:
      return Tint::series(5);
    case RecordedWork::silent:
      return Meaning::idle;
    default:
      return {};
  }
}

/// The lanes of a case as rows: those of one rank as they are, those of a rank among several as one, in which
/// collectives stand under the rest.
class RecordedBoard {
 public:
  RecordedBoard(const RecordedCase& real, Picture& picture) : real_(real), picture_(picture) {
    for (std::size_t w = 0; w < models::trace::recorded_work_count; ++w)
      picture.names.emplace_back(work_words(static_cast<RecordedWork>(w)));
    places_.resize(real.lanes().size());
    const bool many = real.ranks().size() > 1;
    std::vector<std::uint32_t> together;
    for (std::uint32_t l = 0; l < real.lanes().size(); ++l) {
      if (many && !together.empty() && real.lanes()[together.front()].row != real.lanes()[l].row) add(together);
      together.push_back(l);
      if (!many) add(together);
    }
    if (!together.empty()) add(together);
    picture.end_ns = real.length_ns();
  }
  widgets::TimelineSelection place(std::uint32_t lane, std::uint32_t span) const {
    return lane < places_.size() && span < places_[lane].size() ? places_[lane][span] : widgets::TimelineSelection{};
  }

 private:
  void add(std::vector<std::uint32_t>& lanes) {
    struct From {
      std::uint32_t lane, span;
    };
    std::vector<From> all;
    for (const std::uint32_t l : lanes) {
      places_[l].resize(real_.lanes()[l].spans.size());
      for (std::uint32_t i = 0; i < real_.lanes()[l].spans.size(); ++i) all.push_back({l, i});
    }
    const auto span_of = [&](const From& f) -> const RecordedSpan& { return real_.lanes()[f.lane].spans[f.span]; };
    std::stable_sort(all.begin(), all.end(),
                     [&](const From& a, const From& b) { return span_of(a).start_ns < span_of(b).start_ns; });
    const RecordedLane& first = real_.lanes()[lanes.front()];
    BoardLane row{.rank = static_cast<std::uint32_t>(first.row)};
    row.label = real_.ranks().size() > 1 ? "rank " + std::to_string(first.row)
                : first.host             ? "host"
                                         : "stream " + std::to_string(first.stream);
    row.indent = real_.ranks().size() == 1 && !first.host ? 1 : 0;
    for (const From& f : all) {
      const RecordedSpan& s = span_of(f);
      places_[f.lane][f.span] = {static_cast<std::int64_t>(picture_.lanes.size()),
                                 static_cast<std::int64_t>(row.spans.size())};
      row.spans.push_back(
          {.start_ns = s.start_ns,
           .duration_ns = s.duration_ns,
           .name = static_cast<std::uint32_t>(s.work),
           .depth = static_cast<std::uint16_t>(real_.ranks().size() > 1 && s.work == RecordedWork::collectives ? 1 : 0),
           .tint = tint_of(s.work),
           .mark = s.work == RecordedWork::silent ? TimelineMark::hatched : TimelineMark{}});
      row.source.push_back(s.event);
      row.suspect.push_back(s.suspect);
    }
    picture_.lanes.push_back(std::move(row));
    lanes.clear();
  }

  const RecordedCase& real_;
  Picture& picture_;
  std::vector<std::vector<widgets::TimelineSelection>> places_;  ///< by lane of the case and span
};

}  // namespace

std::vector<widgets::TimelineSelection> add_recorded_board(const Run& run, Picture& picture) {
  const RecordedBoard board(*run.real, picture);
  std::vector<widgets::TimelineSelection> out;
  for (const models::trace::RecordedSuspect& s : run.real->line_up()) out.push_back(board.place(s.lane, s.longest));
  if (run.open)
    for (const models::trace::RecordedPlace& p : run.real->chain()) {
      const auto at = board.place(p.lane, p.span);
      if (at.lane >= 0)
        picture.thread.push_back({static_cast<std::uint32_t>(at.lane), static_cast<std::uint32_t>(at.span)});
    }
  return out;
}

}  // namespace chapters::profiling::detective
