#include "models/gpu/ptxas_log.h"

#include <algorithm>
#include <charconv>

#include "models/base/characters.h"

namespace models::gpu {
namespace {

using Kernels = std::vector<PtxasKernel>;
using Out = Result<Kernels>;

constexpr std::string_view entry_mark = "Compiling entry function '";
constexpr std::int64_t max_registers = 255, max_shared = 228 << 10, max_barriers = 64, max_bytes = 1 << 30;

bool is_print(char c) { return c > ' ' && c <= '~'; }

/// What a refusal repeats of the text: printable, and not long.
std::string in_quotes(std::string_view s) {
  std::string out;
  for (const char c : s.substr(0, 60)) out += c == ' ' || is_print(c) ? c : '?';
  return "\"" + out + (s.size() > 60 ? "..." : "") + "\"";
}

/// A kernel as a refusal calls it.
std::string called(const PtxasKernel& k, std::size_t number) {
  return k.name.empty() ? "Kernel " + std::to_string(number) : "Kernel " + in_quotes(k.name);
}

/// The whole number that ends just before `what` in `s`; -1 where `what` is not there or no number stands before it.
/// A number too large to hold reads as more than any kernel has.
std::int64_t before(std::string_view s, std::string_view what) {
  const std::size_t end = s.find(what);
  if (end == std::string_view::npos) return -1;
  std::size_t start = end;
  while (start > 0 && is_digit(s[start - 1])) --start;
  if (start == end) return -1;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(s.data() + start, s.data() + end, value);
  return error == std::errc() && value <= max_bytes ? value : max_bytes + 1;
}

/// "sgemm" of "_Z5sgemmPf" and of "_ZN3lab5sgemmEPf": the last of the names in front of the arguments.
std::string_view plain_name(std::string_view mangled) {
  std::string_view rest = mangled;
  if (!rest.starts_with("_Z")) return mangled;
  rest.remove_prefix(2);
  const bool nested = rest.starts_with('N');
  if (nested) rest.remove_prefix(1);
  std::string_view found;
  while (!rest.empty() && is_digit(rest.front())) {
    std::size_t size = 0, digits = 0;
    while (digits < rest.size() && digits < 4 && is_digit(rest[digits]))
      size = 10 * size + static_cast<std::size_t>(rest[digits++] - '0');
    if (size == 0 || size > rest.size() - digits) break;
    found = rest.substr(digits, size);
    rest.remove_prefix(digits + size);
    if (!nested) break;
  }
  return found.empty() ? mangled : found;
}

/// "sm_90a" or "compute_90": 90.
int capability_of(std::string_view s) {
  const std::size_t at = s.find('_');
  int value = 0;
  for (std::size_t i = at + 1; at != std::string_view::npos && i < s.size() && is_digit(s[i]) && value < 1000; ++i)
    value = 10 * value + (s[i] - '0');
  return value > 0 ? value : -1;
}

/// "8192 bytes smem", and "8192+16 bytes smem" of compilers before CUDA 5.
std::int64_t shared_of(std::string_view clause) {
  const std::int64_t last = before(clause, " bytes smem");
  const std::size_t at = clause.find(" bytes smem");
  if (last < 0) return 0;
  std::size_t plus = at;
  while (plus > 0 && is_digit(clause[plus - 1])) --plus;
  if (plus == 0 || clause[plus - 1] != '+') return last;
  const std::int64_t first = before(clause.substr(0, plus), "+");
  return first < 0 ? last : first + last;
}

/// The kernel of "Used 96 registers, used 1 barriers, 49152 bytes smem".
PtxasKernel kernel_of(std::string_view clause) {
  PtxasKernel k;
  k.registers = before(clause, " registers");
  k.static_shared_bytes = shared_of(clause);
  k.barriers = before(clause, " barriers");
  if (k.barriers < 0) k.barriers = before(clause, " barrier");
  return k;
}

/// Does the clause end within an item, as "8192 bytes sm" and "81" do? Its last word then has under four letters, or is
/// the one before what counts.
bool ends_early(std::string_view clause) {
  while (!clause.empty() && (clause.back() == ' ' || clause.back() == '\r')) clause.remove_suffix(1);
  const std::string_view word = clause.substr(std::min(clause.size(), clause.find_last_of(" ,") + 1));
  return word.size() < 4 || word == "used" || word == "bytes" || is_digit(word.front());
}

std::string fault_of(const PtxasKernel& k, std::size_t number) {
  if (k.registers < 1 || k.registers > max_registers)
    return called(k, number) + " is said to use a number of registers that no thread has: 1 to 255 are possible.";
  if (k.static_shared_bytes > max_shared)
    return called(k, number) + " is said to use more shared memory than any SM has, which is 228 KiB.";
  if (k.barriers > max_barriers) return called(k, number) + " is said to use more barriers than any SM has, 64.";
  if (std::max({k.spill_store_bytes, k.spill_load_bytes, k.stack_bytes}) > max_bytes)
    return called(k, number) + " is said to spill more than a gigabyte a thread: a digit too many?";
  return {};
}

/// The "Used" clause that `part` has at `at`: to the end of its line, or to the next message where lines were lost.
std::string_view clause_at(std::string_view part, std::size_t at) {
  const std::string_view rest = part.substr(at);
  return rest.substr(0, std::min({rest.find('\n'), rest.find("ptxas "), rest.find("Used ", 5)}));
}

/// All kernels between two heads; `head` is what the head says of the first.
std::string add_part(std::string_view part, const PtxasKernel& head, bool named, Kernels& all) {
  std::size_t at = 0, found = 0;
  while (true) {
    const std::size_t used = part.find("Used ", at);
    if (used == std::string_view::npos) break;
    const std::string_view clause = clause_at(part, used);
    const std::string_view said = part.substr(at, used - at);
    at = used + 5;
    if (before(clause, " registers") < 0) continue;
    if (ends_early(clause)) return "The text ends within " + in_quotes(clause) + ": paste the whole of it.";
    PtxasKernel k = kernel_of(clause);
    if (found == 0) {
      k.name = head.name;
      k.capability = head.capability;
    }
    k.stack_bytes = std::max<std::int64_t>(0, before(said, " bytes stack frame"));
    k.spill_store_bytes = std::max<std::int64_t>(0, before(said, " bytes spill stores"));
    k.spill_load_bytes = std::max<std::int64_t>(0, before(said, " bytes spill loads"));
    ++found;
    if (all.size() == max_ptxas_kernels) return "The text has more than 512 kernels: paste those of one file.";
    if (std::string fault = fault_of(k, all.size() + 1); !fault.empty()) return fault;
    all.push_back(std::move(k));
  }
  if (named && found == 0)
    return called(head, all.size() + 1) +
           " has no line \"Used N registers\": the text ends too early, or a line is missing.";
  return {};
}

}  // namespace

Out read_ptxas_log(std::string_view text) {
  if (text.size() > max_ptxas_bytes)
    return Out::fail("The text is longer than 256 KiB: paste the kernels of one file.");
  if (const std::size_t at = text.find("ptxas fatal"); at != std::string_view::npos)
    return Out::fail("The compiler stopped: " + in_quotes(text.substr(at, text.find('\n', at) - at)) + ".");
  if (const std::size_t at = text.find("ptxas error"); at != std::string_view::npos)
    return Out::fail("The compiler stopped: " + in_quotes(text.substr(at, text.find('\n', at) - at)) + ".");
  Kernels all;
  PtxasKernel head;
  bool named = false;
  while (true) {
    const std::size_t next = text.find(entry_mark);
    if (std::string fault = add_part(text.substr(0, next), head, named, all); !fault.empty()) return Out::fail(fault);
    if (next == std::string_view::npos) break;
    text.remove_prefix(next + entry_mark.size());
    const std::size_t end = text.find('\'');
    const std::string_view name = text.substr(0, end);
    if (end == std::string_view::npos || name.empty() || !std::all_of(name.begin(), name.end(), is_print))
      return Out::fail("The name of kernel " + std::to_string(all.size() + 1) +
                       " is not between two quotes: paste the text as the compiler printed it.");
    head = {};
    head.name = std::string(plain_name(name).substr(0, 200));
    text.remove_prefix(end + 1);
    constexpr std::string_view target = " for '";
    if (text.starts_with(target)) head.capability = capability_of(text.substr(target.size(), 16));
    named = true;
  }
  if (all.empty())
    return Out::fail(
        "The text has no line \"Used N registers\": compile with nvcc --ptxas-options=-v and paste what it prints.");
  return Out::ok(std::move(all));
}

}  // namespace models::gpu
