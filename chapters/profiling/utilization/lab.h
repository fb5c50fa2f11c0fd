#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "chapters/profiling/utilization/second_layout.h"
#include "models/machine/hardware.h"
#include "models/trace/writers/sample.h"
#include "models/training/utilization.h"
#include "widgets/table/table.h"

/// One second of a job on one GPU: how much of it is busy, multiplied and needed, and what each convention reports.
namespace chapters::profiling::utilization {

/// training and decoding are simulated, rate is a throughput that somebody printed, recording is a profiler's.
enum class Job : std::uint8_t { training, decoding, rate, recording };
inline constexpr std::size_t job_count = 4;
/// The peak that a utilization is divided by.
enum class ReportedPeak : std::uint8_t { format, bf16, sparse };
inline constexpr std::size_t reported_peak_count = 3;

struct Inputs {
  Job job = Job::training;
  std::string model = "llama-3.2-1b", chip = "h100_sxm";
  models::Format format = models::Format::bf16;
  std::int64_t batch = 4, sequence = 2048, context = 4096, micro_batches = 1;
  models::Recompute recompute = models::Recompute::full;
  bool fused_attention = true, fused_elementwise = true;
  // Conventions.
  models::CountedAttention attention = models::CountedAttention::half;
  models::CountedWeights weights = models::CountedWeights::multiplied;
  bool count_recompute = false;
  ReportedPeak peak = ReportedPeak::format;
  models::CountedBytes bytes = models::CountedBytes::operands;
  // What kernels reach.
  double product_share = 0.7, bandwidth_share = 0.6;
  // Host, loader and network of training.
  std::int64_t workers = 4;
  double load_s = 0.2;
  std::int64_t sync_every = 1;
  double log_s = 3e-3, launch_s = 8e-6;
  std::int64_t kernels_per_layer = 20;
  models::OptimizerCode optimizer = models::OptimizerCode::fused;
  std::int64_t ranks = 8;
  double bus_bytes_per_s = 300e9, hop_latency_s = 1e-6;
  bool overlap = true;
  // Host of decoding.
  models::LaunchMode mode = models::LaunchMode::graph;
  // A printed rate.
  double tokens_per_s = 5762, busy_read = 98;
  bool frozen = false;
  std::int64_t mtp_layers = 0;
  // A recording.
  FileInput file;
  models::SampleFault sample = models::SampleFault::none;
  std::int64_t step = 0;
  bool operator==(const Inputs&) const = default;
};

struct LossRow {
  std::string name, cure;
  double share = 0, seconds = 0;
};
struct ConventionRow {
  std::string name, who;
  double reported = 0, against = 0;
  models::FlopConvention convention;
};
struct ProductRow {
  std::string name;
  std::int64_t calls = 0;
  double flops = 0, seconds = 0, rate = 0;
};

/// Shares are in percent of one second at the peak of the format.
struct Outputs {
  std::string reason;
  models::Utilization second;  ///< its products run for no known time where the job is a rate
  double busy = 0, hfu = 0, mfu = 0, mbu = 0;
  double needed = 0, issued = 0, products = 0, product_rate = 0;
  std::array<double, models::utilization_loss_count> loss{};
  std::string largest;
  double largest_share = 0;
  double tokens = 0, tokens_per_s = 0, counted_flops = 0, flops_per_token = 0, reported_flops_per_s = 0;
  double bandwidth_bytes_per_s = 0, bytes = 0, never_run = 0, gpus_a_point = 0, recompute_ratio = 1;
  double calls = 0, unknown_calls = 0, recomputed_calls = 0;
  std::string device;
  std::vector<LossRow> losses;
  std::vector<ConventionRow> conventions;
  std::vector<ProductRow> product_rows;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<SecondPart> parts;
  std::vector<LedgerLine> ledger;
  std::vector<Meter> meters;
  bool of_bytes = false;          ///< the second is one of the memory: heights are shares of its bandwidth
  double busy = 0, products = 0;  ///< widths, 0 to 1
  double reported = 0;            ///< area of the reported utilization, 0 to 1; below 0: none
  std::string busy_words, products_words;
  std::string reported_words;  ///< empty where what is reported is what is needed
  PublishedMarks published;
};

struct View {
  SecondLayout second;
  widgets::TableView conventions;
  DescribedTable<LossRow> losses;
  DescribedTable<ProductRow> products;
};

Outputs compute(const Inputs& in, Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_second(const Picture& picture, View& view, ImVec2 size);

/// What a printed rate leaves of the busy time beside what is multiplied.
inline constexpr std::string_view not_at_the_peak = "not multiplying at the peak";

/// How a part of the second is drawn and named.
struct LossLook {
  std::string_view name, cure;
  widgets::Tint tint{};
};
const LossLook& loss_look(models::UtilizationLoss loss);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, LossRow& row);
void describe(Fields& f, ProductRow& row);

}  // namespace chapters::profiling::utilization
