#include <algorithm>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "widgets/number/number.h"

/// The sentence that says who pays, and how much.
namespace chapters::serving::chunked_disaggregated {
namespace {

using widgets::figure;

std::string tokens_text(std::int64_t n) { return figure(static_cast<double>(n), "", 7); }
std::int64_t lost(const Outputs& out, std::size_t w) { return out.world[w].figures.tokens_lost; }
double silence(const Outputs& out, std::size_t w) { return out.world[w].figures.longest_gap_s; }

std::string prompt_word(const Inputs& in) { return in.prompts > 1 ? "prompts" : "the prompt"; }

/// Do prompts wait for a GPU that reads, longer than one takes to read?
bool readers_late(const Outputs& out) { return out.world[parted].figures.longest_ttft_s > 2 * out.prefill_s; }

std::string bill_text(const Outputs& out) {
  const std::int64_t whole = lost(out, stalled);
  return tokens_text(whole) + (whole == 1 ? " token is not written, " : " tokens are not written, ") +
         tokens_text(lost(out, chunked)) + " in chunks and " + tokens_text(lost(out, parted)) + " parted";
}

/// What the bills say together.
std::string verdict_on_bills(const Outputs& out) {
  if (out.prefill_s > out.counted_s)
    return "Tokens are counted for " + figure(out.counted_s, "s") + " only, and a prompt alone takes " +
           figure(out.prefill_s, "s") + " to read: give it longer.";
  const auto [least, most] = std::minmax({lost(out, stalled), lost(out, chunked), lost(out, parted)});
  std::string out_text = "Stalled, " + bill_text(out);
  if (2 * least >= most && most > 0) return out_text + ": who pays changes more than what is paid.";
  return out_text + ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string s = figure(silence(out, stalled), "s"), c = figure(silence(out, chunked), "s"),
                    p = figure(silence(out, parted), "s");
  if (readers_late(out))
    return "Prompts wait for the GPUs that read: the slowest has its first token after " +
           figure(out.world[parted].figures.longest_ttft_s, "s") + ", in chunks after " +
           figure(out.world[chunked].figures.longest_ttft_s, "s") + ".\n" + verdict_on_bills(out);
  if (out.transfer_s > out.prefill_s)
    return "Sending a cache takes " + figure(out.transfer_s, "s") + ", longer than the " + figure(out.prefill_s, "s") +
           " in which its prompt is read alone.\n" + verdict_on_bills(out);
  if (silence(out, parted) >= silence(out, stalled))
    return "Parted, users wait up to " + p + " from token to token; on all GPUs up to " + s + ", when " +
           prompt_word(in) + (in.prompts > 1 ? " go first, and " : " goes first, and ") + c + " in chunks.\n" +
           verdict_on_bills(out);
  if (silence(out, chunked) > 0.5 * silence(out, stalled))
    return "Steps of " + figure(static_cast<double>(in.chunk_tokens), "tokens", 7) + " leave a silence of " + c +
           " where a whole prompt makes one of " + s + "; parted the longest is " + p + ".\n" + verdict_on_bills(out);
  if (lost(out, parted) > 2 * std::max(lost(out, chunked), lost(out, stalled)) && lost(out, parted) > 0)
    return "GPUs kept for reading cost the users " + tokens_text(lost(out, parted)) + " tokens, " + prompt_word(in) +
           " in chunks only " + tokens_text(lost(out, chunked)) + ".\nThe longest silence falls from " + s + " to " +
           c + " in chunks and to " + p + " parted.";
  return "The longest silence of a user falls from " + s + ", when " + prompt_word(in) +
         (in.prompts > 1 ? " go first, to " : " goes first, to ") + c + " in chunks and " + p + " parted.\n" +
         verdict_on_bills(out);
}

}  // namespace chapters::serving::chunked_disaggregated
