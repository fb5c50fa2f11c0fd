#include <algorithm>
#include <cmath>
#include <optional>

#include "chapters/distributed/collectives/measured.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/file_name.h"
#include "models/base/integer_math.h"
#include "models/parallel/collectives/collective_log.h"

namespace chapters::distributed::collectives {

using namespace models::parallel;

std::string_view example_log() {
  return "# all_reduce_perf, rows of issue 309 of nccl-tests\n"
         "       size    count  type redop root    time  algbw  busbw #wrong    time  algbw  busbw #wrong\n"
         "         64       16 float   sum   -1   25.29   0.00   0.00      0   25.21   0.00   0.00      0\n"
         "        128       32 float   sum   -1   25.68   0.00   0.01      0   25.62   0.00   0.01      0\n"
         "       2048      512 float   sum   -1   28.19   0.07   0.14      0   28.22   0.07   0.14      0\n"
         "      32768     8192 float   sum   -1   34.10   0.96   1.80      0   33.47   0.98   1.84      0\n"
         "     262144    65536 float   sum   -1   48.67   5.39  10.10      0   46.79   5.60  10.50      0\n"
         "     524288   131072 float   sum   -1   77.69   6.75  12.65      0   70.33   7.45  13.98      0\n"
         "    1048576   262144 float   sum   -1   71.93  14.58  27.33      0   71.47  14.67  27.51      0\n"
         "    4194304  1048576 float   sum   -1   94.38  44.44  83.33      0   94.22  44.52  83.47      0\n"
         "   16777216  4194304 float   sum   -1  185.40  90.49 169.67      0  183.80  91.28 171.15      0\n"
         "   67108864 16777216 float   sum   -1  466.10 143.98 269.98      0  466.30 143.92 269.84      0\n"
         "  268435456 67108864 float   sum   -1 1282.80 209.26 392.35      0 1276.00 210.37 394.45      0\n"
         " 1073741824 268435456 float  sum   -1 4484.90 239.41 448.90      0 4470.20 240.20 450.37      0\n"
         "17179869184 4294967296 float sum   -1  68652 250.25 469.21      0   68668 250.19 469.10      0\n";
}

MeasuredSource source_of(const MeasuredInputs& in) {
  MeasuredSource out;
  if (in.run == "log") {
    const bool of_file = in.of_file();
    if (!of_file && in.log.empty()) {
      out.fault = "There is no log yet: copy what all_reduce_perf or one of its kin printed, and press Paste.";
      return out;
    }
    // Of a file the lines that count are enough: the output of a job's hosts may stand around them.
    auto log = parse_collective_log(of_file ? lines_of_collective_log(in.log_file.text) : in.log);
    if (!log) {
      out.fault = log.error;
      return out;
    }
    out.run.name = of_file ? std::string(file_name(in.log_file.path)) : "your log";
    out.run.curve = std::move(log->curve);
    out.run.network = in.log_network;
    out.run.chip = in.log_chip;
    out.run.site = {.ranks = out.run.curve.ranks,
                    .ranks_per_node = in.log_node_ranks,
                    .nic_line_bytes_per_s = in.log_port_bytes_per_s};
    out.log_notes = std::move(log->notes);
    out.is_log = true;
    if (!of_file && in.log == example_log())
      out.log_notes.push_back("This is an example, rows of a published run of 16 H100: paste your own.");
  } else if (const PublishedCollective* run = catalog().collective(in.run)) {
    out.run = *run;
  } else {
    out.fault = "There is no measured run \"" + in.run.substr(0, 80) + "\": choose one of the list.";
    return out;
  }
  out.other_switches = !in.nvls || in.in_network;
  out.run.site.nvls = in.nvls;
  out.run.site.in_network = in.in_network;
  if (out.is_log && in.log_network == models::parallel::CollectiveNetwork::none &&
      out.run.curve.ranks > in.log_node_ranks) {
    out.no_prediction = "The log has " + std::to_string(out.run.curve.ranks) + " ranks and " +
                        std::to_string(in.log_node_ranks) + " a node: choose the network that joins the nodes.";
  } else if (const models::Chip* chip = catalog().chip(out.run.chip)) {
    auto machine = collective_machine(*chip, out.run.site);
    if (machine)
      out.machine = std::move(*machine);
    else
      out.no_prediction = machine.error;
  } else {
    out.no_prediction = "The chip of this run is not in the catalog, so nothing is predicted.";
  }
  if (out.machine) {
    out.candidates = nccl_candidates(*out.machine, out.run.curve.primitive, out.run.forced);
    if (out.candidates.empty()) {
      out.no_prediction = "What was forced in this run is not to be had with these switches, so nothing is predicted.";
      out.machine.reset();
    }
  }
  return out;
}

models::Result<std::string> log_of_paste(std::string text) {
  using Out = models::Result<std::string>;
  constexpr std::size_t longest_log = 40'000;
  if (text.size() > longest_log) text = lines_of_collective_log(text);
  if (text.empty()) return Out::fail("The clipboard holds no text, or no row of results.");
  if (text.size() > longest_log) return Out::fail("The log holds more rows than one run has: copy one run alone.");
  return Out::ok(std::move(text));
}

std::string candidate_name(const NcclCandidate& c) {
  if (c.algorithm == NcclAlgorithm::send_receive) return std::string(nccl_algorithm_name(c.algorithm));
  return std::string(nccl_algorithm_name(c.algorithm)) + " " + std::string(nccl_protocol_name(c.protocol));
}

namespace {

void add_fits(const MeasuredRun& run, MeasuredOutputs& out) {
  const auto& one = run.one;
  if (!one) return;
  if (!one->alpha_is_extrapolated) out.alpha_s = one->pieces[0].line.alpha_s;
  if (std::isfinite(one->pieces[0].line.bus_bytes_per_s))
    out.line_bus_bytes_per_s = one->pieces[0].line.bus_bytes_per_s;
  out.one_line_percent = 100 * one->rms_error;
  out.one_line_worst_percent = 100 * one->worst_error;
  if (const auto two = fit_collective(run.source.run.curve, 2)) out.two_lines_percent = 100 * two->rms_error;
  if (run.three) out.three_lines_percent = 100 * run.three->rms_error;
}

void add_crossing_rows(const MeasuredRun& found, MeasuredOutputs& out) {
  if (!found.one) return;
  const PublishedCollective& run = found.source.run;
  const bool over_pcie = found.source.machine && found.source.machine->inside == InsideLink::pcie;
  for (const CollectiveCrossing& c : find_crossings(run.curve, *found.one)) {
    CrossingRow row{c.from_bytes, c.to_bytes, c.time_ratio, c.line_ratio, std::string(crossing_name(c.kind))};
    row.second_column = c.in_place == SecondColumn::agrees    ? "shows it too"
                        : c.in_place == SecondColumn::differs ? "does not: noise"
                                                              : "not printed";
    row.cause = c.in_place == SecondColumn::differs ? "noise" : "protocol or algorithm change";
    // Over PCIe a bandwidth that falls by less than 5 % among large sizes is noise.
    if (over_pcie && c.kind == CrossingKind::dent && c.time_ratio < 2 / 0.95 && c.line_ratio > 1.8) row.cause = "noise";
    for (const CrossingCause& cause : run.causes)
      if (cause.from_bytes == c.from_bytes) row.cause = cause.cause;
    out.crossings.push_back(std::move(row));
  }
}

void add_prediction(const MeasuredSource& source, MeasuredOutputs& out) {
  const CollectiveCurve& curve = source.run.curve;
  const auto predicted_s = [&](double bytes) {
    return choose_collective(*source.machine, curve.primitive, source.candidates, bytes);
  };
  const auto busbw = [&](double bytes, double seconds) { return curve.factor() * bytes / seconds; };
  const double last = curve.samples.back().bytes, floor_at = std::min(1024.0, last);
  if (!std::isnan(out.measured_floor_s)) out.predicted_floor_s = predicted_s(floor_at).seconds;
  if (!std::isnan(out.measured_gib_bytes_per_s))
    out.predicted_gib_bytes_per_s = busbw(gib_bytes, predicted_s(gib_bytes).seconds);
  out.predicted_largest_bytes_per_s = busbw(last, predicted_s(last).seconds);
  for (const NcclCandidate& c : source.candidates)
    out.candidates.push_back({candidate_name(c), c.latency_s, c.limited_bytes_per_s, std::string(c.limit)});
  const double first = curve.samples.front().bytes;
  for (double bytes = first; bytes <= last; bytes *= 2) {
    const NcclCandidate chosen = predicted_s(bytes).chosen;
    const std::string choice = candidate_name(chosen);
    if (out.choices.empty() || out.choices.back().choice != choice)
      out.choices.push_back({bytes, choice, std::string(chosen.limit)});
    if (out.choices.size() == 16) break;
  }
}

void add_claims(const MeasuredSource& source, const CollectiveComparison& compared, MeasuredOutputs& out) {
  out.no_claim = compared.no_claim;
  const PartComparison& middle = compared.part(CollectivePart::middle);
  if (middle.measured()) {
    out.middle_least_percent = 100 * (middle.least - 1);
    out.middle_most_percent = 100 * (middle.most - 1);
  }
  if (source.is_log) {
    out.claims = "none for a log, whose machine is taken as set here";
    return;
  }
  if (source.other_switches) {
    out.claims = "none with NVLS off or SHARP on, which the run had otherwise";
    return;
  }
  for (std::size_t i = 0; i < collective_part_count; ++i) {
    const PartComparison& part = compared.parts[i];
    if (!part.claimed) continue;
    out.claims += (out.claims.empty() ? "" : ", ") + std::string(collective_part_name(static_cast<CollectivePart>(i))) +
                  (part.met ? " met" : " missed");
  }
  if (out.claims.empty()) out.claims = "none";
}

}  // namespace

MeasuredFound compute_measured(const MeasuredInputs& in) {
  MeasuredFound found{.facts = {}, .run = {.source = source_of(in)}};
  MeasuredOutputs& out = found.facts;
  const MeasuredSource& source = found.run.source;
  out.run_says = source.fault.empty() ? source.no_prediction : source.fault;
  if (!source.fault.empty()) return found;
  for (const std::string& note : source.log_notes) out.log_says += (out.log_says.empty() ? "" : " ") + note;
  const CollectiveCurve& curve = source.run.curve;
  found.run.spikes = one_off_spikes(curve);
  if (auto one = fit_collective(curve, 1)) found.run.one = std::move(*one);
  if (auto three = fit_collective(curve, 3)) found.run.three = std::move(*three);
  out.ranks = models::as_double(curve.ranks);
  out.sizes = static_cast<double>(curve.samples.size());
  out.spikes = static_cast<double>(std::count(found.run.spikes.begin(), found.run.spikes.end(), true));
  out.measured_floor_s = latency_floor_s(curve);
  for (std::size_t i = 0; i < curve.samples.size(); ++i)
    if (curve.samples[i].bytes == gib_bytes) out.measured_gib_bytes_per_s = curve.busbw(i);
  out.measured_largest_bytes_per_s = curve.busbw(curve.samples.size() - 1);
  add_fits(found.run, out);
  add_crossing_rows(found.run, out);
  if (!source.machine) return found;
  found.run.comparison = compare_collective(source.run, *source.machine);
  add_prediction(source, out);
  add_claims(source, *found.run.comparison, out);
  return found;
}

}  // namespace chapters::distributed::collectives
