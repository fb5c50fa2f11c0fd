#include "models/serving/prefix/prefix_cache_file.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "models/base/json_nesting.h"
#include "models/base/json_text.h"
#include "models/serving/arrivals/serving_requests_file.h"

namespace models {
namespace {

using nlohmann::json;

constexpr std::string_view expected_row =
    "each line is a request with timestamp, input_length and hash_ids, or a session with block_size and requests.";
constexpr std::size_t max_ids = 50'000'000;
constexpr double max_tokens = 1e8, max_id = 9e15, max_time_s = 1e10;

std::string whole(std::int64_t n) { return std::to_string(n); }

/// The number that one of two names gives, `scale` being of the second; NaN where neither does.
double number_of(const json& object, const char* first, const char* second, double scale) {
  const bool by_first = object.contains(first);
  const auto found = object.find(by_first ? first : second);
  if (found == object.end() || !found->is_number()) return std::nan("");
  return found->get<double>() * (by_first ? 1 : scale);
}

bool is_whole(const json& value, double lo, double hi) {
  if (!value.is_number()) return false;
  const double number = value.get<double>();
  return number >= lo && number <= hi && number == std::floor(number);
}

/// Reads hash_ids or hash_runs; false where one is no list of such.
bool read_ids(const json& object, std::vector<std::int64_t>& out) {
  out.clear();
  if (const auto ids = object.find("hash_ids"); ids != object.end()) {
    if (!ids->is_array()) return false;
    for (const json& id : *ids) {
      if (!is_whole(id, 0, max_id)) return false;
      out.push_back(static_cast<std::int64_t>(id.get<double>()));
    }
    return true;
  }
  const auto runs = object.find("hash_runs");
  if (runs == object.end() || !runs->is_array()) return false;
  for (const json& run : *runs) {
    if (!run.is_array() || run.size() != 2 || !is_whole(run[0], 0, max_id) || !is_whole(run[1], 1, max_tokens) ||
        out.size() + run[1].get<std::size_t>() > max_ids)
      return false;
    const auto first = run[0].get<std::int64_t>(), n = run[1].get<std::int64_t>();
    for (std::int64_t i = 0; i < n; ++i) out.push_back(first + i);
  }
  return true;
}

/// A request as its line says.
struct Row {
  double time_s = 0, tokens = 0;
  std::vector<std::int64_t> ids;
};

/// Ids that belong together: of a file, or of one session.
class KnownIds {
 public:
  /// Adds a request behind those of `trace`; otherwise says what is wrong and changes nothing.
  std::string add(const Row& row, std::string_view place, PromptTrace& trace) {
    const std::size_t known = leading_known(row.ids);
    if (std::string fault = fault_after(row.ids, known); !fault.empty()) return std::string(place) + fault;
    const auto number = static_cast<std::int32_t>(trace.requests.size());
    const auto shared = static_cast<std::int32_t>(known);
    trace.requests.push_back({
        .time_ms = std::llround(row.time_s * 1000),
        .tokens = static_cast<std::int64_t>(row.tokens),
        .blocks = static_cast<std::int32_t>(row.ids.size()),
        .like = known > 0 ? seen_.at(row.ids[known - 1]).request : -1,
        .shared = shared,
    });
    std::int64_t before = -1;
    for (const std::int64_t id : row.ids) {
      seen_[id] = {before, number};
      before = id;
    }
    return {};
  }

 private:
  struct Seen {
    std::int64_t before = -1;  ///< the id that it follows; -1: it begins a prompt
    std::int32_t request = 0;  ///< the latest that has it
  };
  std::size_t leading_known(const std::vector<std::int64_t>& ids) const {
    std::size_t n = 0;
    while (n < ids.size() && seen_.contains(ids[n])) ++n;
    return n;
  }
  /// What is wrong with ids of which the first `known` are known: each must follow what it followed, and the rest be
  /// new.
  std::string fault_after(const std::vector<std::int64_t>& ids, std::size_t known) const {
    std::int64_t before = -1;
    std::unordered_map<std::int64_t, bool> own;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto seen = seen_.find(ids[i]);
      if (seen != seen_.end() && (i >= known || seen->second.before != before)) return not_one_prefix(ids[i]);
      if (i >= known && !own.emplace(ids[i], true).second) return not_one_prefix(ids[i]);
      before = ids[i];
    }
    return {};
  }
  static std::string not_one_prefix(std::int64_t id) {
    return " has the id " + whole(id) + " behind another id than before: an id must stand for one whole prefix.";
  }
  std::unordered_map<std::int64_t, Seen> seen_;
};

class Reader {
 public:
  Reader(std::int64_t block_tokens, std::size_t most) : most_(most) { out_.trace.block_tokens = block_tokens; }

  /// False: there is too much of it, and `error` says so.
  bool take_line(std::string_view line, std::size_t number, std::string& error) {
    const std::string place = "Line " + std::to_string(number);
    const json object = json_nesting(line) > 16 ? json() : parse_json(line);
    if (!object.is_object())
      fault(place + " is no JSON object: " + std::string(expected_row));
    else if (object.contains("requests"))
      take_session(object, place);
    else if (sessions_ > 0)
      fault(place + " has no list of requests, as the lines before have.");
    else
      take_request(object, place, file_ids_, false);
    if (out_.trace.requests.size() <= most_ && ids_ <= max_ids) return true;
    error = "The file holds more than " + std::to_string(most_) + " requests or " + std::to_string(max_ids) +
            " ids: cut it before line " + std::to_string(number) + ".";
    return false;
  }

  Result<PromptFile> finish() {
    using Outcome = Result<PromptFile>;
    if (!out_.trace.requests.empty()) return Outcome::ok(std::move(out_));
    if (out_.first_fault.empty())
      return Outcome::fail("The file holds no request with ids of its blocks: " + std::string(expected_row));
    return Outcome::fail(out_.first_fault);
  }

 private:
  void fault(std::string sentence) {
    if (out_.rows_left_out++ == 0) out_.first_fault = std::move(sentence);
  }

  void take_session(const json& session, const std::string& place) {
    const auto requests = session.find("requests"), size = session.find("block_size");
    if (!requests->is_array() || requests->empty()) return fault(place + " has a session without a list of requests.");
    if (size == session.end() || !is_whole(*size, 1, 1e6))
      return fault(place + " has a session without a block_size from 1 on.");
    const auto tokens = size->get<std::int64_t>();
    if (sessions_ == 0 && !out_.trace.requests.empty())
      return fault(place + " is a session, and the lines before are requests.");
    if (sessions_ > 0 && tokens != out_.trace.block_tokens)
      return fault(place + " has blocks of " + whole(tokens) + " tokens, and the sessions before have " +
                   whole(out_.trace.block_tokens) + ".");
    out_.trace.block_tokens = tokens;
    KnownIds ids;
    for (std::size_t i = 0; i < requests->size(); ++i) {
      const json& request = (*requests)[i];
      if (request.is_object() && !request.contains("hash_ids") && !request.contains("hash_runs"))
        ++out_.without_ids;
      else
        take_request(request, place + ", request " + std::to_string(i + 1) + ",", ids, true);
    }
    ++sessions_;
  }

  void take_request(const json& request, const std::string& place, KnownIds& ids, bool in_session) {
    if (!request.is_object()) return fault(place + " is no JSON object: " + std::string(expected_row));
    row_.time_s =
        in_session ? number_of(request, "t", "arrival_s", 1) : number_of(request, "arrival_s", "timestamp", 1e-3);
    row_.tokens = in_session ? number_of(request, "in", "input_tokens", 1)
                             : number_of(request, "input_tokens", "input_length", 1);
    if (!(row_.time_s >= 0 && row_.time_s <= max_time_s))
      return fault(place + " has no " + (in_session ? "t" : "timestamp") + " that is a number from 0 on.");
    if (!(row_.tokens >= 1 && row_.tokens <= max_tokens && row_.tokens == std::floor(row_.tokens)))
      return fault(place + " has no " + (in_session ? "in" : "input_length") + " that is a whole number from 1 on.");
    if (!read_ids(request, row_.ids))
      return fault(place + " has no hash_ids that are a list of whole numbers from 0 on.");
    const double blocks = row_.tokens / static_cast<double>(out_.trace.block_tokens);
    const auto n = static_cast<double>(row_.ids.size());
    // A session may leave tokens without an id; of single requests the number tells whether the size of a block is
    // right.
    if (n > std::ceil(blocks) || (!in_session && n < std::floor(blocks)))
      return fault(place + " has " + std::to_string(row_.ids.size()) + " hash_ids for " +
                   whole(static_cast<std::int64_t>(row_.tokens)) + " tokens, which is not one for each " +
                   whole(out_.trace.block_tokens) + ": set the tokens of a block.");
    if (std::string wrong = ids.add(row_, place, out_.trace); !wrong.empty()) return fault(std::move(wrong));
    ids_ += row_.ids.size();
    if (in_session) out_.trace.sessions.push_back(sessions_);
  }

  PromptFile out_;
  std::size_t most_, ids_ = 0;
  std::int32_t sessions_ = 0;
  KnownIds file_ids_;
  Row row_;
};

}  // namespace

Result<PromptFile> parse_prompt_file(std::string_view text, std::int64_t block_tokens, std::size_t most_requests) {
  Reader reader(block_tokens, most_requests);
  std::string error;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = serving::take_line(text);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (!reader.take_line(line, number, error)) return Result<PromptFile>::fail(std::move(error));
  }
  return reader.finish();
}

}  // namespace models
