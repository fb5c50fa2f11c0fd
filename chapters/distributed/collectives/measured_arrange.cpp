#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/collectives/measured.h"
#include "widgets/number/number.h"

namespace chapters::distributed::collectives {

using namespace models::parallel;
using widgets::format_text;

namespace {

std::string size_text(double bytes) { return widgets::format_text(bytes, "B", 3, widgets::Prefix::binary); }

/// What the measurement and each model's line is called and where it comes from.
void name_curves(MeasuredPicture& p) {
  using Kind = widgets::Curve::Kind;
  p.measured = {.kind = Kind::dots,
                .label = "measured",
                .info = p.source,
                .tint = widgets::Tint::strong(),
                .radius = 4,
                .given = true};
  p.spikes = {.kind = Kind::dots,
              .label = "one-off spike",
              .info = "left out of every fit: the in-place column does not show it, or is not there",
              .marker = widgets::Marker::triangle};
  p.line = {.label = "one line",
            .info = "alpha + f S / B, fitted to this run: least squares of relative errors",
            .width = 1.5f,
            .dashed = true,
            .named = false};
  p.lines = {.label = "three lines",
             .info = "the best split of this run into three lines, which need not join",
             .tint = widgets::Tint::series(2),
             .width = 1.5f,
             .named = false};
  p.predicted = {.label = "from the hardware",
                 .info = "NCCL's choice and latencies over the links of the catalog; nothing is fitted to this run",
                 .tint = widgets::Tint::yours(),
                 .width = 3,
                 .named = false};
  p.line_off = p.line;
  p.lines_off = p.lines;
  p.predicted_off = p.predicted;
  p.predicted_off.width = 2.5f;
  for (widgets::Curve* off : {&p.line_off, &p.lines_off, &p.predicted_off}) off->info.clear();
}

void add_times(const MeasuredRun& found, MeasuredPicture& p) {
  const MeasuredSource& source = found.source;
  const CollectiveCurve& curve = source.run.curve;
  p.least_s = HUGE_VAL;
  p.most_s = 0;
  name_curves(p);
  const auto add = [&](double seconds, const CollectiveSample& sample, widgets::Curve& times, widgets::Curve& off) {
    times.add(sample.bytes, seconds);
    off.add(sample.bytes, 100 * (seconds / sample.seconds - 1));
    p.least_s = std::min(p.least_s, seconds);
    p.most_s = std::max(p.most_s, seconds);
  };
  for (std::size_t i = 0; i < curve.samples.size(); ++i) {
    const CollectiveSample& s = curve.samples[i];
    p.least_s = std::min(p.least_s, s.seconds);
    p.most_s = std::max(p.most_s, s.seconds);
    if (found.spikes[i]) {
      p.spikes.add(s.bytes, s.seconds);
      continue;
    }
    p.measured.add(s.bytes, s.seconds);
    if (found.one) add(found.one->seconds(s.bytes), s, p.line, p.line_off);
    if (found.three) add(found.three->seconds(s.bytes), s, p.lines, p.lines_off);
    if (source.machine)
      add(choose_collective(*source.machine, curve.primitive, source.candidates, s.bytes).seconds, s, p.predicted,
          p.predicted_off);
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
  // An algorithm has a hue. LL is dashed, LL128 thin, Simple wide.
  static constexpr std::array<float, nccl_protocol_count> widths{1.2f, 1.6f, 2.2f};
  const Primitive primitive = source.run.curve.primitive;
  p.chosen = {.label = "chosen",
              .info = "the one that NCCL ranks first at each size",
              .tint = widgets::Tint::yours(),
              .alpha = 0.35f,
              .width = 7,
              .named = false};
  for (double bytes = 1024; bytes <= 4 * gib_bytes; bytes *= 2)
    p.chosen.add(bytes, choose_collective(*source.machine, primitive, source.candidates, bytes).seconds);
  for (const NcclCandidate& c : source.candidates) {
    widgets::Curve line{.label = candidate_name(c),
                        .info = format_text(c.latency_s, "s") + " and " + format_text(c.limited_bytes_per_s, "B/s") +
                                " of the buffer, limited by " + std::string(c.limit),
                        .tint = widgets::Tint::series(static_cast<std::size_t>(c.algorithm)),
                        .width = widths[static_cast<std::size_t>(c.protocol)],
                        .dashed = static_cast<std::size_t>(c.protocol) == 0,
                        .named = false};
    for (const double bytes : p.chosen.x) line.add(bytes, candidate_s(*source.machine, primitive, c, bytes, true));
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

std::vector<PartLine> part_lines(const MeasuredOutputs& out) {
  const auto line = [](std::string_view name, std::string_view unit, double measured, double predicted) {
    return PartLine{name, unit, measured, predicted, 100 * (predicted / measured - 1)};
  };
  return {line("floor, to 1 KiB", "s", out.measured_floor_s, out.predicted_floor_s),
          line("bus bandwidth, 1 GiB", "B/s", out.measured_gib_bytes_per_s, out.predicted_gib_bytes_per_s),
          line("bus bandwidth, largest", "B/s", out.measured_largest_bytes_per_s, out.predicted_largest_bytes_per_s)};
}

/// What there is to say of a run under its figures.
void add_notes(const MeasuredRun& found, const MeasuredOutputs& out, MeasuredPicture& p) {
  const MeasuredSource& source = found.source;
  const PublishedCollective& run = source.run;
  const auto note = [&](std::string said) {
    if (!said.empty()) p.notes.push_back(std::move(said));
  };
  note(source.no_prediction);
  if (source.machine) {
    note(choices_said(source, out));
    if (found.comparison) note(found.comparison->no_claim);
    if (run.site.one_process)
      note("One process launches all ranks of a node, one after the other: " + format_text(group_launch_s, "s") +
           " each, which no small size undercuts.");
    if (!source.machine->known_tables)
      note("NCCL's tables have no row for this chip; that of its contemporary stands in.");
  }
  note(run.unmet);
  note(run.note);
  if (run.curve.times_from_bandwidth) note("Only bandwidths were printed; the times are computed back from them.");
  for (const std::string& said : source.log_notes) note(said);
  for (const MeasuredMark& c : p.crossings) note(c.info);
  if (!run.gpu.empty())
    note(run.gpu + ", " + run.library + "; inside: " + run.inside + "; between: " + run.between + ".");
}

}  // namespace

MeasuredPicture arrange_measured(const MeasuredOutputs& out, const MeasuredRun& found) {
  MeasuredPicture p;
  p.parts = part_lines(out);
  const MeasuredSource& source = found.source;
  if (!source.fault.empty()) {
    p.notes.push_back(source.fault);
    return p;
  }
  if (source.run.curve.samples.empty()) return p;
  p.title = source.run.name;
  p.figures = figures_of(out);
  p.source = source.is_log ? "" : source.run.source + ", " + source.run.date;
  add_times(found, p);
  add_marks(source, out, p);
  add_weighed(source, p);
  add_notes(found, out, p);
  return p;
}

}  // namespace chapters::distributed::collectives
