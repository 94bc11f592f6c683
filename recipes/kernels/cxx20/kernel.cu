// C++20 in host and device code: concepts, spans, spaceship, constexpr algorithms, and a lambda handed to a kernel.
#include "probe.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <numeric>
#include <ranges>
#include <span>

template <typename F>
concept MapsIndex = requires(F function, int index) {
  { function(index) } -> std::convertible_to<int>;
};

template <MapsIndex F> __global__ void fill(int* out, int count, F function) {
  if (const int i = static_cast<int>(threadIdx.x); i < count) {
    out[i] = function(i);
  }
}

struct Point {
  int x = 0;
  int y = 0;
  constexpr auto operator<=>(const Point&) const = default;
};

consteval int triangle(int n) {
  std::array<int, 64> numbers{};
  std::iota(numbers.begin(), numbers.begin() + n, 1);
  return std::accumulate(numbers.begin(), numbers.end(), 0);
}

static_assert(Point{.x = 1, .y = 2} < Point{.x = 1, .y = 3});

int main() {
  constexpr int count = 40;
  constexpr int offset = triangle(10);
  const probe::Buffer<int> out(count);
  fill<<<1, 64>>>(out.data(), count, [offset] __device__(int i) { return 2 * i + offset; });
  PROBE_LAUNCHED();
  const auto result = out.read();
  const std::span<const int> view(result);
  PROBE_REQUIRE(std::ranges::is_sorted(view));
  auto even_halves = view | std::views::filter([](int value) { return value % 4 == 3; }) | std::views::transform([](int value) { return value / 2; });
  int sum = 0;
  for (const int value : even_halves) {
    sum += value;
  }
  probe::number("total", std::accumulate(view.begin(), view.end(), 0));
  probe::number("filtered", sum);
  return probe::done();
}
