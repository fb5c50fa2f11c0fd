#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/distributed/overlap/lab.h"
#include "models/base/integer_math.h"

namespace chapters::distributed::overlap {
namespace {

using namespace models::parallel;

/// The step's time with another input; NaN where it cannot be.
template <class Change>
double step_with(Inputs in, const Change& change) {
  change(in);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto scenario = read_scenario(in);
  if (!scenario) return none;
  const auto stepped = run_scenario(*scenario);
  return stepped ? stepped->run.makespan_s : none;
}

/// The values of a sweep with the inputs' own among them, so that their point lies on the line.
template <class Value>
std::vector<Value> with_yours(std::vector<Value> values, Value yours) {
  values.push_back(yours);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}
std::vector<std::int64_t> doubled(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> values;
  for (; from <= to; from *= 2) values.push_back(from);
  return values;
}

}  // namespace

void sweep_buckets(Scenario scenario, Run& run) {
  std::vector<double> sizes;
  const double whole = scenario.work.elements * scenario.setup.gradient_bytes;
  for (double bytes = mebibyte / 4; bytes < 2 * whole; bytes *= std::sqrt(2.0)) sizes.push_back(bytes);
  const double yours = scenario.setup.bucket_bytes;
  run.sizes.at = with_yours(std::move(sizes), yours);
  for (const double bytes : run.sizes.at) {
    scenario.setup.bucket_bytes = bytes;
    run.sizes.step_s.push_back(bytes == yours ? run.run.makespan_s : step_of(scenario).makespan_s);
  }
}

void sweep_units(const Inputs& in, Run& run) {
  const auto most = static_cast<std::int64_t>(run.work.units.size()) * in.layers_per_unit;
  for (const std::int64_t layers : with_yours(doubled(1, std::min<std::int64_t>(most, 128)), in.layers_per_unit)) {
    run.sizes.at.push_back(models::as_double(layers));
    run.sizes.step_s.push_back(layers == in.layers_per_unit ? run.run.makespan_s : step_with(in, [&](Inputs& i) {
      i.layers_per_unit = layers;
    }));
  }
}

void sweep_inputs(const Inputs& in, Run& run) {
  for (const std::int64_t gpus : with_yours(doubled(in.gpus_per_node, 16384), in.gpus)) {
    run.gpus.push_back(models::as_double(gpus));
    for (const OverlapMethod method : {OverlapMethod::ddp, OverlapMethod::fsdp})
      run.gpu_step_s[static_cast<std::size_t>(method)].push_back(step_with(in, [&](Inputs& i) {
        i.gpus = gpus;
        i.method = method;
        i.hybrid = i.hybrid && method == OverlapMethod::fsdp && gpus % i.shards == 0;
      }));
  }
  for (const std::int64_t batch : with_yours(doubled(1, 64), in.batch)) {
    Inputs other = in;
    other.batch = batch;
    const auto scenario = read_scenario(other);
    if (!scenario) continue;
    const OverlapRun step = step_of(*scenario);
    run.tokens.push_back(scenario->work.tokens);
    run.tokens_exposed.push_back(100 * step.exposed_s / step.makespan_s);
  }
}

}  // namespace chapters::distributed::overlap
