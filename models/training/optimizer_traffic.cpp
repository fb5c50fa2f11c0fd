#include "models/training/optimizer_traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace models {
namespace {

using enum OptimizerTensor;

double sum(const std::vector<OptimizerAccess>& list) {
  return std::accumulate(list.begin(), list.end(), 0.0, [](double s, const OptimizerAccess& a) { return s + a.bytes; });
}

/// Bytes of each tensor by recipe, and the passes that a recipe adds around those of the algorithm.
struct Widths {
  double state = 4;  ///< bytes of a weight, a moment or a temporary in the update
  double gradient = 4, copy = 0;

  explicit Widths(OptimizerRecipe recipe) {
    if (recipe == OptimizerRecipe::bf16) state = gradient = 2;
    if (recipe == OptimizerRecipe::master) gradient = copy = 2;
  }
  bool mixed() const { return copy > 0; }
};

class PassWriter {
 public:
  explicit PassWriter(OptimizerRecipe recipe) : w_(recipe) {}

  /// Letters name tensors: p weight, g gradient, m moment, v variance, t temporary, x a BF16 temporary.
  void add(std::string_view name, std::string_view reads, std::string_view writes, double per_side = 0,
           double per_square = 0) {
    out_.push_back({.name = name, .reads = {}, .writes = {}, .per_side = per_side, .per_square = per_square});
    for (const char c : reads) out_.back().reads.push_back(access(c));
    for (const char c : writes) out_.back().writes.push_back(access(c));
  }
  /// Operations of PyTorch take operands of one format: the gradient is widened first, the weights are copied last.
  void widen() {
    if (!w_.mixed()) return;
    out_.push_back({"widen g", {{gradient, w_.gradient}}, {{temporary, w_.state}}});
    widened_ = true;
  }
  void narrow() {
    if (w_.mixed()) out_.push_back({"to BF16", {{weight, w_.state}}, {{copy, w_.copy}}});
  }
  /// One pass over the algorithm's tensors; a mixed recipe writes the BF16 weights in it.
  void fuse(std::string_view name, std::string_view reads, std::string_view writes) {
    add(name, reads, writes);
    if (w_.mixed()) out_.back().writes.push_back({copy, w_.copy});
  }
  /// The host waits for what the last pass computes.
  void reads_back() { out_.back().read_back = true; }
  /// Moments in 8 bits with a scale of 4 B for 256 elements.
  void narrow_moments() {
    for (auto* list : {&out_.back().reads, &out_.back().writes})
      for (OptimizerAccess& a : *list)
        if (a.tensor == moment || a.tensor == variance) a.bytes = 1 + 4.0 / 256;
  }
  std::vector<OptimizerPass> take() { return std::move(out_); }

 private:
  OptimizerAccess access(char c) const {
    switch (c) {
      case 'p':
        return {weight, w_.state};
      case 'g':
        return widened_ ? OptimizerAccess{temporary, w_.state} : OptimizerAccess{gradient, w_.gradient};
      case 'm':
        return {moment, w_.state};
      case 'v':
        return {variance, w_.state};
      case 'x':
        return {temporary, 2};
      default:
        return {temporary, w_.state};
    }
  }

  Widths w_;
  bool widened_ = false;
  std::vector<OptimizerPass> out_;
};

void write_adamw(PassWriter& w, bool fused) {
  if (fused) {
    w.fuse("AdamW, all of it", "pgmv", "pmv");
    return;
  }
  w.widen();
  w.add("p decays", "p", "p");
  w.add("m lerp g", "mg", "m");
  w.add("v \xC3\x97 \xCE\xB2\xE2\x82\x82", "v", "v");
  w.add("v + g\xC2\xB2", "vg", "v");
  w.add("\xE2\x88\x9Av", "v", "t");
  w.add("/ bias", "t", "t");
  w.add("+ \xCE\xB5", "t", "t");
  w.add("p - m / t", "pmt", "p");
  w.narrow();
}

void write_lion(PassWriter& w, bool fused) {
  if (fused) {
    w.fuse("Lion, all of it", "pgm", "pm");
    return;
  }
  w.widen();
  w.add("p decays", "p", "p");
  w.add("copy m", "m", "t");
  w.add("t \xC3\x97 \xCE\xB2\xE2\x82\x81", "t", "t");
  w.add("t + g", "tg", "t");
  w.add("sign t", "t", "t");
  w.add("p - t", "pt", "p");
  w.add("m \xC3\x97 \xCE\xB2\xE2\x82\x82", "m", "m");
  w.add("m + g", "mg", "m");
  w.narrow();
}

/// The sums over rows and columns, and of squares, need passes of their own, however it is fused.
void write_adafactor(PassWriter& w, bool fused, bool lists) {
  if (fused) {
    w.add("rows, columns, |p|", "pg", "");
    w.add("|update|", "g", "");
    w.fuse("update", "pg", "p");
    return;
  }
  w.widen();
  w.add("|p|", "p", "");
  w.reads_back();
  w.add("p decays", "p", "p");
  w.add("rows of g\xC2\xB2", "g", "");
  w.add("columns of g\xC2\xB2", "g", "");
  w.add("rows \xC3\x97 columns", "", "t");
  w.add("t / mean", "t", "t");
  w.add("t clamp", "t", "t");
  w.add("1 / \xE2\x88\x9At", "t", "t");
  w.add("t \xC3\x97 g", "tg", "t");
  w.add("|t|", "t", "");
  w.reads_back();
  if (lists) w.add("t \xC3\x97 \xCE\xB1", "t", "t");
  w.add("p - t", "pt", "p");
  w.narrow();
}

void write_muon(PassWriter& w, bool fused) {
  if (fused) {
    w.add("momentum to BF16", "gm", "mx");
  } else {
    w.widen();
    w.add("m lerp g", "mg", "m");
    w.add("g lerp m", "gm", "t");
    w.add("t to BF16", "t", "x");
    w.add("|x|", "x", "");
    w.add("x / |x|", "x", "x");
  }
  for (int i = 0; i < 5; ++i) {
    w.add("x x'", "x", "x", 2);
    w.add("b a + c a\xC2\xB2", "x", "x", 0, 2);
    w.add("a x + b x", "xx", "x", 2);
  }
  if (fused) {
    w.fuse("p - x", "px", "p");
    return;
  }
  w.add("p decays", "p", "p");
  w.add("p - x", "px", "p");
  w.narrow();
}

}  // namespace

double OptimizerPass::read_bytes() const { return sum(reads); }
double OptimizerPass::write_bytes() const { return sum(writes); }

std::vector<OptimizerPass> optimizer_passes(OptimizerKind kind, UpdateCode code, OptimizerRecipe recipe) {
  PassWriter w(recipe);
  const bool fused = code == UpdateCode::fused;
  switch (kind) {
    case OptimizerKind::adamw:
      write_adamw(w, fused);
      break;
    case OptimizerKind::adamw_8bit:
      w.fuse("8-bit AdamW, all of it", "pgmv", "pmv");
      w.narrow_moments();
      break;
    case OptimizerKind::adafactor:
      write_adafactor(w, fused, code == UpdateCode::foreach);
      break;
    case OptimizerKind::lion:
      write_lion(w, fused);
      break;
    case OptimizerKind::muon:
      write_muon(w, fused);
      break;
  }
  return w.take();
}

OptimizerStorage optimizer_storage(OptimizerKind kind, UpdateCode code, OptimizerRecipe recipe) {
  const Widths w(recipe);
  OptimizerStorage s{.weight_bytes = w.mixed() ? w.copy : w.state,
                     .gradient_bytes = w.gradient,
                     .master_bytes = w.mixed() ? w.state : 0};
  switch (kind) {
    case OptimizerKind::adamw:
      s.state_bytes = 2 * w.state;
      break;
    case OptimizerKind::adamw_8bit:
      s.state_bytes = 2 * (1 + 4.0 / 256);
      break;
    case OptimizerKind::adafactor:
      s.state_bytes = 0;  // a row and a column of each matrix: below a thousandth
      break;
    case OptimizerKind::lion:
    case OptimizerKind::muon:
      s.state_bytes = w.state;
      break;
  }
  // Lists keep the widened gradient and the temporary of every parameter until the end.
  if (code == UpdateCode::foreach && kind != OptimizerKind::adamw_8bit)
    s.temporary_bytes = w.state + (w.mixed() ? w.state : 0);
  return s;
}

namespace {

/// Families whose checkpoints hold queries, keys and values as one matrix.
bool joins_queries_and_keys(const Architecture& a) {
  static constexpr std::string_view joined[] = {"gpt2", "gpt_neox", "bloom", "mpt", "falcon", "phi3"};
  return std::find(std::begin(joined), std::end(joined), a.model_type) != std::end(joined);
}

}  // namespace

std::string_view optimizer_home(OptimizerKind kind, UpdateCode code) {
  const bool looped = code == UpdateCode::looped, fused = code == UpdateCode::fused;
  switch (kind) {
    case OptimizerKind::adamw:
      return "torch.optim";
    case OptimizerKind::adamw_8bit:
      return "bitsandbytes";
    case OptimizerKind::adafactor:
      return fused ? "" : "torch.optim";
    case OptimizerKind::lion:
      return fused ? "bitsandbytes" : "timm";
    case OptimizerKind::muon:
      return looped ? "torch.optim" : "";
  }
  return "";
}

std::vector<ParameterTensor> parameter_tensors(const Architecture& a) {
  std::vector<ParameterTensor> out;
  const ParameterCount all = count_parameters(a);
  double known = 0;
  const auto add = [&](double elements, double count, double one_side = 0) {
    if (!(elements > 0) || !(count > 0)) return;
    out.push_back({elements, count, one_side > 0 ? std::min(one_side, elements / one_side) : 0});
    known += elements * count;
  };
  const double layers = static_cast<double>(a.layers), hidden = static_cast<double>(a.hidden),
               head_bias = a.head_bias ? static_cast<double>(a.vocab) : 0, norm = a.norm_bias ? 2 : 1;
  add(static_cast<double>(all.embedding), 1);
  add(static_cast<double>(all.head) - head_bias, 1);
  add(head_bias, 1);
  add(static_cast<double>(all.positions), 1);
  add(hidden, a.final_norm ? norm : 0);
  add(hidden, a.embedding_norm ? norm : 0);
  const LayerParameters& sums = all.layers;
  if (a.has_latent()) {
    add(static_cast<double>(sums.attention) / (5 * layers), 5 * layers, hidden);
  } else {
    const double queries = static_cast<double>(a.heads * a.head_dim),
                 keys = static_cast<double>(a.kv_heads * a.head_dim);
    add(hidden * queries, layers, hidden);  // the output
    for (const double rows :
         joins_queries_and_keys(a) ? std::vector{queries + 2 * keys} : std::vector{queries, keys, keys}) {
      add(hidden * rows, layers, hidden);
      add(rows, a.qkv_bias ? layers : 0);
    }
    add(hidden, a.output_bias ? layers : 0);
  }
  const double matrices = a.gated ? 3 : 2;
  const double inner = static_cast<double>(a.ffn);
  if (a.mlp_bias && a.moe.routed == 0) {
    add(hidden * inner, matrices * layers, hidden);
    add(inner, (matrices - 1) * layers);
    add(hidden, layers);
  } else {
    add(static_cast<double>(sums.dense_ffn) / (matrices * layers), matrices * layers, hidden);
  }
  const auto add_ffn = [&](double elements, double tensors) { add(elements / tensors, tensors, hidden); };
  add_ffn(static_cast<double>(sums.routed_experts), matrices * layers);
  add_ffn(static_cast<double>(sums.shared_experts), matrices * layers);
  add(hidden, static_cast<double>(a.norms_per_layer) * norm * layers);
  if (a.qk_norm) {
    const double head = static_cast<double>(a.head_dim);
    add(a.qk_norm_whole ? head * static_cast<double>(a.heads) : head, norm * layers);
    add(a.qk_norm_whole ? head * static_cast<double>(a.kv_heads) : head, norm * layers);
  }
  const double rest = static_cast<double>(all.total) - known;
  if (rest > 0) add(rest / layers, layers);
  return out;
}

double mean_state_bytes(OptimizerKind kind, OptimizerRecipe recipe, const std::vector<ParameterTensor>& tensors,
                        double width) {
  const double plain = optimizer_storage(kind, UpdateCode::fused, recipe).state_bytes,
               adamw = optimizer_storage(OptimizerKind::adamw, UpdateCode::fused, recipe).state_bytes;
  double bytes = 0, elements = 0;
  for (const ParameterTensor& t : tensors) {
    elements += t.count * t.elements;
    if (kind == OptimizerKind::adafactor) {
      const double side = t.side > 0 ? t.side : width;
      const bool matrix = t.elements > side;
      bytes += t.count * (matrix ? side + t.elements / side : t.elements) * adamw / 2;
    } else {
      bytes += t.count * t.elements * (kind == OptimizerKind::muon && !(t.side > 0) ? adamw : plain);
    }
  }
  return bytes / elements;
}

namespace {

/// Lists of tensors that a pass goes through: each once, whether it is read, written or both.
std::size_t lists_of(const OptimizerPass& pass) {
  std::size_t lists = pass.reads.size();
  for (const OptimizerAccess& w : pass.writes)
    lists += std::none_of(pass.reads.begin(), pass.reads.end(),
                          [&](const OptimizerAccess& r) { return r.tensor == w.tensor && r.bytes == w.bytes; });
  return lists;
}

/// Adds what the passes take over these tensors.
void add_time(const std::vector<OptimizerPass>& passes, bool lists, const std::vector<ParameterTensor>& tensors,
              double shards, const OptimizerMachine& machine, TimedOptimizer& out) {
  // 110 tensors of one list, 64 of two, 48 of three and 36 of four fit into the arguments of a kernel.
  constexpr double max_chunks = 320, chunk = 65536, max_tensors[] = {110, 64, 48, 36};
  double all = 0, number = 0;
  for (const ParameterTensor& t : tensors) {
    all += t.elements * t.count / shards;
    number += t.count;
  }
  for (const OptimizerPass& pass : passes) {
    OptimizerPassTime& spent = out.passes.emplace_back();
    if (pass.read_back) spent.launch_s += number * read_back_launches * machine.launch_s;
    const auto traffic_s = [&](double elements) { return elements * pass.bytes() / machine.bandwidth_bytes_per_s; };
    out.bytes += all * pass.bytes();
    out.traffic_s += traffic_s(all);
    if (lists && !pass.product()) {
      const std::size_t depth = std::clamp<std::size_t>(lists_of(pass), 1, 4);
      const double kernels =
          std::max(std::ceil(all / (max_chunks * chunk)), std::ceil(number / max_tensors[depth - 1]));
      out.launches += kernels;
      const double waits = kernels * machine.launch_s;
      (traffic_s(all) >= waits ? spent.traffic_s : spent.launch_s) += std::max(traffic_s(all), waits);
      out.time_s += spent.time_s();
      continue;
    }
    for (const ParameterTensor& t : tensors) {
      const double elements = t.elements / shards,
                   flops = pass.product() ? elements * (pass.per_side * t.side +
                                                        pass.per_square * t.side * t.side * t.side / t.elements)
                                          : 0;
      out.flops += t.count * flops;
      out.launches += t.count;
      const double bytes_s = traffic_s(elements), product_s = flops / machine.matrix_flops_per_s,
                   longest = std::max({bytes_s, product_s, machine.launch_s});
      (longest == product_s ? spent.product_s
       : longest == bytes_s ? spent.traffic_s
                            : spent.launch_s) += t.count * longest;
    }
    out.time_s += spent.time_s();
  }
}

}  // namespace

TimedOptimizer time_optimizer(OptimizerKind kind, UpdateCode code, OptimizerRecipe recipe,
                              const std::vector<ParameterTensor>& tensors, double shards,
                              const OptimizerMachine& machine) {
  TimedOptimizer out;
  const bool lists = code != UpdateCode::looped && kind != OptimizerKind::adamw_8bit;
  if (kind != OptimizerKind::muon) {
    add_time(optimizer_passes(kind, code, recipe), lists, tensors, shards, machine, out);
    return out;
  }
  std::vector<ParameterTensor> matrices, others;
  for (const ParameterTensor& t : tensors) (t.side > 0 ? matrices : others).push_back(t);
  add_time(optimizer_passes(kind, code, recipe), lists, matrices, shards, machine, out);
  add_time(optimizer_passes(OptimizerKind::adamw, code, recipe), lists, others, shards, machine, out);
  return out;
}

}  // namespace models
