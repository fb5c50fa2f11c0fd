#include "models/parallel/pipeline/pipeline_plan.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "models/base/printable.h"
#include "models/parallel/pipeline/pipeline_rules.h"

namespace models::parallel {
namespace {

constexpr std::int64_t max_ranks = 1024, max_chunks = 16, max_numbered = 65535, max_block_cells = 4096;
constexpr std::array<std::string_view, pipeline_schedule_count> schedule_names{
    "GPipe",      "1F1B",      "Interleaved 1F1B", "ZB-H1",          "ZB-H2",         "ZB-V",   "DualPipe",
    "DualPipe-V", "PipeDream", "PipeDream-2BW",    "Interleaved ZB", "Breadth-first", "V-Half", "V-Min"};

/// Whether a rank holds as many chunks as one chooses, dealt in rounds.
bool loops(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::interleaved || schedule == PipelineSchedule::interleaved_zb ||
         schedule == PipelineSchedule::breadth_first;
}
bool by_building_block(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::v_half || schedule == PipelineSchedule::v_min;
}

std::string count_text(std::int64_t n) { return std::to_string(n); }

/// What a direction of the plan looks like before any rank has an order.
PipelinePlan empty_plan(const PipelineSpec& spec) {
  PipelinePlan plan;
  const std::int64_t ranks = spec.ranks;
  plan.schedule = spec.schedule;
  plan.ranks = ranks;
  plan.chunks = chunks_of(spec);
  plan.depth = ranks * plan.chunks;
  plan.stages = plan.depth * copies_of(spec.schedule);
  plan.micro_batches = spec.micro_batches / copies_of(spec.schedule);
  plan.rank_of.resize(static_cast<std::size_t>(plan.stages));
  const bool folded = !loops(spec.schedule);
  for (std::int64_t stage = 0; stage < plan.stages; ++stage) {
    const std::int64_t turn = stage / ranks, at = stage % ranks;
    plan.rank_of[static_cast<std::size_t>(stage)] =
        static_cast<std::uint16_t>(folded && turn % 2 == 1 ? ranks - 1 - at : at);
  }
  plan.orders.resize(static_cast<std::size_t>(ranks));
  return plan;
}

char letter_of(PipeKind kind) {
  constexpr std::string_view letters = "FBIW";
  return letters[static_cast<std::size_t>(kind)];
}

std::string label_of(bool with_stage, PipeKind kind, std::int64_t stage, std::int64_t micro_batch) {
  std::string out = with_stage ? count_text(stage) : std::string();
  out += letter_of(kind);
  return out + count_text(micro_batch);
}

/// Reads "5F3" or "F3" whole; false where it is neither.
bool read_label(std::string_view text, std::size_t rank, PipeOp& op) {
  op.stage = static_cast<std::uint16_t>(rank);
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at != end && *at >= '0' && *at <= '9') {
    const auto stage = std::from_chars(at, end, op.stage);
    if (stage.ec != std::errc()) return false;
    at = stage.ptr;
  }
  if (at == end) return false;
  const std::size_t kind = std::string_view("FBIW").find(*at);
  if (kind == std::string_view::npos) return false;
  op.kind = static_cast<PipeKind>(kind);
  const auto micro_batch = std::from_chars(at + 1, end, op.micro_batch);
  return micro_batch.ec == std::errc() && micro_batch.ptr == end;
}

/// Each rank's order `steps` times, on new micro-batches.
void repeat(PipelinePlan& plan, std::int64_t steps) {
  for (std::vector<PipeOp>& order : plan.orders) {
    const std::size_t once = order.size();
    for (std::int64_t step = 1; step < steps; ++step)
      for (std::size_t i = 0; i < once; ++i) {
        PipeOp op = order[i];
        const auto by = static_cast<std::uint16_t>(step * plan.micro_batches);
        op.micro_batch = static_cast<std::uint16_t>(op.micro_batch + by);
        if (op.kind == PipeKind::pair) op.back_micro_batch = static_cast<std::uint16_t>(op.back_micro_batch + by);
        order.push_back(op);
      }
  }
  plan.micro_batches *= steps;
}

Status make_move(PipelinePlan& plan, const PipelineMove& move) {
  if (move.rank < 0 || move.rank >= plan.ranks)
    return Status::fail("A block was moved on rank " + count_text(move.rank) + ", and the ranks are 0 to " +
                        count_text(plan.ranks - 1) + ": take that move back.");
  std::vector<PipeOp>& order = plan.orders[static_cast<std::size_t>(move.rank)];
  for (const PipeOp* op : {&move.block, move.before ? &*move.before : &move.block})
    if (std::find(order.begin(), order.end(), *op) == order.end())
      return Status::fail("A block was moved that is not there: rank " + count_text(move.rank) + " has no " +
                          label(plan, *op) + " in this schedule. Take that move back.");
  const auto from = std::find(order.begin(), order.end(), move.block);
  const PipeOp block = *from;
  if (move.before && *move.before == block) return Status::ok();
  order.erase(from);
  order.insert(move.before ? std::find(order.begin(), order.end(), *move.before) : order.end(), block);
  return Status::ok();
}

}  // namespace

std::string_view schedule_name(PipelineSchedule schedule) { return schedule_names[static_cast<std::size_t>(schedule)]; }

std::int64_t chunks_of(const PipelineSpec& spec) {
  switch (spec.schedule) {
    case PipelineSchedule::interleaved:
    case PipelineSchedule::interleaved_zb:
    case PipelineSchedule::breadth_first:
      return spec.chunks;
    case PipelineSchedule::v_half:
    case PipelineSchedule::v_min:
    case PipelineSchedule::zb_v:
    case PipelineSchedule::dualpipe_v:
      return 2;
    default:
      return 1;
  }
}

std::int64_t copies_of(PipelineSchedule schedule) { return schedule == PipelineSchedule::dualpipe ? 2 : 1; }

Status check(const PipelineSpec& spec) {
  const std::int64_t p = spec.ranks, m = spec.micro_batches;
  const std::string name(schedule_name(spec.schedule));
  if (p < 1 || p > max_ranks)
    return Status::fail("A pipeline has 1 to 1,024 ranks, not " + count_text(p) + ": choose a number between.");
  if (m < 1 || m > max_numbered)
    return Status::fail("A step has 1 to 65,535 micro-batches, not " + count_text(m) + ": choose a number between.");
  if (loops(spec.schedule) && (spec.chunks < 1 || spec.chunks > max_chunks))
    return Status::fail("A rank of " + name + " holds 1 to 16 chunks, not " + count_text(spec.chunks) +
                        ": choose a number between.");
  if (by_building_block(spec.schedule) && p * m > max_block_cells)
    return Status::fail(name + " is laid out for up to 4,096 stages × micro-batches, and these are " +
                        count_text(p * m) + ": choose fewer micro-batches.");
  switch (spec.schedule) {
    case PipelineSchedule::interleaved:
    case PipelineSchedule::interleaved_zb: {
      const std::int64_t round = spec.round == 0 ? p : spec.round;
      if (round < 1 || m % round != 0)
        return Status::fail(name + " sends micro-batches round in groups of " + count_text(round) + ", and " +
                            count_text(m) + " is no multiple of that: choose another number of micro-batches.");
      return Status::ok();
    }
    case PipelineSchedule::dualpipe:
      if (p % 2 != 0)
        return Status::fail("DualPipe pairs rank r with rank P - 1 - r, so " + count_text(p) +
                            " stages, an odd number, leave one alone: choose an even number.");
      if (m % 2 != 0)
        return Status::fail("DualPipe sends half of the micro-batches from each end, and " + count_text(m) +
                            " is odd: choose an even number.");
      [[fallthrough]];
    case PipelineSchedule::dualpipe_v:
      if (m < 2 * p)
        return Status::fail(name + " needs at least twice as many micro-batches as stages, " + count_text(2 * p) +
                            ", and there are " + count_text(m) + ".");
      return Status::ok();
    case PipelineSchedule::pipedream_2bw:
      if (m < p)
        return Status::fail(
            "PipeDream-2BW keeps two versions of the weights only if an update takes at least as many "
            "micro-batches as there are stages, " +
            count_text(p) + ", and there are " + count_text(m) + ".");
      return Status::ok();
    default:
      return Status::ok();
  }
}

Result<PipelinePlan> pipeline_plan(const PipelineSpec& spec) {
  const Status fit = check(spec);
  if (!fit) return Result<PipelinePlan>::fail(fit.error);
  PipelinePlan plan = empty_plan(spec);
  if (by_building_block(spec.schedule)) {
    order_by_building_block(plan);
    return Result<PipelinePlan>::ok(std::move(plan));
  }
  const std::int64_t round = spec.round == 0 ? spec.ranks : spec.round;
  for (std::int64_t rank = 0; rank < plan.ranks; ++rank) {
    std::vector<PipeOp>& order = plan.orders[static_cast<std::size_t>(rank)];
    switch (spec.schedule) {
      case PipelineSchedule::gpipe:
        order = gpipe_order(plan, rank);
        break;
      case PipelineSchedule::interleaved:
        order = interleaved_order(plan, rank, round);
        break;
      case PipelineSchedule::interleaved_zb:
        order = interleaved_zb_order(plan, rank, round);
        break;
      case PipelineSchedule::breadth_first:
        order = breadth_first_order(plan, rank);
        break;
      case PipelineSchedule::zb_h1:
        order = zb_h1_order(plan, rank);
        break;
      case PipelineSchedule::zb_h2:
        order = zb_h2_order(plan, rank);
        break;
      case PipelineSchedule::zb_v:
        order = zb_v_order(plan, rank);
        break;
      case PipelineSchedule::dualpipe:
      case PipelineSchedule::dualpipe_v:
        order = dualpipe_order(plan, rank);
        break;
      case PipelineSchedule::one_f_one_b:
      case PipelineSchedule::pipedream:
      case PipelineSchedule::pipedream_2bw:
        order = one_f_one_b_order(plan, rank);
        break;
      case PipelineSchedule::v_half:
      case PipelineSchedule::v_min:
        break;
    }
  }
  return Result<PipelinePlan>::ok(std::move(plan));
}

bool never_drains(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::pipedream || schedule == PipelineSchedule::pipedream_2bw;
}

Result<PipelinePlan> steps_in_a_row(const PipelineSpec& spec, std::int64_t steps) {
  return edited_steps(spec, steps, {});
}

Result<PipelinePlan> edited_steps(const PipelineSpec& spec, std::int64_t steps, std::span<const PipelineMove> moves) {
  using Out = Result<PipelinePlan>;
  if (const Status fit = check(spec); !fit) return Out::fail(fit.error);
  if (steps < 1 || spec.micro_batches * steps > max_numbered)
    return Out::fail("At most 65,535 micro-batches are numbered: choose fewer of them, or fewer steps.");
  PipelineSpec longer = spec;
  if (never_drains(spec.schedule)) longer.micro_batches *= steps;
  Out out = pipeline_plan(longer);
  if (!out) return out;
  for (const PipelineMove& move : moves)
    if (const Status done = make_move(*out, move); !done) return Out::fail(done.error);
  if (!never_drains(spec.schedule)) repeat(*out, steps);
  return out;
}

std::string label(const PipelinePlan& plan, const PipeOp& op) {
  const bool with_stage = plan.stages != plan.ranks;
  if (op.kind != PipeKind::pair) return label_of(with_stage, op.kind, op.stage, op.micro_batch);
  return "(" + label_of(with_stage, PipeKind::forward, op.stage, op.micro_batch) + ";" +
         label_of(with_stage, PipeKind::backward, op.back_stage, op.back_micro_batch) + ")";
}

std::string order_text(const PipelinePlan& plan, std::size_t rank) {
  std::string out;
  for (const PipeOp& op : plan.orders[rank]) {
    if (!out.empty()) out += ' ';
    out += label(plan, op);
  }
  return out;
}

Result<PipeOp> parse_op(std::string_view text, std::size_t rank) {
  using Out = Result<PipeOp>;
  PipeOp op;
  if (!text.starts_with('(')) {
    if (read_label(text, rank, op)) return Out::ok(op);
  } else if (const std::size_t cut = text.find(';'); cut != std::string_view::npos && text.ends_with(')')) {
    PipeOp back;
    if (read_label(text.substr(1, cut - 1), rank, op) && op.kind == PipeKind::forward &&
        read_label(text.substr(cut + 1, text.size() - cut - 2), rank, back) && back.kind == PipeKind::backward) {
      op.kind = PipeKind::pair;
      op.back_stage = back.stage;
      op.back_micro_batch = back.micro_batch;
      return Out::ok(op);
    }
  }
  return Out::fail("An operation is written F3, 5F3 or (5F3;2B1), with F, B, I or W, and not \"" + printable(text, 80) +
                   "\".");
}

}  // namespace models::parallel
