#include "models/compression/small_network_data.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace models {
namespace {

struct Point {
  double x, y;
};

// One stroke a digit, in a unit square with y down.
constexpr std::array<Point, 9> zero{
    {{.5, .08}, {.28, .2}, {.2, .5}, {.28, .8}, {.5, .92}, {.72, .8}, {.8, .5}, {.72, .2}, {.5, .08}}};
constexpr std::array<Point, 3> one{{{.34, .28}, {.56, .08}, {.56, .92}}};
constexpr std::array<Point, 6> two{{{.24, .28}, {.4, .08}, {.66, .1}, {.74, .32}, {.24, .9}, {.8, .9}}};
constexpr std::array<Point, 6> three{{{.24, .1}, {.72, .1}, {.46, .44}, {.76, .64}, {.6, .9}, {.24, .86}}};
constexpr std::array<Point, 4> four{{{.64, .92}, {.64, .08}, {.2, .64}, {.84, .64}}};
constexpr std::array<Point, 7> five{{{.76, .08}, {.3, .08}, {.28, .46}, {.6, .42}, {.76, .66}, {.58, .92}, {.24, .86}}};
constexpr std::array<Point, 7> six{{{.68, .1}, {.38, .3}, {.26, .66}, {.46, .92}, {.72, .8}, {.68, .56}, {.3, .6}}};
constexpr std::array<Point, 3> seven{{{.2, .1}, {.8, .1}, {.42, .92}}};
constexpr std::array<Point, 7> eight{{{.5, .08}, {.28, .27}, {.72, .7}, {.5, .92}, {.28, .7}, {.72, .27}, {.5, .08}}};
constexpr std::array<Point, 7> nine{{{.72, .4}, {.42, .48}, {.28, .28}, {.46, .08}, {.68, .14}, {.72, .4}, {.6, .92}}};
constexpr std::array<std::span<const Point>, digit_classes> strokes{zero, one, two,   three, four,
                                                                    five, six, seven, eight, nine};

/// A straight piece of a stroke, ready for many distances.
struct Piece {
  Point from, along;
  double per_length2;
};
Piece piece(Point a, Point b) {
  const Point u{b.x - a.x, b.y - a.y};
  const double length2 = u.x * u.x + u.y * u.y;
  return {a, u, length2 > 0 ? 1 / length2 : 0};
}

/// Ink falls off over one pixel from the pen's edge.
double ink(Point pixel, std::span<const Piece> stroke, double radius) {
  double nearest2 = 1e9;
  for (const Piece& s : stroke) {
    const double px = pixel.x - s.from.x, py = pixel.y - s.from.y;
    const double t = std::min(1.0, std::max(0.0, (px * s.along.x + py * s.along.y) * s.per_length2));
    const double dx = px - t * s.along.x, dy = py - t * s.along.y;
    nearest2 = std::min(nearest2, dx * dx + dy * dy);
  }
  const double reach = radius + 0.5;
  return nearest2 < reach * reach ? std::min(1.0, reach - std::sqrt(nearest2)) : 0;
}

/// Bell-shaped, mean 0, standard deviation 1, never beyond 3.5: four 16-bit uniforms from one draw (Irwin-Hall).
double grain(SeededRandom& random) {
  const std::uint64_t r = random.next();
  const auto sum = static_cast<double>((r & 0xFFFF) + (r >> 16 & 0xFFFF) + (r >> 32 & 0xFFFF) + (r >> 48));
  return (sum / 65536 - 2 + 2.0 / 65536) * std::numbers::sqrt3;
}

void draw_digit(std::size_t digit, SeededRandom& random, const DigitStyle& style, float* out) {
  const double angle = random.between(-style.turn, style.turn), slant = random.between(-0.2, 0.2);
  const double wide = random.between(4.6, 6.2), high = random.between(5.8, 7.2);
  const double x = 4 + random.between(-style.shift, style.shift), y = 4 + random.between(-style.shift, style.shift);
  const double radius = random.between(0.25, 0.75), contrast = random.between(0.65, 1.0);
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const auto placed = [&](Point g) {
    const double gy = (g.y - 0.5) * high, gx = (g.x - 0.5) * wide - slant * gy;
    return Point{x + gx * cosine - gy * sine, y + gx * sine + gy * cosine};
  };
  const std::span<const Point> glyph = strokes[digit];
  std::array<Piece, 8> stroke{};
  for (std::size_t i = 0; i + 1 < glyph.size(); ++i) stroke[i] = piece(placed(glyph[i]), placed(glyph[i + 1]));
  const bool stray = random.unit() < style.distractor;
  const double left = random.between(0, 8), top = random.between(0, 8);
  const Point from{left, top};
  const double over = random.between(-3, 3), down = random.between(-3, 3);
  const std::array<Piece, 1> line{piece(from, {from.x + over, from.y + down})};
  for (std::size_t i = 0; i < digit_pixels; ++i) {
    const Point pixel{static_cast<double>(i % digit_side) + 0.5, static_cast<double>(i / digit_side) + 0.5};
    double v = contrast * ink(pixel, {stroke.data(), glyph.size() - 1}, radius);
    if (stray) v = std::max(v, 0.8 * ink(pixel, line, 0.2));
    out[i] = static_cast<float>(std::clamp(v + style.noise * grain(random), 0.0, 1.0));
  }
}

}  // namespace

double SeededRandom::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - unit()));
  return radius * std::cos(2 * std::numbers::pi * unit());
}

DigitSet make_digits(std::uint64_t seed, DigitSplit split, std::size_t count, const DigitStyle& style) {
  SeededRandom random(seed * 2 + static_cast<std::uint64_t>(split));
  random = SeededRandom(random.next());  // neighbouring seeds start far apart
  DigitSet out;
  out.pixels.resize(count * digit_pixels);
  out.labels.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.labels[i] = static_cast<std::uint8_t>(i % digit_classes);
    draw_digit(i % digit_classes, random, style, out.pixels.data() + i * digit_pixels);
  }
  return out;
}

}  // namespace models
