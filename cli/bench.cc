// rewind bench DIR: how long a signature takes, how many calls a second there are, and what memory it needs.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/command.h"
#include "cli/progress.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/compiler/memory/memory_report.h"

namespace rw::cli {
namespace {

using Clock = std::chrono::steady_clock;
using format::Json;

struct Options {
  std::string dir, signature = "serving_default", inputs;
  int64_t batch = 1, unknown = 1, budget = 0;
  double seconds = 3;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Numbers from 0 to 1, integers 0, texts empty; the first axis is the batch, other unknown sizes are
// `unknown`.
Tensor made_up(const TensorSpec& spec, const Options& o) {
  if (!spec.shape.has_rank())
    throw InvalidArgumentError("[bench] an input has no rank; give arrays by --inputs");
  std::vector<int64_t> sizes;
  for (int i = 0; i < spec.shape.rank(); ++i)
    sizes.push_back(spec.shape[i] >= 0 ? spec.shape[i] : i == 0 ? o.batch : o.unknown);
  if (is_floating(spec.dtype))
    return cast(random::stateless_uniform(Shape(sizes), constant({1, 2})), spec.dtype);
  if (spec.dtype == string) return fill(Shape(sizes), "");
  return zeros(Shape(sizes), spec.dtype);
}

// The signature's inputs in the order of the function's arguments: by their names, as the signature has them.
MemoryReport plan_of(const saved_model::SignatureFunction& signature,
                     const std::map<std::string, Tensor>& inputs) {
  const auto function = signature.concrete_function();
  std::vector<Tensor> arguments;
  for (const TensorSpec& spec : function->inputs()) {
    const auto at = inputs.find(spec.name);
    if (at == inputs.end()) break;
    arguments.push_back(at->second);
  }
  if (arguments.size() != function->inputs().size()) {
    arguments.clear();
    for (const auto& [name, value] : inputs) arguments.push_back(value);
  }
  return function->memory_plan(arguments);
}

void bench(const Options& o, const Context& context) {
  const auto start = Clock::now();
  const auto model = saved_model::load(o.dir, {.memory_budget = o.budget});
  const double load = milliseconds_since(start);
  const auto found = model.signatures().find(o.signature);
  if (found == model.signatures().end())
    throw NotFoundError("[bench] " + unknown_signature(model, o.signature));
  std::map<std::string, Tensor> inputs;
  if (!o.inputs.empty()) inputs = numpy::load_npz(o.inputs);
  else
    for (const auto& [name, spec] : found->second.inputs()) inputs[name] = made_up(spec, o);
  const auto call = [&] {
    const auto results = found->second(inputs);
    for (const auto& [name, value] : results) (void)value;
  };
  const auto first = Clock::now();
  call();
  const double first_call = milliseconds_since(first);
  std::vector<double> times;
  const auto begin = Clock::now();
  {
    Progress progress("measuring", o.seconds * 1000);
    while (times.size() < 10 || milliseconds_since(begin) < o.seconds * 1000) {
      const auto now = Clock::now();
      call();
      times.push_back(milliseconds_since(now));
      progress.at(milliseconds_since(begin));
    }
  }
  const double all_ms = milliseconds_since(begin);
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[std::min(times.size() - 1, size_t(share * double(times.size())))];
  };
  const int64_t peak = memory::stats().peak;
  const MemoryReport plan = plan_of(found->second, inputs);
  const double per_second = double(times.size()) * 1000 / all_ms;
  if (context.json) {
    Json all = Json::object();
    all["load_ms"] = load;
    all["first_call_ms"] = first_call;
    all["median_ms"] = at(0.5);
    all["p90_ms"] = at(0.9);
    all["p99_ms"] = at(0.99);
    all["calls_per_s"] = per_second;
    all["samples_per_s"] = per_second * double(o.batch);
    all["calls"] = int64_t(times.size());
    all["peak_bytes"] = peak;
    Json& memory = all["memory_plan"] = Json::object();
    memory["held_bytes"] = plan.held;
    memory["arena_bytes"] = plan.arena;
    memory["results_bytes"] = plan.owned;
    memory["predicted_peak_bytes"] = plan.predicted_peak;
    memory["extra_compute"] = plan.extra_compute;
    Json::Array smaller;
    for (const auto& point : plan.curve) {
      Json entry = Json::object();
      entry["budget_bytes"] = point.budget;
      entry["extra_compute"] = point.extra_compute;
      smaller.push_back(std::move(entry));
    }
    memory["budgets"] = std::move(smaller);
    return print(all);
  }
  const auto ms = [](double v) { return fixed_text(v, v < 10 ? 3 : 1) + " ms"; };
  print(table({{"load", ms(load)},
               {"first call", ms(first_call)},
               {"median", ms(at(0.5))},
               {"90%", ms(at(0.9))},
               {"99%", ms(at(0.99))},
               {"throughput", fixed_text(per_second * double(o.batch), 1) + " samples/s"},
               {"peak memory", bytes_text(peak)},
               {"planned: variables, inputs", bytes_text(plan.held)},
               {"planned: values of a call", bytes_text(plan.arena)},
               {"planned: results", bytes_text(plan.owned)},
               {"planned: peak", bytes_text(plan.predicted_peak)}},
              0, {false, true}) +
        std::to_string(times.size()) + " calls of " + o.signature + ", batch " + std::to_string(o.batch) +
        "\n");
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  auto* added = app.add_subcommand("bench", "Latency, throughput and memory of a SavedModel's signature");
  added->add_option("DIR", options->dir, "The folder with saved_model.pb")->required();
  added->add_option("--signature", options->signature, "Its name")->capture_default_str();
  added->add_option("--inputs", options->inputs,
                    "An .npz file with an array per input; by default made-up numbers");
  added->add_option("--batch", options->batch, "Size of the first axis where it is open")
      ->check(above_zero())
      ->capture_default_str();
  added->add_option("--size", options->unknown, "Other open sizes")
      ->check(above_zero())
      ->capture_default_str();
  added->add_option("--seconds", options->seconds, "How long to measure")
      ->check(above_zero())
      ->capture_default_str();
  added->add_option("--budget", options->budget, "Bytes that a call may hold")->check(CLI::NonNegativeNumber);
  added->callback([options, &context] { bench(*options, context); });
}

}  // namespace rw::cli
