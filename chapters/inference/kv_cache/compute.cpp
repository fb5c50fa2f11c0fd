#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "chapters/inference/kv_cache/lab.h"
#include "models/compression/deployment.h"
#include "models/inference/tensor_decode.h"
#include "models/transformer/roofline_ops.h"
#include "models/transformer/weight_storage.h"
#include "widgets/number/number.h"

namespace chapters::inference::kv_cache {
namespace {

using models::inference::KvDesign, models::inference::KvMachine, models::inference::KvSharing;

/// NVLink-C2C of a GH200, one direction (NVIDIA's data sheet: 900 GB/s in both).
constexpr double dies_bytes_per_s = 450e9;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct Candidate {
  KvDesign design;
  std::string name, sharing;
};

std::string heads_name(std::int64_t n) { return std::to_string(n) + (n == 1 ? " KV head" : " KV heads"); }

/// What a design of these heads is called in papers.
std::string sharing_name(const models::Architecture& a) {
  if (a.has_latent()) return "MLA";
  return a.kv_heads == a.heads ? "MHA" : a.kv_heads == 1 ? "MQA" : "GQA";
}

Candidate named(const models::Architecture& own, const KvDesign& design) {
  Candidate c{design, {}, {}};
  const auto a = models::inference::redesigned(own, design);
  if (!a) return c;
  c.sharing = sharing_name(*a);
  c.name = a->has_latent() ? "latent of " + std::to_string(a->latent.kv_lora_rank + a->latent.rope_dim)
                           : heads_name(a->kv_heads);
  return c;
}

/// Ways beside the one that is set: those that would keep the same are left out.
std::vector<Candidate> candidates(const models::Architecture& own, const KvDesign& yours) {
  std::vector<Candidate> all{named(own, yours)};
  const auto add = [&](KvDesign design, const char* instead = nullptr) {
    Candidate c = named(own, design);
    if (instead) c.name = instead;
    const bool known = std::any_of(all.begin(), all.end(), [&](const Candidate& o) { return o.name == c.name; });
    if (!c.sharing.empty() && !known) all.push_back(std::move(c));
  };
  const auto grouped = [&](std::int64_t heads) {
    KvDesign d = yours;
    d.sharing = KvSharing::grouped;
    d.kv_heads = heads;
    add(d);
  };
  grouped(own.heads);
  if (own.heads % 8 == 0) grouped(8);
  KvDesign narrow = yours;
  narrow.bits = yours.bits / 2;
  add(narrow, "half the bits");
  KvDesign latent = yours;
  latent.sharing = KvSharing::latent;
  latent.latent_elements = 512;
  add(latent);
  grouped(1);
  return all;
}

/// Contexts from 256 to 1,048,576 tokens, two to an octave.
std::vector<double> contexts() {
  std::vector<double> out;
  for (double n = 256; n <= 1048576; n *= 2) {
    out.push_back(n);
    if (n < 1048576) out.push_back(std::round(n * std::sqrt(2.0)));
  }
  return out;
}

/// Where users may wait, from the host's memory to a store behind the network.
models::Result<std::vector<TierRow>> tiers_of(const Inputs& in, const models::Chip& chip, const KvMachine& machine,
                                              const models::inference::KvFit& fit) {
  using Outcome = models::Result<std::vector<TierRow>>;
  const auto network = find_network(in.network);
  if (!network) return Outcome::fail(network.error);
  models::inference::KvTierSetup setup{.host_bytes = in.host_bytes,
                                       .host_link_bytes_per_s = machine.link_bytes_per_s,
                                       .drives_bytes = in.drives_bytes,
                                       .drives_bytes_per_s = in.drives_bytes_per_s,
                                       .remote_bytes = in.remote_bytes,
                                       .remote_link_bytes_per_s = (*network)->bytes_per_s_per_direction};
  const std::string host = in.host_link == HostLink::dies ? std::string("NVLink-C2C")
                           : chip.pcie_generation         ? "PCIe " + std::to_string(*chip.pcie_generation)
                                                          : std::string("a link that nobody states");
  const std::string names[] = {"Host memory", "Local drives", "Remote store"},
                    links[] = {host, "NVMe", (*network)->name};
  static_assert(models::inference::kv_tier_count == 3);
  std::vector<TierRow> out;
  for (const auto& tier : models::inference::kv_tiers(fit, machine, setup, static_cast<double>(in.context)))
    out.push_back({names[out.size()], links[out.size()], tier});
  return Outcome::ok(std::move(out));
}

/// The chips that serve: a link of 0 where nobody states one.
KvMachine serving_machine(const Inputs& in, const models::Chip& chip, models::Format product) {
  return {
      .chip = &chip,
      .chips = in.chips,
      .placement = in.placement,
      .memory_bytes = in.memory_bytes,
      .memory_share = in.memory_share,
      .workspace_bytes = in.workspace_bytes,
      .weight_bits = models::stored_bits(in.format, in.format),
      .product = product,
      .host_bytes = in.host_bytes,
      .link_bytes_per_s = in.host_link == HostLink::dies ? dies_bytes_per_s
                          : chip.pcie_generation
                              ? models::pcie_bytes_per_s_per_direction(*chip.pcie_generation).value_or(0)
                              : 0,
  };
}

/// Every candidate on the machine, yours first, and how many sequences of each context it holds. Gives the sentence of
/// one that cannot be held, else nothing.
std::string fit_designs(const Inputs& in, const models::Architecture& own, const KvMachine& machine, Outputs& out,
                        Run& run) {
  const auto context = static_cast<double>(in.context);
  for (const Candidate& c : candidates(own, design_of(in))) {
    const auto a = models::inference::redesigned(own, c.design);
    auto fit = models::inference::fit_cache(*a, c.design, machine, context);
    if (!fit) return std::move(fit.error);
    out.designs.push_back({.name = c.name,
                           .sharing = c.sharing,
                           .fit = *fit,
                           .elements = models::inference::kv_elements_per_layer(*a),
                           .kv_heads = a->has_latent() ? 0 : static_cast<double>(a->kv_heads),
                           .yours = out.designs.empty()});
    std::vector<double>& line = run.sequences.emplace_back();
    for (const double n : run.contexts)
      line.push_back(models::inference::kv_sequences_within(*a, c.design, machine, std::max(0.0, fit->room_bytes), n));
  }
  return {};
}

/// The design with a key and a value for each head, and the one that holds most sequences.
void compare_designs(Outputs& out) {
  const auto all =
      std::find_if(out.designs.begin(), out.designs.end(), [&](const DesignRow& r) { return r.sharing == "MHA"; });
  if (all != out.designs.end()) {
    out.all_heads_sequences = all->fit.sequences;
    out.all_heads_bytes = all->fit.sequence_bytes;
  }
  const auto most = std::max_element(out.designs.begin(), out.designs.end(),
                                     [](const auto& x, const auto& y) { return x.fit.sequences < y.fit.sequences; });
  out.most_name = most->name;
  out.most_sequences = most->fit.sequences;
}

}  // namespace

KvDesign design_of(const Inputs& in) {
  const models::KvRecipe* format = models::find_kv_recipe(in.kv_format);
  KvDesign d{.sharing = in.sharing,
             .kv_heads = in.kv_heads,
             .latent_elements = in.latent,
             .layers_share = in.layers_share,
             .bits = format ? format->bits : 16};
  if (in.windowed) {
    d.window = in.window;
    d.global_every = in.global_every;
  }
  return d;
}

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  const auto model = find_model(in.model);
  if (!model) return {.facts = {.reason = model.error}};
  const models::Architecture& own = (*model)->architecture;
  const auto product = models::nearest_format(**chip, in.format);
  if (!product) return {.facts = {.reason = (*chip)->short_name + " states no peak for such products."}};
  const auto mine = models::inference::redesigned(own, design_of(in));
  if (!mine) return {.facts = {.reason = mine.error}};
  if (in.placement == models::inference::KvPlacement::by_head)
    if (const std::string problem = models::inference::decode_cut_problem(*mine, in.chips); !problem.empty())
      return {.facts = {.reason = problem}};
  const KvMachine machine = serving_machine(in, **chip, *product);
  Outputs out;
  auto run = std::make_shared<Run>();
  run->contexts = progress.facts_alone ? std::vector<double>() : contexts();
  if (std::string problem = fit_designs(in, own, machine, out, *run); !problem.empty())
    return {.facts = {.reason = std::move(problem)}};
  out.fit = out.designs.front().fit;
  if (!(out.fit.sequences > 0)) out.fit.step_s = out.fit.tokens_per_s = none;
  if (!std::isfinite(out.fit.longest_tokens)) out.fit.longest_tokens = none;
  out.elements = out.designs.front().elements;
  out.query_heads = static_cast<double>(own.heads);
  out.layers = static_cast<double>(own.layers);
  out.total_bytes = static_cast<double>(in.batch) * out.fit.sequence_bytes;
  out.room_tokens =
      std::max(0.0, std::floor(out.fit.room_bytes / out.fit.held_bytes * static_cast<double>(in.context)));
  compare_designs(out);
  auto tiers = tiers_of(in, **chip, machine, out.fit);
  if (!tiers) return {.facts = {.reason = tiers.error}};
  out.tiers = std::move(*tiers);
  for (const TierRow& row : out.tiers) {
    out.parked_tokens += row.tier.tokens;
    out.parked_sequences += row.tier.sequences;
    out.farthest_worth += row.tier.gain > 1;
  }
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::inference::kv_cache
