#include "rewind/compiler/pipeline.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "rewind/base/number_text.h"
#include "rewind/compiler/llvm/compile.h"
#include "rewind/compiler/lower.h"
#include "rewind/compiler/memory/budget.h"
#include "rewind/compiler/passes/passes.h"
#include "rewind/device/memory_budget.h"
#include "rewind/graph/dot.h"
#include "rewind/graph/verify_passes.h"

namespace rw {
namespace {

using Clock = std::chrono::steady_clock;

struct Pass {
  const char* name;
  Graph (*run)(Graph);
  Graph (*run_in_budget)(Graph) = nullptr;  // instead, when memory is planned
  bool native = false;                      // makes loops: of use where there is machine code for them
};

// What the user asked to be recomputed; under a budget, what may be.
Graph redraw_regions(Graph g) { return redraw(std::move(g)); }
Graph redraw_all(Graph g) { return redraw(std::move(g), {}, true); }
Graph checkpoint_wished_loops(Graph g) { return checkpoint_loops(std::move(g), false); }
Graph checkpoint_all_loops(Graph g) { return checkpoint_loops(std::move(g), true); }

// Behind calls, shapes and a first prune, which take the traced graph as it is. Bodies of repeated calls go
// through those up to fuse by themselves.
constexpr Pass kPasses[] = {
    {"checkpoint_loops", checkpoint_wished_loops, checkpoint_all_loops},
    {"redraw", redraw_regions, redraw_all},
    {"fold_constants", fold_constants, fold_small_constants},
    {"simplify", simplify},
    {"shape_matmuls", shape_matmuls},
    {"simplify", simplify},
    {"share_subexpressions", share_subexpressions},
    {"prune", prune_away},
    {"fuse_attention", fuse_attention},
    {"prune", prune_away},
    {"fuse", [](Graph g) { return fuse(g); }, nullptr, true},  // NOLINT: a pass takes its graph
};
constexpr Pass kLatePasses[] = {
    {"fuse_epilogues", [](Graph g) { return fuse_epilogues(g); }, nullptr, true},  // NOLINT
    {"tile_groups", tile_groups, nullptr, true},
    {"update_early", update_early},
};

// Writes a compilation's stages to REWIND_DUMP, if that is set.
class Dump {
 public:
  explicit Dump(const std::string& name) {
    const char* folder = std::getenv("REWIND_DUMP");
    if (!folder) return;
    static std::atomic<int> count{0};
    folder_ = std::filesystem::path(folder) / (std::to_string(count++) + "_" + name);
    std::filesystem::create_directories(folder_);
  }
  void write(const char* stage, const std::string& text, double ms, const Graph* graph = nullptr) {
    if (folder_.empty()) return;
    const std::string file = std::to_string(next_++) + "_" + stage;
    std::ofstream(folder_ / (file + ".txt")) << text;
    if (graph) std::ofstream(folder_ / (file + ".dot")) << to_dot(*graph);
    std::ofstream(folder_ / "timings.txt", std::ios::app) << file << ": " << general_text(ms) << " ms\n";
  }
  explicit operator bool() const { return !folder_.empty(); }

 private:
  std::filesystem::path folder_;
  int next_ = 0;
};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool needs_shapes(const Graph& g, std::span<const Shape> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!(g.value(g.arguments[i]).shape == arguments[i])) return true;
  return false;
}

// Large graphs and plans leave tens of MiB behind, which the allocator of C++ objects would keep to itself.
constexpr size_t kLargeGraph = 20'000;
void give_back_host_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Behind the calls and shapes: the first passes.
Graph prepare(Graph graph, std::span<const Pass> passes, bool planned, const auto& stage) {
  for (const Pass& pass : passes) {
    if (pass.native && !loop::has_native_code()) continue;  // kernels one by one are faster then
    const auto run = pass.run_in_budget && planned ? pass.run_in_budget : pass.run;
    stage(pass.name, &graph, [&] { return run(std::move(graph)); });
  }
  return graph;
}

struct Optimised {
  Graph graph;
  std::shared_ptr<const MemoryReport> memory;
};

// All passes. `report` asks for a memory report even without a budget.
Optimised optimise(const Graph& traced, std::span<const Shape> arguments, int64_t budget, bool report,
                   Dump& dump) {
  if (dump) dump.write("traced", traced.to_string(), 0, &traced);
  const auto stage = [&](const char* name, Graph* graph, auto&& run) {
    const auto start = Clock::now();
    *graph = run();
    const double ms = ms_since(start);
    if (dump) dump.write(name, graph->to_string(), ms, graph);
    if (verifies_passes()) verify(*graph);
  };
  const bool planned = report || budget > 0;
  const bool shapes = needs_shapes(traced, arguments);
  Graph graph;
  const Graph* now = &traced;
  // The planner looks at single nodes.
  std::set<const FunctionBody*> repeated;
  const bool too_large = too_large_inlined(traced);
  if (!planned && !shapes && !too_large) repeated = repeated_bodies(traced);
  // Calls first: what a body leaves open may be known at the call.
  const bool calls = has_calls_but(traced, repeated);
  if (calls) {
    stage("inline_calls", &graph, [&] {
      if (too_large) return inline_small_calls(*now, planned);
      return inline_calls(*now, [&](const Node& n) {
        const std::shared_ptr<const Graph> body = graph_attr(n, "f");
        return repeated.contains(body.get()) ? nullptr : body;
      });
    });
    now = &graph;
  }
  if (calls || shapes) {
    stage("specialise", &graph, [&] { return specialise(*now, arguments); });
    now = &graph;
  }
  stage("prune", &graph, [&] { return prune(*now); });
  graph = prepare(std::move(graph), kPasses, planned, stage);
  if (!repeated.empty()) {
    std::map<const Graph*, std::shared_ptr<const Graph>> done;
    const auto quietly = [](const char*, Graph* g, auto&& run) { *g = run(); };
    stage("inline_repeated", &graph, [&] {
      return inline_calls(graph, [&](const Node& n) {
        const std::shared_ptr<const Graph> body = graph_attr(n, "f");
        std::shared_ptr<const Graph>& made = done[body.get()];
        if (!made)
          made = std::make_shared<const Graph>(
              prepare(prune(has_calls(*body) ? inline_calls(*body) : *body), kPasses, planned, quietly));
        return made;
      });
    });
  }
  graph = prepare(std::move(graph), kLatePasses, planned, stage);
  if (!report && budget == 0) return {std::move(graph), nullptr};
  const auto start = Clock::now();
  std::shared_ptr<const MemoryReport> memory = keep_budget(&graph, budget);
  give_back_host_memory();  // of the search, before the arena is there
  if (dump) dump.write("memory", memory->to_string() + graph.to_string(), ms_since(start), &graph);
  if (verifies_passes()) verify(graph);
  return {std::move(graph), std::move(memory)};
}

}  // namespace

std::shared_ptr<const Program> compile(const Graph& traced, std::span<const Shape> arguments,
                                       int64_t budget) {
  Dump dump(traced.name);
  for (int64_t asked = budget;;) {
    Optimised optimised = optimise(traced, arguments, asked, false, dump);
    const auto start = Clock::now();
    std::string loops;
    std::shared_ptr<Program> program = lower(optimised.graph, budget > 0, dump ? &loops : nullptr);
    if (optimised.memory) {
      MemoryReport report = *optimised.memory;
      report.budget = budget;
      const int64_t more =
          block_bytes(cpu_device(), int64_t(program->arena_bytes)) - block_bytes(cpu_device(), report.arena);
      report.arena = int64_t(program->arena_bytes);
      report.predicted_peak += more;
      // The planner saw every block; should the arena have come out larger, a tighter plan is asked for.
      if (more > 0 && report.predicted_peak > budget) {
        // The least that can be asked for is refused, with what is missing.
        asked = std::max<int64_t>(1, asked - more);
        continue;
      }
      program->plan = std::make_shared<const MemoryReport>(std::move(report));
      program->one_frame = true;
    }
    if (dump) {
      dump.write("program", program->to_string(), ms_since(start));
      dump.write("loops", loops, 0);
      dump.write("kernels", program->list_kernels(), 0);
    }
    if (traced.nodes().size() > kLargeGraph) {
      optimised = {};
      give_back_host_memory();
    }
    return program;
  }
}

std::shared_ptr<const MemoryReport> explain_memory(const Graph& traced, std::span<const Shape> arguments) {
  Dump dump(traced.name);
  return optimise(traced, arguments, 0, true, dump).memory;
}

}  // namespace rw
