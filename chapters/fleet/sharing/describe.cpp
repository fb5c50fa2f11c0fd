#include "chapters/fleet/sharing/lab.h"

namespace chapters::fleet::sharing {
namespace {

const Choices focuses{{"fleet", "The fleet", "Who waits, and what stands empty."},
                      {"gpu", "One GPU", "What jobs on one GPU take from each other."}};

const Choices mixes{
    {"gavel", "Gavel, after Philly", "70 % of the jobs on one GPU, 10 % on two, 15 % on four, 5 % on eight."},
    {"philly", "Philly, 2017", "Sizes fitted to the printed mean of 1.93 GPUs; run times to mean and median."},
    {"helios", "Helios, 2020", "Sizes fitted to the printed mean of 3.72 GPUs; run times to mean and median."},
    {"seren", "Seren, 2023", "Sizes fitted to the printed mean of 5.68 GPUs; run times to mean and median."},
    {"kalos", "Kalos, 2023", "Sizes fitted to the printed mean of 26.8 GPUs; run times to mean and median."},
    {"single", "One GPU each", "All jobs on one GPU with exponential run times: the queue of the theory."},
    {"slices", "MIG slices", "An example: instances of an H100 from 1g.10gb to 7g.80gb; each shelf is one GPU."}};
static_assert(models::fleet::mix_count == 7);

const Choices orders{{"fifo", "First in, first out", "Nobody starts before whoever came first."},
                     {"backfill", "Backfill", "Others start if the first starts no later for it; run times are known."},
                     {"any_fit", "Whoever fits", "Any job that fits starts; the first may wait for ever."}};
static_assert(models::fleet::queue_order_count == 3);

const Choices packings{{"best_fit", "Best fit", "On the fullest shelf on which the job fits."},
                       {"worst_fit", "Worst fit", "On the emptiest shelf."}};
static_assert(models::fleet::packing_count == 2);

const Choices halves{{"any", "Any free GPUs", "The first that are free, on both sockets too."},
                     {"prefer", "One socket if it can be", "On both where no socket of any node has room."},
                     {"only", "One socket alone", "Otherwise the job waits."}};

const Choices ways{{"time_slices", "Time slices", "One job at a time, with a switch between two."},
                   {"mps", "MPS", "All at once: a limit on SMs for each, bandwidth for whoever asks."},
                   {"mig", "MIG", "Instances with SMs and memory of their own."}};
static_assert(models::fleet::sharing_way_count == 3);

const Choices roofs{{"compute", "compute", "SMs bind."},
                    {"bandwidth", "bandwidth", "Memory bandwidth binds."},
                    {"host", "host", "The host takes longer than the GPU."},
                    {"slices", "turns", "It waits for its turn."}};

constexpr When of_fleet{"focus", "fleet"}, of_gpu{"focus", "gpu"},
    whole_gpus{"mix", "gavel|philly|helios|seren|kalos|single"}, moves{"migrate", "true"},
    spreads{"one_shelf", "false"}, slices{"way", "time_slices"}, limit{"way", "mps"}, instance{"way", "mig"},
    across{"remote", "true"};
constexpr std::string_view simulated = "the simulated queue", no_such = "No job of that size is in the mix.",
                           nobody_waits = "Nobody waits then.",
                           roofline = "a closed queue of jobs that share every roof";

void describe_fleet(Fields& f, Inputs& in) {
  using Scale = chapters::Scale;
  f.group("What is shared");
  f.choice("focus", in.focus, focuses, "Asked about", "What the answer and the first picture are about.");
  f.choice("mix", in.mix, mixes, "Jobs like", "Which sizes come, and how long they run.", {.when = of_fleet});
  f.integer("shelves", in.shelves, "Shelves", "Nodes of eight GPUs; for slices, GPUs of eight memory slices.",
            {.range = {1, 64, Scale::log}, .typical = {4, 32}, .when = of_fleet});
  f.real("load", in.load, {"Load", "%"},
         "What the jobs of a round ask for, over what there is; run times are scaled so that it is exact.",
         {.range = {5, 120}, .typical = {20, 100}, .headline = true, .when = of_fleet});
  f.choice("order", in.order, orders, "Order", "Who may start when something is free.",
           {.headline = true, .when = of_fleet});
  f.choice("packing", in.packing, packings, "Packing", "On which shelf a job is put.", {.when = of_fleet});
  f.toggle("migrate", in.migrate, "Move jobs together",
           "Where the first job finds enough places in pieces alone, others are moved to make room.",
           {.headline = true, .when = of_fleet});
  f.real("move_s", in.move_s, {"A move takes", "s"}, "How long a job stands still that is moved.",
         {.range = {0, 36'000}, .typical = {0, 3600}, .when = moves});
  f.integer("reserved", in.reserved, "Shelves for whole-shelf jobs", "Smaller jobs never lie on them.",
            {.range = {0, 63}, .typical = {0, 16}, .when = of_fleet});
  f.toggle("one_shelf", in.one_shelf, "Small jobs stay on one shelf",
           "A job of up to eight GPUs is not spread over several nodes.", {.when = whole_gpus});
  f.real("spread_cost", in.spread_cost, {"Spread costs", "%"}, "How much longer a job runs that is spread.",
         {.range = {0, 200}, .typical = {0, 100}, .when = spreads});
  f.choice("half", in.half, halves, "Jobs of 2 to 4 GPUs", "A node has two sockets with four GPUs each.",
           {.when = whole_gpus});
  f.real("cross_cost", in.cross_cost, {"Both sockets cost", "%"},
         "How much longer such a job runs on GPUs of both; between GPUs with NVLink next to nothing.",
         {.range = {0, 200}, .typical = {0, 50}, .when = whole_gpus});
  f.real("moment", in.moment, {"Moment shown", "%"},
         "Share of the time that is counted; 0: the moment with most empty places while somebody waits.",
         {.range = {0, 100}, .when = of_fleet});
  f.integer("jobs", in.jobs, "Jobs in a round", "They come twice in the same order; the first round fills the fleet.",
            {.range = {100, 3000, Scale::log}, .typical = {200, 800}, .when = of_fleet});
}

void describe_gpu(Fields& f, Inputs& in) {
  using Scale = chapters::Scale;
  const auto seconds = [&](std::string_view key, double& slot, std::string_view label, std::string_view help) {
    f.real(key, slot, {label, "s"}, help, {.range = {0, 1}, .typical = {0, 0.05}, .when = of_gpu});
  };
  f.choice("way", in.way, ways, "Shared by", "How several jobs use one GPU.", {.headline = true, .when = of_gpu});
  f.integer("tenants", in.tenants, "Jobs on the GPU", "Yours, one noisy neighbour, and others like yours.",
            {.range = {1, max_jobs}, .headline = true, .when = of_gpu});
  seconds("compute_s", in.compute_s, "Your arithmetic", "What a step computes with all SMs.");
  seconds("bytes_s", in.bytes_s, "Your bytes", "What a step moves at the full bandwidth.");
  seconds("host_s", in.host_s, "Your host time", "What the host does between two steps while the GPU waits.");
  seconds("noisy_compute_s", in.noisy_compute_s, "Its arithmetic", "A step of the noisy neighbour with all SMs.");
  seconds("noisy_bytes_s", in.noisy_bytes_s, "Its bytes", "A step of the noisy neighbour at the full bandwidth.");
  seconds("noisy_host_s", in.noisy_host_s, "Its host time", "What its host does between two steps.");
  f.real("sm_limit", in.sm_limit, {"SMs for each, at most", "%"}, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of every job.",
         {.range = {5, 100}, .when = limit});
  f.real("slice_s", in.slice_s, {"A slice", "s"}, "How long a job has the GPU before the next one's turn.",
         {.range = {1e-4, 1, Scale::log}, .when = slices});
  f.real("switch_s", in.switch_s, {"A switch", "s"}, "How long the GPU stands still between two jobs; an example.",
         {.range = {0, 0.1}, .typical = {0, 1e-3}, .when = slices});
  f.integer("profile", in.profile, "Compute slices", "What the instance of each job has: 1, 2, 3, 4 or 7 of 7.",
            {.range = {1, 7}, .when = instance});
  f.integer("seed", in.seed, "Seed", "The same seed gives the same jobs under every rule.", {.range = {1, 9999}});
  f.group("The host's memory");
  f.real("host_bytes", in.host_bytes, {"Bytes from the host", "B"}, "What a step of yours fetches before it computes.",
         {.range = {0, 1e11}, .typical = {0, 5e9}, .when = of_gpu});
  f.toggle("remote", in.remote, "From the other socket", "The process runs on the socket that the GPU is not on.",
           {.when = of_gpu});
  f.real("link_bytes_per_s", in.link_bytes_per_s, {"The GPU's link", "B/s"}, "One direction, as a copy measures it.",
         {.range = {1e9, 1e12, Scale::log}, .when = of_gpu});
  f.real("cross_bytes_per_s", in.cross_bytes_per_s, {"Between the sockets", "B/s"}, "One direction; an example.",
         {.range = {1e9, 1e12, Scale::log}, .when = across});
  f.integer("sharers", in.sharers, "GPUs that fetch across", "They share what is between the sockets.",
            {.range = {1, 8}, .when = across});
}

void describe_queue(Fields& f, Outputs& o) {
  f.group("The queue");
  f.real("used", o.used, {"Used", "%"}, "Places on which jobs ran, over the time that is counted.",
         {.headline = true, .when = of_fleet, .formula = "busy places x time / (places x time)", .source = simulated});
  f.real("mean_wait_s", o.mean_wait_s, {"Mean wait", "s"},
         "From a job's arrival to its start; where the line grows, longer with more jobs.",
         {.headline = true, .when = of_fleet, .source = simulated});
  f.real("in_pieces", o.in_pieces, {"Enough, in pieces", "%"},
         "Share of the time in which the first job waits though as many places as it needs are free.",
         {.when = of_fleet, .source = simulated});
  f.real("held_back", o.held_back, {"Held back", "%"},
         "Empty places where a job that waits fits, and its turn has not come.",
         {.headline = true, .when = of_fleet, .source = simulated});
  f.real("stranded", o.stranded, {"Holes", "%"}, "Empty places on shelves where no job that waits fits.",
         {.headline = true, .when = of_fleet, .source = simulated});
  f.real("idle", o.idle, {"Empty, nobody waits", "%"}, {.when = of_fleet, .formula = "100 - used - holes - held back"});
  f.real("growth", o.growth, {"The line grows by", "%"}, "Work that comes and is not begun, over all places.",
         {.when = of_fleet,
          .formula = "(work in line at the end - at the beginning) / (places x time)",
          .source = simulated});
  f.real("small_wait_s", o.small_wait_s, {"Wait of the smallest", "s"}, "The mean over jobs of the smallest size.",
         {.absent = no_such, .when = of_fleet, .source = simulated});
  f.real("large_wait_s", o.large_wait_s, {"Wait of whole-shelf jobs", "s"},
         "The mean over all that need whole shelves.", {.absent = no_such, .when = of_fleet, .source = simulated});
  f.real("waited", o.waited, {"Had to wait", "%"}, "Jobs that did not start on arrival.",
         {.when = of_fleet, .source = simulated});
  f.real("mean_queue", o.mean_queue, "Jobs that wait, mean", {.when = of_fleet, .source = simulated});
  f.real("wait_over_run", o.wait_over_run, {"Wait over run time", "×"},
         {.when = of_fleet, .formula = "mean wait / mean run time of those counted"});
  f.real("pooled_wait_s", o.pooled_wait_s, {"Wait if no job had a size", "s"},
         "M/M/c with as many servers as places, at the same load, in the long run; one round may lie on either side.",
         {.absent = "At this load such a queue grows for ever.", .when = of_fleet, .source = "Erlang C"});
  f.text("best_rule", o.best_rule, "Shortest mean wait", "Among the rules that are compared.", {.when = of_fleet});
  f.real("best_wait_s", o.best_wait_s, {"Its mean wait", "s"}, {.when = of_fleet, .source = simulated});
  f.real("best_paused_s", o.best_paused_s, {"Its pauses", "s"}, "How long a job stands still on average to be moved.",
         {.when = of_fleet, .formula = "moves x a move / jobs", .source = simulated});
  f.integer("moves", o.moves, "Moves", "Jobs that were moved to make room.", {.when = of_fleet});
  f.integer("spread_jobs", o.spread_jobs, "Spread jobs", "Small jobs that lie on several shelves.", {.when = of_fleet});
  f.real("crossing", o.crossing, {"Across both sockets", "%"}, "Share of the jobs of 2 to 4 GPUs.",
         {.absent = "No job of 2 to 4 GPUs comes.", .when = of_fleet, .source = simulated});
  f.table("sizes", o.sizes, "By size", "The jobs that are counted.", {.when = of_fleet, .max_items = 16});
  f.table("rules", o.rules, "Rules", "The same jobs under other rules.", {.when = of_fleet, .max_items = 16});
  f.group("The jobs");
  f.real("places", o.places, "Places", {.when = of_fleet, .formula = "8 x shelves"});
  f.real("mean_places", o.mean_places, "Places a job asks for, mean",
         {.when = of_fleet, .formula = "sum of share x size"});
  f.real("mean_run_s", o.mean_run_s, {"Run time, mean", "s"}, "By the mix's law.",
         {.when = of_fleet, .source = "AcmeTrace; Gavel, 2020"});
  f.real("arrivals_per_hour", o.arrivals_per_hour, "Jobs an hour",
         {.when = of_fleet, .formula = "load x places / (mean size x mean run time)"});
  f.real("left_out", o.left_out, {"Too large", "%"}, "Jobs of the mix that need more than half of the fleet.",
         {.when = of_fleet, .formula = "1 - sum of the shares that are kept"});
  f.group("The moment shown");
  f.real("moment_at_s", o.moment_at_s, {"When", "s"}, "From the beginning of the second round on.",
         {.when = of_fleet, .source = simulated});
  f.real("moment_used", o.moment_used, "Places used then", {.when = of_fleet, .source = simulated});
  f.real("moment_free", o.moment_free, "Places empty then", {.when = of_fleet, .source = simulated});
  f.real("moment_held_back", o.moment_held_back, "Held back then", "A job that waits fits there.",
         {.when = of_fleet, .source = simulated});
  f.real("moment_stranded", o.moment_stranded, "Holes then", "No job that waits fits there.",
         {.when = of_fleet, .source = simulated});
  f.real("empty_shelves", o.empty_shelves, "Empty shelves then", {.when = of_fleet, .source = simulated});
  f.real("moment_waiting", o.moment_waiting, "Jobs that wait then", {.when = of_fleet, .source = simulated});
  f.real("first_places", o.first_places, "The first in line needs", "Places.",
         {.absent = nobody_waits, .when = of_fleet, .source = simulated});
  f.real("first_starts_s", o.first_starts_s, {"It starts after", "s"}, "From the moment shown on.",
         {.absent = nobody_waits, .when = of_fleet, .source = simulated});
}

}  // namespace

void describe(Fields& f, SizeRow& r) {
  f.text("size", r.size, "Size", "What a job asks for.");
  f.integer("jobs", r.jobs, "Jobs", "Those that are counted.");
  f.real("jobs_share", r.jobs_share, {"Share of jobs", "%"});
  f.real("time_share", r.time_share, {"Share of work", "%"}, "Places × run time.");
  f.real("mean_wait_s", r.mean_wait_s, {"Mean wait", "s"});
  f.real("waited", r.waited, {"Had to wait", "%"});
}

void describe(Fields& f, RuleRow& r) {
  f.text("rule", r.rule, "Rule", "Order, packing and what is added.");
  f.real("used", r.used, {"Used", "%"});
  f.real("stranded", r.stranded, {"Holes", "%"});
  f.real("held_back", r.held_back, {"Held back", "%"});
  f.real("mean_wait_s", r.mean_wait_s, {"Mean wait", "s"});
  f.real("paused_s", r.paused_s, {"Pauses, mean", "s"}, "How long a job stands still to be moved; no part of its wait.",
         {.formula = "moves x a move / jobs"});
  f.real("small_wait_s", r.small_wait_s, {"Smallest jobs", "s"}, {.absent = no_such});
  f.real("large_wait_s", r.large_wait_s, {"Whole shelves", "s"}, {.absent = no_such});
}

void describe(Fields& f, TenantRow& r) {
  f.text("tenant", r.tenant, "Job", "On the GPU that is shared.");
  f.real("alone_s", r.alone_s, {"Step alone", "s"});
  f.real("step_s", r.step_s, {"Step with the others", "s"});
  f.real("host_s", r.host_s, {"Host", "s"});
  f.real("slowdown", r.slowdown, {"Slower by", "×"});
  f.real("sms_alone", r.sms_alone, {"SMs busy alone", "%"}, {.formula = "arithmetic / step alone"});
  f.real("bandwidth_alone", r.bandwidth_alone, {"Bandwidth alone", "%"}, {.formula = "bytes / step alone"});
}

void describe(Fields& f, Inputs& in) {
  describe_fleet(f, in);
  describe_gpu(f, in);
}

void describe(Fields& f, Outputs& o) {
  describe_queue(f, o);
  f.group("One GPU for many");
  f.real("slowdown", o.slowdown, {"Your step is longer", "×"}, "Against the whole GPU alone.",
         {.headline = true, .when = of_gpu, .formula = "step with the others / step alone", .source = roofline});
  f.real("step_s", o.step_s, {"Your step with the others", "s"}, {.when = of_gpu, .source = roofline});
  f.real("alone_s", o.alone_s, {"Your step alone", "s"}, {.when = of_gpu, .formula = "max(arithmetic, bytes) + host"});
  f.real("noisy_slowdown", o.noisy_slowdown, {"The neighbour's is longer", "×"}, {.when = of_gpu, .source = roofline});
  f.real("throughput", o.throughput, "Done together", "In GPUs that each had one job at a time.",
         {.headline = true, .when = of_gpu, .formula = "sum of 1 / slowdown"});
  f.choice("roof", o.roof, roofs, "What binds yours", "With the others on the GPU.", {.when = of_gpu});
  f.real("instances", o.instances, "Instances that fit", "As the placement rules allow.",
         {.absent = "The GPU is not cut into instances.", .when = of_gpu, .source = "NVIDIA, MIG User Guide"});
  f.integer("placed", o.placed, "Jobs that are on it", "Who finds no instance is not.", {.when = of_gpu});
  f.integer("unplaced", o.unplaced, "Jobs without an instance", "No more of that size fit on the GPU.",
            {.when = of_gpu});
  f.real("memory_slices", o.memory_slices, "Memory slices", "What the instance has of eight.",
         {.absent = "The GPU is not cut into instances.", .when = of_gpu, .source = "NVIDIA, MIG User Guide"});
  f.real("host_rate", o.host_rate, {"From the host", "B/s"},
         {.when = of_gpu, .formula = "min(link, between the sockets / sharers)"});
  f.table("gpu_jobs", o.tenants, "Jobs on the GPU", {.when = of_gpu, .max_items = 8});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"fleet/sharing",
       "Sharing",
       "Why does everybody wait while GPUs stand empty, and what does sharing one cost?",
       {.job = true, .published_keys = "mix way profile"}},
      compute, arrange, draw);
}

}  // namespace chapters::fleet::sharing
