#pragma once

/// What one operation costs: floating-point operations and bytes of main-memory traffic. One function per operation,
/// used by prediction (models, chapters) and by measurement (kernels) alike.
///
/// Counting rules, the same everywhere:
/// - a multiply-add is two flops;
/// - each operand is read once and each result written once: perfect reuse on chip, so bytes are a lower bound;
/// - sizes are doubles, so that expected values (experts touched by a batch) are as good as counts;
/// - `*_bytes` arguments are bytes per element of that operand.
namespace models {

/// Work of one operation. Intensity over zero bytes is reported as 0, never as infinity.
struct OpCost {
  double flops = 0;
  double read_bytes = 0;
  double write_bytes = 0;

  constexpr double bytes() const { return read_bytes + write_bytes; }
  constexpr double intensity() const { return bytes() > 0 ? flops / bytes() : 0; }  ///< flop per byte
  constexpr OpCost& operator+=(const OpCost& other) {
    flops += other.flops;
    read_bytes += other.read_bytes;
    write_bytes += other.write_bytes;
    return *this;
  }
  bool operator==(const OpCost&) const = default;
};
constexpr OpCost operator+(OpCost a, const OpCost& b) { return a += b; }
constexpr OpCost operator*(OpCost a, double times) {
  return {a.flops * times, a.read_bytes * times, a.write_bytes * times};
}

/// C[m,n] = A[m,k] B[k,n]: 2mnk flops, (mk a + kn b) read, mn c written. Source: Williams et al. 2009 for intensity; a
/// square n^3 product in one 2-byte format has intensity n/3.
OpCost gemm(double m, double n, double k, double a_bytes, double b_bytes, double c_bytes);

/// `rows` rows of width k spread over `groups` weight matrices [k,n] (experts): 2 rows n k flops; every group's matrix
/// is read once.
OpCost grouped_gemm(double rows, double n, double k, double groups, double a_bytes, double b_bytes, double c_bytes);

/// Maps `inputs` arrays of `elements` to `outputs` arrays with `flops_per_element` of work for each element position.
OpCost elementwise(double elements, double inputs, double outputs, double flops_per_element, double element_bytes);

/// RMSNorm over `rows` rows of `width`: 4 flops an element (square, add, scale, weight). Weights [width] are read once.
OpCost rms_norm(double rows, double width, double element_bytes, double weight_bytes);

/// LayerNorm over `rows` rows of `width`: 7 flops an element (sum, subtract, square, add, scale, weight, bias) in one
/// read and one write. `parameters_per_element` is 2 (weight and bias), 1 without bias, 0 without either.
OpCost layer_norm(double rows, double width, double element_bytes, double weight_bytes,
                  double parameters_per_element = 2);

/// Softmax of each of `rows` rows of `columns`: 5 flops an element (maximum, subtract, exponential, sum, divide).
OpCost softmax(double rows, double columns, double element_bytes);

OpCost gelu(double elements,
            double element_bytes);  ///< 5 flops an element (tanh form, the function itself one), 1 read, 1 write
OpCost silu(double elements, double element_bytes);      ///< x / (1 + exp(-x)): 4 flops an element
OpCost relu(double elements, double element_bytes);      ///< 1 flop an element
OpCost multiply(double elements, double element_bytes);  ///< product of two arrays
OpCost swiglu_gate(double elements,
                   double element_bytes);  ///< silu(gate) * up in one pass: 5 flops, 2 reads, 1 write an element
OpCost geglu_gate(double elements,
                  double element_bytes);  ///< gelu(gate) * up in one pass: 6 flops, 2 reads, 1 write an element
OpCost residual_add(double elements, double element_bytes);  ///< x + f(x): 1 flop, 2 reads, 1 write an element
OpCost copy(double elements, double element_bytes);          ///< STREAM copy: no flops, 1 read, 1 write an element
OpCost triad(double elements,
             double element_bytes);  ///< STREAM triad a = b + s c: 2 flops, 2 reads, 1 write an element

/// Rotary embedding in place on `tokens` tokens of `heads` heads (queries and keys together), `rotary_dim` numbers of
/// each head: 3 flops a number (2x2 rotation of pairs), and the table of cosines and sines, `rotary_dim` numbers a
/// token, read once.
OpCost rope(double tokens, double heads, double rotary_dim, double element_bytes);

/// One attention over a batch. All counts are per batch: `queries` and `keys` per sequence, `pairs` the (query, key)
/// pairs per head and sequence that a kernel which skips masked tiles computes (queries x keys in full, half of that
/// when causal; see attended_pairs). Unfused attention is three plain operations that know of no mask: they compute
/// every pair of queries x keys.
/// `shared_latent`: keys and values are one cached latent vector per token (absorbed MLA), so that it is read once.
struct AttentionShape {
  double batch = 1;
  double heads = 1;
  double kv_heads = 1;
  double queries = 1;
  double keys = 1;
  double qk_dim = 1;
  double v_dim = 1;
  double pairs = 1;
  bool shared_latent = false;
  bool operator==(const AttentionShape&) const = default;
};

/// Scores Q K^T of unfused attention: 2 queries keys qk_dim flops a head; the whole [queries, keys] square of each head
/// is computed and written.
OpCost attention_scores(const AttentionShape& shape, double element_bytes, double kv_bytes);

/// Softmax over the written scores: 5 flops a pair; the square of each head is read and written.
OpCost attention_softmax(const AttentionShape& shape, double element_bytes);

/// Values P V of unfused attention: 2 queries keys v_dim flops a head; reads the square of each head and V, writes the
/// output.
OpCost attention_values(const AttentionShape& shape, double element_bytes, double kv_bytes);

/// Scores, softmax and values in one tiled pass (FlashAttention, Dao et al. 2022): the flops of `pairs` alone, since
/// masked tiles are skipped, and of the bytes only Q, K, V and the output. Tile reloads served by the caches are not
/// counted. Its two products alone: attention_product_flops.
OpCost fused_attention(const AttentionShape& shape, double element_bytes, double kv_bytes);

/// 2 pairs (qk_dim + v_dim) a head: what published attention TFLOP/s count, without the softmax.
double attention_product_flops(const AttentionShape& shape);

/// Query-key pairs per head and sequence when `queries` new tokens follow `past` cached ones.
/// Causal counts the triangle as exactly half its square (Megatron-LM since March 2025); full counts the square (PaLM,
/// Narayanan). `window` > 0: no query looks further back than that many tokens.
double attended_pairs(double queries, double past, double window, bool causal);

/// Row gather from an embedding table: `tokens` rows of `width` read and written; no flops.
OpCost embedding_gather(double tokens, double width, double weight_bytes, double element_bytes);

/// Router of a mixture of experts: logits [tokens, experts] = x W (2 tokens experts width flops), then a softmax and
/// top-k over them (5 flops an expert) held on chip, `top_k` weights and indices of 4 bytes a token written.
OpCost moe_router(double tokens, double width, double experts, double top_k, double element_bytes, double weight_bytes);

/// Permutes tokens into expert order: each token's row is read once and written top_k times.
OpCost moe_dispatch(double tokens, double width, double top_k, double element_bytes);

/// Weighted sum of the top_k expert outputs of each token back into token order: 2 flops a number.
OpCost moe_combine(double tokens, double width, double top_k, double element_bytes);

/// Expected number of different experts that `tokens` tokens touch under uniform routing without replacement inside a
/// token: E (1 - (1 - k/E)^T).
double expected_distinct_experts(double experts, double top_k, double tokens);

}  // namespace models
