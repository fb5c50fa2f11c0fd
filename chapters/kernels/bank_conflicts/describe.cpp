#include "chapters/kernels/bank_conflicts/lab.h"

namespace chapters::kernels::bank_conflicts {
namespace {

const Choices access_choices = {
    {"row", "A row", "Lane t takes the t-th chunk of a row, on into the rows below where it is short."},
    {"column", "A column", "Lane t takes row t of one column: how a transpose leaves its tile."},
    {"ldmatrix", "ldmatrix.x4", "Lane t gives the address of row t % 16, chunk t / 16: four matrices of 8 × 16 bytes."},
    {"mma_rows", "mma, 8 rows by 4", "Row t / 4, chunk t % 4: how lanes hold A and C, and B of an [n][k] tile."},
    {"mma_columns", "mma, 4 rows by 8", "Row t % 4, chunk t / 4: how lanes hold B of a [k][n] tile."},
    {"expression", "Your expression", "An index that each lane forms, in units of what it moves."},
    {"addresses", "Your addresses", "A byte address for each lane."}};
const Choices width_choices = {{"1", "1 byte", "All 32 lanes in one phase."},
                               {"2", "2 bytes", "All 32 lanes in one phase: half, bfloat16."},
                               {"4", "4 bytes", "All 32 lanes in one phase: float, half2."},
                               {"8", "8 bytes", "Two phases of 16 lanes: double, float2."},
                               {"16", "16 bytes", "Four phases of 8 lanes: float4, eight halves."}};
const Choices element_choices = {{"int8", "1 byte (int8, fp8)", "One byte."},
                                 {"half", "2 bytes (half, bf16)", "Two bytes."},
                                 {"float", "4 bytes (float, tf32)", "Four bytes."},
                                 {"double", "8 bytes (double)", "Eight bytes."}};
const Choices index_choices = {{"load", "What a lane moves", "Neighbouring indices are neighbouring accesses."},
                               {"1", "1 byte", "The index counts bytes."},
                               {"2", "2 bytes", "The index counts halves."},
                               {"4", "4 bytes", "The index counts floats, whatever a lane moves."},
                               {"8", "8 bytes", "Doubles, or a struct of two floats."},
                               {"12", "12 bytes", "A struct of three floats."},
                               {"16", "16 bytes", "A struct of four floats."}};
const Choices swizzle_choices = {
    {"fitted", "Fitted to tile and access",
     "Units as wide as what a phase takes side by side, and as many bits as the banks ask for."},
    {"own", "Your own bits", "The unit, the shift and the bits that you set."}};
const Choices unit_choices = {{"2", "2 bytes", "Single halves."},
                              {"4", "4 bytes", "Whole words."},
                              {"8", "8 bytes", "Pairs of words."},
                              {"16", "16 bytes", "The chunks of ldmatrix and of 16-byte copies."},
                              {"32", "32 bytes", "Four lanes of 8 bytes: a row of an mma accumulator."},
                              {"64", "64 bytes", "Four lanes of 16 bytes."}};
static_assert(static_cast<int>(Access::addresses) == 6 && static_cast<int>(Width::sixteen) == 4 &&
                  static_cast<int>(Element::double64) == 3 && static_cast<int>(SwizzleKind::own) == 1 &&
                  static_cast<int>(Unit::sixty_four) == 5 && static_cast<int>(IndexUnit::sixteen) == 6,
              "the choices above stand in the order of the enumerators");

constexpr std::string_view guide = "CUDA C++ Programming Guide, shared memory";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The access");
  f.choice("access", in.access, access_choices, "Access", "What the 32 lanes of a warp read or write at once.",
           {.headline = true});
  f.integer(
      "column", in.column, "Column",
      "Counted from 0, in elements; a wider access takes the chunk that holds it. Drag it in the picture, too.",
      {.range = {0, 63, Scale::step}, .headline = true, .when = {"access", "column|ldmatrix|mma_rows|mma_columns"}});
  f.integer("row", in.row, "Row", "The first row that is read, counted from 0.",
            {.range = {0, 63, Scale::step}, .typical = {0, 31}, .when = {"access", "row"}});
  f.choice("width_bytes", in.width, width_choices, "Bytes per lane",
           "How much a lane moves with one instruction. ldmatrix takes 16 bytes from each address.",
           {.when = {"access", "row|column|mma_rows|mma_columns|expression|addresses"}});
  f.group("Your expression or addresses");
  f.text("expression", in.expression, "Index",
         "What a thread puts between the brackets, in C: 33 * lane + 5, or a line of a kernel such as s[threadIdx.x * "
         "33 + 5]. swizzle(B, M, S, a) is CuTe's.",
         {.mode = {"access", "expression"}, .max_bytes = 1000});
  f.choice("element_bytes", in.index_unit, index_choices, "Index counts", "Bytes from one index to the next.",
           {.when = {"access", "expression"}});
  f.integer("block_width", in.block_width, "Threads in a row",
            "blockDim.x: threadIdx.x runs up to this. A block has 1,024 threads here, or a few more.",
            {.range = {1, 1024, Scale::log}, .typical = {8, 512}, .when = {"access", "expression"}});
  f.integer("warp_index", in.warp_index, "Warp", "Which warp of the block; its first thread is 32 times this.",
            {.range = {0, 31}, .typical = {0, 7}, .when = {"access", "expression"}});
  f.text("addresses", in.addresses, "Addresses",
         "Up to 32 byte addresses, one for each lane: 0, 8, 16. A lane that takes no part is -1.",
         {.mode = {"access", "addresses"}, .max_bytes = 2000});
  f.group("The tile");
  f.integer("columns", in.columns, "Columns", "Elements of a row, without padding.",
            {.range = {16, 256, Scale::step, 16}});
  f.integer("rows", in.rows, "Rows", "Rows of the tile.", {.range = {8, 64, Scale::step, 8}});
  f.choice("element", in.element, element_choices, "Element", "What the tile holds.");
  f.integer("padding", in.padding, "Padding", "Unused elements at the end of each row. Drag the row's end, too.",
            {.range = {0, static_cast<double>(max_padding), Scale::step}, .typical = {0, 32}, .headline = true});
  f.group("The swizzle");
  f.choice("swizzle", in.swizzle, swizzle_choices, "XOR", "Which bits of the row number flip bits of the column.");
  f.choice("swizzle_unit_bytes", in.swizzle_unit, unit_choices, "Unit",
           "What the XOR moves as a whole. Narrower than the access, it tears the access apart.",
           {.when = {"swizzle", "own"}});
  f.integer("swizzle_shift", in.swizzle_shift, "Rows that share a flip",
            "As a power of two: the row number is shifted right by this first.",
            {.range = {0, 4, Scale::step}, .when = {"swizzle", "own"}});
  f.integer("swizzle_mask", in.swizzle_mask, "Bits that flip",
            "As a binary number: 31 is 11111, five bits. Press them in the picture, too.",
            {.range = {0, 31, Scale::step}, .when = {"swizzle", "own"}});
  f.group("The room");
  f.real("shared_memory_bytes", in.shared_memory_bytes, {"Shared memory", "B"},
         "What a block may have: 227 KiB on H100 and B200, 163 on A100, 99 on RTX 4090 and 5090.",
         {.range = {16.0 * 1024, 512.0 * 1024, Scale::log}, .binary = true});
}

void describe(Fields& f, AccessRow& r) {
  f.text("name", r.name, "Access");
  f.real("ideal", r.ideal, "At least", {.may_be_missing = true});
  f.real("plain", r.plain, "As written", {.may_be_missing = true});
  f.real("padded", r.padded, "Padded", {.may_be_missing = true});
  f.real("swizzled", r.swizzled, "Swizzled", {.may_be_missing = true});
}

namespace {

void describe_plain(Fields& f, Outputs& o) {
  f.group("As written");
  f.integer("wavefronts", o.wavefronts, "Wavefronts",
            "Passes of shared memory that one instruction of the warp takes, without padding or swizzle.",
            {.headline = true, .formula = "sum over phases of the most distinct words in one bank", .source = guide});
  f.reals("phases", o.plain.phases, "Per phase",
          "Wavefronts of each: one phase up to 4 bytes per lane, two of 16 lanes at 8, four of 8 lanes at 16.");
  f.integer("ideal", o.ideal, "At least", "Were the words spread evenly over the banks.",
            {.formula = "sum over phases of ceil(distinct words / 32)"});
  f.integer("excess", o.excess, "More than that", {.formula = "wavefronts - at least"});
  f.integer("ways", o.ways, "Ways of the conflict", "In the worst phase; what is meant by an n-way bank conflict.",
            {.formula = "most distinct words in one bank"});
  f.integer("banks", o.banks, "Banks at work", "Those of the 32 that give a word, over all phases.");
  f.integer("words", o.words, "Words", "Distinct ones in each phase, added up: the same word is read once.");
  f.integer("active", o.active, "Lanes that take part", "Lanes of the warp that are not switched off.");
  f.integer("bytes_per_lane", o.bytes_per_lane, {"Moved per lane", "B"}, "16 for each address of ldmatrix.");
  f.real("bytes_per_wavefront", o.bytes_per_wavefront, {"Bytes per wavefront", "B"}, "128 at most.",
         {.formula = "4 x distinct words / wavefronts"});
  f.integer("row_bytes", o.row_bytes, {"Row", "B"}, {.formula = "columns x element"});
  f.integer("row_alignment_bytes", o.row_alignment_bytes, {"Rows aligned to", "B"}, "Swizzled, too.",
            {.formula = "largest power of two in the row, at most 128"});
  f.real("tile_bytes", o.tile_bytes, {"Tile", "B"}, "Swizzled, too.", {.binary = true, .formula = "rows x row"});
  f.integer("tiles", o.tiles, "Tiles that fit", "Into the shared memory; swizzled, too.",
            {.formula = "floor(shared memory / tile)"});
}

void describe_padded(Fields& f, Outputs& o) {
  f.group("Padded");
  f.real("padded_wavefronts", o.padded.wavefronts, "Wavefronts, padded",
         {.headline = true,
          .absent = "Padded rows are not aligned to what a lane moves.",
          .formula = "the same, rows a pitch apart"});
  f.reals("padded_phases", o.padded.phases, "Per phase, padded");
  f.real("padded_ways", o.padded.ways, "Ways, padded", "In the worst phase.",
         {.absent = "Padded rows are not aligned to what a lane moves."});
  f.real("padding_bytes", o.padding_bytes, {"Padding per tile", "B"},
         {.headline = true, .binary = true, .formula = "rows x padding x element"});
  f.real("padding_share", o.padding_share, {"Padding over tile", "%"}, {.formula = "padding / columns"});
  f.real("padded_tile_bytes", o.padded_tile_bytes, {"Tile, padded", "B"}, {.binary = true, .formula = "rows x pitch"});
  f.integer("pitch_bytes", o.pitch_bytes, {"Pitch", "B"}, "From one padded row to the next.",
            {.formula = "(columns + padding) x element"});
  f.integer("alignment_bytes", o.alignment_bytes, {"Padded rows aligned to", "B"},
            "16-byte loads, ldmatrix and cp.async of 16 bytes need 16.",
            {.formula = "largest power of two in the pitch, at most 128"});
  f.real("best_padding", o.best_padding, "Least padding that works",
         "The fewest elements per row with which this access takes no wavefront more than it must.",
         {.absent = "No padding up to 64 elements frees this access of conflicts."});
  f.real("best_padding_bytes", o.best_padding_bytes, {"It would cost", "B"}, "Per tile.",
         {.absent = "No padding up to 64 elements frees this access of conflicts.",
          .formula = "rows x least padding x element"});
  f.integer("tiles_padded", o.tiles_padded, "Padded tiles that fit", {.formula = "floor(shared memory / padded tile)"});
  f.text("padded_reason", o.padded.reason, "Why not", "Empty where the padded access is possible.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_plain(f, o);
  describe_padded(f, o);
  f.group("Swizzled");
  f.real("swizzled_wavefronts", o.swizzled.wavefronts, "Wavefronts, swizzled",
         {.headline = true,
          .absent = "This XOR and this access do not go together.",
          .formula = "the same, unit c of row r at c ^ flip(r)"});
  f.reals("swizzled_phases", o.swizzled.phases, "Per phase, swizzled");
  f.real("swizzled_ways", o.swizzled.ways, "Ways, swizzled", "In the worst phase.",
         {.absent = "This XOR and this access do not go together."});
  f.text("flip", o.flip, "Unit c lies at", "c is the unit's number in row r.");
  f.text("cute", o.cute, "In CuTe", "On byte offsets. Empty where it has no Swizzle<B, M, S> for it.");
  f.text("fit", o.fit, "The fit", "Whether the XOR that was fitted leaves this access conflicts.");
  f.integer("unit_bytes", o.unit_bytes, {"Unit of the XOR", "B"}, "What it moves as a whole.");
  f.integer("flip_shift", o.flip_shift, "Shift of the row number", "As many low bits of it as flip nothing.");
  f.integer("flip_mask", o.flip_mask, "Bits of it that flip", "As a binary number.");
  f.text("swizzled_reason", o.swizzled.reason, "Why this XOR does not work", "Empty where the access is possible.");
  f.group("What kernels read");
  f.table("accesses", o.accesses, "Accesses", "Wavefronts of what kernels do to such a tile.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"kernels/bank-conflicts",
       "Bank conflicts",
       "Why is a column slow when a row is fast, and what does each cure cost?",
       {.published_keys = "access element columns"}},
      compute, arrange, draw);
}

}  // namespace chapters::kernels::bank_conflicts
