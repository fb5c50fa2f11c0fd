#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chapters/debugging/divergence/lab.h"
#include "chapters/described/recording_file.h"
#include "chapters/mechanism/file_name.h"
#include "chapters/mechanism/read_once.h"
#include "widgets/number/number.h"

/// Two logs in place of the runs that are trained here: one's own, or those that the runs write.
namespace chapters::debugging::divergence {
namespace {

using models::debugging::LogComparison, models::debugging::RunLog;
using widgets::figure;

bool log_alone(const Inputs& in) {
  return in.runs == Runs::logs && in.first_log.path.empty() != in.second_log.path.empty();
}

constexpr double max_log_percent = 1e6;  ///< what is further apart, or no number, counts as this

models::Result<std::shared_ptr<const RunLog>> read_log(const FileInput& file, const Progress& progress) {
  using Read = models::Result<std::shared_ptr<const RunLog>>;
  auto read = read_once<RunLog>(file, progress, [](const FileBytes& bytes) {
    const auto text = whole_text_of(bytes, models::debugging::max_log_bytes,
                                    "The log is larger than 64 MiB: give every tenth step of it.");
    if (!text) return Read::fail(text.error);
    auto log = models::debugging::read_run_log(*text);
    if (!log) return Read::fail(std::move(log.error));
    return Read::ok(std::make_shared<const RunLog>(std::move(*log)));
  });
  if (!read) read.error = std::string(file_name(file.path)) + ": " + read.error;
  return read;
}

/// What a training's facts are where none was run: absent.
void leave_training_out(Outputs& out) {
  for (double* fact : {&out.layers_next, &out.visible_nats, &out.loss_first, &out.comparisons, &out.in_order,
                       &out.entries, &out.replayed_steps, &out.left_steps, &out.hashed_bytes, &out.apart_first,
                       &out.apart_end, &out.passed_share, &out.patterns})
    *fact = std::nan("");
}

void add_note(Outputs& out, const std::string& note) { out.log_notes += (out.log_notes.empty() ? "" : " ") + note; }

std::string steps_text(std::int64_t n) { return std::to_string(n) + (n == 1 ? " step" : " steps"); }

void note_left_out(const RunLog& a, const RunLog& b, const LogComparison& logs, Outputs& out) {
  if (logs.only_first > 0) add_note(out, steps_text(logs.only_first) + " of the first log alone.");
  if (logs.only_second > 0) add_note(out, steps_text(logs.only_second) + " of the second log alone.");
  if (a.repeated + b.repeated > 0)
    add_note(out, "Rows of a step that came again: " + std::to_string(a.repeated + b.repeated) + "; the last counts.");
  if (a.without_step + b.without_step > 0)
    add_note(out, "Objects without a step, passed over: " + std::to_string(a.without_step + b.without_step) + ".");
  if (!logs.left_out.empty())
    add_note(out, "Not compared, since it measures the machine: " + logs.left_out.front() +
                      (logs.left_out.size() > 1 ? " and " + std::to_string(logs.left_out.size() - 1) + " more." : "."));
}

double step_of(const LogComparison& logs, const LogComparison::Place& place) {
  return place.step < 0 ? std::nan("") : static_cast<double>(logs.steps[static_cast<std::size_t>(place.step)]);
}

constexpr int equal_shade = -2, gap_shade = -1;

/// Shade of a difference on the ramp of logarithms; 0: no number, and below that equal or not logged by both.
int log_shade(float difference) {
  if (difference < 0) return gap_shade;
  if (!(difference > 0)) return equal_shade;
  if (!std::isfinite(difference)) return 0;
  const double low = std::log(min_difference), high = std::log(max_difference);
  const double at = (std::log(static_cast<double>(difference)) - low) / (high - low);
  return 1 + std::clamp(static_cast<int>(at * shades), 0, shades - 1);
}

/// Quantities in the order of the picture's rows: those that part first at the bottom, at most eight.
std::vector<std::size_t> shown_names(const LogComparison& logs) {
  constexpr std::size_t max_rows = 8;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // first step that differs, and its place
  for (std::size_t n = 0; n < logs.names.size(); ++n) {
    const auto& d = logs.differences[n];
    const auto first = std::find_if(d.begin(), d.end(), [](float x) { return x > 0; });
    order.emplace_back(static_cast<std::size_t>(first - d.begin()), n);
  }
  if (logs.parts.step >= 0)  // its own row comes first whatever else differs a little before
    for (auto& [first, n] : order)
      if (n == logs.parts.name) first = 0;
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < std::min(max_rows, order.size()); ++i) out.push_back(order[i].second);
  return out;
}

constexpr std::size_t max_bins = 512;

/// The largest difference of each of at most 512 stretches of steps.
void add_cells(const LogComparison& logs, std::size_t name, int row, Picture& p) {
  const std::size_t n = logs.steps.size(), each = (n + max_bins - 1) / max_bins;
  for (std::size_t i = 0; i < n; i += each) {
    const std::size_t end = std::min(n, i + each);
    float most = -1;
    for (std::size_t s = i; s < end; ++s) most = std::max(most, logs.differences[name][s]);
    const int shade = log_shade(most), from = static_cast<int>(logs.steps[i]);
    const int to = static_cast<int>(end < n ? logs.steps[end] : logs.steps[n - 1] + 1);
    if (shade == equal_shade) continue;
    p.gaps |= shade == gap_shade;
    if (!p.stretches.empty() && p.stretches.back().layer == row && p.stretches.back().to == from &&
        p.stretches.back().shade == shade)
      p.stretches.back().to = to;
    else
      p.stretches.push_back({.layer = row, .from = from, .to = to, .shade = shade});
  }
}

/// A quantity of both logs: of each stretch its first value and the one furthest from it.
void add_values(const LogComparison& logs, const std::vector<double>& values, widgets::Curve& curve) {
  const std::size_t n = logs.steps.size(), each = (n + max_bins - 1) / max_bins;
  for (std::size_t i = 0; i < n; i += each) {
    std::size_t furthest = i;
    for (std::size_t s = i; s < std::min(n, i + each); ++s)
      if (std::abs(values[s] - values[i]) > std::abs(values[furthest] - values[i])) furthest = s;
    curve.add(static_cast<double>(logs.steps[i]), std::isfinite(values[i]) ? values[i] : std::nan(""));
    if (furthest != i)
      curve.add(static_cast<double>(logs.steps[furthest]),
                std::isfinite(values[furthest]) ? values[furthest] : std::nan(""));
  }
}

void add_curves(const LogComparison& logs, std::size_t name, bool equal, bool alone, Picture& p) {
  widgets::Curve first{.label = "first log", .tint = widgets::Tint::strong(), .width = 2.0f, .named = false},
      second{.label = "second log",
             .tint = equal ? widgets::Tint::good() : widgets::Tint::bad(),
             .width = 1.3f,
             .dashed = equal,
             .named = false};
  add_values(logs, logs.first[name], first);
  add_values(logs, logs.second[name], second);
  bool any = false;
  for (const widgets::Curve* curve : {&first, &second})
    for (const double y : curve->y) {
      if (!std::isfinite(y)) continue;
      p.most_loss = any ? std::max(p.most_loss, y) : y;
      p.least_loss = any ? std::min(p.least_loss, y) : y;
      any = true;
    }
  if (!any) p.most_loss = p.least_loss = 0;
  // From zero where that costs little.
  if (p.least_loss > 0 && p.least_loss < 0.6 * p.most_loss) p.least_loss = 0;
  const double room = std::max({p.most_loss - p.least_loss, 1e-9 * std::abs(p.most_loss), 1e-30});
  p.most_loss += 0.05 * room;
  if (p.least_loss != 0) p.least_loss -= 0.05 * room;
  p.losses.push_back(std::move(first));
  if (!alone) p.losses.push_back(std::move(second));
}

/// Length of all gradients, and of all weights, by step.
struct LoggedNorms {
  std::vector<double> gradients, weights;
};

LoggedNorms norms_of(const models::debugging::TwinHealthy& healthy, std::int64_t steps) {
  using namespace models::debugging;
  LoggedNorms out;
  for (std::size_t s = 0; s < static_cast<std::size_t>(steps); ++s) {
    double squares[2] = {0, 0};
    for (int l = 0; l < twin_layers; ++l)
      for (const TwinTensor tensor : {TwinTensor::gradient, TwinTensor::weight})
        for (const float x : cell_numbers({tensor, l}, healthy.passes[s], healthy.states[s + 1]))
          squares[tensor == TwinTensor::weight] += static_cast<double>(x) * static_cast<double>(x);
    out.gradients.push_back(std::sqrt(squares[0]));
    out.weights.push_back(std::sqrt(squares[1]));
  }
  return out;
}

LoggedNorms norms_of(const models::debugging::TwinSecond& second) {
  using namespace models::debugging;
  const auto sum_of = [&](TwinTensor tensor, std::size_t s) {
    double squares = 0;
    for (const auto& layer : second.picture.norms[static_cast<std::size_t>(tensor)])
      squares += static_cast<double>(layer[s]) * static_cast<double>(layer[s]);
    return std::sqrt(squares);
  };
  LoggedNorms out;
  for (std::size_t s = 0; s < second.losses.size(); ++s) {
    out.gradients.push_back(sum_of(TwinTensor::gradient, s));
    out.weights.push_back(sum_of(TwinTensor::weight, s));
  }
  return out;
}

/// What a training loop prints: six digits of each number.
std::string log_text(const std::vector<double>& losses, const LoggedNorms& norms) {
  std::string text = "step,loss,grad_norm,weight_norm\n";
  for (std::size_t s = 0; s < losses.size(); ++s) {
    char line[96];
    std::snprintf(line, sizeof line, "%zu,%.6g,%.6g,%.6g\n", s, losses[s], norms.gradients[s], norms.weights[s]);
    text += line;
  }
  return text;
}

/// `alone`: the second log is the first, since it is not there yet.
Computed<Outputs, Run> compare(const Inputs& in, const RunLog& first, const RunLog& second, bool alone) {
  Outputs out;
  leave_training_out(out);
  auto logs = models::debugging::compare_logs(first, second, in.noise_percent / 100);
  if (!logs) {
    out.reason = std::move(logs.error);
    return {std::move(out)};
  }
  out.first_step = step_of(*logs, logs->differs);
  out.equal = logs->differs.step < 0 && !alone;
  out.loss_parts_step = step_of(*logs, logs->parts);
  if (logs->differs.step >= 0)
    out.silent_steps =
        (logs->parts.step >= 0 ? out.loss_parts_step : static_cast<double>(logs->steps.back())) - out.first_step;
  out.log_steps = static_cast<double>(logs->steps.size());
  out.log_quantities = static_cast<double>(logs->names.size());
  if (logs->parts.step >= 0) {
    const double share = logs->differences[logs->parts.name][static_cast<std::size_t>(logs->parts.step)];
    out.log_quantity = logs->names[logs->parts.name];
    out.log_percent = std::min(100 * share, max_log_percent);
  }
  note_left_out(first, second, *logs, out);
  auto run = std::make_shared<Run>();
  run->logs = std::make_shared<const LogComparison>(std::move(*logs));
  return {std::move(out), std::move(run)};
}

}  // namespace

Computed<Outputs, Run> compute_logs(const Inputs& in, const Progress& progress) {
  Outputs out;
  leave_training_out(out);
  if (in.first_log.path.empty() && in.second_log.path.empty()) {
    out.reason = "No log is chosen that could part by more than " + widgets::format_text(in.noise_percent, "%", 4) +
                 ": give those of two runs, CSV or JSON lines with their steps.";
    return {std::move(out)};
  }
  // One alone is shown as it is, until the other is there.
  const bool alone = log_alone(in);
  const FileInput &first = in.first_log.path.empty() ? in.second_log : in.first_log,
                  &second = in.second_log.path.empty() ? in.first_log : in.second_log;
  const auto a = read_log(first, progress), b = read_log(second, progress);
  if (!a || !b) {
    out.reason = !a ? a.error : b.error;
    return {std::move(out)};
  }
  return compare(in, **a, **b, alone);
}

Computed<Outputs, Run> compute_written(const Inputs& in, const models::debugging::TwinHealthy& healthy,
                                       const models::debugging::TwinSecond& second) {
  // As many steps as were run; a run that ECC stops before its first step writes none.
  std::vector<double> first_losses;
  for (std::size_t s = 0; s < static_cast<std::size_t>(in.steps); ++s) first_losses.push_back(healthy.passes[s].loss);
  const auto first = models::debugging::read_run_log(log_text(first_losses, norms_of(healthy, in.steps)));
  const auto other = models::debugging::read_run_log(log_text(second.losses, norms_of(second)));
  if (!first || !other) return infeasible<Computed<Outputs, Run>>(!first ? first.error : other.error);
  auto computed = compare(in, *first, *other, false);
  if (second.first) computed.facts.bits_step = second.first->step;
  return computed;
}

Picture arrange_logs(const Inputs& in, const Outputs& out, const LogComparison& logs) {
  Picture p;
  p.answer = answer_of_logs(in, out);
  const std::vector<std::size_t> names = shown_names(logs);
  for (std::size_t row = 0; row < names.size(); ++row) {
    p.row_names.push_back(logs.names[names[row]]);
    add_cells(logs, names[row], static_cast<int>(row), p);
  }
  if (log_alone(in))
    p.missing_words = in.first_log.path.empty() ? "The first run's log is missing: nothing is compared yet."
                                                : "The second run's log is missing: nothing is compared yet.";
  p.shown_words = log_alone(in) ? "what the log holds" : "difference of what was logged";
  if (names.size() < logs.names.size())
    p.shown_words += "; " + std::to_string(logs.names.size() - names.size()) + " more are not shown";
  p.from_step = static_cast<double>(logs.steps.front());
  p.last_step = static_cast<double>(logs.steps.back());
  // What parts, else the loss, else the first.
  std::size_t plotted = logs.parts.step >= 0 ? logs.parts.name : names.front();
  for (std::size_t n = logs.names.size(); logs.parts.step < 0 && n-- > 0;)
    if (logs.names[n].find("loss") != std::string::npos) plotted = n;
  p.loss_label = logs.names[plotted];
  add_curves(logs, plotted, out.equal, log_alone(in), p);
  if (logs.parts.step < 0) return p;
  p.ring_layer = 0;  // shown_names puts it there
  p.ring_step = static_cast<int>(out.loss_parts_step);
  p.ring_bold = out.log_quantity + ", step " + std::to_string(p.ring_step);
  p.ring_words = "the first beyond " + widgets::format_text(in.noise_percent, "%", 3);
  p.parts_step = out.loss_parts_step;
  p.parts_words = "beyond the noise";
  return p;
}

std::string answer_of_logs(const Inputs& in, const Outputs& out) {
  if (log_alone(in))
    return "One log: " + figure(out.log_quantities, "") + (out.log_quantities == 1 ? " quantity" : " quantities") +
           " at " + figure(out.log_steps, "") + (out.log_steps == 1 ? " step" : " steps") +
           ". Give the other run's, too, and see where they part.";
  const bool written = in.runs == Runs::written;
  const auto step = [](double s) { return figure(std::to_string(static_cast<std::int64_t>(s))); };
  const std::string in_bits =
      std::isnan(out.bits_step) ? "" : "\nIn bits the runs differ from step " + step(out.bits_step) + " on";
  if (out.equal)
    return (written ? "Both logs are equal: " : "Your logs are equal: ") + figure(out.log_quantities, "") +
           (out.log_quantities == 1 ? " quantity" : " quantities") + ", the same numbers at all " +
           figure(out.log_steps, "") + " common steps." + in_bits + (in_bits.empty() ? "" : ": no log says so.");
  const std::string runs = written ? "the runs" : "your runs";
  if (std::isnan(out.loss_parts_step))
    return (written ? "The runs" : "Your runs") + std::string(" never part by more than ") +
           figure(in.noise_percent, "%") + "; they differ from step " + step(out.first_step) + " on." + in_bits +
           (in_bits.empty() ? "" : ".");
  const bool none = out.log_percent >= max_log_percent;
  const std::string at = "At step " + step(out.loss_parts_step) + " " + runs + " part beyond " +
                         figure(in.noise_percent, "%") + ": " + out.log_quantity.substr(0, 24) +
                         (none ? ", which is no number or 0 in one." : " by " + figure(out.log_percent, "%") + ".");
  if (!in_bits.empty()) return at + in_bits + ", in six digits from step " + step(out.first_step) + " on.";
  if (out.silent_steps <= 0) return at + "\nBefore it all that both logged is equal.";
  return at + "\nThey differ from step " + step(out.first_step) + " on: " + step(out.silent_steps) +
         (out.silent_steps == 1 ? " step" : " steps") + " within the noise.";
}

}  // namespace chapters::debugging::divergence
