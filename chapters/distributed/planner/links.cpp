#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/registry.h"

/// The labs that show one side of a plan, with the plan in them.
namespace chapters::distributed::planner {
namespace {

/// A link under construction; keys that the lab does not have, or values that it cannot take, are left out.
class PlanLink {
 public:
  explicit PlanLink(std::string_view lab) : lab_(make_lab_by_id(lab)), text_(lab) {}
  void number(std::string_view key, std::int64_t value) {
    const Field* f = lab_ ? lab_->inputs().find(key) : nullptr;
    if (f == nullptr || (f->kind != Kind::integer && f->kind != Kind::real)) return;
    if (static_cast<double>(value) < f->spec.lo || static_cast<double>(value) > f->spec.hi) return;
    put(key, std::to_string(value));
  }
  void choice(std::string_view key, std::string_view id) {
    const Field* f = lab_ ? lab_->inputs().find(key) : nullptr;
    if (f == nullptr || f->kind != Kind::choice || f->options == nullptr) return;
    for (const Choice& c : *f->options)
      if (c.id == id) {
        put(key, id);
        return;
      }
  }
  void toggle(std::string_view key, bool on) {
    const Field* f = lab_ ? lab_->inputs().find(key) : nullptr;
    if (f != nullptr && f->kind == Kind::toggle) put(key, on ? "true" : "false");
  }
  std::string text() const { return lab_ ? text_ : std::string(); }

 private:
  void put(std::string_view key, std::string_view value) {
    text_ += text_.find('?') == std::string::npos ? '?' : '&';
    text_ += std::string(key) + '=' + std::string(value);
  }
  LabPtr lab_;
  std::string text_;
};

}  // namespace

std::string link_to(const Inputs& in, const PlanCard& card, std::string_view lab) {
  if (!has_lab(lab)) return {};
  const models::memory::TrainingPlan& p = card.price.plan;
  PlanLink w(lab);
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.number("sequence", in.sequence);
  w.number("gpus", in.gpus);
  if (lab == "distributed/pipeline") {
    // That lab draws up to 4,096 operations.
    const std::int64_t most =
        std::max<std::int64_t>(1, 2048 / std::max<std::int64_t>(1, p.pipeline * p.virtual_pipeline));
    std::int64_t m = std::min(p.micro_batches, most);
    if (p.virtual_pipeline > 1) m = std::max(p.pipeline, m / p.pipeline * p.pipeline);
    w.choice("schedule", p.virtual_pipeline > 1 ? "interleaved" : "1f1b");
    w.choice("beside", "gpipe");
    w.number("stages", p.pipeline);
    w.number("micro_batches", m);
    if (p.virtual_pipeline > 1) w.number("chunks", p.virtual_pipeline);
    return w.text();
  }
  w.number("batch", p.batch);
  w.number("micro_batch", p.batch);
  w.number("micro_batches", p.micro_batches);
  w.number("tensor_parallel", p.tensor);
  w.number("pipeline", p.pipeline);
  w.number("pipeline_parallel", p.pipeline);
  w.number("virtual_pipeline", p.virtual_pipeline);
  w.number("data_parallel", p.data);
  w.number("context_parallel", p.context);
  w.number("expert_parallel", p.expert);
  w.number("zero_stage", p.zero_stage);
  w.number("stage", p.stage + 1);
  w.toggle("sequence_parallel", p.sequence_parallel);
  constexpr const char* keep[] = {"none", "selective", "full"};
  w.choice("recompute", keep[static_cast<std::size_t>(p.recompute)]);
  w.choice("recipe", "megatron");
  return w.text();
}

}  // namespace chapters::distributed::planner
