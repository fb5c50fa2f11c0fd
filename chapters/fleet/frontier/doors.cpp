#include <charconv>
#include <cmath>

#include "chapters/fleet/frontier/lab.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::fleet::frontier {
namespace {

using Link = models::Result<std::string>;

constexpr auto run_doors = std::to_array<DoorTo>({
    {"open the coin", "What its tokens cost", "fleet/cost"},
    {"open the capacity", "The fleet for such users", "serving/capacity"},
});

/// A model of the sets that other labs have, too.
struct KnownModel {
  std::string_view quality, id;
  models::Format format;
};
constexpr KnownModel known_models[] = {
    {"Llama 3.1 8B", "llama-3.1-8b", models::Format::bf16},
    {"Qwen3 8B", "qwen3-8b", models::Format::bf16},
    {"Gemma 3 27B", "gemma-3-27b", models::Format::bf16},
    {"Qwen3 30B A3B", "qwen3-30b-a3b", models::Format::bf16},
    {"Qwen3 32B", "qwen3-32b", models::Format::bf16},
    {"Llama 3.1 70B", "llama-3.1-70b", models::Format::bf16},
    {"Llama 3.3 70B", "llama-3.1-70b", models::Format::bf16},  // the same architecture
    {"Qwen3 235B A22B FP8", "qwen3-235b-a22b", models::Format::fp8},
    {"Llama 3.1 405B FP8", "llama-3.1-405b", models::Format::fp8},
    {"Llama 3.1 405B", "llama-3.1-405b", models::Format::bf16},
};

/// What a run of ML.ENERGY is called: "2 B200, 256 at once".
struct NamedRun {
  double gpus = 0, users = 0;
  std::string_view chip;
};

NamedRun read_name(std::string_view name) {
  NamedRun out;
  const auto blank = name.find(' '), comma = name.find(", ");
  if (blank == std::string_view::npos || comma == std::string_view::npos || comma < blank) return out;
  const std::string_view chip = name.substr(blank + 1, comma - blank - 1), rest = name.substr(comma + 2);
  std::from_chars(name.data(), name.data() + blank, out.gpus);
  std::from_chars(rest.data(), rest.data() + rest.size(), out.users);
  out.chip = chip == "B200" ? "b200_sxm" : chip == "H100" ? "h100_sxm" : "";
  return out;
}

Link link_to(const Run& run, const Outputs& out, std::string_view lab) {
  const models::fleet::PointSet& set = *run.set;
  const NamedRun named = read_name(out.winner);
  const models::fleet::PointAxis *rate = set.axis("tokens_per_s_per_gpu"), *power = set.axis("power_w_per_gpu"),
                                 *wait = set.axis("median_itl_ms");
  const KnownModel* model = nullptr;
  for (const KnownModel& known : known_models)
    if (known.quality == out.quality_used) model = &known;
  if (!model || named.chip.empty() || !rate || !power || !wait)
    return Link::fail("The best of these points is no run of a model that the other lab knows.");
  const std::size_t winner = run.fronts[run.quality].winner;
  LinkWriter w(lab);
  w.choice("model", model->id);
  w.choice("chip", named.chip);
  w.choice("format", models::format_id(model->format));
  if (lab == "serving/capacity") {
    w.choice("replica_size", "own");
    w.exactly("tensor_parallel", named.gpus);
    w.exactly("tpot_limit_s", (run.x.column == wait && run.x.wall > 0 ? run.x.wall : wait->values[winner]) / 1000);
    return w.link();
  }
  w.exactly("chips", named.gpus);
  w.exactly("users", named.users);
  w.exactly("output_tokens_per_s", named.gpus * rate->values[winner]);
  w.exactly("power_w", named.gpus * power->values[winner]);
  w.number("filled", 100);
  w.number("context", 1024);  // about what a chat of the set holds
  if (const auto chip = find_chip(named.chip)) {
    const models::Price& price = (*chip)->price;
    for (const auto& each : {price.on_demand_usd_per_hour, price.launch_on_demand_usd_per_hour})
      if (each) {
        w.number("price_per_hour", named.gpus * *each);
        break;
      }
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Run& run, const Outputs& out) {
  if (!run.set->axis("tokens_per_s_per_gpu")) return {};
  return lab_doors(run_doors, [&](std::string_view lab) { return link_to(run, out, lab); });
}

}  // namespace chapters::fleet::frontier
