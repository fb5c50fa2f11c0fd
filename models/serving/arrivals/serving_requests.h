#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// Who asks a server for what, and when: made from a seed, or read from a file.
namespace models {

/// One request. `service_s` is what it takes in a plain queue; the lengths are what it takes of a language model.
struct ServingRequest {
  double arrival_s = 0, service_s = 0;
  std::int32_t prompt_tokens = 1, output_tokens = 1;
  bool operator==(const ServingRequest&) const = default;
};

/// per_token: so much for a request, for each token in and for each token out, in whole microseconds.
enum class ServiceTime : std::uint8_t { exponential, deterministic, per_token };

/// A stream of requests. Bursty: a Poisson process whose rate alternates between `burst` times the mean for a fifth of
/// the time and what is left of it otherwise (two-state Markov-modulated; spells are exponential, bursts last `burst_s`
/// on average). Otherwise the gaps are independent: exponential, or gamma
/// with a deviation of `gap_cv` times their mean. Waves, on top of any: time is stretched where requests are rare and
/// pressed where they are many, so that the rate at time t is (1 - wave cos(2 pi t / wave_s)) times what it would be;
/// it begins at its lowest.
struct RequestStream {
  std::int64_t requests = 60;
  double rate_per_s = 1;
  std::uint64_t seed = 1;
  bool bursty = false;
  double burst = 4;  ///< 1 to 5 times the mean rate
  double burst_s = 2;
  double gap_cv = 1;  ///< 0.1 to 10: deviation of a gap over its mean; 1: a Poisson stream; not with `bursty`
  double wave = 0;    ///< 0 to 0.95: how far the rate swings around its mean; 0: it does not
  double wave_s = 600;
  ServiceTime service = ServiceTime::exponential;
  double service_s = 1;                                                           ///< mean
  double fixed_s = 2e-3, per_prompt_token_s = 50e-6, per_output_token_s = 20e-3;  ///< what per_token adds up
  double prompt_tokens = 512, output_tokens = 128;                                ///< means of log-normal lengths
  double length_variation = 0.8;        ///< standard deviation over mean, of both; 0: all alike
  std::int32_t longest_tokens = 32768;  ///< no length beyond this
  bool lengths = true;                  ///< false: one token each, for plain queues, in a third of the time
  bool service_times = true;            ///< false: service_s stays 0; a language model has no use for it
  bool operator==(const RequestStream&) const = default;
};

/// No length beyond this where the means are these: four times the larger one, and 32,768 at least.
std::int32_t longest_of_means(double prompt_tokens, double output_tokens);

/// The stream, by time of arrival. The same seed gives the same requests on every machine with the same libm. Draws
/// come in blocks of 8,192 requests, and every second block mirrors the one before it (u becomes 1 - u): antithetic
/// variates (Hammersley and Morton 1956), so that long runs average to their means sooner; shorter runs are plain
/// independent draws. Requests with lengths come at whole microseconds, the clock of the engine that serves them.
std::vector<ServingRequest> make_requests(const RequestStream& stream);

/// Mean and squared coefficient of variation of the stream's plain-queue service times.
struct ServiceMoments {
  double mean_s = 0, scv = 0;
};
ServiceMoments service_moments(const RequestStream& stream);

/// Gives each request the plain-queue service time that the stream would.
void draw_service_times(std::vector<ServingRequest>& requests, const RequestStream& stream);

/// Requests of a file, by time of arrival, counted from the earliest.
struct RecordedRequests {
  std::vector<ServingRequest> requests;
  std::int64_t failed = 0;  ///< rows left out: requests that got no token back
  // Of a reading that skips bad rows.
  std::int64_t bad_rows = 0;
  std::string first_fault;  ///< what is wrong with the first of them, and in which line
  bool dated = false;       ///< times are dates, not numbers
};

/// How strictly a file is read.
struct RequestReading {
  bool skip_bad_rows = false;  ///< a row that cannot be read is left out and counted, where any other can be
  bool keep_failed = false;    ///< requests that got no token back stay, with 0 tokens out
  bool keep_clock = false;     ///< times stay as the file has them and do not count from the earliest
};

/// Reads one request a line: seconds, prompt tokens, output tokens. A first line of names may put the columns in any
/// order and among others
/// ("TIMESTAMP,ContextTokens,GeneratedTokens" of the Azure LLM inference trace, "Timestamp,Model,Request
/// tokens,Response tokens" of BurstGPT); commas, tabs or semicolons part them. Where a file has arrival_s, input_tokens
/// or output_tokens, they go before others of the same meaning. Times are seconds, or dates such as
/// 2023-11-16 18:15:46.68; they need not be in order and count from the earliest; equal ones keep the file's order. In
/// a file with names a row whose output is 0 is a request that failed, and is left out. A text that begins with { holds
/// one JSON object a line instead, as the Mooncake traces do: input_length and output_length, and `timestamp` in
/// milliseconds; arrival_s, input_tokens and output_tokens go before them. The error is one sentence that names the
/// line, the value and what is allowed; more than `most` rows are one, too.
Result<RecordedRequests> parse_requests(std::string_view text, std::size_t most, const RequestReading& reading = {});

}  // namespace models
