// rewind checkpoint list | show | diff
#include <cmath>
#include <cstring>
#include <set>

#include "cli/arrays.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "rewind/base/number_text.h"

namespace rw::cli {
namespace {

using format::Json;

struct Options {
  std::string a, b, key;
  double tolerance = 0;
};

void list(const Options& o, const Context& context) {
  const auto file = open_arrays(o.a);
  if (context.json) {
    Json all = Json::object();
    for (const auto& [name, spec] : file->specs()) all[name] = spec_json(spec.dtype, spec.shape);
    return print(all);
  }
  int64_t bytes = 0;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, spec] : file->specs()) {
    rows.push_back({name, spec_text(spec.dtype, spec.shape)});
    if (!is_host_only(spec.dtype)) bytes += spec.shape.num_elements() * int64_t(size_of(spec.dtype));
  }
  print(table(rows, 0) + std::to_string(rows.size()) + " values, " + bytes_text(bytes) + "\n");
}

void show(const Options& o, const Context& context) {
  const auto file = open_arrays(o.a);
  if (!file->specs().count(o.key)) {
    std::string near;
    for (const auto& [name, spec] : file->specs())
      if (name.find(o.key) != std::string::npos) near += "\n  " + name;
    throw NotFoundError("[checkpoint] " + o.a + " has no value \"" + o.key + "\"" +
                        (near.empty() ? "" : "; similar names:" + near));
  }
  const Tensor value = file->read(o.key);
  if (!context.json) return print(value.to_string() + "\n");
  Json all = spec_json(value.dtype(), value.shape());
  Json::Array elements;
  if (value.dtype() == string) {
    for (const std::string& s : value.data<std::string>()) elements.emplace_back(s);
  } else if (is_integer(value.dtype()) || value.dtype() == bool_) {
    const Tensor numbers = cast(value, int64);
    for (const int64_t v : numbers.data<int64_t>()) elements.emplace_back(v);
  } else {
    const Tensor numbers = cast(value, float64);
    for (const double v : numbers.data<double>()) elements.emplace_back(v);
  }
  all["elements"] = std::move(elements);
  print(all);
}

// What is different between two values of one name; empty: nothing. `far`: the largest difference of numbers.
std::string difference(const Tensor& a, const Tensor& b, double tolerance) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape()))
    return spec_text(a.dtype(), a.shape()) + " and " + spec_text(b.dtype(), b.shape());
  if (a.dtype() == string) return bool(reduce_all(a == b)) ? "" : "other text";
  if (is_host_only(a.dtype())) return "cannot be compared";
  const Tensor x = cast(a, float64), y = cast(b, float64);
  int64_t other = 0;
  double far = 0;
  const auto p = x.data<double>(), q = y.data<double>();
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == q[i] || (std::isnan(p[i]) && std::isnan(q[i]))) continue;
    const double d = std::abs(p[i] - q[i]);
    if (d <= tolerance) continue;
    ++other;
    if (!(d <= far)) far = d;
  }
  if (other == 0) return "";
  return std::to_string(other) + " of " + std::to_string(p.size()) + " elements, by up to " +
         round_trip_text(far);
}

// What a process keeps to itself, as the states of TensorFlow's iterators, is compared by its size alone.
std::string difference(const std::string& name, const Arrays& a, const Arrays& b, double tolerance) {
  const TensorSpec &x = a.specs().at(name), &y = b.specs().at(name);
  if (x.dtype != variant && x.dtype != resource) return difference(a.read(name), b.read(name), tolerance);
  if (x.dtype != y.dtype || !(x.shape == y.shape))
    return spec_text(x.dtype, x.shape) + " and " + spec_text(y.dtype, y.shape);
  std::fprintf(stderr, "not compared: %s, which is %s\n", name.c_str(),
               std::string(name_of(x.dtype)).c_str());
  return "";
}

void diff(const Options& o, Context& context) {
  const auto a = open_arrays(o.a), b = open_arrays(o.b);
  std::set<std::string> names;
  for (const auto& [name, spec] : a->specs()) names.insert(name);
  for (const auto& [name, spec] : b->specs()) names.insert(name);
  Json all = Json::object();
  std::vector<std::vector<std::string>> rows;
  Progress progress("comparing", double(names.size()));
  for (const std::string& name : names) {
    progress.add(1);
    const bool in_a = a->specs().count(name) != 0, in_b = b->specs().count(name) != 0;
    const std::string what = !in_b   ? "only in " + o.a
                             : !in_a ? "only in " + o.b
                                     : difference(name, *a, *b, o.tolerance);
    if (what.empty()) continue;
    context.status = 1;
    all[name] = what;
    rows.push_back({name, what});
  }
  if (context.json) return print(all);
  print(rows.empty() ? std::to_string(names.size()) + " values, none differing\n" : table(rows, 0));
}

}  // namespace

void add_checkpoint(CLI::App& app, Context& context) {
  auto* group = app.add_subcommand("checkpoint",
                                   "Values in checkpoints, and in .safetensors, .npz, .h5 and .keras files");
  group->require_subcommand(1);
  const char* path_text = "A checkpoint's prefix or folder, a SavedModel's folder, or a file of arrays";
  {
    auto options = std::make_shared<Options>();
    auto* added = group->add_subcommand("list", "Names, types and shapes");
    added->fallthrough();
    added->add_option("PATH", options->a, path_text)->required();
    added->callback([options, &context] { list(*options, context); });
  }
  {
    auto options = std::make_shared<Options>();
    auto* added = group->add_subcommand("show", "One value");
    added->fallthrough();
    added->add_option("PATH", options->a, path_text)->required();
    added->add_option("NAME", options->key, "As list has it")->required();
    added->callback([options, &context] { show(*options, context); });
  }
  {
    auto options = std::make_shared<Options>();
    auto* added = group->add_subcommand("diff", "What differs between two; exit code 1 if anything does");
    added->fallthrough();
    added->add_option("A", options->a, path_text)->required();
    added->add_option("B", options->b, path_text)->required();
    added->add_option("--tolerance", options->tolerance, "Differences up to this are none")
        ->check(CLI::NonNegativeNumber);
    added->callback([options, &context] { diff(*options, context); });
  }
}

}  // namespace rw::cli
