#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/explore/explore.h"
#include "app/platform/csv.h"
#include "app/platform/json.h"
#include "app/scenario/link.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

std::string exact(double v) {
  if (!std::isfinite(v)) return "";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, v).ptr;
  return {text, end};
}

Json number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

std::string axis_cell(const SweepAxis& axis, std::size_t i) {
  return axis.labels.empty() ? exact(axis.values[i]) : axis.labels[i];
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// "KEY=VALUE" of --output for solve, with the value read in the output's unit.
struct Target {
  std::string key;
  double value = 0;
};
models::Result<Target> parse_target(const chapters::Lab& lab, const std::string& text) {
  using Parsed = models::Result<Target>;
  const auto equals = text.find('=');
  if (equals == std::string::npos) return Parsed::fail("solve needs --output KEY=VALUE, such as --output time_s=0.01.");
  const std::string key = text.substr(0, equals);
  const auto* f = lab.outputs().find(key);
  if (!f) return Parsed::fail(unknown_key(lab.info().id, "output", key, lab.outputs()));
  const auto parsed = widgets::parse_quantity(text.substr(equals + 1), f->spec.unit);
  return parsed.error.empty() ? Parsed::ok({key, parsed.value}) : Parsed::fail(parsed.error);
}

/// The reason why a point of the sweep is not feasible; "" when it is, and its output is not a number there.
std::string reason_at(const chapters::Lab& lab, const SweepResult& r, std::size_t point) {
  const auto at = lab.clone();
  at->inputs().find(r.x.key)->set_number(r.x.values[point % r.x.values.size()]);
  if (!r.y.key.empty()) at->inputs().find(r.y.key)->set_number(r.y.values[point / r.x.values.size()]);
  at->compute_facts();
  return at->reason();
}

/// Says on the error stream which points have no value, and why the first has none. The exit status: 1 when none has.
int say_missing_points(const Streams& s, const chapters::Lab& lab, const SweepResult& r) {
  std::size_t missing = 0, first = 0;
  for (std::size_t i = r.values.size(); i-- > 0;)
    if (!std::isfinite(r.values[i])) {
      ++missing;
      first = i;
    }
  if (missing == 0) return 0;
  const std::string reason = reason_at(lab, r, first);
  const std::string why = reason.empty() ? r.output + " has no value there." : reason;
  if (missing == r.values.size()) return say_infeasible(s, why);
  say_infeasible(s, std::to_string(missing) + " of " + std::to_string(r.values.size()) +
                        " points have no value; at the first of them: " + why);
  return 0;
}

/// One row an observation: the lab, the scenario as a link, the inputs, and the output with its unit.
std::string long_csv(const chapters::Lab& lab, const SweepResult& r) {
  std::vector<std::string> names{"lab", "scenario", r.x.key};
  if (!r.y.key.empty()) names.push_back(r.y.key);
  names.insert(names.end(), {"output", "value", "unit"});
  std::string out = csv_line(names);
  const std::string scenario = link_of(lab), unit(lab.outputs().find(r.output)->spec.unit);
  const std::size_t nx = r.x.values.size();
  for (std::size_t i = 0; i < r.values.size(); ++i) {
    std::vector<std::string> row{std::string(lab.info().id), scenario, axis_cell(r.x, i % nx)};
    if (!r.y.key.empty()) row.push_back(axis_cell(r.y, i / nx));
    row.insert(row.end(), {r.output, exact(r.values[i]), unit});
    out += csv_line(row);
  }
  return out;
}

/// Does one end or option of this input give another output? One that leaves the lab infeasible does.
bool moves(const SensitivityRow& row, double base) {
  const auto same = [&](double v) { return std::isfinite(v) && std::abs(v - base) <= 1e-12 * std::abs(base); };
  return !(same(row.low_output) && same(row.high_output));
}

}  // namespace

int sweep(const Arguments& a, const Streams& s) {
  const auto made = make_set_lab(a);
  if (!made) return complain(s, made.error);
  const chapters::Lab& lab = **made;
  std::vector<SweepAxis> axes;
  for (const auto& text : a.values("--over")) {
    auto parsed = parse_sweep_axis(lab, text);
    if (!parsed) return complain(s, parsed.error);
    axes.push_back(std::move(*parsed));
  }
  if (axes.empty()) return complain(s, "sweep needs --over key=LO:HI:N, once or twice.");
  if (!a.has("--output"))
    return complain(s, "sweep needs --output KEY: " + sentence_list(readable_outputs(lab), 40) + ".");
  chapters::Progress progress;
  const auto swept = app::sweep(lab, axes, a.value("--output"), progress);
  if (!swept) return complain(s, swept.error);
  const SweepResult& r = *swept;
  const std::size_t nx = r.x.values.size();
  if (a.has("--json")) {
    Json points = Json::array();
    for (std::size_t i = 0; i < r.values.size(); ++i) {
      Json p = {{r.x.key, r.x.labels.empty() ? Json(r.x.values[i % nx]) : Json(r.x.labels[i % nx])}};
      if (!r.y.key.empty()) p[r.y.key] = r.y.labels.empty() ? Json(r.y.values[i / nx]) : Json(r.y.labels[i / nx]);
      p[r.output] = number(r.values[i]);
      points.push_back(p);
    }
    s.out << to_text(Json{{"lab", lab.info().id}, {"output", r.output}, {"points", points}}, 2) << "\n";
    return say_missing_points(s, lab, r);
  }
  if (a.has("--long")) {
    s.out << long_csv(lab, r);
    return say_missing_points(s, lab, r);
  }
  s.out << r.x.key << (r.y.key.empty() ? "" : "," + r.y.key) << "," << r.output << "\n";
  for (std::size_t i = 0; i < r.values.size(); ++i)
    s.out << axis_cell(r.x, i % nx) << (r.y.key.empty() ? "" : "," + axis_cell(r.y, i / nx)) << ","
          << exact(r.values[i]) << "\n";
  return say_missing_points(s, lab, r);
}

int solve(const Arguments& a, const Streams& s) {
  const auto made = make_set_lab(a);
  if (!made) return complain(s, made.error);
  const chapters::Lab& lab = **made;
  if (!a.has("--for")) return complain(s, "solve needs --for key=LO:HI.");
  const auto axis = parse_sweep_axis(lab, a.value("--for"));
  if (!axis) return complain(s, axis.error);
  if (!axis->labels.empty()) return complain(s, axis->key + " is not a number: solve needs one.");
  const auto target = parse_target(lab, a.value("--output"));
  if (!target) return complain(s, target.error);
  chapters::Progress progress;
  const auto solved =
      app::solve(lab, axis->key, axis->values.front(), axis->values.back(), target->key, target->value, progress);
  if (!solved) return complain(s, solved.error);
  const SolveResult& r = *solved;
  if (a.has("--json")) {
    s.out << to_text(Json{{"lab", lab.info().id},
                          {"found", r.found},
                          {axis->key, r.found ? number(r.input) : Json(nullptr)},
                          {target->key, r.found ? number(r.output) : Json(nullptr)},
                          {"why", r.why}},
                     2)
          << "\n";
  } else if (r.found) {
    s.out << axis->key << "," << target->key << "\n" << exact(r.input) << "," << exact(r.output) << "\n";
    if (!r.why.empty()) s.error << r.why << "\n";
  } else {
    s.error << r.why << "\n";
  }
  return r.found ? 0 : 1;
}

int sensitivity(const Arguments& a, const Streams& s) {
  const auto made = make_set_lab(a);
  if (!made) return complain(s, made.error);
  const chapters::Lab& lab = **made;
  if (!a.has("--output"))
    return complain(s, "sensitivity needs --output KEY: " + sentence_list(readable_outputs(lab), 40) + ".");
  if (!lab.reason().empty()) return say_infeasible(s, lab.reason());
  chapters::Progress progress;
  const auto analysed = app::sensitivity(lab, a.value("--output"), progress);
  if (!analysed) return complain(s, analysed.error);
  const SensitivityResult& r = *analysed;
  if (a.has("--json")) {
    Json rows = Json::array();
    for (const auto& row : r.rows)
      rows.push_back({{"input", row.key},
                      {"low_input", row.low_input},
                      {"high_input", row.high_input},
                      {"low_output", number(row.low_output)},
                      {"high_output", number(row.high_output)}});
    s.out << to_text(Json{{"lab", lab.info().id}, {"output", r.output}, {"base", number(r.base)}, {"inputs", rows}}, 2)
          << "\n";
    return 0;
  }
  std::size_t still = 0;
  s.out << "input,low_input,high_input,low_" << r.output << ",high_" << r.output << "\n";
  for (const auto& row : r.rows) {
    if (!moves(row, r.base)) {
      ++still;
      continue;
    }
    s.out << row.key << "," << quoted(row.low_input) << "," << quoted(row.high_input) << "," << exact(row.low_output)
          << "," << exact(row.high_output) << "\n";
  }
  if (still > 0)
    s.error << still << " of " << r.rows.size() << " inputs are left out: none of them moves " << r.output << ".\n";
  return 0;
}

}  // namespace app::cli
