#include <algorithm>
#include <cmath>

#include "chapters/driving/budget/lab.h"
#include "widgets/number/number.h"

namespace chapters::driving::budget {
namespace {

using widgets::figure, widgets::format_text;

/// Saved shares that differ by less count as equal in the answer.
constexpr double alike_points = 3;

/// Why it cannot run as set, or what has to be said before its watts.
std::string second_of(const Outputs& out) {
  if (out.busy > 100)
    return "The GPU is asked for " + figure(out.busy, "%") +
           " of its time: frames pile up and are lost. Its watts are those of 100 %.";
  if (out.set_link_load > 100)
    return "The fullest link is asked for " + figure(out.set_link_load, "%") + ": what does not fit never arrives.";
  if (!out.link_fits)
    return "As built a camera asks for " + figure(out.link_load, "%") + " of its link, as set for at most " +
           figure(out.set_link_load, "%") + ": skipping lets it fit.";
  if (!out.watts_known) return "What this chip's GPU takes was not measured here: set \"GPU at work\" to see watts.";
  return {};
}

std::string skipped_words(const Outputs& out) {
  const bool less = out.camera_bytes_per_s < out.before_camera_bytes_per_s * (1 - 1e-9);
  if (!out.watts_known)
    return "Sharing leaves " + figure(out.share_flops_per_s, "FLOP/s") + " of " +
           figure(out.before_flops_per_s, "FLOP/s") + ", skipping " + figure(out.skip_flops_per_s, "FLOP/s") +
           (less ? ": only skipping dries the river at its source." : ": the cameras send as much in both.");
  std::string text = "Sharing leaves " + figure(out.share_power_w, "W") + " of " + figure(out.before_power_w, "W") +
                     ", skipping " + figure(out.skip_power_w, "W") + ": ";
  if (std::abs(out.sharing_saved - out.skipping_saved) <= alike_points)
    text += "equal in arithmetic, ";
  else
    text += std::string(out.sharing_saved > out.skipping_saved ? "more" : "less") + " arithmetic saved by sharing, ";
  return text + (less ? "but only skipping dries the river at its source." : "and the cameras send as much in both.");
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  std::string second = second_of(out);
  const bool arrives = out.set_link_load <= 100;
  if (out.skipped) {
    if (second.empty())
      second = "As set the cameras send " + figure(out.camera_bytes_per_s, "B/s") + ", and the whole takes " +
               figure(out.power_w, "W") + ".";
    return skipped_words(out) + "\n" + second;
  }
  if (in.shared != Shared::none) {
    const auto left = [&](double now, double before, std::string_view unit) {
      return figure(now, unit) + " of " + figure(before, unit);
    };
    const std::string text =
        std::string(in.shared == Shared::all ? "One encoder" : "Two encoders") + " instead of three: " +
        (out.watts_known ? left(out.power_w, out.before_power_w, "W")
                         : left(out.flops_per_s, out.before_flops_per_s, "FLOP/s")) +
        (arrives ? ". The cameras send " : ". The cameras would send ") + figure(out.camera_bytes_per_s, "B/s") +
        (arrives ? " as before." : ", more than their links carry.");
    if (second.empty())
      second = "One encoder for all saves " + figure(out.sharing_saved, "%") +
               " of the arithmetic, and nothing that cameras and links take.";
    return text + "\n" + second;
  }
  std::string text = std::string("As built the cameras ") + (arrives ? "send " : "would send ") +
                     figure(out.camera_bytes_per_s, "B/s") + ", three encoders read all of it";
  text += out.watts_known ? ", and the whole takes " + figure(out.power_w, "W") + "."
                          : " and the arithmetic is " + figure(out.flops_per_s, "FLOP/s") + ".";
  if (second.empty())
    second = "The GPU is asked for " + figure(out.busy, "%") + " of its time. Share an encoder, or skip pixels.";
  return text + "\n" + second;
}

void arrange_streams(const Inputs& in, const Outputs& out, Picture& p) {
  double before = 0, now = 0;
  for (const StreamRow& row : out.streams) {
    before += row.before_bytes_per_s;
    now += row.bytes_per_s;
  }
  p.widest = std::max(before, now);
  p.before = before / p.widest;
  p.now = now / p.widest;
  for (std::size_t i = 0; i < out.streams.size(); ++i) {
    const StreamRow& row = out.streams[i];
    const auto at = static_cast<std::int64_t>(i);
    const std::size_t group = at < in.front_cameras ? 0 : at < in.front_cameras + in.side_cameras ? 1 : 2;
    p.streams.push_back({row.name, format_text(row.rate_hz, ""),
                         format_text(row.bytes_per_s, "B/s") + " at " + format_text(row.rate_hz, "Hz"), group,
                         row.before_bytes_per_s / p.widest, row.bytes_per_s / p.widest});
  }
  p.memory = format_text(out.camera_bytes_per_s, "B/s");
  p.kept = "kept " + format_text(in.kept, "%");
  p.others =
      "lidar " + format_text(out.lidar_bytes_per_s, "B/s") + ", radars " + format_text(in.radar_bytes_per_s, "B/s");
}

void arrange_boxes(const Inputs& in, const Outputs& out, Picture& p) {
  const double wider = std::max(out.before_read_pixels_per_s, out.read_pixels_per_s);
  p.read_before = out.before_read_pixels_per_s / wider;
  p.read_now = out.read_pixels_per_s / wider;
  // Left of the memory all cameras fill the height, right of it three encoders do.
  const double left = p.now > 0 ? out.camera_pixels_per_s / p.now : 1;
  p.scale_note = "resized to " + std::to_string(in.input_width) + " × " + std::to_string(in.input_height) +
                 "; right of the memory a pixel is drawn " + format_text(left / (3 * wider), "", 2) + " times as wide";
  const auto encoders = encoders_of(in.shared);
  for (std::size_t leader = 0; leader < task_count; ++leader) {
    Box box;
    for (std::size_t task = 0; task < task_count; ++task) box.tasks[task] = encoders[task] == leader;
    if (!box.tasks[leader]) continue;
    box.flops = format_text(out.each_flops_per_s, "FLOP/s");
    box.more = format_text(out.each_busy, "%", 2) + " of the GPU";
    p.boxes.push_back(std::move(box));
  }
}

void arrange_plans(const Inputs& in, const Outputs& out, Picture& p) {
  const bool partly = in.shared != Shared::none && in.shared != Shared::all;
  p.yours = partly ? out.plans.size() - 1 : (out.skipped ? 2u : 0u) + (in.shared == Shared::all ? 1u : 0u);
  for (std::size_t i = 0; i < out.plans.size(); ++i)
    p.plan_names.push_back(out.plans[i].name + (i == p.yours && !partly ? ", as set" : ""));
}

void arrange_roofline(const Outputs& out, Picture& p) {
  p.roof = {.label = "your chip", .output = "ridge", .tint = widgets::Tint::strong()};
  p.roof.given = true;
  p.roof.add(1, out.bandwidth_bytes_per_s);
  p.roof.add(out.ridge, out.peak_flops_per_s);
  p.roof.add(std::max(1e4, 10 * out.ridge), out.peak_flops_per_s);
  for (const ChipRow& chip : out.chips) {
    if (chip.ridge == out.ridge && chip.peak_flops_per_s == out.peak_flops_per_s) continue;
    widgets::Curve roof{.label = chip.name,
                        .tint = widgets::Tint::series(p.roofs.size()),
                        .width = 1.5f,
                        .dashed = true,
                        .named = false};
    roof.add(1, chip.bandwidth_bytes_per_s);
    roof.add(chip.ridge, chip.peak_flops_per_s);
    roof.add(1e4, chip.peak_flops_per_s);
    p.roofs.push_back(std::move(roof));
  }
  p.dots = {.kind = widgets::Curve::Kind::dots, .label = "stages of the encoder", .tint = widgets::Tint::yours()};
  for (const StageRow& row : out.stages) {
    p.dots.add(row.intensity, row.flops / row.time_s);
    p.dots.labels.push_back(row.name);
  }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  arrange_streams(in, out, p);
  arrange_boxes(in, out, p);
  arrange_plans(in, out, p);
  arrange_roofline(out, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::driving::budget
