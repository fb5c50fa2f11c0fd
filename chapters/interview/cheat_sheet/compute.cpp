#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/interview/cheat_sheet/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/base/integer_math.h"
#include "models/fleet/checkpoint_interval.h"
#include "models/fleet/token_cost.h"
#include "models/inference/kv_cache.h"
#include "models/inference/phases.h"
#include "models/inference/speculative.h"
#include "models/machine/all_reduce_time.h"
#include "models/memory/training_memory.h"
#include "models/training/launch_queue.h"
#include "models/transformer/flops.h"

namespace chapters::interview::cheat_sheet {
namespace {

using models::as_double;

/// What the Inputs name.
struct Parts {
  const models::LanguageModel* model = nullptr;
  const models::Chip* chip = nullptr;
  const models::Network* network = nullptr;
  models::Machine machine;  ///< in BF16, or in FP16 where the chip has no BF16
  models::LaunchHost host;
};

models::Result<Parts> read_parts(const Inputs& in) {
  using Out = models::Result<Parts>;
  const auto found = find_cluster(in.model, in.chip, in.network);
  if (!found) return Out::fail(found.error);
  Parts parts{.model = found->model, .chip = found->chip, .network = found->network};
  auto machine = models::machine_of(*parts.chip, models::Format::bf16);
  if (!machine) machine = models::machine_of(*parts.chip, models::Format::fp16);
  if (!machine) return Out::fail(machine.error);
  parts.machine = *machine.value;
  const models::RecordedLaunches& r = models::recorded_launches()[0];
  parts.host = {.launch_s = r.interval_s, .latency_s = r.latency_s, .between_s = r.between_s};
  return Out::ok(std::move(parts));
}

/// Between chips of a node: their own link, or the host's where they have none.
models::AllReduceLinks links_of(const Parts& parts) {
  const double between = parts.network->bytes_per_s_per_direction;
  const double host = models::pcie_bytes_per_s_per_direction(parts.chip->pcie_generation.value_or(0)).value_or(between);
  return {.inside_bytes_per_s = parts.chip->interconnect.bytes_per_s_per_direction.value_or(host),
          .between_bytes_per_s = parts.network->bytes_per_s_per_direction};
}

models::sheet::WorkCase case_of(const Inputs& in, const Parts& parts) {
  models::sheet::WorkCase work;
  work.request = {.architecture = &parts.model->architecture, .chip = parts.chip};
  work.request.prompt = static_cast<std::int64_t>(std::lround(in.prompt_tokens));
  work.request.output = static_cast<std::int64_t>(std::lround(in.output_tokens));
  work.request.batch = in.batch;
  work.request.chips = in.tensor_parallel;
  work.request.acceptance = in.acceptance;
  work.request.draft_length = in.draft_length;
  if (parts.chip->peak_flops_per_s(models::Format::fp8)) work.request.eight_bits = models::inference::EightBits::fp8;
  work.request.links = links_of(parts);
  work.request.host = parts.host;
  work.reserved_tokens = in.reserved_tokens;
  work.shared_tokens = in.shared_tokens;
  work.chunk_tokens = as_double(in.chunk_tokens);
  work.link_bytes_per_s = parts.network->bytes_per_s_per_direction;
  work.gpus = in.gpus;
  work.links = work.request.links;
  work.sequence = in.sequence;
  work.pieces = in.micro_batches;
  work.stages = in.stages;
  work.document_tokens = in.document_tokens;
  return work;
}

void add_memory(const Inputs& in, const Parts& parts, Sums& s) {
  const models::Architecture& a = parts.model->architecture;
  const models::ParameterCount count = models::count_parameters(a);
  s.parameters = static_cast<double>(count.total);
  s.weights_bytes = s.parameters * in.weight_bits / 8;
  const models::memory::TrainingPlan plan{.sequence = in.sequence};
  s.state_bytes = s.parameters * models::memory::bytes_per_parameter(a, plan).total();
  const models::inference::KvDesign cache{.bits = in.cache_bits};
  s.cache_token_bytes = models::inference::kv_token_bytes(a, cache);
  s.cache_bytes = models::inference::kv_sequence_bytes(a, cache, as_double(in.context));
  const double room = 0.9 * as_double(in.tensor_parallel) * parts.chip->memory_bytes - s.weights_bytes;
  s.fits = std::max(0.0, std::floor(room / s.cache_bytes));
  if (const auto held = models::memory::training_memory(a, plan)) s.activation_bytes = held->operations_bytes;
}

void add_serving(const Inputs& in, const Parts& parts, Sums& s) {
  const models::Architecture& a = parts.model->architecture;
  models::inference::PhaseSetup setup{.machine = parts.machine,
                                      .chips = in.tensor_parallel,
                                      .weight_bytes_each = in.weight_bits / 8,
                                      .kv_bytes_each = in.cache_bits / 8,
                                      .batch = 1,
                                      .prompt = std::lround(in.prompt_tokens),
                                      .context = in.context};
  const auto token = decode_step_work(a, setup);
  s.read_bytes = token.weight_bytes;
  s.token_s = phase_bound(token, setup).time_s;
  const auto prompt = phase_bound(prefill_work(a, setup), setup);
  s.prompt_reads = !prompt.computes();
  s.prompt_s = prompt.time_s + prompt.attention_s;
  setup.batch = in.batch;
  const auto step_bound = phase_bound(decode_step_work(a, setup), setup);
  s.step_s = step_bound.time_s;
  s.step_computes = step_bound.arithmetic_s > step_bound.bytes_s;
  s.tokens_per_s = as_double(in.batch) / s.step_s;
  s.ridge = models::ridge_flops_per_byte(parts.machine);
  s.ridge_batch = s.ridge * in.weight_bits / 16;
  s.drafted = models::inference::expected_tokens(in.acceptance, as_double(in.draft_length));
  // A written token pays for its share of a step and for its share of the prompt that went before it.
  s.answers_per_s = 1 / (s.step_s / as_double(in.batch) + s.prompt_s / in.output_tokens);
  s.dollars_per_million = models::fleet::dollars_per_million_tokens(in.price_per_hour * as_double(in.tensor_parallel),
                                                                    in.filled / 100 * s.answers_per_s);
  const models::Workload step{.phase = models::Phase::decode, .batch = in.batch, .sequence = 1, .context = in.context};
  if (parts.chip->vendor != "NVIDIA") return;  // the host's time was recorded with such a chip
  if (const auto list = models::launch_list(a, step, parts.machine, false, 1.5e-6)) {
    s.launches = static_cast<double>(list->kernels.size());
    s.launch_each_s = parts.host.launch_s;
    s.launch_s = s.launches * s.launch_each_s;
  }
}

void add_training(const Inputs& in, const Parts& parts, Sums& s) {
  const models::ParameterCount count = models::count_parameters(parts.model->architecture);
  s.flops = models::flops_6nd(static_cast<double>(count.active), in.tokens);
  s.train_s = s.flops / (as_double(in.gpus) * parts.machine.peak_flops_per_s * in.mfu / 100);
  s.train_dollars = s.train_s / 3600 * as_double(in.gpus) * in.price_per_hour;
  s.bubble = 100 * as_double(in.stages - 1) / as_double(in.micro_batches + in.stages - 1);
  s.mtbf_s = in.gpu_mtbf_s / as_double(in.gpus);
  s.save_every_s = models::fleet::exact_interval_s({.save_s = in.save_s, .restart_s = 0, .mtbf_s = s.mtbf_s});
  if (const auto link = parts.chip->interconnect.bytes_per_s_per_direction) {
    // Above a node the ring goes through all network ports of a node at once, and the slower of the two counts.
    const models::AllReduceGroup group{.ranks = in.tensor_parallel};
    s.link_bytes_per_s = group.nodes() > 1 ? models::ring_step(group, links_of(parts)).bytes_per_s : *link;
    s.all_reduce_s = models::ring_all_reduce_s(in.tensor_parallel, in.bytes, s.link_bytes_per_s, 0);
  }
  s.camera_bytes_per_s = as_double(in.cameras) * in.megapixels * 1e6 * in.frames_per_s * in.pixel_bits / 8;
}

void add_techniques(const models::sheet::WorkCase& work, Outputs& out) {
  const auto& words = technique_words();
  for (models::sheet::TechniqueEffect& e : models::sheet::technique_effects(work)) {
    const auto i = static_cast<std::size_t>(e.technique);
    TechniqueRow& row = out.techniques.emplace_back();
    row.technique = words[i].name;
    row.side = i < models::sheet::serving_count ? "serving" : "training";
    row.factor = e.factor;
    row.why_not = std::move(e.why_not);
  }
  const auto chain = [&](std::string_view name, const std::vector<models::sheet::PriorityStep>& steps) {
    std::int64_t place = 0;
    for (const auto& step : steps)
      out.chains.push_back({std::string(name), ++place, step.name, step.gain, step.reaches});
  };
  const models::sheet::Priorities order = models::sheet::priorities(work);
  chain("inference", order.inference);
  chain("training", order.training);
  chain("memory", order.memory);
  chain("communication", order.communication);
}

std::string source_of(const models::Sourced& figure) {
  // Of several references the first is enough here; the chip's own page has all.
  if (!figure.source.empty())
    return std::string(basis_id(figure.basis)) + ": " + figure.source.substr(0, figure.source.find(';'));
  if (figure.origin == models::Origin::chase_cycles) return "measured: a chain of loads, in cycles of the clock";
  if (figure.origin == models::Origin::register_operands)
    return "computed: units \xC3\x97 lanes \xC3\x97 12 B \xC3\x97 clock";
  if (figure.origin == models::Origin::shared_banks)
    return "computed: units \xC3\x97 32 banks \xC3\x97 4 B \xC3\x97 clock";
  if (figure.origin == models::Origin::l2_per_clock)
    return "assumed: 35 B a unit and clock, as was measured on other chips";
  return std::string(basis_id(figure.basis));
}

void add_levels(const Inputs& in, const Parts& parts, Outputs& out) {
  models::HierarchyOptions options;
  options.network_label = parts.network->name;
  options.network_bytes_per_s_per_direction = parts.network->bytes_per_s_per_direction;
  for (const models::Level& level : models::memory_levels(*parts.chip, options)) {
    LevelRow& row = out.levels.emplace_back();
    row.level = level.label;
    row.bytes_per_s = level.bandwidth_bytes_per_s.value.value_or(no_figure);
    row.latency_s = level.latency_s.value.value_or(no_figure);
    row.time_s = in.bytes / row.bytes_per_s;
    if (level.bandwidth_bytes_per_s.value) row.bandwidth_source = source_of(level.bandwidth_bytes_per_s);
    if (level.latency_s.value) row.latency_source = source_of(level.latency_s);
    // What was measured on a GPU says nothing of another kind of chip.
    if (parts.chip->vendor != "NVIDIA" && row.latency_source.find("H100") != std::string::npos) {
      row.latency_s = no_figure;
      row.latency_source.clear();
    }
  }
  if (parts.chip->vendor != "NVIDIA") return;
  const models::RecordedLaunches& r = models::recorded_launches()[0];
  LevelRow& launch = out.levels.emplace_back();
  launch.level = "Launch call alone";
  launch.latency_s = r.call_s;
  launch.latency_source =
      "measured: the bare launching call in a public trace, without PyTorch's own work on the host, " +
      std::string(r.name);
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in) {
  using Answer = Computed<Outputs, Run>;
  const auto parts = read_parts(in);
  if (!parts) return infeasible<Answer>(parts.error);
  Answer answer;
  Outputs& out = answer.facts;
  add_memory(in, *parts.value, out.sums);
  add_serving(in, *parts.value, out.sums);
  add_training(in, *parts.value, out.sums);
  const models::Interconnect& inside = parts->chip->interconnect;
  if (inside.bytes_per_s_per_direction)
    out.link = out.sums.link_bytes_per_s < *inside.bytes_per_s_per_direction
                   ? parts->network->name + ", all ports of a node"
                   : inside.name;
  add_techniques(case_of(in, *parts.value), out);
  add_levels(in, *parts.value, out);
  answer.run = std::make_shared<const Run>(
      Run{in, parts->model->name, parts->chip->short_name.empty() ? parts->chip->name : parts->chip->short_name,
          parts->network->name, parts->model->architecture.moe.routed > 0, parts->model->architecture.has_latent()});
  return answer;
}

}  // namespace chapters::interview::cheat_sheet
