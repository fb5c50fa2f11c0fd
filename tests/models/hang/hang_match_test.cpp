#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "models/hang/flight_match.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using namespace models::hang;

namespace {

/// A record as the analyzer's tests write them.
FlightCall call_of(const nlohmann::json& j) {
  FlightCall c;
  const std::string name = j.at("profiling_name");
  const std::size_t colon = name.find(':'), blank = name.find(' ');
  c.library = name.substr(0, colon);
  c.operation = name.substr(colon + 1, blank == std::string::npos ? blank : blank - colon - 1);
  if (blank != std::string::npos) c.peers = name.substr(blank + 1);
  c.input_sizes = j.at("input_sizes").get<Sizes>();
  c.output_sizes = j.at("output_sizes").get<Sizes>();
  c.input_dtypes = j.at("input_dtypes").get<std::vector<std::string>>();
  c.output_dtypes = j.at("output_dtypes").get<std::vector<std::string>>();
  return c;
}
CallState state_of(const nlohmann::json& j) {
  const std::string word = j.at("state");
  return word == "completed" ? CallState::completed : word == "started" ? CallState::started : CallState::scheduled;
}

FlightCall plain_call(const char* operation, std::int64_t in, std::int64_t out, const char* type = "float32") {
  return {"nccl", operation, "", {{in}}, {{out}}, {type}, {type}};
}
CallMatch scheduled(const FlightCall& a, const FlightCall& b, std::int64_t ranks = 4) {
  return match_calls(a, CallState::scheduled, b, CallState::scheduled, ranks);
}

}  // namespace

// Pairs of records with what torch/distributed/flight_recorder of torch 2.15.0 says of them.
TEST_CASE("two records match as PyTorch's analyzer says, pair by pair") {
  const auto pairs = nlohmann::json::parse(support::read_text(support::data_file("hang_pairs.json")));
  const std::vector<std::string> names{"FULLY_MATCHED",
                                       "COLLECTIVE_TYPE_MISMATCH",
                                       "SIZE_OR_SYNTAX_MISMATCH",
                                       "COLLECTIVE_DTYPE_MISMATCH",
                                       "COLLECTIVE_STATE_MISMATCH",
                                       "UNDECIDED"};
  REQUIRE(pairs.size() == 67);
  for (const auto& p : pairs) {
    INFO(p.at("id").get<std::string>());
    const auto& a = p.at("a");
    const auto& b = p.at("b");
    const CallMatch match = match_calls(call_of(a), state_of(a), call_of(b), state_of(b), p.at("ranks"));
    CHECK(names[static_cast<std::size_t>(match)] == p.at("state").get<std::string>());
  }
}

TEST_CASE("a pair's first failing test answers, and the order of the two matters") {
  CHECK(scheduled(plain_call("all_reduce", 4, 4), plain_call("barrier", 9, 9, "int8")) == CallMatch::type_mismatch);
  CHECK(scheduled(plain_call("all_reduce", 4, 4), plain_call("all_reduce", 5, 5, "int8")) == CallMatch::size_mismatch);
  CHECK(scheduled(plain_call("all_reduce", 4, 4), plain_call("all_reduce", 4, 4, "int8")) == CallMatch::dtype_mismatch);
  CHECK(match_calls(plain_call("all_reduce", 4, 4), CallState::started, plain_call("all_reduce", 4, 4),
                    CallState::completed, 4) == CallMatch::state_mismatch);
  CHECK(scheduled(plain_call("all_gather", 4, 16), plain_call("all_gather", 4, 16)) == CallMatch::matched);
  CHECK(scheduled(plain_call("all_gather", 4, 8), plain_call("all_gather", 4, 8)) == CallMatch::size_mismatch);
  CHECK(scheduled(plain_call("reduce_scatter", 16, 4), plain_call("reduce_scatter", 16, 4)) == CallMatch::matched);
  CHECK(scheduled(plain_call("all_to_all", 4, 9), plain_call("all_to_all", 5, 4)) == CallMatch::undecided);
  // A scatter's input lies on its root alone, a gather's output as well.
  CHECK(scheduled(plain_call("scatter", 4, 2), plain_call("scatter", 8, 2)) == CallMatch::matched);
  CHECK(scheduled(plain_call("gather", 4, 2), plain_call("gather", 4, 8)) == CallMatch::matched);
}

TEST_CASE("a send matches a receive of the same two ranks and size, and one from any source") {
  const FlightCall send{"nccl", "send", "0->1", {{64}}, {}, {"Float"}, {}};
  FlightCall receive{"nccl", "recv", "1<-0", {}, {{64}}, {}, {"Float"}};
  CHECK(scheduled(send, receive) == CallMatch::matched);
  CHECK(scheduled(receive, send) == CallMatch::matched);
  CHECK(scheduled(send, send) == CallMatch::size_mismatch);
  receive.peers = "1<-?";
  CHECK(scheduled(send, receive) == CallMatch::matched);
  receive.peers = "2<-0";
  CHECK(scheduled(send, receive) == CallMatch::size_mismatch);
  receive.peers = "1<-0";
  receive.output_sizes = {{63}};
  CHECK(scheduled(send, receive) == CallMatch::size_mismatch);
}
