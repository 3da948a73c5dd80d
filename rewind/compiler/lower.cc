#include "rewind/compiler/lower.h"

#include <deque>
#include <map>

#include "rewind/base/error.h"
#include "rewind/compiler/build_loops.h"
#include "rewind/compiler/build_scalar_loops.h"
#include "rewind/compiler/llvm/compile.h"
#include "rewind/compiler/memory/probe.h"
#include "rewind/compiler/plan_memory.h"
#include "rewind/compiler/rewrite.h"
#include "rewind/compiler/tiles.h"
#include "rewind/compiler/who_runs.h"
#include "rewind/device/parallel.h"
#include "rewind/runtime/constant.h"

namespace rw {
namespace {

class NativeLoops final : public NativeKernel {
 public:
  explicit NativeLoops(std::shared_ptr<const loop::Executable> code) : code_(std::move(code)) {}
  int64_t run(void* const* buffers, int64_t begin, int64_t end) const override {
    return code_->run(buffers, begin, end);
  }

 private:
  std::shared_ptr<const loop::Executable> code_;
};

// What the loops compute, in few words: "Mul AddV2 Tanh".
std::string label_of(const Graph& body) {
  std::string text;
  for (const Node& n : body.nodes())
    if (n.op->name != "Const" && text.size() < 120) text += (text.empty() ? "" : " ") + n.op->name;
  return text;
}

class Lowering {
 public:
  Lowering(const Graph& g, bool scratch_in_arena)
      : g_(g), uses_(g), scratch_in_arena_(scratch_in_arena), program_(std::make_shared<Program>()) {}

  // One text for the kernels, in the order of the instructions.
  std::string loops() const {
    std::string text;
    for (const KernelUse& use : kernel_uses_)
      text += "instruction " + std::to_string(use.instruction) + ": " +
              program_->code[use.instruction].label + "\n" + loop::to_string(kernels_[use.kernel].kernel) +
              "\n";
    return text;
  }

  std::shared_ptr<Program> run() {
    program_->name = g_.name;
    program_->values.resize(g_.num_values());
    for (size_t i = 0; i < g_.num_values(); ++i) {
      const GraphValue& from = g_.value(ValueId(i));
      ProgramValue& v = program_->values[i];
      v.dtype = from.dtype;
      v.shape = from.shape;
      v.size = from.shape.num_elements();
      v.root = int32_t(i);
    }
    for (size_t i = 0; i < g_.arguments.size(); ++i) {
      program_->arguments.push_back(g_.arguments[i]);
      place(g_.arguments[i]) = {Place::kArgument, int64_t(i)};
    }
    for (size_t i = 0; i < g_.nodes().size(); ++i)
      if (uses_.needed[i]) lower_node(g_.nodes()[i]);
    for (const ValueId v : g_.outputs) {
      program_->outputs.push_back(v);
      const int32_t root = root_of(v);
      if (place(root).kind == Place::kArena) place(root) = {Place::kOwned, 0};
    }
    compile_loops();
    plan();
    program_->seal();
    return program_;
  }

 private:
  int32_t root_of(ValueId v) const { return program_->values[size_t(v)].root; }
  Place& place(int32_t root) { return program_->values[size_t(root)].place; }

  void own(ValueId v) {
    Place& p = place(root_of(v));
    if (p.kind == Place::kArena) p = {Place::kOwned, 0};
  }

  void lower_node(const Node& n) {
    const Runs runs = who_runs(g_, n);
    if (runs == Runs::kAlias) {
      program_->values[size_t(n.outputs[0])].root = root_of(n.inputs[0]);
      return;
    }
    if (runs == Runs::kConstant) {
      place(n.outputs[0]) = {Place::kConstant, int64_t(program_->constants.size())};
      program_->constants.push_back(as_value(attr_as<HostTensor>(*n.op, n.attrs, "value")));
      return;
    }
    if (runs == Runs::kEager && lower_scalar_loops(n)) return;
    Instruction& in = program_->code.emplace_back();
    in.op = n.op;
    in.attrs = n.attrs;
    in.site = n.site;
    in.inputs.assign(n.inputs.begin(), n.inputs.end());
    in.outputs.assign(n.outputs.begin(), n.outputs.end());
    if (scratch_in_arena_) in.scratch_bytes = scratch_of(g_, n);
    switch (runs) {
      case Runs::kRead:
        in.kind = Instruction::kRead;
        own(n.outputs[0]);
        return;
      case Runs::kAssign:
        in.kind = Instruction::kAssign;
        own(n.inputs[1]);
        return;
      case Runs::kEager:
        in.kind = Instruction::kEager;
        for (const ValueId v : n.inputs) own(v);
        for (const ValueId v : n.outputs) own(v);
        return;
      case Runs::kNative: {
        const std::shared_ptr<const Graph> body = graph_attr(n, "f");
        const FusedLoops& loops = use_kernel(*body, kPlainLoops, [&] { return build_loops(*body); });
        in.kind = Instruction::kNative;
        in.attrs = {};  // its code is all that runs: the function may go
        in.extent = loops.extent;
        in.grain = loops.grain;
        in.label = label_of(*body);
        return;
      }
      case Runs::kRows: return lower_rows(n, in);
      case Runs::kTiles: return lower_tiles(n, in);
      default:
        in.kind = Instruction::kKernel;
        in.kernel = find_kernel(*n.op, DeviceType::kCpu);
        return;
    }
  }

  void lower_rows(const Node& n, Instruction& in) {
    const std::shared_ptr<const Graph> body = graph_attr(n, "f");
    const Node& group = body->nodes().back();
    const Node& kernel = body->nodes().front();
    const auto outside = [&](ValueId v) { return n.inputs[size_t(body->value(v).index)]; };
    in.kind = Instruction::kKernel;
    in.op = kernel.op;
    in.attrs = kernel.attrs;
    in.site = kernel.site;
    in.kernel = find_kernel(*kernel.op, DeviceType::kCpu);
    in.inputs.clear();
    for (const ValueId v : kernel.inputs) in.inputs.push_back(outside(v));
    in.kernel_inputs = uint32_t(in.inputs.size());
    const ValueId rows = body->nodes()[body->nodes().size() - 2].outputs[0];  // the kernel's, maybe reshaped
    for (const ValueId v : group.inputs)
      if (v != rows) in.inputs.push_back(outside(v));
    // The kernel's rows lie where a result of the group will.
    const GraphValue& made = body->value(rows);
    size_t over = 0;
    while (!(body->value(group.outputs[over]).dtype == made.dtype &&
             body->value(group.outputs[over]).shape == made.shape))
      ++over;
    in.kernel_output = uint32_t(in.inputs.size() + over);
    in.kernel_shape = body->value(kernel.outputs[0]).shape;
    uint32_t next = in.kernel_inputs;
    for (const ValueId v : group.inputs) in.buffers.push_back(v == rows ? in.kernel_output : next++);
    for (size_t k = 0; k < group.outputs.size(); ++k) in.buffers.push_back(uint32_t(in.inputs.size() + k));
    const std::shared_ptr<const Graph> loops_body = graph_attr(group, "f");
    use_kernel(*loops_body, kRowLoops, [&] { return build_row_loops(*loops_body); });
    in.label = label_of(*loops_body);
  }

  void lower_tiles(const Node& n, Instruction& in) {
    const std::shared_ptr<const Graph> body = graph_attr(n, "f");
    in.kind = Instruction::kTiles;
    in.attrs = {};
    in.block = attr_as<int64_t>(*n.op, n.attrs, "block");
    in.parts = num_threads();
    const TilePlan plan = plan_tile(*body, in.block);
    in.part_bytes = arena_rounded(plan.bytes);
    in.scratch_bytes = in.parts * in.part_bytes;
    in.label = std::to_string(body->nodes().size()) + " groups in tiles";
    std::vector<int32_t> operand(body->num_values(), -1);
    for (size_t i = 0; i < body->arguments.size(); ++i) operand[size_t(body->arguments[i])] = int32_t(i);
    for (size_t k = 0; k < body->outputs.size(); ++k)
      operand[size_t(body->outputs[k])] = int32_t(n.inputs.size() + k);
    in.tiles.reserve(body->nodes().size());
    for (const Node& group : body->nodes()) {
      const std::shared_ptr<const Graph> loops_body = graph_attr(group, "f");
      in.extent =
          use_kernel(*loops_body, in.block, [&] { return build_flat_loops(*loops_body, in.block); }).extent;
      Instruction::Tile& tile = in.tiles.emplace_back();
      tile.buffers.reserve(group.inputs.size() + group.outputs.size());
      const auto add = [&](ValueId v) {
        tile.buffers.push_back(
            {operand[size_t(v)], plan.offsets[size_t(v)], int64_t(size_of(body->value(v).dtype))});
      };
      for (const ValueId v : group.inputs) add(v);
      for (const ValueId v : group.outputs) add(v);
    }
  }

  bool lower_scalar_loops(const Node& n) {
    std::optional<ScalarLoops> loops = build_scalar_loops(g_, n);
    if (!loops) return false;
    // Arrays stay what they were before the loop.
    std::vector<bool> written(n.outputs.size(), false);
    for (const size_t k : loops->writes) written[k] = true;
    for (size_t k = 0; k < n.outputs.size(); ++k)
      if (!written[k]) program_->values[size_t(n.outputs[k])].root = root_of(n.inputs[k]);
    Instruction& in = program_->code.emplace_back();
    in.op = n.op;
    in.site = n.site;
    in.kind = Instruction::kNative;
    in.inputs.assign(n.inputs.begin(), n.inputs.end());
    for (const size_t k : loops->writes) in.outputs.push_back(n.outputs[k]);
    in.label = n.op->tag;
    in.failures = std::move(loops->failures);
    kernel_uses_.push_back({program_->code.size() - 1, kernels_.size()});
    kernels_.push_back({std::move(loops->kernel)});
    return true;
  }

  // The loops of a function for the last instruction. Groups with one function have one kernel.
  template <class Build>
  const FusedLoops& use_kernel(const Graph& body, int64_t form, Build build) {
    const auto [it, fresh] = kernel_of_.try_emplace({&body, form}, kernels_.size());
    if (fresh) {
      std::optional<FusedLoops> loops = build();
      RW_CHECK(loops.has_value());
      kernels_.push_back(std::move(*loops));
    }
    kernel_uses_.push_back({program_->code.size() - 1, it->second});
    return kernels_[it->second];
  }

  void compile_loops() {
    std::vector<const loop::Kernel*> pointers;
    for (const FusedLoops& k : kernels_) pointers.push_back(&k.kernel);
    std::vector<std::shared_ptr<const NativeKernel>> compiled;
    for (auto& code : loop::compile_all(pointers))
      compiled.push_back(std::make_shared<NativeLoops>(std::move(code)));
    size_t tile = 0;  // of the instruction
    for (size_t i = 0; i < kernel_uses_.size(); ++i) {
      const KernelUse& use = kernel_uses_[i];
      Instruction& in = program_->code[use.instruction];
      tile = i > 0 && use.instruction == kernel_uses_[i - 1].instruction ? tile + 1 : 0;
      const std::shared_ptr<const NativeKernel>& native = compiled[use.kernel];
      if (in.kind == Instruction::kTiles) in.tiles[tile].native = native;
      else in.native = native;
    }
  }

  void plan() {
    Program& p = *program_;
    const int32_t end = int32_t(p.code.size());
    std::vector<int32_t> first(p.values.size(), -1);
    std::vector<int32_t> last(p.values.size(), -1);
    for (int32_t i = 0; i < end; ++i) {
      for (const int32_t v : p.code[size_t(i)].outputs)
        first[size_t(root_of(v))] = last[size_t(root_of(v))] = i;
      for (const int32_t v : p.code[size_t(i)].inputs) last[size_t(root_of(v))] = i;
    }
    for (const int32_t v : p.outputs) last[size_t(root_of(v))] = end;
    std::vector<Lifetime> lives;
    std::vector<size_t> who;
    for (size_t r = 0; r < p.values.size(); ++r) {
      if (first[r] < 0) continue;
      if (p.values[r].place.kind == Place::kArena) {
        lives.push_back({p.values[r].size * int64_t(size_of(p.values[r].dtype)), first[r], last[r]});
        who.push_back(r);
      } else if (p.values[r].place.kind == Place::kOwned) {
        Instruction& maker = p.code[size_t(first[r])];
        const bool made_here = maker.kind == Instruction::kKernel || maker.kind == Instruction::kNative ||
                               maker.kind == Instruction::kTiles;
        if (made_here) maker.allocates.push_back(int32_t(r));
        if (last[r] == end) continue;
        Instruction& reader = p.code[size_t(last[r])];
        // An assignment keeps the variable's old memory for the next run.
        if (reader.kind == Instruction::kAssign && made_here && root_of(reader.inputs[1]) == int32_t(r))
          reader.swaps = true;
        else reader.releases.push_back(int32_t(r));
      }
    }
    std::vector<size_t> with_scratch;
    for (int32_t i = 0; i < end; ++i) {
      if (p.code[size_t(i)].scratch_bytes == 0) continue;
      lives.push_back({p.code[size_t(i)].scratch_bytes, i, i});
      with_scratch.push_back(size_t(i));
    }
    const MemoryPlan plan = plan_memory(lives);
    for (size_t i = 0; i < who.size(); ++i) p.values[who[i]].place.at = plan.offsets[i];
    for (size_t i = 0; i < with_scratch.size(); ++i)
      p.code[with_scratch[i]].scratch_at = plan.offsets[who.size() + i];
    p.arena_bytes = size_t(plan.bytes);
  }

  const Graph& g_;
  const Uses uses_;
  const bool scratch_in_arena_;
  std::shared_ptr<Program> program_;
  static constexpr int64_t kPlainLoops = 0, kRowLoops = -1;  // flat ones: the size of a block
  struct KernelUse {
    size_t instruction, kernel;
  };
  std::deque<FusedLoops> kernels_;
  std::map<std::pair<const Graph*, int64_t>, size_t> kernel_of_;  // by function and form
  std::vector<KernelUse> kernel_uses_;
};

}  // namespace

std::shared_ptr<Program> lower(const Graph& graph, bool scratch_in_arena, std::string* loops) {
  Lowering lowering(graph, scratch_in_arena);
  std::shared_ptr<Program> program = lowering.run();
  if (loops) *loops = lowering.loops();
  return program;
}

}  // namespace rw
