#include "chapters/framework/allocator/lab.h"

namespace chapters::framework::allocator {
namespace {

// In the order of Source, whose first ones are models::memory::AllocatorWorkload, and of models::memory::LengthOrder.
const Choices sources{
    {"lengths", "Training, lengths vary", "Each step's activations are as long as its sequences."},
    {"requests", "Serving, a cache a request", "One contiguous cache for each request, as long as it may become."},
    {"growing", "Cache grown by concatenation",
     "Each block of 64 tokens makes a longer tensor before the shorter goes."},
    {"pins", "Every second tensor stays", "Equal tensors, of which every second is freed; then larger ones."},
    {"buckets", "Gradient buckets, two streams", "Gradients are copied into buckets that a second stream reads."},
    {"snapshot", "A recording", "torch.cuda.memory._snapshot() as JSON, or a file with a list of events."}};
static_assert(models::memory::allocator_workload_count == 5);
const Choices orders{{"drawn", "drawn", "Any length is as likely as another."},
                     {"rising", "rising", "Every step just misses the blocks of the step before."},
                     {"falling", "falling", "The first step reserves all that is ever needed."}};
static_assert(models::memory::length_order_count == 3);
/// A recording has its own settings.
constexpr std::string_view free_to_set = "lengths|requests|growing|pins|buckets";
constexpr std::string_view made = "lengths|requests|growing|pins|buckets",
                           rules = "PyTorch v2.6.0, CUDACachingAllocator.cpp";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("What asks for memory");
  f.choice("source", in.source, sources, {.label = "Program", .help = "What asks, and in which order it frees."});
  f.integer("sequences", in.sequences,
            {
                .label = "At once",
                .help = "Sequences of a step, or requests that are served at once.",
                .lo = 1,
                .hi = 1024,
                .scale = Scale::log,
                .headline = true,
                .when = {"source", "lengths|requests|growing|pins"},
            });
  f.real("longest", in.longest,
         {
             .label = "Longest",
             .unit = "tokens",
             .help = "Of the sequences; where lengths do not vary, all are as long.",
             .lo = 64,
             .hi = 32768,
             .scale = Scale::log,
             .headline = true,
             .when = {"source", "lengths|requests|growing|pins"},
         });
  f.real("shortest", in.shortest,
         {
             .label = "Shortest",
             .unit = "tokens",
             .help = "Lengths lie between this and the longest.",
             .lo = 64,
             .hi = 32768,
             .scale = Scale::log,
             .when = {"source", "lengths|requests"},
         });
  f.file(
      "snapshot", in.snapshot,
      {.label = "Recording",
       .help =
           "JSON, plain or gz, of torch.cuda.memory._snapshot(): its own settings are replayed. Or a list of events.",
       .when = {"source", "snapshot"}},
      {.by_bytes = true});
  f.group("The allocator");
  f.toggle(
      "expandable_segments", in.expandable_segments,
      {.label = "Expandable segments",
       .help = "One range of addresses a stream and pool that grows page by page, instead of a cudaMalloc each time.",
       .headline = true});
  f.real("max_split_size_bytes", in.max_split_size_bytes,
         {
             .label = "Largest split",
             .unit = "B",
             .help = "max_split_size_mb: larger blocks are never split; 0 is no limit, else above 20 MiB.",
             .lo = 0,
             .hi = 64.0 * models::memory::gib,
             .typical_lo = 0,
             .typical_hi = 2.0 * models::memory::gib,
             .binary = true,
             .when = {"source", free_to_set},
         });
  f.real("max_non_split_rounding_bytes", in.max_non_split_rounding_bytes,
         {
             .label = "Largest misfit",
             .unit = "B",
             .help = "max_non_split_rounding_mb: by how much a block that is not split may be too large.",
             .lo = 20.0 * models::memory::mib,
             .hi = 8.0 * models::memory::gib,
             .scale = Scale::log,
             .binary = true,
             .when = {"source", free_to_set},
         });
  f.real("garbage_collection_threshold", in.garbage_collection_threshold,
         {
             .label = "Collect above",
             .help = "Share of the memory allowed, from which old free segments are given back; needs a fraction below "
                     "1. 0 is never.",
             .lo = 0,
             .hi = 0.99,
             .when = {"source", free_to_set},
         });
  f.integer("roundup_power2_divisions", in.roundup_power2_divisions,
            {
                .label = "Round to parts",
                .help = "roundup_power2_divisions: requests are rounded up to such a part of the power of two below "
                        "them. A power of two; 0 rounds to 512 B.",
                .lo = 0,
                .hi = 64,
                .when = {"source", free_to_set},
            });
  f.group("The device");
  f.real("capacity_bytes", in.capacity_bytes,
         {
             .label = "Memory",
             .unit = "B",
             .help =
                 "Of the device, all of it for this process; 80 GiB is a round figure, and an 80 GB H100 reports 79.2.",
             .lo = 16.0 * models::memory::mib,
             .hi = 1024.0 * models::memory::gib,
             .scale = Scale::log,
             .typical_lo = 8.0 * models::memory::gib,
             .typical_hi = 288.0 * models::memory::gib,
             .binary = true,
             .when = {"source", free_to_set},
         });
  f.real("fraction", in.fraction,
         {
             .label = "Fraction allowed",
             .help = "set_per_process_memory_fraction; 1 sets none.",
             .lo = 0.05,
             .hi = 1,
             .when = {"source", free_to_set},
         });
  f.group("A list instead");
  f.text("events", in.events,
         {.label = "Events",
          .help = "Replayed instead of the program where it is not empty. a<id> <bytes> [<stream>] allocates, f<id> "
                  "frees, r<id> <stream> is record_stream, s<stream>: all queued there is done, e is empty_cache, set "
                  "key=value; with ; between them. a0 512;f0, for example.",
          .max_bytes = 400'000});
  f.group("The program");
  f.integer("steps", in.steps,
            {
                .label = "Length of the run",
                .help = "Training steps; hundreds of requests; parts of a decode; tens of tensors.",
                .lo = 1,
                .hi = 32,
                .when = {"source", made},
            });
  f.choice(
      "order", in.order, orders,
      {.label = "Order of lengths", .help = "How lengths follow each other.", .when = {"source", "lengths|requests"}});
  f.toggle("empty_cache", in.empty_cache,
           {.label = "empty_cache each step",
            .help = "torch.cuda.empty_cache() behind every step, or whenever a request leaves.",
            .when = {"source", made}});
  f.integer("layers", in.layers,
            {
                .label = "Layers",
                .help = "Of the decoder.",
                .lo = 1,
                .hi = 128,
                .scale = Scale::log,
                .when = {"source", "lengths|requests|growing|buckets"},
            });
  f.integer("width", in.width,
            {
                .label = "Width",
                .help = "Of the residual stream; feed-forward layers are 3.5 times as wide, keys and values a quarter.",
                .lo = 256,
                .hi = 16384,
                .scale = Scale::log,
                .when = {"source", made},
            });
  f.integer("vocabulary", in.vocabulary,
            {
                .label = "Vocabulary",
                .help = "Columns of the logits.",
                .lo = 1000,
                .hi = 262144,
                .scale = Scale::log,
                .when = {"source", "lengths|requests|growing|buckets"},
            });
  f.integer("seed", in.seed,
            {.label = "Seed", .help = "Of the lengths.", .lo = 1, .hi = 999, .when = {"source", "lengths|requests"}});
}

void describe(Fields& f, Setting& s) {
  f.text("name", s.name, {.label = "Setting"});
  f.text("outcome", s.outcome, {.label = "Outcome"});
  f.toggle("served", s.served, {.label = "Nothing fails"});
  f.integer("events_done", s.events_done, {.label = "Events done", .source = rules});
  f.real("peak_reserved_bytes", s.peak_reserved_bytes,
         {.label = "Peak reserved", .unit = "B", .binary = true, .source = rules});
  f.real("peak_allocated_bytes", s.peak_allocated_bytes,
         {.label = "Peak in use", .unit = "B", .binary = true, .source = rules});
}

void describe(Fields& f, Outputs& o) {
  f.group("The request that fails");
  f.real("failed_bytes", o.failed_bytes,
         {.label = "Asked for",
          .unit = "B",
          .headline = true,
          .binary = true,
          .may_be_missing = true,
          .absent = "Every request is served.",
          .source = rules});
  f.real("hole_bytes", o.hole_bytes,
         {.label = "Reserved and free",
          .unit = "B",
          .help = "When the request failed; at the end where none did.",
          .headline = true,
          .binary = true,
          .formula = "reserved - active"});
  f.real("largest_hole_bytes", o.largest_hole_bytes,
         {.label = "Largest hole",
          .unit = "B",
          .help = "At the same moment.",
          .headline = true,
          .binary = true,
          .source = rules});
  f.real("emptiable_bytes", o.emptiable_bytes,
         {.label = "empty_cache returns",
          .unit = "B",
          .help = "Segments that are one free block, at the same moment. Before a request fails all of them were given "
                  "back.",
          .headline = true,
          .binary = true,
          .source = rules});
  f.real("holes_over_request", o.holes_over_request,
         {.label = "Holes over the request",
          .may_be_missing = true,
          .absent = "Every request is served.",
          .formula = "holes / request"});
  f.integer("holes", o.holes, {.label = "Free blocks", .help = "At the same moment, whole segments among them."});
  f.text("failed_at", o.failed_at, {.label = "Fails at", .help = "Empty where nothing fails."});
  f.group("At the end of the list");
  f.real("allocated_bytes", o.allocated_bytes,
         {.label = "Allocated",
          .unit = "B",
          .help = "Blocks in use, with what was not split off.",
          .binary = true,
          .source = rules});
  f.real("requested_bytes", o.requested_bytes, {.label = "Requested", .unit = "B", .binary = true, .source = rules});
  f.real("active_bytes", o.active_bytes,
         {.label = "Active",
          .unit = "B",
          .help = "With blocks that another stream may still read.",
          .binary = true,
          .source = rules});
  f.real("reserved_bytes", o.reserved_bytes, {.label = "Reserved", .unit = "B", .binary = true, .source = rules});
  f.real("largest_free_bytes", o.largest_free_bytes,
         {.label = "Largest free block", .unit = "B", .binary = true, .source = rules});
  f.real("inactive_split_bytes", o.inactive_split_bytes,
         {.label = "Inactive split",
          .unit = "B",
          .help = "Free blocks that share their segment; expandable segments are left out, as PyTorch does.",
          .binary = true,
          .source = rules});
  f.integer("segments", o.segments, {.label = "Segments", .source = "as a snapshot lists them"});
  f.group("Over the whole list");
  f.real("peak_allocated_bytes", o.peak_allocated_bytes,
         {.label = "Peak in use", .unit = "B", .binary = true, .source = rules});
  f.real("peak_reserved_bytes", o.peak_reserved_bytes,
         {.label = "Peak reserved", .unit = "B", .binary = true, .source = rules});
  f.real("wasted_share", o.wasted_share,
         {.label = "Reserved above need", .unit = "%", .formula = "1 - peak in use / peak reserved"});
  f.integer("ooms", o.ooms, {.label = "Requests failed", .source = rules});
  f.integer("retries", o.retries,
            {.label = "Retries",
             .help = "num_alloc_retries: how often all that was free and whole was given back.",
             .source = rules});
  f.integer("splits", o.splits, {.label = "Splits", .source = rules});
  f.integer("device_allocs", o.device_allocs,
            {.label = "cudaMallocs", .help = "Steps of mapping with expandable segments.", .source = rules});
  f.integer("device_frees", o.device_frees,
            {.label = "cudaFrees", .help = "Steps of unmapping with expandable segments.", .source = rules});
  f.integer("events_in_list", o.events_in_list, {.label = "Events", .help = "Of the list."});
  f.integer("events_done", o.events_done, {.label = "Events done", .help = "A program ends at its first failure."});
  f.real("address_share", o.address_share,
         {.label = "Addresses as recorded",
          .unit = "%",
          .may_be_missing = true,
          .absent = "There is no recorded history.",
          .formula = "hits / allocations"});
  f.group("Other settings");
  f.table("settings", o.settings, {.label = "The same list under other settings", .max_items = 8});
}

void describe(Fields& f, View& view) {
  f.real("cursor", view.cursor,
         {.label = "Events done",
          .help = "Where the strip stands; above the last event, where it opens: the failure or the peak.",
          .lo = 0,
          .hi = 1e9});
  f.toggle("playing", view.playback.playing, {.label = "Playing", .help = "The cursor moves by the clock."});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {
          .id = "framework/allocator",
          .title = "Allocator",
          .question = "Why does a request fail while more than it asks for lies free?",
          .job = true,
      },
      compute, arrange, draw);
}

}  // namespace chapters::framework::allocator
