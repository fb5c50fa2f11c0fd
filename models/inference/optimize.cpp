#include "models/inference/optimize.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "models/base/integer_math.h"
#include "models/inference/kv_cache.h"
#include "models/inference/launch_chain.h"
#include "models/inference/speculative.h"
#include "models/inference/tensor_decode.h"
#include "models/machine/roofline.h"
#include "models/transformer/layer_ops.h"
#include "models/transformer/roofline_ops.h"
#include "models/transformer/weight_storage.h"

namespace models::inference {

/// The operations of a job's passes, each list made once.
class OperationLists {
 public:
  explicit OperationLists(const RequestJob& job) : model_(*job.architecture), draft_(model_) {
    draft_.layers = job.draft_layers;
    if (!draft_.layer_forms.empty()) draft_.layer_forms.resize(static_cast<std::size_t>(job.draft_layers));
  }
  /// The model, or the draft: the model's first layers with its embedding and output matrix.
  const Architecture& architecture(bool draft) const { return draft ? draft_ : model_; }
  const std::vector<LayerOperation>& find(bool draft, const Workload& workload) {
    for (const auto& one : listed_)
      if (one->draft == draft && one->workload == workload) return one->operations;
    auto made = std::make_unique<Listed>(Listed{draft, workload, model_operations(architecture(draft), workload)});
    return listed_.emplace_back(std::move(made))->operations;
  }

 private:
  struct Listed {
    bool draft = false;
    Workload workload;
    std::vector<LayerOperation> operations;
  };
  const Architecture& model_;
  Architecture draft_;
  std::vector<std::unique_ptr<Listed>> listed_;
};

namespace {

/// What the changes make of the job: formats, peaks and rates of one chip.
struct Pricing {
  const RequestJob& job;
  ChangeSet set;
  OperationLists& lists;
  double weight_bytes = 2, cache_bytes = 2;
  double product_peak = 0, other_peak = 0;  ///< FLOP/s that products and all else reach
  double peak = 0;                          ///< stated for the products' format
  double weight_rate = 0, other_rate = 0;   ///< bytes/s that products and all else reach
  double chips = 1, copies = 1;
};

/// Passes of the same operations, and where they run.
struct PassSpec {
  bool draft = false;
  Phase phase = Phase::decode;
  std::int64_t tokens = 1;  ///< new ones of each request in decode
  bool graph = false;
  std::int64_t requests = 0, sequence = 0, prefix = 0;  ///< prefill; 0: the job's batch, its prompt, nothing cached
  std::int64_t batch(const RequestJob& job) const { return requests > 0 ? requests : job.batch; }
  std::int64_t prompt(const RequestJob& job) const { return sequence > 0 ? sequence : job.prompt; }
};

bool divided(const LayerOperation& op, bool whole_head) {
  switch (op.group) {
    case OperationGroup::projection:
    case OperationGroup::attention:
    case OperationGroup::feed_forward:
    case OperationGroup::experts:
      return true;
    case OperationGroup::output:
      return !whole_head;
    default:
      return false;
  }
}

bool reads_cache(const LayerOperation& op) {
  return op.group == OperationGroup::attention && op.shape.k > 0;  // products of the attention group
}

bool reads_weights(const LayerOperation& op) { return op.group != OperationGroup::attention && op.shape.k > 0; }

Workload workload_of(const Pricing& p, const PassSpec& spec) {
  Workload w;
  w.phase = spec.phase;
  w.batch = spec.batch(p.job);
  w.sequence = spec.prompt(p.job);
  w.prefix = spec.prefix;
  w.context = std::max<std::int64_t>(1, p.job.prompt + p.job.output / 2);
  w.decode_tokens = spec.tokens;
  w.weight_bytes = p.weight_bytes;
  w.kv_bytes = p.cache_bytes;
  w.fused_attention = p.set.has(RequestChange::flash_attention);
  w.fused_elementwise = p.set.has(RequestChange::fusion);
  return w;
}

LaunchChain eager_launch(double kernel_s, const LaunchHost& host) {
  return one_launch(kernel_s, host.between_s, host.launch_s, host.latency_s);
}

/// One operation as kernels of a chain, and its work, once.
LaunchChain add_operation(const Pricing& p, const LayerOperation& op, RequestPass& pass, double repeats) {
  const RequestJob& job = p.job;
  const bool fused = p.set.has(RequestChange::fusion);
  const double kernels = fused ? 1 : as_double(eager_kernels(op, *p.job.architecture));
  const double parts = op.name == "cache write" ? kernels : 1;  // each of its two kernels writes its half
  const double share = divided(op, job.whole_head) ? 1 / p.chips : 1;
  const bool product = reads_weights(op);
  double bytes = op.forward.bytes() * share / parts;
  if (reads_cache(op)) bytes *= p.copies;
  const double flops = op.forward.flops * share,
               kernel_s = std::max({flops / (product ? p.product_peak : p.other_peak),
                                    bytes / (product ? p.weight_rate : p.other_rate), job.least_kernel_s});
  const double weights = product ? op.shape.batch * op.shape.n * op.shape.k * p.weight_bytes * share : 0;
  pass.kernels += repeats * kernels;
  pass.busy_s += repeats * kernels * kernel_s;
  if (product) pass.product_s += repeats * kernels * kernel_s;
  if (reads_cache(op)) pass.attention_s += repeats * kernels * kernel_s;
  pass.flops += repeats * flops;
  pass.weight_bytes += repeats * weights;
  pass.other_bytes += repeats * (kernels * bytes - weights);
  return eager_launch(kernel_s, job.host).repeated(kernels);
}

/// The all-reduces after attention and after feed-forward: Megatron's, of [tokens, hidden] in two bytes each.
LaunchChain add_talk(const Pricing& p, const PassSpec& spec, RequestPass& pass, double repeats) {
  const RequestJob& job = p.job;
  const double tokens =
      as_double(spec.batch(job)) * as_double(spec.phase == Phase::decode ? spec.tokens : spec.prompt(job));
  const AllReduceTime one =
      all_reduce_time(AllReduceAlgorithm::fastest, {.ranks = job.chips, .ranks_per_node = job.chips}, job.links,
                      tokens * as_double(job.architecture->hidden) * 2);
  const double each_s = std::max(one.total_s(), job.least_kernel_s);
  pass.kernels += 2 * repeats;
  pass.busy_s += 2 * repeats * each_s;
  pass.talk_s += 2 * repeats * each_s;
  return eager_launch(each_s, job.host).repeated(2);
}

/// Keys and values that attention reads in the pass, on one chip.
double cache_read_bytes(const Pricing& p, const PassSpec& spec, const Workload& w) {
  if (spec.phase != Phase::decode) return 0;
  return as_double(w.batch) * kv_cache_bytes(p.lists.architecture(spec.draft), as_double(w.context), p.cache_bytes) *
         p.copies / p.chips;
}

/// One pass, layer by layer: its kernels one after the other, or all of them as one graph.
LaunchChain add_pass(const Pricing& p, const PassSpec& spec, RequestPass& pass) {
  const Workload w = workload_of(p, spec);
  LaunchChain whole;
  const std::vector<LayerOperation>& operations = p.lists.find(spec.draft, w);
  RequestPass own;
  std::size_t i = 0;
  while (i < operations.size()) {
    std::size_t end = i;
    LaunchChain layer;
    const bool in_layers = operations[i].layer != "embedding" && operations[i].layer != "output";
    const double repeats = in_layers ? as_double(operations[i].count) : 1;
    for (; end < operations.size() && operations[end].layer == operations[i].layer; ++end)
      layer = layer.then(add_operation(p, operations[end], own, repeats));
    if (in_layers && p.chips > 1) layer = layer.then(add_talk(p, spec, own, repeats));
    whole = whole.then(layer.repeated(repeats));
    i = end;
  }
  own.cache_bytes = cache_read_bytes(p, spec, w);
  own.other_bytes = std::max(0.0, own.other_bytes - own.cache_bytes);
  own.launches = spec.graph ? 1 : own.kernels;
  pass += own;
  if (!spec.graph) return whole;
  const LaunchHost& host = p.job.host;
  return one_launch(own.busy_s + (own.kernels - 1) * host.graph_between_s, host.graph_between_s, host.graph_launch_s,
                    host.latency_s);
}

Format product_format(const Pricing& p) {
  if (!p.set.has(RequestChange::eight_bit_weights) || p.set.has(RequestChange::four_bit_weights)) return Format::bf16;
  switch (p.job.eight_bits) {
    case EightBits::int8:
      return Format::int8;
    case EightBits::fp8:
      return Format::fp8;
    default:
      return Format::bf16;
  }
}

std::string request_size_problem(const RequestJob& job) {
  const auto within = [](std::int64_t n, std::int64_t most) { return n >= 1 && n <= most; };
  if (!within(job.prompt, 1 << 20) || !within(job.output, 1 << 20))
    return "The prompt and the output must have from 1 to 1,048,576 tokens.";
  if (!within(job.batch, 65536)) return "The batch must be from 1 to 65,536 requests.";
  if (!within(job.draft_length, 64) || !within(job.draft_layers, job.architecture->layers))
    return "The draft must guess from 1 to 64 tokens and have from 1 to " + std::to_string(job.architecture->layers) +
           " layers, as many as the model.";
  if (!(job.acceptance >= 0 && job.acceptance <= 1)) return "The chance that a drafted token is kept must be 0 to 1.";
  return {};
}

/// Formats, rates and chips of the job with these changes.
Result<Pricing> pricing_of(const RequestJob& job, ChangeSet set, OperationLists& lists) {
  using Out = Result<Pricing>;
  Pricing p{.job = job, .set = set, .lists = lists};
  const Architecture& a = *job.architecture;
  if (a.moe.routed > 0 && !set.has(RequestChange::fusion))
    return Out::fail(
        "Without a compiler a layer of experts is a loop whose launches depend on the tokens and are not counted here: "
        "let compiler fusion be there from the start, or choose a model without experts.");
  const auto wide = nearest_format(*job.chip, Format::bf16);
  if (!wide)
    return Out::fail("The " + job.chip->name + " states no peak for products in 16 bits: choose another chip.");
  const auto machine = machine_of(*job.chip, *wide);
  if (!machine) return Out::fail(machine.error);
  const Format format = product_format(p);
  p.peak = machine->peak_flops_per_s;
  p.other_peak = job.shares.peak * p.peak;
  if (format != Format::bf16) {
    const auto narrow = machine_of(*job.chip, format);
    if (!narrow) return Out::fail(narrow.error);
    p.peak = narrow->peak_flops_per_s;
  }
  p.product_peak = job.shares.peak * p.peak;
  const bool four = set.has(RequestChange::four_bit_weights), eight = set.has(RequestChange::eight_bit_weights);
  p.weight_bytes = four ? job.four_bits / 8 : eight ? 1 : 2;
  if (set.has(RequestChange::eight_bit_cache)) p.cache_bytes = job.cache_bits / 8;
  const double bandwidth = machine->bandwidth_bytes_per_s;
  p.other_rate = bandwidth * job.shares.bits16;
  const bool widened = eight && job.eight_bits == EightBits::int8_weights;
  p.weight_rate = bandwidth * (four ? job.shares.bits4 : widened ? job.shares.bits8 : job.shares.bits16);
  if (set.has(RequestChange::tensor_parallel) && job.chips > 1) {
    if (std::string problem = decode_cut_problem(a, job.chips); !problem.empty()) return Out::fail(std::move(problem));
    if (!(job.links.inside_bytes_per_s > 0))
      return Out::fail("Nobody states how fast " + job.chip->short_name + " chips are linked: take another chip.");
    p.chips = as_double(job.chips);
    p.copies = kv_copies(a, {.chip = job.chip, .chips = job.chips});
  }
  return Out::ok(std::move(p));
}

/// A chip's weights, caches at the end, draft, and the scores of one layer where they are stored.
void set_held(const Pricing& p, bool drafts, RequestState& s) {
  const RequestJob& job = p.job;
  const Architecture& a = *job.architecture;
  const double batch = as_double(job.batch), prompt = as_double(job.prompt), tokens = prompt + as_double(job.output);
  s.weights_held_bytes = stored_weight_bytes(a, 8 * p.weight_bytes) / p.chips;
  s.caches_held_bytes = batch * kv_cache_bytes(a, tokens, p.cache_bytes) * p.copies / p.chips;
  if (const Architecture& draft = p.lists.architecture(true); drafts) {
    s.weights_held_bytes += layer_matrix_parameters(draft) * p.weight_bytes / p.chips;
    s.caches_held_bytes += batch * kv_cache_bytes(draft, tokens, p.cache_bytes) * p.copies / p.chips;
  }
  if (!p.set.has(RequestChange::flash_attention))
    s.scores_held_bytes = batch * as_double(a.heads) / p.chips * prompt * prompt * 2;
  s.held_bytes = s.weights_held_bytes + s.caches_held_bytes + s.scores_held_bytes;
}

}  // namespace

RequestPass& RequestPass::operator+=(const RequestPass& o) {
  kernels += o.kernels;
  launches += o.launches;
  busy_s += o.busy_s;
  talk_s += o.talk_s;
  product_s += o.product_s;
  attention_s += o.attention_s;
  time_s += o.time_s;
  flops += o.flops;
  weight_bytes += o.weight_bytes;
  cache_bytes += o.cache_bytes;
  other_bytes += o.other_bytes;
  return *this;
}

RequestPricer::RequestPricer(const RequestJob& job) : job_(job) {}
RequestPricer::~RequestPricer() = default;

Result<RequestState> RequestPricer::price(ChangeSet set) {
  using Out = Result<RequestState>;
  const RequestJob& job = job_;
  if (std::string problem = request_size_problem(job); !problem.empty()) return Out::fail(std::move(problem));
  if (!lists_) lists_ = std::make_unique<OperationLists>(job);
  auto pricing = pricing_of(job, set, *lists_);
  if (!pricing) return Out::fail(std::move(pricing.error));
  const Pricing& p = *pricing;
  const bool speculates = set.has(RequestChange::speculative), graph = set.has(RequestChange::graph);
  RequestState s{.peak_flops_per_s = p.peak, .chips = static_cast<std::int64_t>(p.chips)};
  LaunchChain prompts = add_pass(p, {.phase = Phase::prefill}, s.prefill), round;
  std::int64_t checked = 1;
  if (speculates) {
    prompts = prompts.then(add_pass(p, {.draft = true, .phase = Phase::prefill}, s.prefill));
    RequestPass guess;
    const LaunchChain one = add_pass(p, {.draft = true, .graph = graph}, guess);
    for (std::int64_t i = 0; i < job.draft_length; ++i) {
      round = round.then(one);
      s.decode += guess;
    }
    s.tokens = expected_tokens(job.acceptance, as_double(job.draft_length));
    checked = job.draft_length + 1;
  }
  round = round.then(add_pass(p, {.tokens = checked, .graph = graph}, s.decode));
  s.prefill.time_s = prompts.period_s(job.host.launch_s, job.host.latency_s);
  s.decode.time_s = round.period_s(graph ? job.host.graph_launch_s : job.host.launch_s, job.host.latency_s);
  const double batch = as_double(job.batch), output = as_double(job.output);
  s.ttft_s = s.prefill.time_s;
  s.tpot_s = s.decode.time_s / s.tokens;
  s.request_s = s.ttft_s + (output - 1) * s.tpot_s;
  s.tokens_per_s = batch * output / s.request_s;
  s.bytes_per_token = (s.decode.weight_bytes + s.decode.cache_bytes) * p.chips / (batch * s.tokens);
  set_held(p, speculates, s);
  s.fits = s.held_bytes <= job.memory_share * job.chip->memory_bytes;
  return Out::ok(std::move(s));
}

Result<RequestPass> RequestPricer::price_prompts(ChangeSet set, std::int64_t requests, std::int64_t new_tokens,
                                                 std::int64_t prefix) {
  using Out = Result<RequestPass>;
  if (std::string problem = request_size_problem(job_); !problem.empty()) return Out::fail(std::move(problem));
  if (requests < 1 || new_tokens < 1 || prefix < 0 || new_tokens + prefix > 1 << 20)
    return Out::fail("A pass over prompts takes at least one request and one token, and 1,048,576 tokens at most.");
  if (!lists_) lists_ = std::make_unique<OperationLists>(job_);
  auto pricing = pricing_of(job_, set, *lists_);
  if (!pricing) return Out::fail(std::move(pricing.error));
  const Pricing& p = *pricing;
  PassSpec spec{.phase = Phase::prefill, .requests = requests, .sequence = new_tokens, .prefix = prefix};
  RequestPass pass;
  LaunchChain chain = add_pass(p, spec, pass);
  if (set.has(RequestChange::speculative)) {
    spec.draft = true;
    chain = chain.then(add_pass(p, spec, pass));
  }
  pass.time_s = chain.period_s(job_.host.launch_s, job_.host.latency_s);
  return Out::ok(pass);
}

Result<RequestState> price_request(const RequestJob& job, ChangeSet changes) {
  return RequestPricer(job).price(changes);
}

}  // namespace models::inference
