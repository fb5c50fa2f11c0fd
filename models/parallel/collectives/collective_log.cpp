#include "models/parallel/collectives/collective_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "models/parallel/collectives/collective_fit.h"

namespace models::parallel {
namespace {

using Words = std::vector<std::string_view>;

/// What two printed decimals leave open of the ratio of two bandwidths.
constexpr double ratio_slack = 0.006;

Words log_words(std::string_view line) {
  Words out;
  std::size_t at = 0;
  while (at < line.size()) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (at < line.size() && blank(line[at])) ++at;
    const std::size_t from = at;
    while (at < line.size() && !blank(line[at])) ++at;
    if (at > from) out.push_back(line.substr(from, at - from));
  }
  return out;
}

/// A whole word that is a finite number.
std::optional<double> log_number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_whole(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "float", "bfloat16", "f8e4m3": what stands third in a row.
bool is_type(std::string_view word) {
  constexpr std::array<std::string_view, 7> types{"float", "half", "double", "bfloat16", "int", "uint", "f8"};
  return std::any_of(types.begin(), types.end(), [&](std::string_view t) { return word.starts_with(t); });
}

struct LogRow {
  double bytes = 0, time_us = 0, algbw = 0, busbw = 0;
  double in_place_us = std::numeric_limits<double>::quiet_NaN();
  bool wrong = false;
  bool sums = false;    ///< an operation stands in the row: sum, prod, max
  bool rooted = false;  ///< a root of 0 or more does
};

/// Sizes and times that a run can have: a nanosecond is less than any.
bool is_timed(const LogRow& row) { return row.bytes > 0 && row.bytes <= 1e15 && row.time_us >= 1e-3; }

bool read_column(std::span<const std::string_view> words, double& time_us, double& algbw, double& busbw, bool& wrong) {
  const auto time = log_number(words[0]), alg = log_number(words[1]), bus = log_number(words[2]);
  if (!time || !alg || !bus || *time < 0 || *time > 1e12 || *alg < 0 || *alg > 1e9 || *bus < 0 || *bus > 1e9)
    return false;
  time_us = *time;
  algbw = *alg;
  busbw = *bus;
  // The fourth word is a count of wrong results, "N/A", or in old releases the largest error.
  if (is_whole(words[3]) && words[3] != "0") wrong = true;
  return true;
}

/// A row of results, wherever in the line it starts: size, count, type, perhaps operation and root, then one or two
/// columns of time, algbw, busbw and #wrong.
std::optional<LogRow> read_log_row(const Words& words) {
  std::size_t type = 2;
  while (type < words.size() && !(is_type(words[type]) && is_whole(words[type - 1]) && is_whole(words[type - 2])))
    ++type;
  if (type >= words.size()) return std::nullopt;
  LogRow row;
  row.bytes = log_number(words[type - 2]).value_or(0);
  std::size_t first = type + 1;
  for (; first < words.size() && !log_number(words[first]); ++first) row.sums = row.sums || words[first] != "none";
  std::span<const std::string_view> rest(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  // A root stands before the times where the figures are one more than whole columns.
  if (rest.size() % 4 == 1) {
    row.rooted = is_whole(rest[0]);
    rest = rest.subspan(1);
  }
  if (rest.size() < 4 || !read_column(rest, row.time_us, row.algbw, row.busbw, row.wrong)) return std::nullopt;
  double unused_alg = 0, unused_bus = 0, in_place_us = 0;
  if (rest.size() >= 8 && read_column(rest.subspan(4), in_place_us, unused_alg, unused_bus, row.wrong) &&
      in_place_us >= 1e-3)
    row.in_place_us = in_place_us;
  return row;
}

struct NamedTest {
  std::string_view name;
  Primitive primitive;
};
constexpr std::array<NamedTest, 8> named_tests{{
    {"all_reduce", Primitive::all_reduce},
    {"reduce_scatter", Primitive::reduce_scatter},
    {"all_gather", Primitive::all_gather},
    {"alltoall", Primitive::all_to_all},
    {"broadcast", Primitive::broadcast},
    {"scatter", Primitive::scatter},
    {"gather", Primitive::gather},
    {"reduce", Primitive::reduce},
}};

/// The test that a line names as a program ("all_reduce_perf") or as nccl-tests' banner does.
std::optional<Primitive> named_primitive(std::string_view line) {
  for (const NamedTest& test : named_tests)
    if (line.find(std::string(test.name) + "_perf") != std::string_view::npos) return test.primitive;
  return std::nullopt;
}

struct LogText {
  std::vector<LogRow> rows;
  std::int64_t listed_ranks = 0;
  std::optional<Primitive> named;
  bool pairs = false;  ///< sendrecv_perf or hypercube_perf
};

bool times_pairs(std::string_view line) {
  return line.find("sendrecv_perf") != std::string_view::npos || line.find("hypercube_perf") != std::string_view::npos;
}

/// The rank of a line "#  Rank  0 Group  0 ...", counted from 1; 0: it lists none.
std::int64_t listed_rank(const Words& words) {
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "Rank" && words[i - 1].ends_with('#') && is_whole(words[i + 1]))
      return static_cast<std::int64_t>(std::min(log_number(words[i + 1]).value_or(0), 1e7)) + 1;
  return 0;
}

/// The first line of a text, which is taken from it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

LogText read_lines(std::string_view text) {
  LogText out;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!out.named) out.named = named_primitive(line);
    out.pairs = out.pairs || times_pairs(line);
    const Words words = log_words(line);
    out.listed_ranks = std::max(out.listed_ranks, listed_rank(words));
    if (const auto row = read_log_row(words)) out.rows.push_back(*row);
  }
  return out;
}

std::string two_decimals(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 2);
  return error == std::errc() ? std::string(text, end) : "a great many";
}

/// What a row tells where no line names the test: by its operation, its root and its factor.
Primitive primitive_of(const LogRow& row, double ratio) {
  if (row.rooted && ratio < 0.99) return Primitive::scatter;
  if (row.rooted) return row.sums ? Primitive::reduce : Primitive::broadcast;
  if (ratio > 1.006) return Primitive::all_reduce;
  if (row.sums) return ratio > 0.994 ? Primitive::all_reduce : Primitive::reduce_scatter;
  return Primitive::all_gather;
}

/// Ranks by the ratio of the bandwidths, and the least and most that two printed decimals leave open.
struct InferredRanks {
  double ranks = 0, least = 0, most = 0;
};
InferredRanks ranks_by_ratio(double busbw, double algbw, bool all_reduce) {
  constexpr double rounding = 0.005;
  const double whole = all_reduce ? 2 : 1;
  const auto of = [&](double ratio) { return ratio < whole ? whole / (whole - ratio) : 1e9; };
  return {of(busbw / algbw), of((busbw - rounding) / (algbw + rounding)),
          of((busbw + rounding) / std::max(algbw - rounding, rounding))};
}

/// Puts the timed rows into the log by size, of a size that stands more than once the last.
Status take_samples(const LogText& read, CollectiveLog& log) {
  auto& samples = log.curve.samples;
  for (const LogRow& row : read.rows) {
    if (!is_timed(row)) continue;
    ++log.rows;
    log.wrong_rows += row.wrong;
    samples.push_back({row.bytes, row.time_us * 1e-6, row.in_place_us * 1e-6, row.busbw * 1e9});
  }
  if (samples.empty())
    return Status::fail(
        "There is no row of results in the log: give the whole output of all_reduce_perf or one of its kin, with the "
        "columns size, count, type, time, algbw and busbw.");
  if (read.pairs && !read.named)
    return Status::fail("The log is of sendrecv_perf or hypercube_perf, which time pairs of ranks and no collective.");
  std::stable_sort(samples.begin(), samples.end(),
                   [](const CollectiveSample& a, const CollectiveSample& b) { return a.bytes < b.bytes; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (i + 1 == samples.size() || samples[i + 1].bytes > samples[i].bytes) samples[kept++] = samples[i];
  if (kept < samples.size())
    log.notes.push_back("Sizes stand in the log more than once; the last row of each is taken.");
  samples.resize(kept);
  if (kept > max_collective_sizes)
    return Status::fail("The log has " + std::to_string(kept) + " sizes and at most " +
                        std::to_string(max_collective_sizes) + " are read: run the test with a factor (-f 2).");
  return Status::ok();
}

/// The row of the largest size that has both bandwidths; small ones are rounded to nothing. Fails where it tells
/// nothing of the ranks, or is of no collective.
Result<LogRow> largest_row(const LogText& read) {
  using Out = Result<LogRow>;
  const LogRow* largest = nullptr;
  for (const LogRow& row : read.rows)
    if (is_timed(row) && row.algbw > 0 && (!largest || row.bytes >= largest->bytes)) largest = &row;
  if (!largest)
    return Out::fail("Every bandwidth in the log is 0, so that the ranks do not follow: add larger sizes (-e 128M).");
  if (largest->busbw == 0)
    return Out::fail("At the largest size the bus bandwidth is 0 next to an algorithm bandwidth of " +
                     two_decimals(largest->algbw) +
                     " GB/s: one rank ran alone and nothing was sent, so start the test with mpirun or with -g.");
  const double ratio = largest->busbw / largest->algbw;
  if (!(ratio <= 2 + ratio_slack) || ratio < 0.5 - ratio_slack)
    return Out::fail("At the largest size the bus bandwidth is " + two_decimals(ratio) +
                     " times the algorithm bandwidth, which no collective of nccl-tests gives: the log is damaged.");
  return Out::ok(*largest);
}

/// A broadcast and a reduce have the factor 1, whatever the ranks.
bool has_factor_one(Primitive primitive) { return primitive == Primitive::broadcast || primitive == Primitive::reduce; }

/// Which collective was timed. Fails where the name and the bandwidths are of two.
Status take_primitive(const LogText& read, const LogRow& largest, CollectiveLog& log) {
  const double ratio = largest.busbw / largest.algbw;
  log.primitive_is_named = read.named.has_value();
  const Primitive primitive = log.curve.primitive = read.named.value_or(primitive_of(largest, ratio));
  const bool other = has_factor_one(primitive)            ? std::abs(ratio - 1) > ratio_slack
                     : primitive == Primitive::all_reduce ? ratio < 1 - ratio_slack
                                                          : ratio > 1;
  if (other)
    return Status::fail("The log is of " + std::string(primitive_id(primitive)) + ", but its bus bandwidth is " +
                        two_decimals(ratio) +
                        " times its algorithm bandwidth at the largest size: the test and the table are of two runs.");
  return Status::ok();
}

/// How many ranks took part: what the bandwidths say, or what the log lists where both agree.
Status take_ranks(const LogText& read, const LogRow& largest, CollectiveLog& log) {
  log.listed_ranks = read.listed_ranks;
  if (has_factor_one(log.curve.primitive)) {
    log.inferred_ranks = log.listed_ranks;
    log.curve.ranks = std::max<std::int64_t>(2, log.listed_ranks);
    if (log.listed_ranks == 0)
      log.notes.push_back(
          "The factor of a broadcast is 1 for any number of ranks, and the log lists none: 2 are taken.");
    return Status::ok();
  }
  const InferredRanks n = ranks_by_ratio(largest.busbw, largest.algbw, log.curve.primitive == Primitive::all_reduce);
  const bool bounded = n.ranks <= 1e7;
  if (!bounded && log.listed_ranks < 2)
    return Status::fail(
        "At the largest size the two bandwidths are so near to each other that the ranks do not follow: "
        "give the log with its lines \"# Rank\".");
  log.inferred_ranks = std::max<std::int64_t>(2, bounded ? std::llround(n.ranks) : log.listed_ranks);
  const double listed = static_cast<double>(log.listed_ranks);
  // One rank makes no collective, whatever two decimals leave open.
  const bool agree = listed >= std::max(2.0, std::floor(n.least)) && listed <= std::ceil(n.most);
  if (log.listed_ranks > 0 && agree) log.inferred_ranks = log.listed_ranks;
  if (log.listed_ranks > 0 && !agree)
    log.notes.push_back("The log lists " + std::to_string(log.listed_ranks) +
                        (log.listed_ranks == 1 ? " rank" : " ranks") + ", but its bandwidths are those of " +
                        std::to_string(log.inferred_ranks) + ", which are taken.");
  if (log.listed_ranks == 0 && n.most > 1.1 * n.least)
    log.notes.push_back("Two decimals leave the ranks open between " + std::to_string(std::llround(n.least)) + " and " +
                        (n.most < 1e6 ? std::to_string(std::llround(n.most)) : "any number") + ".");
  log.curve.ranks = log.inferred_ranks;
  return Status::ok();
}

/// What is odd in the rows: spikes, wrong results, bandwidths that do not follow.
void note_oddities(CollectiveLog& log) {
  const auto& samples = log.curve.samples;
  const std::vector<bool> spikes = one_off_spikes(log.curve);
  for (std::size_t i = 0; i < spikes.size(); ++i)
    if (spikes[i]) log.spike_bytes.push_back(samples[i].bytes);
  if (log.wrong_rows > 0)
    log.notes.push_back(std::to_string(log.wrong_rows) + (log.wrong_rows == 1 ? " row has" : " rows have") +
                        " wrong results: what was timed did not compute the collective.");
  std::int64_t odd = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double printed = samples[i].busbw_bytes_per_s;
    odd += std::abs(log.curve.busbw(i) - printed) > std::max(0.02e9, 0.02 * printed);
  }
  if (odd > 0)
    log.notes.push_back("In " + std::to_string(odd) + (odd == 1 ? " row" : " rows") +
                        " the bus bandwidth does not follow from size and time; the times are taken.");
}

}  // namespace

std::string lines_of_collective_log(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const Words words = log_words(line);
    if (named_primitive(line) || times_pairs(line) || listed_rank(words) > 0 || read_log_row(words))
      out.append(line).push_back('\n');
  }
  return out;
}

Result<CollectiveLog> parse_collective_log(std::string_view text) {
  using Read = Result<CollectiveLog>;
  if (text.size() > max_collective_log_bytes)
    return Read::fail("The log is larger than 1 MiB: give one run of a test.");
  const LogText read = read_lines(text);
  CollectiveLog log;
  if (const Status taken = take_samples(read, log); !taken) return Read::fail(taken.error);
  const auto largest = largest_row(read);
  if (!largest) return Read::fail(largest.error);
  if (const Status taken = take_primitive(read, *largest, log); !taken) return Read::fail(taken.error);
  if (const Status taken = take_ranks(read, *largest, log); !taken) return Read::fail(taken.error);
  if (!log.primitive_is_named && log.curve.primitive == Primitive::all_gather)
    log.notes.push_back("The log does not name its test: all-gather is taken, whose factor an all-to-all shares.");
  note_oddities(log);
  return Read::ok(std::move(log));
}

}  // namespace models::parallel
