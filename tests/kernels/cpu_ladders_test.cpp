// Every rung of every CPU ladder, at sizes that fill no vector and no tile.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/operation.h"
#include "models/machine/op_cost.h"

using namespace kernels;
using cpu::Buffer;

namespace {

/// The requested size at which an operation has `n` elements, lines or rows.
std::int64_t size_for(const Ladder& ladder, std::int64_t n) {
  if (ladder.id == "cpu-copy" || ladder.id == "cpu-triad" || ladder.id == "cpu-triad-threads" || ladder.id == "cpu-sum")
    return 4 * n + 3;                                                      // three bytes that are no float
  if (ladder.id.ends_with("-sets")) return 4096 * (n + 10) + 60;           // in pages
  if (ladder.id == "cpu-layernorm") return std::min<std::int64_t>(n, 17);  // 1024 rows of them
  return ladder.id == "cpu-latency" ? 64 * std::max<std::int64_t>(n, 16) + 60 : n;
}

}  // namespace

TEST_CASE("every rung is right at awkward sizes, cold and warm, or says what the CPU lacks") {
  for (const Ladder& ladder : cpu::ladders())
    for (const std::int64_t n : {1, 7, 17, 100, 131}) {
      std::map<std::string, Result> results;
      const Request request{
          .ladder = std::string(ladder.id),
          .size = size_for(ladder, n),
          .cold = n % 2 == 1,
          .seed = static_cast<std::uint64_t>(n),
          .seconds_per_rung = 1e-4,
      };
      const std::string failure =
          run(request, {.result = [&](const Result& r) { return results.emplace(r.rung, r).second; }}).error;
      INFO(ladder.id << " at " << request.size << " " << failure);
      CHECK(failure.empty());
      CHECK(results.size() == ladder.rungs.size());
      const models::OpCost cost = ladder.cost(request.size);
      for (const auto& [rung, r] : results) {
        INFO(rung << ": " << r.failure);
        if (!r.failure.empty()) {
          const bool set_is_larger = r.failure.find(" bytes, and the size is ") != std::string::npos;
          CHECK((set_is_larger ? ladder.id.ends_with("-sets")
                               : r.failure.find("which this CPU lacks") != std::string::npos));
          continue;
        }
        CHECK(r.error <= r.error_bound);
        CHECK(r.time_s > 0);
        CHECK(r.samples >= 1);
        CHECK(r.size == request.size);
        CHECK(r.flops == cost.flops);
        CHECK(r.bytes == cost.bytes());
      }
    }
}

// A product of our own in float64, element by element: |c - r| <= n epsilon sum |a||b| (Higham 2002, section 3.5).
TEST_CASE("each result of each SGEMM rung is within the bound of its own rounding errors") {
  const auto& operation = cpu::sgemm_operation();
  for (const std::int64_t n : {1, 7, 17, 100, 131, 385}) {
    const cpu::Shape shape = operation.shape(n);
    Buffer a(shape.a), b(shape.b), c(shape.c), work(shape.work);
    operation.fill(shape, 3, a.data(), b.data());
    std::vector<double> reference(static_cast<std::size_t>(n * n)), scale(reference.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < n; ++j) {
          const double product = static_cast<double>(a.data()[i * n + k]) * static_cast<double>(b.data()[k * n + j]);
          reference[static_cast<std::size_t>(i * n + j)] += product;
          scale[static_cast<std::size_t>(i * n + j)] += std::abs(product);
        }
    for (const auto& v : operation.versions) {
      if (!v.call || !cpu::has(v.needs)) continue;
      c.poison();
      v.call(n, a.data(), b.data(), c.data(), work.data());
      std::int64_t wrong = 0;
      for (std::size_t i = 0; i < reference.size(); ++i)
        wrong += std::abs(static_cast<double>(c.data()[i]) - reference[i]) <=
                         static_cast<double>(n) * cpu::float_epsilon * scale[i]
                     ? 0
                     : 1;
      INFO(v.rung.id << " at " << n);
      CHECK(wrong == 0);
      CHECK(c.guards_whole());
      CHECK(work.guards_whole());
    }
  }
}

TEST_CASE("the check of a product sees one result that is wrong, and its error is that of the norm") {
  const auto& operation = cpu::sgemm_operation();
  constexpr std::int64_t n = 64;
  const cpu::Shape shape = operation.shape(n);
  Buffer a(shape.a), b(shape.b), c(shape.c);
  operation.fill(shape, 1, a.data(), b.data());
  operation.versions[0].call(n, a.data(), b.data(), c.data(), nullptr);
  CHECK(operation.error(shape, a.data(), b.data(), c.data()) <= operation.error_bound(shape));
  double norm = 0;
  for (std::int64_t i = 0; i < n * n; ++i) norm += static_cast<double>(c.data()[i]) * static_cast<double>(c.data()[i]);
  const float wrong_by = 1;
  c.data()[5 * n + 9] += wrong_by;
  const double exact = 1 / std::sqrt(norm);  // |D| / |AB| for a D of a single 1
  const double seen = operation.error(shape, a.data(), b.data(), c.data());
  CHECK(seen > exact / 4);
  CHECK(seen < exact * 4);
  CHECK(seen > 100 * operation.error_bound(shape));
}

TEST_CASE("a ladder's cost is the work of op_cost") {
  const auto cost = [](const char* id, std::int64_t size) { return find_ladder(id)->cost(size); };
  CHECK(cost("cpu-copy", 4000) == models::copy(1000, 4));
  CHECK(cost("cpu-triad", 4000) == models::triad(1000, 4));
  CHECK(cost("cpu-softmax", 100) == models::softmax(64, 100, 4));
  CHECK(cost("cpu-sgemm", 100) == models::gemm(100, 100, 100, 4, 4, 4));
  CHECK(cost("cpu-sgemm", 100).flops == 2e6);
  CHECK(cost("cpu-fma", 10).flops == 384 * 10 * 2);
  CHECK(cost("cpu-fma", 10).bytes() == 0);
  CHECK(cost("cpu-latency", 1 << 20) == models::OpCost{0, 64, 0});
  CHECK(cost("cpu-latency-sets", 1 << 20) == models::OpCost{0, 64, 0});
  CHECK(cost("cpu-read-sets", 8192 + 5) == models::OpCost{0, 8192, 0});
  CHECK(cost("cpu-gemv", 100) == models::gemm(100, 1, 100, 1, 4, 4));  // a byte a weight
  CHECK(cost("cpu-sum", 400) == models::OpCost{100, 400, 0});
  CHECK(cost("cpu-triad-threads", 4000) == cost("cpu-triad", 4000));
  CHECK(cost("cpu-sgemm-threads", 100) == cost("cpu-sgemm", 100));
  // 7 operations an element of LayerNorm and 5 of GELU, one read and one write, weights and biases once.
  CHECK(cost("cpu-layernorm", 10).flops == 12 * 10240);
  CHECK(cost("cpu-layernorm", 10).bytes() == 8 * 10240 + 80);
}

TEST_CASE("operands are the same for a seed, differ between seeds and stay in their range") {
  std::vector<float> one(1000), again(1000), other(1000);
  cpu::fill_uniform(5, -1, 1, one.data(), 1000);
  cpu::fill_uniform(5, -1, 1, again.data(), 1000);
  cpu::fill_uniform(6, -1, 1, other.data(), 1000);
  CHECK(one == again);
  CHECK(one != other);
  double sum = 0;
  for (const float v : one) sum += static_cast<double>(v);
  CHECK(std::abs(sum / 1000) < 0.06);  // three standard errors of a uniform on [-1, 1)
  CHECK(*std::min_element(one.begin(), one.end()) >= -1);
  CHECK(*std::max_element(one.begin(), one.end()) < 1);
}

TEST_CASE("a guard notices a write on either side of a buffer") {
  for (const std::int64_t at : {-1, -1024, 10, 10 + 1023}) {
    Buffer buffer(10);
    CHECK(buffer.guards_whole());
    buffer.data()[at] = 1;
    CHECK_FALSE(buffer.guards_whole());
  }
}

TEST_CASE("the roofs of the CPU are there, finite and in a sensible order") {
  const Roofs roofs = measure_roofs(Device::cpu, 0.01, {});
  CHECK(roofs.failure.empty());
  CHECK_FALSE(roofs.device_name.empty());
  for (const char* id :
       {"clock", "threads", "fma_all", "dram_copy_all", "dram_read_all", "fma", "dram_copy", "dram_read", "l1_read",
        "l2_read", "l3_read", "latency_l1", "latency_l2", "latency_l3", "latency_dram"}) {
    INFO(id);
    CHECK(std::isfinite(roofs.value(id)));
    CHECK(roofs.value(id) > 0);
  }
  CHECK(roofs.value("fma") >= roofs.value("fma_avx2"));
  CHECK(roofs.value("no such") == 0);
  for (const Ladder& ladder : cpu::ladders())
    for (const Rung& rung : ladder.rungs) {
      const bool fails_here = (rung.roof == "fma_avx2" && !cpu::has(cpu::Isa::avx2)) ||
                              (rung.roof == "fma_avx512" && !cpu::has(cpu::Isa::avx512));
      INFO(rung.id);
      CHECK((roofs.value(rung.roof) > 0) == !fails_here);
    }
  int calls = 0;
  const Roofs stopped = measure_roofs(Device::cpu, 0.19, {.progress = [&](double) { return ++calls < 2; }});
  CHECK(stopped.failure == "The measurement was stopped.");
  CHECK(calls == 2);
}
