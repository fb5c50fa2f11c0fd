#pragma once
#include <string>

#include "models/serving/arrivals/serving_requests.h"

/// What the readers of recorded requests share.
namespace models::serving {

/// Takes the next line off the text, without its end: a line feed, a carriage return, or both.
std::string_view take_line(std::string_view& text);

/// Sorts by arrival, equal ones in the order of the file, and lets the first arrive at 0 unless the clock stays.
void count_from_first(std::vector<ServingRequest>& requests, const RequestReading& reading);

std::string too_many(std::size_t most, std::size_t line);

/// Takes a row of time, prompt and output in, unless it failed and failures do not stay.
void take_row(const double (&row)[3], const RequestReading& reading, RecordedRequests& out);
/// Counts a row that cannot be read; false where that ends the reading.
bool leave_out(const std::string& fault, const RequestReading& reading, RecordedRequests& out);

/// One JSON object a line, as parse_requests says.
Result<RecordedRequests> parse_json_lines(std::string_view text, std::size_t most, const RequestReading& reading);

}  // namespace models::serving
