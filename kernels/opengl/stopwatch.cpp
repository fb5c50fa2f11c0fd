#include "kernels/opengl/stopwatch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kernels::opengl {
namespace {

constexpr double shortest_sample_s = 200e-6;  // what submitting a dispatch costs is a few microseconds
constexpr double shortest_time_s = 1e-6;      // below it a driver's clock has said nothing
constexpr std::int64_t max_runs = 1000;

}  // namespace

Stopwatch::Stopwatch(const Session& session, std::function<void()> enqueue, double seconds)
    : session_(session), enqueue_(std::move(enqueue)), seconds_(seconds) {
  int bits = 0;
  session.gl().get_query(gl_timestamp, gl_counter_bits, &bits);
  if (bits < 30)
    throw Failure("This driver's timestamps have " + std::to_string(bits) + " bits, so that nothing can be timed.");
  session.gl().make_queries(2, queries_);
  session.must("making queries");
}

Stopwatch::~Stopwatch() { session_.gl().delete_queries(2, queries_); }

double Stopwatch::time_of(std::int64_t runs) {
  const Gl& gl = session_.gl();
  gl.query_counter(queries_[0], gl_timestamp);
  session_.barrier();
  for (std::int64_t i = 0; i < runs; ++i) enqueue_();
  session_.barrier();
  gl.query_counter(queries_[1], gl_timestamp);
  gl.flush();
  std::uint64_t ns[2] = {0, 0};
  for (int i : {0, 1}) gl.get_query_result(queries_[i], gl_query_result, &ns[i]);
  session_.must("timing");
  const double s = ns[1] > ns[0] ? static_cast<double>(ns[1] - ns[0]) * 1e-9 : 0;
  if (s < shortest_time_s)
    throw Failure("The driver's timestamps say that " + std::to_string(runs) + (runs == 1 ? " run" : " runs") +
                  " took less than 1 us, which is no time of a kernel: it is not used.");
  return s;
}

double Stopwatch::warm_up() {
  double total_s = 0;
  for (std::int64_t runs = 1, all = 0; (total_s < 25e-3 || all < 3) && all < max_runs; all += runs, runs *= 2) {
    const double batch_s = time_of(runs);
    total_s += batch_s;
    run_s_ = batch_s / static_cast<double>(runs);
    if (total_s > 1) break;  // one long run has warmed everything
  }
  return run_s_;
}

void Stopwatch::sample() {
  const auto runs = static_cast<std::int64_t>(
      std::clamp(std::ceil(shortest_sample_s / std::max(run_s_, 1e-9)), 1.0, static_cast<double>(max_runs)));
  const double s = time_of(runs);
  spent_s_ += s;
  samples_s_.push_back(s / static_cast<double>(runs));
}

bool Stopwatch::done() const {
  const auto n = samples_s_.size();
  if (n >= 20'000 || (n >= 3 && spent_s_ >= seconds_)) return true;
  return n >= 30 && spent_s_ >= std::min(0.2, seconds_) && is_settled(summary(), 0.01);
}

}  // namespace kernels::opengl
