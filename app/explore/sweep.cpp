#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/explore/explore.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using chapters::Scale;

std::vector<double> spaced(double lo, double hi, std::size_t n, bool log, bool whole) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
    double v = log ? lo * std::pow(hi / lo, t) : lo + (hi - lo) * t;
    if (i + 1 == n && n > 1) v = hi;
    if (whole) v = std::round(v);
    if (out.empty() || v != out.back()) out.push_back(v);
  }
  return out;
}

}  // namespace

double reading(const chapters::Lab& lab, std::string_view output) {
  const Field* f = lab.outputs().find(output);
  if (!f || !f->is_scalar() || !lab.reason().empty()) return std::numeric_limits<double>::quiet_NaN();
  return f->number();
}

std::vector<std::string> readable_outputs(const chapters::Lab& lab) {
  std::vector<std::string> keys;
  for (const Field& f : lab.outputs())
    if (f.is_scalar() && !is_personal(f)) keys.emplace_back(f.key);
  return keys;
}

std::vector<std::string> sweepable_inputs(const chapters::Lab& lab) {
  std::vector<std::string> keys;
  for (const Field& f : lab.inputs())
    if (f.is_scalar() && !is_personal(f)) keys.emplace_back(f.key);
  return keys;
}

void parallel_for(std::size_t n, chapters::Progress& progress, const std::function<void(std::size_t, int)>& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&](int worker) {
    for (std::size_t i; (i = next.fetch_add(1)) < n && !progress.cancelled;) {
      body(i, worker);
      progress.fraction = static_cast<double>(i + 1) / static_cast<double>(n);
    }
  };
  if (n < 16) return work(0);
  std::jthread other(work, 1);
  work(0);
}

namespace {

/// Options by id, such as "bf16,fp8"; all where none is named.
models::Result<SweepAxis> axis_of_options(const Field& f, const std::string& key, std::string_view ids) {
  using Axis = models::Result<SweepAxis>;
  SweepAxis axis{key, {}, {}, false};
  const auto add = [&](std::size_t option) {
    axis.values.push_back(static_cast<double>(option));
    axis.labels.push_back((*f.options)[option].id);
  };
  while (!ids.empty()) {
    const auto id = ids.substr(0, ids.find(','));
    ids = id.size() < ids.size() ? ids.substr(id.size() + 1) : "";
    const auto at = std::find_if(f.options->begin(), f.options->end(), [&](const auto& o) { return o.id == id; });
    if (at == f.options->end()) {
      std::vector<std::string> known;
      for (const auto& o : *f.options) known.push_back(o.id);
      return Axis::fail(key + " has no option \"" + std::string(id) + "\": allowed are " + sentence_list(known, 40) +
                        ".");
    }
    add(static_cast<std::size_t>(at - f.options->begin()));
  }
  const bool all = axis.values.empty();
  for (std::size_t i = 0; all && i < f.options->size(); ++i) add(i);
  return Axis::ok(std::move(axis));
}

/// "LO:HI", "LO:HI:N" or "LO:HI:N:log"; the input's own range where nothing is said.
models::Result<SweepAxis> axis_of_range(const Field& f, const std::string& key, std::string_view text,
                                        std::size_t default_points) {
  using Axis = models::Result<SweepAxis>;
  const chapters::Range& range = f.spec.range;
  double lo = range.lo, hi = range.hi, points = static_cast<double>(default_points);
  SweepAxis axis{key, {}, {}, range.is_log(lo)};
  const std::string form = key + " needs LO:HI:N or LO:HI:N:log, such as " + key + "=1:64:32:log";
  if (!text.empty()) {
    std::vector<std::string_view> parts;
    for (std::size_t from = 0; from <= text.size();) {
      const auto colon = std::min(text.find(':', from), text.size());
      parts.push_back(text.substr(from, colon - from));
      from = colon + 1;
    }
    if (parts.size() < 2 || parts.size() > 4 || (parts.size() == 4 && parts[3] != "log" && parts[3] != "linear"))
      return Axis::fail(form + "; it is \"" + std::string(text.substr(0, 60)) + "\".");
    double* const slots[] = {&lo, &hi, &points};
    for (std::size_t i = 0; i < 3 && i < parts.size(); ++i) {
      const auto parsed = widgets::parse_quantity(parts[i], i < 2 ? f.spec.unit : std::string_view());
      if (!parsed.error.empty()) return Axis::fail(form + ": " + parsed.error);
      *slots[i] = parsed.value;
    }
    axis.log = parts.size() == 4 && parts[3] == "log";
    if (!(points >= 2 && points <= 4096)) return Axis::fail(form + ", with N from 2 to 4096.");
    if (!(f.spec.any_number || (lo >= range.lo && hi <= range.hi)) || !(lo < hi))
      return Axis::fail(key + " can be swept from " + std::string(widgets::format(range.lo, f.spec.unit, 6)) + " to " +
                        std::string(widgets::format(range.hi, f.spec.unit, 6)) + ", LO below HI.");
    if (axis.log && !(lo > 0)) return Axis::fail(key + ": a log sweep needs LO above 0.");
  }
  axis.values = spaced(lo, hi, static_cast<std::size_t>(points), axis.log, f.kind == Kind::integer);
  return Axis::ok(std::move(axis));
}

}  // namespace

models::Result<SweepAxis> parse_sweep_axis(const chapters::Lab& lab, std::string_view text,
                                           std::size_t default_points) {
  using Axis = models::Result<SweepAxis>;
  const auto equals = text.find('=');
  const std::string key(text.substr(0, equals));
  const Field* f = lab.inputs().find(key);
  if (!f) return Axis::fail(unknown_key(lab.info().id, "input", key, lab.inputs()));
  if (!f->is_scalar()) return Axis::fail(key + " cannot be swept: it is not a number, a toggle or a choice.");
  const std::string_view rest = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (f->kind == Kind::toggle) return Axis::ok({key, {0, 1}, {"false", "true"}, false});
  return f->kind == Kind::choice ? axis_of_options(*f, key, rest) : axis_of_range(*f, key, rest, default_points);
}

models::Result<SweepResult> sweep(const chapters::Lab& lab, const std::vector<SweepAxis>& axes, std::string_view output,
                                  chapters::Progress& progress) {
  using Swept = models::Result<SweepResult>;
  SweepResult r;
  r.output = output;
  const Field* out = lab.outputs().find(output);
  if (!out) return Swept::fail(unknown_key(lab.info().id, "output", output, lab.outputs()));
  if (!out->is_scalar()) return Swept::fail(std::string(output) + " is not a number: a sweep needs one.");
  if (axes.empty() || axes.size() > 2) return Swept::fail("A sweep runs over one or two inputs.");
  if (axes.size() == 2 && axes[0].key == axes[1].key)
    return Swept::fail("A sweep over two inputs needs two different ones.");
  r.x = axes[0];
  if (axes.size() == 2) r.y = axes[1];
  const std::size_t nx = r.x.values.size(), ny = std::max<std::size_t>(1, r.y.values.size());
  if (nx * ny > 65536)
    return Swept::fail("The sweep has " + std::to_string(nx * ny) + " points: at most 65,536 are allowed.");
  r.values.assign(nx * ny, std::numeric_limits<double>::quiet_NaN());
  std::unique_ptr<chapters::Lab> copies[2] = {lab.clone(), lab.clone()};
  parallel_for(nx * ny, progress, [&](std::size_t i, int worker) {
    chapters::Lab& copy = *copies[worker];
    copy.inputs().find(r.x.key)->set_number(r.x.values[i % nx]);
    if (!r.y.key.empty()) copy.inputs().find(r.y.key)->set_number(r.y.values[i / nx]);
    copy.compute_facts();
    r.values[i] = reading(copy, output);
  });
  if (progress.cancelled) return Swept::fail("The sweep was cancelled.");
  return Swept::ok(std::move(r));
}

}  // namespace app
