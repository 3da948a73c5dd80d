// Runs a function eagerly and as a graph, holds both to the same values and the same gradients, and prints
// them: one line per result, as both_ways.py does.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "rewind/rewind.h"

namespace both_ways {

using rw::Tensor;

inline void show(const std::string& name, const Tensor& value) {
  const Tensor numbers = rw::cast(value, rw::float64);
  std::printf("%s:", name.c_str());
  for (const double v : numbers.data<double>()) std::printf(" %.7g", v);
  std::printf("\n");
}

inline void show(const std::string& name, const std::vector<Tensor>& values) {
  for (size_t i = 0; i < values.size(); ++i) show(name + "[" + std::to_string(i) + "]", values[i]);
}

inline bool equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && bool(rw::reduce_all(a == b));
}
inline bool equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i], b[i])) return false;
  return true;
}

template <class T>
void check(const std::string& name, const T& eager, const T& staged) {
  if (equal(eager, staged)) return;
  std::printf("%s differs between eager code and a graph:\n", name.c_str());
  show("eager", eager);
  show("graph", staged);
  std::exit(1);
}

// The results of f, whose code is plain C++.
template <class F, class... A>
void run(const std::string& name, const F& f, const A&... args) {
  rw::run_functions_eagerly(true);
  const auto eager = rw::function(f)(args...);
  rw::run_functions_eagerly(false);
  const auto staged = rw::function(f)(args...);
  check(name, eager, staged);
  show(name, staged);
}

// And their gradients by all arguments. Sums of gradients may be added in another order in a graph.
template <class F, class... A>
void differentiate(const std::string& name, const F& f, const A&... args) {
  const std::vector<Tensor> sources{Tensor(args)...};
  const auto gradients = [&](const auto& g) {
    rw::GradientTape tape;
    for (const Tensor& s : sources) tape.watch(s);
    const auto y = g(args...);
    std::vector<Tensor> results;
    for (const rw::Gradient& d :
         tape.gradient(y, sources, {.unconnected_gradients = rw::UnconnectedGradients::ZERO}))
      results.push_back(d.tensor());
    return results;
  };
  run(name, f, args...);
  const std::vector<Tensor> eager = gradients(f), staged = gradients(rw::function(f));
  for (size_t i = 0; i < eager.size(); ++i) {
    const Tensor far =
        rw::reduce_max(rw::abs(eager[i] - staged[i])) > 1e-5 * (1 + rw::reduce_max(rw::abs(eager[i])));
    if (bool(far)) check(name + ", gradient", eager[i], staged[i]);
  }
  show(name + ", gradient", staged);
}

}  // namespace both_ways
