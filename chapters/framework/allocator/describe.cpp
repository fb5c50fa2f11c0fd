#include "chapters/framework/allocator/lab.h"

namespace chapters::framework::allocator {
namespace {

// In the order of Source, whose first ones are models::memory::AllocatorWorkload, and of models::memory::LengthOrder.
const Choices sources{
    {"lengths", "Training, lengths vary", "Each step's activations are as long as its sequences."},
    {"requests", "Serving, a cache per request", "One contiguous cache for each request, as long as it may become."},
    {"growing", "Cache grown by concatenation",
     "Each block of 64 tokens makes a longer tensor before the shorter goes."},
    {"pins", "Every second tensor stays", "Equal tensors, of which every second is freed; then larger ones."},
    {"buckets", "Gradient buckets, two streams", "Gradients are copied into buckets that a second stream reads."},
    {"snapshot", "A recording", "torch.cuda.memory._snapshot() as JSON, or a file with a list of events."},
    {"list", "A list of events", "Allocations and frees written by hand."}};
static_assert(models::memory::allocator_workload_count == 5);
const Choices orders{{"drawn", "drawn", "Any length is as likely as another."},
                     {"rising", "rising", "Every step just misses the blocks of the step before."},
                     {"falling", "falling", "The first step reserves all that is ever needed."}};
static_assert(models::memory::length_order_count == 3);
/// A recording has its own settings.
constexpr std::string_view free_to_set = "lengths|requests|growing|pins|buckets|list";
constexpr std::string_view made = "lengths|requests|growing|pins|buckets",
                           rules = "PyTorch v2.6.0, CUDACachingAllocator.cpp";

}  // namespace

namespace {

/// The allocator's settings and its device.
void describe_allocator(Fields& f, Inputs& in) {
  f.group("The allocator");
  f.toggle("expandable_segments", in.expandable_segments, "Expandable segments",
           "One range of addresses per stream and pool that grows page by page, instead of a cudaMalloc each time.",
           {.headline = true});
  f.real("large_segment_bytes", in.large_segment_bytes, {"Grows by", "B"},
         "large_segment_size_mb: the page by which an expandable segment of large blocks grows.",
         {
             .range = {2.0 * models::memory::mib, 1.0 * models::memory::gib, Scale::log},
             .binary = true,
             .when = {"source", free_to_set},
         });
  f.real("max_split_size_bytes", in.max_split_size_bytes, {"Largest split", "B"},
         "max_split_size_mb: larger blocks are never split; 0 is no limit, else above 20 MiB.",
         {
             .range = {0, 64.0 * models::memory::gib},
             .typical = {0, 2.0 * models::memory::gib},
             .binary = true,
             .when = {"source", free_to_set},
         });
  f.real("max_non_split_rounding_bytes", in.max_non_split_rounding_bytes, {"Largest misfit", "B"},
         "max_non_split_rounding_mb: by how much a block that is not split may be too large.",
         {.range = {20.0 * models::memory::mib, 8.0 * models::memory::gib, Scale::log},
          .binary = true,
          .when = {"source", free_to_set}});
  f.real(
      "garbage_collection_threshold", in.garbage_collection_threshold, "Collect above",
      "Share of the memory allowed, from which old free segments are given back; needs a fraction below 1. 0 is never.",
      {.range = {0, 0.99}, .when = {"source", free_to_set}});
  f.integer("roundup_power2_divisions", in.roundup_power2_divisions, "Round to parts",
            "roundup_power2_divisions: requests are rounded up to such a part of the power of two below them. A power "
            "of two; 0 rounds to 512 B.",
            {.range = {0, 64}, .when = {"source", free_to_set}});
  f.group("The device");
  f.real("capacity_bytes", in.capacity_bytes, {"Memory", "B"},
         "All of the device is for this process; 80 GiB is a round figure, and an 80 GB H100 reports 79.2.",
         {
             .range = {16.0 * models::memory::mib, 1024.0 * models::memory::gib, Scale::log},
             .typical = {8.0 * models::memory::gib, 288.0 * models::memory::gib},
             .binary = true,
             .when = {"source", free_to_set},
         });
  f.real("fraction", in.fraction, "Fraction allowed", "set_per_process_memory_fraction; 1 sets none.",
         {.range = {0.05, 1}, .when = {"source", free_to_set}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("What asks for memory");
  f.choice("source", in.source, sources, "Program", "What asks, and in which order it frees.");
  f.integer("sequences", in.sequences, "At once", "Sequences of a step, or requests that are served at once.",
            {.range = {1, 1024, Scale::log}, .headline = true, .when = {"source", "lengths|requests|growing|pins"}});
  f.real("longest", in.longest, {"Longest", "tokens"},
         "The longest of the sequences; where lengths do not vary, all are as long.",
         {.range = {64, 32768, Scale::log}, .headline = true, .when = {"source", "lengths|requests|growing|pins"}});
  f.real("shortest", in.shortest, {"Shortest", "tokens"}, "Lengths lie between this and the longest.",
         {.range = {64, 32768, Scale::log}, .when = {"source", "lengths|requests"}});
  f.file("snapshot", in.snapshot, "Recording",
         "JSON, plain or gz, of torch.cuda.memory._snapshot(): its own settings are replayed. Or a list of events.",
         {.mode = {"source", "snapshot"}},
         {.reads = {FileKind::memory_snapshot, FileKind::allocator_events},
          .accepts = "json, json.gz, gz, pickle, pkl, txt",
          .by_bytes = true});
  f.text("events", in.events, "Events",
         "a<id> <bytes> [<stream>] allocates, f<id> frees, "
         "r<id> <stream> is record_stream, s<stream>: all queued there is done, e is empty_cache, set key=value; with "
         "; between them. a0 512;f0, for example.",
         {.mode = {"source", "list"}, .max_bytes = 400'000});
  describe_allocator(f, in);
  f.group("The program");
  f.integer("steps", in.steps, "Length of the run",
            "Training steps; hundreds of requests; parts of a decode; tens of tensors.",
            {.range = {1, 32}, .when = {"source", made}});
  f.choice("order", in.order, orders, "Order of lengths", "How lengths follow each other.",
           {.when = {"source", "lengths|requests"}});
  f.toggle("empty_cache", in.empty_cache, "empty_cache each step",
           "torch.cuda.empty_cache() after every step, or whenever a request leaves.", {.when = {"source", made}});
  f.integer("layers", in.layers, "Layers", "Layers of the decoder.",
            {.range = {1, 128, Scale::log}, .when = {"source", "lengths|requests|growing|buckets"}});
  f.integer("width", in.width, "Width",
            "Width of the residual stream; feed-forward layers are 3.5 times as wide, keys and values a quarter.",
            {.range = {256, 16384, Scale::log}, .when = {"source", made}});
  f.integer("vocabulary", in.vocabulary, "Vocabulary", "Columns of the logits.",
            {.range = {1000, 262144, Scale::log}, .when = {"source", "lengths|requests|growing|buckets"}});
  f.integer("seed", in.seed, "Seed", "It draws the lengths.",
            {.range = {1, 999}, .when = {"source", "lengths|requests"}});
}

void describe(Fields& f, Setting& s) {
  f.text("name", s.name, "Setting");
  f.text("outcome", s.outcome, "Outcome");
  f.toggle("served", s.served, "Nothing fails");
  f.integer("events_done", s.events_done, "Events done", {.source = rules});
  f.real("peak_reserved_bytes", s.peak_reserved_bytes, {"Peak reserved", "B"}, {.binary = true, .source = rules});
  f.real("peak_allocated_bytes", s.peak_allocated_bytes, {"Peak in use", "B"}, {.binary = true, .source = rules});
  f.real("wasted_share", s.wasted_share, {"Reserved above need", "%"}, {.formula = "1 - peak in use / peak reserved"});
}

namespace {

void describe_failure_and_end(Fields& f, Outputs& o) {
  f.group("The request that fails");
  f.real("failed_bytes", o.failed_bytes, {"Asked for", "B"},
         {
             .headline = true,
             .binary = true,
             .absent = "Every request is served.",
             .source = rules,
         });
  f.real("hole_bytes", o.hole_bytes, {"Reserved and free", "B"}, "When the request failed; at the end where none did.",
         {.headline = true, .binary = true, .formula = "reserved - active"});
  f.real("largest_hole_bytes", o.largest_hole_bytes, {"Largest hole", "B"}, "At the same moment.",
         {.headline = true, .binary = true, .source = rules});
  f.real("emptiable_bytes", o.emptiable_bytes, {"empty_cache returns", "B"},
         "Segments that are one free block, at the same moment. Before a request fails all of them were given back.",
         {.headline = true, .binary = true, .source = rules});
  f.real("unreserved_bytes", o.unreserved_bytes, {"Allowed, not reserved", "B"},
         "What the device could still have given at that moment.",
         {.binary = true, .absent = "Every request is served.", .formula = "memory allowed - reserved"});
  f.real("free_bytes", o.free_bytes, {"Free in all", "B"},
         "Reserved and free, and what the device could still have given.",
         {.binary = true, .formula = "reserved and free + allowed, not reserved"});
  f.real("holes_over_request", o.holes_over_request, "Holes over the request",
         {.absent = "Every request is served.", .formula = "holes / request"});
  f.integer("holes", o.holes, "Free blocks", "At the same moment, whole segments among them.");
  f.text("failed_at", o.failed_at, "Fails at", "Empty where nothing fails.");
  f.group("At the end of the list");
  f.real("allocated_bytes", o.allocated_bytes, {"Allocated", "B"}, "Blocks in use, with what was not split off.",
         {.binary = true, .source = rules});
  f.real("requested_bytes", o.requested_bytes, {"Requested", "B"}, {.binary = true, .source = rules});
  f.real("active_bytes", o.active_bytes, {"Active", "B"}, "With blocks that another stream may still read.",
         {.binary = true, .source = rules});
  f.real("reserved_bytes", o.reserved_bytes, {"Reserved", "B"}, {.binary = true, .source = rules});
  f.real("largest_free_bytes", o.largest_free_bytes, {"Largest free block", "B"}, {.binary = true, .source = rules});
  f.real("inactive_split_bytes", o.inactive_split_bytes, {"Inactive split", "B"},
         "Free blocks that share their segment; expandable segments are left out, as PyTorch does.",
         {.binary = true, .source = rules});
  f.integer("segments", o.segments, "Segments", "cudaMallocs alive; an expandable segment is none.", {.source = rules});
  f.integer("snapshot_segments", o.snapshot_segments, "Segments in a snapshot",
            "Mapped ranges of an expandable segment are listed too.", {.source = "as a snapshot lists them"});
}

void describe_whole_list(Fields& f, Outputs& o) {
  f.group("Over the whole list");
  f.real("peak_allocated_bytes", o.peak_allocated_bytes, {"Peak in use", "B"}, {.binary = true, .source = rules});
  f.real("peak_reserved_bytes", o.peak_reserved_bytes, {"Peak reserved", "B"}, {.binary = true, .source = rules});
  f.real("wasted_share", o.wasted_share, {"Reserved above need", "%"}, {.formula = "1 - peak in use / peak reserved"});
  f.integer("ooms", o.ooms, "Requests failed", {.source = rules});
  f.integer("retries", o.retries, "Retries", "num_alloc_retries: how often all that was free and whole was given back.",
            {.source = rules});
  f.integer("splits", o.splits, "Splits", {.source = rules});
  f.integer("device_allocs", o.device_allocs, "cudaMallocs", "Steps of mapping with expandable segments.",
            {.source = rules});
  f.integer("device_frees", o.device_frees, "cudaFrees", "Steps of unmapping with expandable segments.",
            {.source = rules});
  f.integer("events_in_list", o.events_in_list, "Events", "So many are in the list.");
  f.integer("events_done", o.events_done, "Events done", "A program ends at its first failure.");
  f.real("address_share", o.address_share, {"Addresses as recorded", "%"},
         {.absent = "There is no recorded history.", .formula = "hits / allocations"});
  f.integer("address_hits", o.address_hits, "Addresses met", "Recorded allocations that got the recorded address.");
  f.integer("recorded_allocations", o.recorded_allocations, "Recorded allocations",
            "Those of a recorded history; 0 where there is none.");
  f.real("block_share", o.block_share, {"Blocks as recorded", "%"},
         "Blocks at the end with their address, size and state.",
         {.absent = "There is no recorded state.", .formula = "equal blocks / blocks"});
  f.group("Other settings");
  f.table("settings", o.settings, "The same list under other settings", {.max_items = 8});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_failure_and_end(f, o);
  describe_whole_list(f, o);
}

void describe(Fields& f, View& view) {
  f.real("cursor", view.cursor, "Events done",
         "Where the strip stands; above the last event, where it opens: the failure or the peak.", {.range = {0, 1e9}});
  f.toggle("playing", view.playback.playing, "Playing", "The cursor moves by the clock.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"framework/allocator",
                                                   "Allocator",
                                                   "Why does a request fail while more than it asks for lies free?",
                                                   {.job = true, .published_keys = "events"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::framework::allocator
