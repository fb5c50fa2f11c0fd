#include <array>

#include "chapters/profiling/detective/lab.h"

namespace chapters::profiling::detective {

using models::trace::CaseWork, models::trace::Cause;

std::string_view cause_words(Cause cause) {
  // In the order of models::trace::Cause.
  static constexpr std::array<std::string_view, models::trace::cause_count> words{
      "nothing",
      "a slow data loader",
      "copies from pageable memory",
      "a pause of garbage collection",
      "a recompilation",
      "a value that is read in the loop",
      "many small kernels",
      "a throttled GPU",
      "a bad link",
      "an uneven batch",
      "a late bucket",
      "a checkpoint that is written",
      "memory that is touched for the first time",
      "a clock that drops",
      "another process",
      "a rank that comes last",
      "first launches, which load their code"};
  return words[static_cast<std::size_t>(cause)];
}

std::string_view work_words(CaseWork work) {
  // In the order of models::trace::CaseWork.
  static constexpr std::array<std::string_view, models::trace::case_work_count> words{
      "decodes a batch", "next batch", "collates",  "copies the batch",       "launches",       "forward",
      "backward",        "all-reduce", ".item()",   "item() in the step",     "logs",           "CPU work",
      "not recorded",    "compiles",   "optimizer", "launches the optimizer", "copies weights", "async save"};
  return words[static_cast<std::size_t>(work)];
}

std::string suspect_name(const models::trace::SuspectKey& key, int ranks) {
  static constexpr std::array<std::string_view, models::trace::case_work_count> words{"a worker decodes",
                                                                                      "waiting for a batch",
                                                                                      "aten::copy_ on the CPU",
                                                                                      "copying the batch",
                                                                                      "launching",
                                                                                      "kernels",
                                                                                      "kernels",
                                                                                      "all-reduces",
                                                                                      "loss.item() waits",
                                                                                      "item() in the step",
                                                                                      "logging",
                                                                                      "aten::topk on the CPU",
                                                                                      "nothing recorded",
                                                                                      "compile_inner",
                                                                                      "optimizer's kernels",
                                                                                      "launching the optimizer",
                                                                                      "copying weights",
                                                                                      "async save"};
  std::string name(words[static_cast<std::size_t>(key.work)]);
  if (ranks < 2) return name;
  return name + (key.rank < 0 ? ", all ranks" : ", rank " + std::to_string(key.rank));
}

std::string suspect_name(const models::trace::RecordedSuspect& suspect) {
  // In the order of models::trace::RecordedWork.
  static constexpr std::array<std::string_view, models::trace::recorded_work_count> words{"waiting for a batch",
                                                                                          "pageable copies",
                                                                                          "nothing recorded",
                                                                                          "compiling",
                                                                                          "waiting for the GPU",
                                                                                          "CPU operations",
                                                                                          "copies to the host",
                                                                                          "launching",
                                                                                          "first launches",
                                                                                          "kernels",
                                                                                          "copies on the GPU",
                                                                                          "collectives",
                                                                                          "rank "};
  std::string name(words[static_cast<std::size_t>(suspect.work)]);
  if (suspect.work == models::trace::RecordedWork::rank) name += std::to_string(suspect.row);
  return name;
}

std::string_view work_words(models::trace::RecordedWork work) {
  // In the order of models::trace::RecordedWork.
  static constexpr std::array<std::string_view, models::trace::recorded_work_count> words{"next batch",
                                                                                          "copies a batch",
                                                                                          "not recorded",
                                                                                          "compiles",
                                                                                          "waits for the GPU",
                                                                                          "CPU work",
                                                                                          "copies to the host",
                                                                                          "launches",
                                                                                          "first launch",
                                                                                          "",
                                                                                          "",
                                                                                          "",
                                                                                          ""};
  return words[static_cast<std::size_t>(work)];
}

const Choices& cause_choices() {
  static const Choices choices{
      {"none", "Nothing", "No fault."},
      {"slow_loader", "Slow data loader", "The main thread waits for its next batch."},
      {"pageable_copy", "Pageable copies", "The batch goes to the GPU from memory that is not pinned."},
      {"garbage_collection", "Garbage collection", "Python stops for its collector; nothing is recorded meanwhile."},
      {"recompilation", "Recompilation", "A new shape makes torch.compile compile again."},
      {"hidden_sync", "A sync in the step", "A value is read on the host, and the GPU runs dry."},
      {"small_kernels", "Many small kernels", "Each is shorter than its launch."},
      {"throttled_rank", "A throttled GPU", "One rank computes slowly all the time."},
      {"bad_link", "A bad link", "All-reduces take longer now and then, for all ranks."},
      {"uneven_batch", "Uneven batches", "One rank has more tokens in some steps."},
      {"late_bucket", "A late bucket", "Most gradients wait for the last all-reduce."},
      {"checkpoint_write", "A checkpoint", "Weights are copied and written while all wait."},
      {"page_faults", "Page faults", "New memory is touched for the first time, page by page."},
      {"clock_drop", "A drop of the clock", "One rank computes slowly for a time."},
      {"contention", "Another process", "Somebody else takes turns on the GPU or the CPU."},
      {"late_rank", "A rank comes late", "The others wait for it in their collectives; of recordings alone."},
      {"slow_first_launch", "Slow first launches", "A kernel's first launch loads its code; of recordings alone."},
      {"healthy", "Nothing is wrong", "The job is as fast as it can be."},
      {"sealed", "Sealed", "Opened by your charge."},
      {"not_known", "Not known", "Nobody planted anything in a recording of your own."}};
  return choices;
}

std::string cause_id(Cause cause) { return cause_choices()[static_cast<std::size_t>(cause)].id; }

}  // namespace chapters::profiling::detective
