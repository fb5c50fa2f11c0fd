#include "chapters/kernels/coalescing/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::kernels::coalescing {
namespace {

const Choices accesses{{"strided", "Stride and offset", "Thread i of the grid loads x[stride * i + offset]."},
                       {"expression", "Your expression", "The index below, or a line of a kernel."},
                       {"addresses", "A list of addresses", "The byte address of each lane, from the list below."}};
const Choices widths{{"1", "1 B", "One load moves a byte a lane: char, FP8, INT8."},
                     {"2", "2 B", "half, bfloat16."},
                     {"4", "4 B", "float, int, half2."},
                     {"8", "8 B", "double, float2."},
                     {"16", "16 B", "float4: the most that one instruction moves."}};
const Choices elements{{"load", "As wide as the load", "Neighbouring indices are neighbouring loads."},
                       {"1", "1 B", "The index counts bytes."},
                       {"2", "2 B", "The index counts halves."},
                       {"4", "4 B", "The index counts floats, whatever is loaded."},
                       {"8", "8 B", "A struct of two floats, or doubles."},
                       {"12", "12 B", "A struct of three floats."},
                       {"16", "16 B", "A struct of four floats."},
                       {"20", "20 B", "A struct of five floats."},
                       {"24", "24 B", "A struct of six floats."},
                       {"32", "32 B", "A struct as large as a sector."},
                       {"36", "36 B", "A struct of nine floats."},
                       {"48", "48 B", "A struct of twelve floats."},
                       {"64", "64 B", "A struct of two sectors."},
                       {"128", "128 B", "A struct as large as a line."}};
static_assert(element_sizes.size() == 14, "the choices above stand in the order of element_sizes");

constexpr std::string_view guide = "CUDA C++ Best Practices Guide, coalesced access to global memory";
constexpr std::string_view all_off = "All lanes of the warp are off.";
constexpr std::string_view block_off = "All lanes of the block are off.";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The access");
  f.choice("access", in.access, accesses, "Given as", "How each lane comes to its address.");
  f.text("expression", in.expression, "Expression",
         "An index such as `2 * tid + 1` or a line of a kernel such as `y[i] = a[threadIdx.x * 2 + 1];`. Names: tid, "
         "lane, warp, block, row, col, width, height, and your own as in `N = 64; N * row + col`; `lane < 16 ? lane : "
         "off` switches lanes off.",
         {.mode = {"access", "expression"}, .max_bytes = 1000});
  f.text("addresses", in.addresses, "Addresses",
         "Up to 32 byte addresses between commas, lane by lane; -1 is a lane that is off.",
         {.mode = {"access", "addresses"}, .max_bytes = 1000});
  f.integer("stride", in.stride, "Stride",
            "Elements from one thread's to the next one's. Stretch the fan by its right end.",
            {.range = {0, 4096}, .typical = {0, 32}, .headline = true, .when = {"access", "strided"}});
  f.integer("offset", in.offset, "Offset", "Elements that every index is moved by. Push the fan by its left end.",
            {.range = {0, 4096}, .typical = {0, 32}, .headline = true});
  f.choice("width_bytes", in.width_bytes, widths, "Load", "Bytes that one lane moves with one instruction.",
           {.headline = true});
  f.choice("element_bytes", in.element_bytes, elements, "Element",
           "Bytes from one index to the next. A lane may load less: one field of a struct.");
  f.group("The block");
  f.integer("block_width", in.block_width, "Threads in a row", "Its first dimension, blockDim.x.",
            {.range = {1, 1024, Scale::log}, .typical = {8, 512}, .when = {"access", "strided|expression"}});
  f.integer("block_height", in.block_height, "Rows of threads", "Its second dimension, blockDim.y.",
            {.range = {1, 32, Scale::log}, .when = {"access", "strided|expression"}});
  f.integer("warp_index", in.warp_index, "Warp", "The warp of the block whose fan is drawn; 0 is the first.",
            {.range = {0, 31}, .typical = {0, 7}, .when = {"access", "strided|expression"}});
  f.integer("block_index", in.block_index, "Block", "The number of the block, blockIdx.x.",
            {.range = {0, 65535}, .typical = {0, 15}, .when = {"access", "strided|expression"}});
  f.group("The chip");
  shared::chip(f, "chip", in.chip, {.help = "Its memory's bandwidth is what the wanted share is of."});
  f.real("wanted_bytes", in.wanted_bytes, {"Wanted in all", "B"},
         "Bytes that a whole grid wants with this access, for the time.", {.range = {1e6, 1e12, Scale::log}});
}

void describe(Fields& f, Outputs& o) {
  f.group("The warp");
  f.integer("sectors", o.sectors, "Sectors", "Distinct blocks of 32 B that the warp's load touches.",
            {.headline = true, .formula = "distinct address / 32", .source = guide});
  f.real("efficiency_percent", o.efficiency_percent, {"Efficiency", "%"}, "Wanted part of what is fetched.",
         {.headline = true, .absent = all_off, .formula = "wanted / fetched"});
  f.real("fetched_bytes", o.fetched_bytes, {"Fetched", "B"}, {.headline = true, .formula = "32 * sectors"});
  f.integer("lines", o.lines, "Lines", "Distinct blocks of 128 B, for which a cache has one tag each.",
            {.formula = "distinct address / 128", .source = guide});
  f.integer("ideal_sectors", o.ideal_sectors, "Sectors at best", "As many as the wanted bytes fill.",
            {.formula = "ceil(wanted / 32)"});
  f.real("efficiency", o.efficiency, "Efficiency, as a number", {.absent = all_off, .formula = "wanted / fetched"});
  f.real("useful_bytes", o.useful_bytes, {"Wanted", "B"}, "Distinct bytes: what two lanes want counts once.");
  f.real("requested_bytes", o.requested_bytes, {"Asked for", "B"}, "By all active lanes, doubles counted.",
         {.formula = "active * load"});
  f.integer("active", o.active, "Active lanes", "Lanes that take part.");
  f.real("first_byte", o.first_byte, {"First byte", "B"}, "The least address.", {.absent = all_off});
  f.real("span_bytes", o.span_bytes, {"Span", "B"}, "From the first byte to the last, both included.",
         {.absent = all_off});
  f.group("The block");
  f.integer("warps", o.warps, "Warps of the block", {.formula = "ceil(threads / 32)"});
  f.integer("block_sectors", o.block.sectors, "Sectors of the block",
            "Distinct ones: what a warp before has fetched is still in L1.", {.formula = "distinct address / 32"});
  f.integer("block_asked_sectors", o.block.asked_sectors, "Sectors, warp by warp",
            "The sum over the warps: what passes L1.", {.source = "what a profiler counts as sectors of requests"});
  f.integer("block_ideal_sectors", o.block_ideal_sectors, "Sectors of the block at best",
            {.formula = "ceil(wanted / 32)"});
  f.real("block_useful_bytes", o.block_useful_bytes, {"Wanted by the block", "B"}, "Distinct bytes.");
  f.real("block_efficiency_percent", o.block_efficiency_percent, {"Efficiency of the block", "%"},
         {.absent = block_off, .formula = "wanted / (32 * distinct sectors)"});
  f.group("On the chip");
  f.real("useful_bytes_per_s", o.useful_bytes_per_s, {"Useful rate", "B/s"},
         "What the memory's bandwidth leaves. What other blocks or loads want of the same sectors, from L2, is not "
         "counted.",
         {.headline = true, .absent = block_off, .formula = "bandwidth * efficiency of the block"});
  f.real("bandwidth_bytes_per_s", o.bandwidth_bytes_per_s, {"Bandwidth", "B/s"}, "The chip's memory, as stated.");
  f.real("time_s", o.time_s, {"Time", "s"}, "For all that is wanted, at the useful rate.",
         {.absent = block_off, .formula = "wanted in all / useful rate"});
  f.real("ideal_time_s", o.ideal_time_s, {"Time were all wanted", "s"}, {.formula = "wanted in all / bandwidth"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"kernels/coalescing", "Coalescing", "How many bytes does a warp fetch for those that it wants?"}, compute,
      arrange, draw);
}

}  // namespace chapters::kernels::coalescing
