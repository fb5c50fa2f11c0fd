#include "chapters/capstone/perception/lab.h"
#include "chapters/described/realtime.h"
#include "chapters/mechanism/link_writer.h"
#include "widgets/base/parts.h"

namespace chapters::capstone::perception {
namespace {

/// A text in JSON; names come from a person, so nothing in them may end it.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out + "\"";
}

/// The described rows of a table as JSON.
template <class Row>
std::string json_rows(std::vector<Row> rows) {
  std::string out = "[";
  Fields cells;
  for (Row& row : rows) {
    cells.clear();
    describe(cells, row);
    out += out.size() > 1 ? ",{" : "{";
    bool first = true;
    for (const Field& f : cells) {
      if (!first) out += ',';
      first = false;
      out += quoted(f.key) + ":";
      switch (f.kind) {
        case Kind::real:
          out += widgets::exact(f.real());
          break;
        case Kind::integer:
          out += std::to_string(f.integer());
          break;
        case Kind::toggle:
          out += f.toggle() ? "true" : "false";
          break;
        case Kind::choice:
          out += quoted(f.choice_id());
          break;
        default:
          out += quoted(f.text());
      }
    }
    out += '}';
  }
  return out + "]";
}

}  // namespace

std::string frame_link(const Inputs& in, const Stack& stack) {
  LinkWriter w("driving/gantt");
  std::vector<models::StackTask> tasks = stack.tasks;
  for (models::StackTask& t : tasks) t.tuned_s = t.duration_s;  // the game has tuned what is tuned
  w.rows("tasks", json_rows(std::move(tasks)));
  w.number("rate_hz", in.rate_hz);
  w.toggle("engine", false);
  w.toggle("tuned_code", false);
  w.toggle("shared_backbone", stack.shared_backbone);
  w.toggle("parallel_heads", stack.parallel_heads);
  w.toggle("temporal_fusion", stack.fusion);
  w.number("temporal_saving", in.fusion_saving / 100);
  w.toggle("pipelining", stack.pipelining);
  w.number("cpu", static_cast<double>(in.cpu));
  w.number("gpu", static_cast<double>(in.gpu));
  w.number("dla", static_cast<double>(in.dla));
  w.number("isp", static_cast<double>(in.isp));
  return w.text();
}

models::Result<std::string> jitter_link(const Inputs& in, const Stack& stack) {
  models::JitterInputs run = disturbances_of(settings_of(in), stack);
  const bool skips = run.policy == models::JitterPolicy::skip;
  if (run.every_second_saves_s > 0 && skips)
    return models::Result<std::string>::fail(
        "A forecast for every second frame that is run has no counterpart there while frames are dropped.");
  // There a frame is added to, every second one.
  if (run.every_second_saves_s > 0)
    run.sources.push_back({"Forecast", true, models::JitterPattern::periodic, 0.5, 2, models::JitterShape::constant,
                           run.every_second_saves_s});
  const double base_s = std::max(1e-6, run.base_s - run.every_second_saves_s);
  LinkWriter w("driving/jitter");
  w.exactly("base_s", base_s);
  w.exactly("spread", 100 * run.spread * run.base_s / base_s);
  w.number("rate_hz", in.rate_hz);
  w.number("frames", static_cast<double>(in.frames));
  w.number("seed", static_cast<double>(in.seed));
  w.number("speed_m_per_s", in.speed_m_per_s);
  w.choice("policy", skips ? "skip" : "wait");
  w.rows("sources", json_rows(run.sources));
  return w.link();
}

}  // namespace chapters::capstone::perception
