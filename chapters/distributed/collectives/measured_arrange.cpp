#include <algorithm>
#include <cmath>

#include "chapters/distributed/collectives/measured_source.h"
#include "widgets/number/number.h"

namespace chapters::distributed::collectives {

using namespace models::parallel;
using widgets::format_text;

namespace {

std::string size_text(double bytes) { return widgets::format_text(bytes, "B", 3, widgets::Prefix::binary); }

void add_times(const MeasuredSource& source, MeasuredPicture& p) {
  const CollectiveCurve& curve = source.run.curve;
  const std::vector<bool> spikes = one_off_spikes(curve);
  const auto one = fit_collective(curve, 1), three = fit_collective(curve, 3);
  p.least_s = HUGE_VAL;
  p.most_s = 0;
  const auto add = [&](double seconds, double measured_s, std::vector<double>& times, std::vector<double>& off) {
    times.push_back(seconds);
    off.push_back(100 * (seconds / measured_s - 1));
    p.least_s = std::min(p.least_s, seconds);
    p.most_s = std::max(p.most_s, seconds);
  };
  for (std::size_t i = 0; i < curve.samples.size(); ++i) {
    const CollectiveSample& s = curve.samples[i];
    p.least_s = std::min(p.least_s, s.seconds);
    p.most_s = std::max(p.most_s, s.seconds);
    if (spikes[i]) {
      p.spike_bytes.push_back(s.bytes);
      p.spike_s.push_back(s.seconds);
      continue;
    }
    p.bytes.push_back(s.bytes);
    p.time_s.push_back(s.seconds);
    if (one) add(one->seconds(s.bytes), s.seconds, p.line_s, p.line_off);
    if (three) add(three->seconds(s.bytes), s.seconds, p.lines_s, p.lines_off);
    if (source.machine)
      add(choose_collective(*source.machine, curve.primitive, source.candidates, s.bytes).seconds, s.seconds,
          p.predicted_s, p.predicted_off);
  }
}

void add_marks(const MeasuredSource& source, const MeasuredOutputs& out, MeasuredPicture& p) {
  const auto time_at = [&](double bytes) {
    for (const CollectiveSample& s : source.run.curve.samples)
      if (s.bytes == bytes) return s.seconds;
    return p.least_s;
  };
  for (const CrossingRow& c : out.crossings)
    p.crossings.push_back({.bytes = c.to_bytes,
                           .time_s = time_at(c.to_bytes),
                           .said = c.kind + ", " + size_text(c.from_bytes) + " to " + size_text(c.to_bytes),
                           .info = size_text(c.from_bytes) + " to " + size_text(c.to_bytes) + ": " + c.kind + ", " +
                                   format_text(c.time_ratio, "", 3) + " times the time where the line says " +
                                   format_text(c.line_ratio, "", 3) + "; " + c.cause + "; the in-place column " +
                                   c.second_column + ".",
                           .cause = c.cause == "noise" ? "" : c.cause});
  for (const ChoiceRow& c : out.choices)
    p.choices.push_back({.bytes = c.from_bytes, .said = c.choice, .info = c.limit});
}

void add_weighed(const MeasuredSource& source, MeasuredPicture& p) {
  if (!source.machine) return;
  const Primitive primitive = source.run.curve.primitive;
  for (double bytes = 1024; bytes <= 4 * gib_bytes; bytes *= 2) {
    p.weighed_bytes.push_back(bytes);
    p.chosen_s.push_back(choose_collective(*source.machine, primitive, source.candidates, bytes).seconds);
  }
  for (const NcclCandidate& c : source.candidates) {
    CandidateLine line{.name = candidate_name(c),
                       .info = format_text(c.latency_s, "s") + " and " + format_text(c.limited_bytes_per_s, "B/s") +
                               " of the buffer, limited by " + std::string(c.limit),
                       .algorithm = static_cast<std::size_t>(c.algorithm),
                       .protocol = static_cast<std::size_t>(c.protocol)};
    for (const double bytes : p.weighed_bytes)
      line.time_s.push_back(candidate_s(*source.machine, primitive, c, bytes, true));
    p.candidates.push_back(std::move(line));
  }
}

/// "NCCL is expected to take Ring LL, from 2 MiB NVLS Simple."
std::string choices_said(const MeasuredSource& source, const MeasuredOutputs& out) {
  const PublishedCollective& run = source.run;
  if (source.candidates.front().algorithm == NcclAlgorithm::send_receive)
    return "Every pair of ranks sends and receives; there is no algorithm to choose.";
  std::string said = run.forced.algorithm_is_forced || run.forced.protocol_is_forced
                         ? "With what this run forces NCCL is expected to take "
                     : run.library.starts_with("RCCL") ? "By NCCL's ranking RCCL would take "
                                                       : "NCCL is expected to take ";
  for (std::size_t i = 0; i < out.choices.size(); ++i)
    said += (i == 0 ? "" : ", from " + size_text(out.choices[i].from_bytes) + " ") + out.choices[i].choice;
  return said + ".";
}

/// "15.9 µs at small sizes, 480 GB/s at the largest; the hardware says 15.0 µs and 490 GB/s".
std::string figures_of(const MeasuredOutputs& out) {
  const auto both = [](double floor_s, double rate) {
    const std::string bandwidth = format_text(rate, "B/s", 3) + " at the largest size";
    return std::isnan(floor_s) ? bandwidth : format_text(floor_s, "s", 3) + " at small sizes, " + bandwidth;
  };
  std::string said = both(out.measured_floor_s, out.measured_largest_bytes_per_s);
  if (!std::isnan(out.predicted_largest_bytes_per_s)) {
    said += "; from the hardware ";
    if (!std::isnan(out.predicted_floor_s)) said += format_text(out.predicted_floor_s, "s", 3) + " and ";
    said += format_text(out.predicted_largest_bytes_per_s, "B/s", 3);
  }
  return said;
}

}  // namespace

MeasuredPicture arrange_measured(const MeasuredInputs& in, const MeasuredOutputs& out) {
  MeasuredPicture p;
  const MeasuredSource source = source_of(in);
  if (!source.fault.empty()) {
    p.notes.push_back(source.fault);
    return p;
  }
  const PublishedCollective& run = source.run;
  p.title = run.name;
  p.figures = figures_of(out);
  p.source = source.is_log ? "" : run.source + ", " + run.date;
  add_times(source, p);
  add_marks(source, out, p);
  add_weighed(source, p);
  if (!source.no_prediction.empty()) p.notes.push_back(source.no_prediction);
  if (source.machine) p.notes.push_back(choices_said(source, out));
  if (source.machine) {
    if (const auto compared = compare_collective(run, *source.machine); !compared.no_claim.empty())
      p.notes.push_back(compared.no_claim);
    if (run.site.one_process)
      p.notes.push_back("One process launches all ranks of a node, one after the other: " +
                        format_text(group_launch_s, "s") + " each, which no small size undercuts.");
    if (!source.machine->known_tables)
      p.notes.push_back("NCCL's tables have no row for this chip; that of its contemporary stands in.");
  }
  if (!run.unmet.empty()) p.notes.push_back(run.unmet);
  if (!run.note.empty()) p.notes.push_back(run.note);
  if (run.curve.times_from_bandwidth)
    p.notes.push_back("Only bandwidths were printed; the times are computed back from them.");
  for (const std::string& note : source.log_notes) p.notes.push_back(note);
  for (const MeasuredMark& c : p.crossings) p.notes.push_back(c.info);
  if (!run.gpu.empty())
    p.notes.push_back(run.gpu + ", " + run.library + "; inside: " + run.inside + "; between: " + run.between + ".");
  return p;
}

}  // namespace chapters::distributed::collectives
