#include "chapters/mechanism/shared_choices.h"
#include "chapters/serving/chunked_disaggregated/lab.h"

namespace chapters::serving::chunked_disaggregated {
namespace {

const Choices spacings{
    {"even", "Evenly", "One after the other at the same distance."},
    {"random", "At random", "As a Poisson stream: the first at once, the others anywhere in the time counted."}};

/// A row of outputs, one a world in the order of models::PartingWorld.
struct Row {
  std::array<std::string_view, worlds> key, label;
};

constexpr Row longest_gap_rows{{"longest_gap_s_stalled", "longest_gap_s_chunked", "longest_gap_s_parted"},
                               {"Longest silence, stalled", "Longest silence, chunked", "Longest silence, parted"}};
constexpr Row ttft_rows{{"ttft_s_stalled", "ttft_s_chunked", "ttft_s_parted"},
                        {"First token, stalled", "First token, chunked", "First token, parted"}};
constexpr Row lost_rows{{"tokens_lost_stalled", "tokens_lost_chunked", "tokens_lost_parted"},
                        {"Not written, stalled", "Not written, chunked", "Not written, parted"}};
constexpr Row payers_rows{{"payers_stalled", "payers_chunked", "payers_parted"},
                          {"Users who pay, stalled", "Users who pay, chunked", "Users who pay, parted"}};
constexpr Row most_rows{{"most_lost_stalled", "most_lost_chunked", "most_lost_parted"},
                        {"Most by one user, stalled", "Most by one user, chunked", "Most by one user, parted"}};
constexpr Row newcomers_rows{
    {"newcomers_lost_stalled", "newcomers_lost_chunked", "newcomers_lost_parted"},
    {"The newcomer's answer, stalled", "The newcomer's answer, chunked", "The newcomer's answer, parted"}};
constexpr Row idle_rows{{"idle_percent_stalled", "idle_percent_chunked", "idle_percent_parted"},
                        {"GPUs idle, stalled", "GPUs idle, chunked", "GPUs idle, parted"}};
constexpr Row pace_rows{{"gap_s_stalled", "gap_s_chunked", "gap_s_parted"},
                        {"A token of a user, stalled", "A token of a user, chunked", "A token of a user, parted"}};
constexpr Row written_rows{{"tokens_stalled", "tokens_chunked", "tokens_parted"},
                           {"Written for users, stalled", "Written for users, chunked", "Written for users, parted"}};
constexpr Row last_rows{
    {"longest_ttft_s_stalled", "longest_ttft_s_chunked", "longest_ttft_s_parted"},
    {"Slowest first token, stalled", "Slowest first token, chunked", "Slowest first token, parted"}};
constexpr Row in_time_rows{{"in_time_per_s_stalled", "in_time_per_s_chunked", "in_time_per_s_parted"},
                           {"In time, stalled", "In time, chunked", "In time, parted"}};

void describe_headlines(Fields& f, Outputs& o) {
  const auto figures = [&](std::size_t w) -> models::PartingFigures& { return o.world[w].figures; };
  f.group("Silence, first token, tokens not written");
  for (std::size_t w = 0; w < worlds; ++w)
    f.real(longest_gap_rows.key[w], figures(w).longest_gap_s, {longest_gap_rows.label[w], "s"},
           "The longest that a user waits from one token to the next.",
           {
               .headline = w != stalled,
               .against = {w != stalled ? "stalled:" : "", w != stalled ? longest_gap_rows.key[stalled] : ""},
               .formula = "largest distance of two tokens of a user",
               .source = "the engine's own times, in whole microseconds",
           });
  for (std::size_t w = 0; w < worlds; ++w)
    f.real(
        ttft_rows.key[w], figures(w).ttft_s, {ttft_rows.label[w], "s"},
        "From a long prompt's landing to the first token of its answer (TTFT), which the GPU that reads it writes; the "
        "mean, where several land.",
        {
            .headline = w == chunked,
            .against = {w == chunked ? "stalled:" : "", w == chunked ? ttft_rows.key[stalled] : ""},
            .source = "the engine's own times",
        });
  for (std::size_t w = 0; w < worlds; ++w)
    f.integer(lost_rows.key[w], figures(w).tokens_lost, {lost_rows.label[w], "tokens"},
              "What the users would have got in the time that is counted on all GPUs together, had no long prompt "
              "come, less what they get.",
              {
                  .headline = w == parted,
                  .against = {w == parted ? "chunked:" : "", w == parted ? lost_rows.key[chunked] : ""},
                  .formula = "tokens in the calm - tokens written",
              });
}

void describe_bill(Fields& f, Outputs& o) {
  const auto figures = [&](std::size_t w) -> models::PartingFigures& { return o.world[w].figures; };
  f.group("Who pays");
  for (std::size_t w = 0; w < worlds; ++w)
    f.integer(payers_rows.key[w], figures(w).payers, payers_rows.label[w],
              "Users who get fewer tokens than in the calm.");
  for (std::size_t w = 0; w < worlds; ++w)
    f.integer(most_rows.key[w], figures(w).most_lost, {most_rows.label[w], "tokens"},
              "What the one who loses most does not get.");
  for (std::size_t w = 0; w < worlds; ++w)
    f.integer(newcomers_rows.key[w], figures(w).newcomers_lost, {newcomers_rows.label[w], "tokens"},
              "What the answers to the long prompts would have by the end of the time counted, had each an idle GPU or "
              "replica for itself, less what they have.",
              {.formula = "tokens alone - tokens written"});
  for (std::size_t w = 0; w < worlds; ++w)
    f.real(idle_rows.key[w], o.world[w].idle_percent, {idle_rows.label[w], "%"},
           "The part of all GPUs' time, in the time counted, in which no step runs.",
           {.formula = "1 - busy / (replicas x time)"});
}

void describe_rates(Fields& f, Outputs& o) {
  const auto figures = [&](std::size_t w) -> models::PartingFigures& { return o.world[w].figures; };
  f.group("Paces");
  for (std::size_t w = 0; w < worlds; ++w)
    f.real(pace_rows.key[w], figures(w).gap_s, {pace_rows.label[w], "s"},
           "Mean time per output token (TPOT) of a user.", {.formula = "time counted x users / tokens"});
  for (std::size_t w = 0; w < worlds; ++w)
    f.integer(written_rows.key[w], figures(w).tokens, {written_rows.label[w], "tokens"},
              "All users together, in the time counted.");
  for (std::size_t w = 0; w < worlds; ++w)
    f.real(last_rows.key[w], figures(w).longest_ttft_s, {last_rows.label[w], "s"},
           "The longest that a long prompt waits for the first token of its answer.");
  for (std::size_t w = 0; w < worlds; ++w)
    f.real(in_time_rows.key[w], figures(w).in_time_per_s, {in_time_rows.label[w], "tokens/s"},
           "Tokens of users and answers that come within both limits, per second of the time counted.",
           {.formula = "tokens within the limits / time counted"});
}

const Choices replica_sizes{{"1", "1", "Each GPU has the model whole."},
                            {"2", "2", "Two share every layer."},
                            {"4", "4", "Four share every layer."},
                            {"8", "8", "Eight share every layer."}};

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The prompt");
  f.integer("prompt", in.prompt, {"Prompt", "tokens"}, "How long the prompt is that lands.",
            {.range = {1, 1 << 18, Scale::log}, .typical = {1024, 131072}, .headline = true});
  f.integer("chunk_tokens", in.chunk_tokens, {"Tokens per step", "tokens"},
            "The chunked world's step: users take one each, the prompt what is left, 16 at least.",
            {.range = {16, 65536, Scale::log}, .typical = {64, 16384}, .headline = true});
  f.integer("decoders", in.decoders, "Users",
            "Who are being answered when the prompt lands, dealt in turn to the GPUs that write.",
            {.range = {1, 256, Scale::log}, .typical = {2, 128}, .headline = true});
  f.integer("prompts", in.prompts, "Prompts",
            "How many long prompts land in the time that is counted, in turn on the GPUs that read.",
            {.range = {1, 32, Scale::log}, .typical = {1, 16}});
  f.real(
      "interval_s", in.interval_s, {"A prompt every", "s"},
      "Tokens are counted from the first landing on, for so long times the number of prompts. Nobody pays for a pool "
      "that is not kept, and a pool is kept all the time.",
      {.range = {0.05, 60, Scale::log}, .typical = {0.25, 8}});
  f.choice("spacing", in.spacing, spacings, "They land", "How the prompts are spread over that time.");
  f.integer("seed", in.seed, "Seed", "It draws when they land.", {.range = {1, 9999}, .when = {"spacing", "random"}});
  f.group("The GPUs");
  f.integer("prefill_chips", in.prefill_chips, "GPUs that read",
            "The parted world's pool for prompts. In the other worlds these GPUs serve like the rest.",
            {.range = {1, 32, Scale::log}, .typical = {1, 8}});
  f.integer("decode_chips", in.decode_chips, "GPUs that write",
            "The parted world's pool for answers. In the other worlds these GPUs serve like the rest.",
            {.range = {1, 32, Scale::log}, .typical = {1, 8}});
  f.choice(
      "replica_chips", in.replica_size, replica_sizes, "GPUs of a replica",
      "They share every layer (tensor parallel); two all-reduces of 8 \xC2\xB5s each per layer. GPUs of a pool that "
      "do not fill one stand still in every world and count nowhere.");
  f.real("link_bytes_per_s", in.link_bytes_per_s, {"Network", "B/s"},
         "What each replica has, one way: it sends or receives one cache at a time. 50 GB/s is one port of 400 Gb/s.",
         {.range = {1e8, 1e12, Scale::log}, .typical = {1e9, 4e11}});
  f.group("Texts");
  shared::context(f, "context", in.context,
                  {.label = "A user's context", .help = "Tokens in the cache of each user when the picture begins."});
  f.integer("answer", in.answer, {"Answer", "tokens"}, "How long the answer to a long prompt is.",
            {.range = {1, 4096, Scale::log}, .typical = {16, 1024}});
  f.group("The model");
  shared::model(f, "model", in.model, {.help = "Its weights are read in each step, its caches are sent."});
  shared::chip(f, "chip", in.chip, {.help = "All GPUs are of this kind; nine tenths of the memory are used."});
  shared::format(f, "format", in.format,
                 {.label = "Weights", .help = "Format of weights and matmuls; caches are BF16."});
  f.real("roof_percent", in.roof_percent, {"Reached of the roofs", "%"},
         "How much of the chip's peak and of its bandwidth kernels reach: an assumption, the same for both. Half a "
         "millisecond per step comes on top.",
         {.range = {10, 100}, .typical = {30, 100}});
  f.group("In time");
  f.real("gap_limit_s", in.gap_limit_s, {"Limit between tokens", "s"},
         "A token that comes later than that after the one before is late.",
         {.range = {1e-3, 10, Scale::log}, .typical = {5e-3, 1}});
  f.real("ttft_limit_s", in.ttft_limit_s, {"Limit of the first token", "s"},
         "An answer that begins later is late as a whole.", {.range = {1e-3, 100, Scale::log}, .typical = {0.05, 20}});
}

void describe(Fields& f, Outputs& o) {
  describe_headlines(f, o);
  describe_bill(f, o);
  f.group("The pool kept");
  f.integer("kept_lost", o.kept_lost, {"Not written for an empty pool", "tokens"},
            "What the parted world loses in the same time when no long prompt comes: users share fewer GPUs.",
            {.formula = "tokens in the calm - tokens of the writing pool alone"});
  f.real(
      "even_interval_s", o.even_interval_s, {"Even at a prompt every", "s"},
      "Chunks and pool then cost the users the same number of tokens; where prompts come more rarely, the pool costs "
      "more.",
      {.absent = "No interval near has it, the pool costs the users nothing, or there is too much to count.",
       .source = "the same runs at other intervals, halved until it is known to 2 %"});
  f.integer("calm_tokens", o.calm_tokens, {"Tokens in the calm", "tokens"},
            "All users together in the time counted, on all GPUs and without long prompts.");
  f.real("calm_gap_s", o.calm_gap_s, {"A token in the calm", "s"}, "Time per output token without long prompts.");
  f.real("counted_s", o.counted_s, {"Time counted", "s"}, "From the first landing on.",
         {.formula = "prompts x interval"});
  describe_rates(f, o);
  f.group("The cache that moves");
  f.real("cache_bytes", o.cache_bytes, {"Cache of a prompt", "B"}, "As the chips of a replica hold it.",
         {.formula = "tokens x bytes of a token x copies"});
  f.real("transfer_s", o.transfer_s, {"On the wire", "s"}, "One cache, in whole, after its prompt has been read.",
         {.formula = "bytes / network + 10 us"});
  f.real("transfer_percent", o.transfer_percent, {"Part of reading and sending", "%"},
         {.formula = "wire / (prompt alone + wire)"});
  f.real("moved_bytes", o.moved_bytes, {"Sent", "B"}, "All prompts together.");
  f.real("newcomer_gap_s", o.newcomer_gap_s, {"First token to second", "s"},
         "Parted, the longest: the second token waits for the cache. 0 where no answer has two tokens.");
  f.real("kv_copies", o.kv_copies, "Copies of each KV head",
         "More chips than KV heads hold, read and send each head more than once.",
         {.formula = "max(1, chips / KV heads)"});
  f.real("prefill_s", o.prefill_s, {"Prompt alone", "s"},
         "Its first token on a GPU or replica that does nothing else.");
  f.integer("chunks", o.chunks, "Chunks", "Steps in which the chunked world reads the first prompt.");
  f.group("Replicas");
  f.integer("replicas", o.replicas, "Replicas", "Copies of the model, each on its GPUs.",
            {.formula = "GPUs / GPUs of a replica"});
  f.integer("prefill_replicas", o.prefill_replicas, "Replicas that read", "In the parted world.");
  f.integer("decode_replicas", o.decode_replicas, "Replicas that write", "In the parted world.");
  f.real("room_percent", o.room_percent, {"Cache needed", "%"},
         "The most that users and one prompt take on the fullest replica, of the room for caches.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"serving/chunked-disaggregated",
                                                   "Chunked, disaggregated",
                                                   "A long prompt lands among users: who pays for it?",
                                                   {.job = true, .published_keys = "model chip"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::serving::chunked_disaggregated
