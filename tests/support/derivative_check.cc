#include "tests/support/derivative_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tests/support/case_run.h"

namespace rw::test {
namespace {

constexpr double kStep = 1e-5;

DType wide_type(DType t) {
  if (is_floating(t)) return DType::kFloat64;
  return contains(kComplexTypes, t) ? DType::kComplex128 : t;
}

void widen(Call& call) {
  for (auto& a : call.attrs)
    if (a.kind == AttrKind::kType)
      for (auto& t : a.ints) t = int64_t(wide_type(DType(t)));
  for (auto& in : call.inputs) {
    if (in.kind == Input::kCall) widen(*in.call);
    else if (is_differentiable(in.value.dtype)) in.value = convert(in.value, wide_type(in.value.dtype));
  }
}

Case without_gradients(const Case& c) {
  Case copy = clone(c);
  copy.wanted.clear();
  copy.output_gradients.clear();
  return copy;
}

Array random_like(const Array& a, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  Array r = make_array(a.dtype, a.dims);
  for (int64_t i = 0; i < r.num_components(); ++i) r.set_component(i, draw(rng));
  return r;
}

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.num_components(); ++i) sum += a.component(i) * b.component(i);
  return sum;
}

// True and the reason when the widened case cannot run at all: then there is nothing to check.
bool cannot_run(const Result& r, Verdict* verdict) {
  if (!r.failed) return false;
  bool gradient = r.error.rfind("gradient: ", 0) == 0;
  *verdict = {gradient ? Verdict::kFailed : Verdict::kSkipped, r.error + ": " + r.message};
  return true;
}

std::string mismatch(double analytic, double numeric, double scale) {
  double allowed = 1e-5 * std::fabs(numeric) + 2e-6 * scale + 1e-8;
  if (std::fabs(analytic - numeric) <= allowed) return "";
  char text[120];
  std::snprintf(text, sizeof text, "analytic %.10g, numeric %.10g", analytic, numeric);
  return text;
}

// Compares `analytic`, one array a wanted leaf (none: zero), with central differences of the scalar function.
Verdict compare_with_differences(Case c, const std::vector<std::optional<Array>>& analytic,
                                 const std::function<std::optional<double>(const Case&)>& scalar) {
  auto inputs = leaves(c.call);
  double scale = 0;
  for (auto& g : analytic)
    for (int64_t i = 0; g && i < g->num_components(); ++i)
      scale = std::max(scale, std::fabs(g->component(i)));
  for (size_t k = 0; k < c.wanted.size(); ++k) {
    Array& x = inputs[c.wanted[k]]->value;
    int64_t stride = std::max<int64_t>(1, x.num_components() / 24);
    for (int64_t i = 0; i < x.num_components(); i += stride) {
      double at = x.component(i), h = kStep * std::max(1.0, std::fabs(at));
      x.set_component(i, at + h);
      auto up = scalar(c);
      x.set_component(i, at - h);
      auto down = scalar(c);
      x.set_component(i, at);
      if (!up || !down) return {Verdict::kSkipped, "a shifted input leaves the domain"};
      double numeric = (*up - *down) / (2 * h);
      double noise = 1e-4 * 1e-5 * (std::fabs(*up) + 1);
      auto text = mismatch(analytic[k] ? analytic[k]->component(i) : 0, numeric, std::max(scale, noise));
      if (!text.empty())
        return {Verdict::kFailed,
                "leaf " + std::to_string(c.wanted[k]) + " element " + std::to_string(i) + ": " + text};
    }
  }
  return {};
}

std::optional<double> loss(const Case& plain, const std::vector<std::optional<Array>>& output_gradients) {
  Result r = run_case(plain);
  if (r.failed) return std::nullopt;
  double sum = 0;
  for (size_t k = 0; k < output_gradients.size(); ++k)
    if (output_gradients[k] && r.outputs[k]) sum += dot(*r.outputs[k], *output_gradients[k]);
  return sum;
}

}  // namespace

Case widened(const Case& c) {
  Case wide = clone(c);
  widen(wide.call);
  for (auto& d : wide.output_gradients)
    if (d) d = convert(*d, wide_type(d->dtype));
  return wide;
}

Verdict check_numeric_gradient(const Case& c) {
  Case wide = widened(c);
  Result analytic = run_case(wide);
  Verdict verdict;
  if (cannot_run(analytic, &verdict)) return verdict;
  auto dys = wide.output_gradients;
  return compare_with_differences(wide, analytic.gradients,
                                  [&](const Case& shifted) { return loss(without_gradients(shifted), dys); });
}

Verdict check_second_gradient(const Case& c) {
  Case wide = widened(c);
  auto inputs = leaves(wide.call);
  std::vector<Array> v;
  for (auto k : wide.wanted) v.push_back(random_like(inputs[k]->value, 7 + k));
  Result first = run_case(wide);
  Verdict verdict;
  if (cannot_run(first, &verdict)) return verdict;
  Result second = run_second_gradient(wide, v);
  if (second.failed) return {Verdict::kFailed, "second derivative: " + second.error + ": " + second.message};
  return compare_with_differences(wide, second.gradients, [&](const Case& shifted) -> std::optional<double> {
    Result r = run_case(shifted);
    if (r.failed) return std::nullopt;
    double sum = 0;
    for (size_t k = 0; k < v.size(); ++k)
      if (r.gradients[k]) sum += dot(v[k], *r.gradients[k]);
    return sum;
  });
}

Verdict check_forward_mode(const Case& c) {
  Case wide = widened(c);
  auto inputs = leaves(wide.call);
  std::vector<Array> tangents;
  for (auto k : wide.wanted) tangents.push_back(random_like(inputs[k]->value, 11 + k));
  Verdict verdict;
  if (cannot_run(run_case(without_gradients(wide)), &verdict)) return verdict;
  Result forward = run_forward(wide, tangents);
  if (forward.failed) {
    bool ours = forward.error.rfind("forward: ", 0) == 0;
    return {ours ? Verdict::kFailed : Verdict::kSkipped, forward.error + ": " + forward.message};
  }
  Result ends[2];
  for (int side = 0; side < 2; ++side) {
    Case shifted = without_gradients(wide);
    auto moved = leaves(shifted.call);
    for (size_t k = 0; k < tangents.size(); ++k) {
      Array& x = moved[wide.wanted[k]]->value;
      for (int64_t i = 0; i < x.num_components(); ++i)
        x.set_component(i, x.component(i) + (side ? -kStep : kStep) * tangents[k].component(i));
    }
    ends[side] = run_case(shifted);
    if (ends[side].failed) return {Verdict::kSkipped, "a shifted input leaves the domain"};
  }
  for (size_t k = 0; k < wide.output_gradients.size(); ++k) {
    if (!wide.output_gradients[k] || !ends[0].outputs[k]) continue;
    const Array &up = *ends[0].outputs[k], &down = *ends[1].outputs[k];
    auto& tangent = forward.outputs[k];
    double scale = 0;
    for (int64_t i = 0; i < up.num_components(); ++i) scale = std::max(scale, std::fabs(up.component(i)));
    for (int64_t i = 0; i < up.num_components(); ++i) {
      auto text = mismatch(tangent ? tangent->component(i) : 0,
                           (up.component(i) - down.component(i)) / (2 * kStep), scale);
      if (!text.empty())
        return {Verdict::kFailed,
                "tangent of output " + std::to_string(k) + " element " + std::to_string(i) + ": " + text};
    }
  }
  return {};
}

}  // namespace rw::test
