// What the configs of metrics share; for the library's own files.
#pragma once

#include <type_traits>

#include "rewind/keras/metrics.h"
#include "rewind/keras/registry.h"

namespace rw::keras::metrics {

// A struct of arguments for metrics that are made from options alone; each file has one of its own, with its
// list of fields.
#define RW_KERAS_METRIC_ARGUMENTS(Name)   \
  template <class M, class O>             \
  struct Name {                           \
    using Made = M;                       \
    O options = {};                       \
    M make() const { return M(options); } \
  };

// The thresholds of counts: null, one, or several.
inline void thresholds_field(ConfigFields& f, std::vector<double>& list) {
  if (f.object() && !list.empty()) f.one_or_list("thresholds", list);
  else f.list_or_null("thresholds", list);
}

template <class O>
void common_fields(ConfigFields& f, O& o) {
  f("name", o.name);
  if constexpr (requires { o.dtype; }) f("dtype", o.dtype);
  else f.written("dtype", "int64");
}

// Mean and Sum (metric.cc).
void add_value_metrics(ClassRegistry& r);

}  // namespace rw::keras::metrics
