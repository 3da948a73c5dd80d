#include "rewind/runtime/program.h"

#include <unordered_set>

#include "rewind/base/call_site.h"
#include "rewind/base/error.h"
#include "rewind/base/float_mode.h"
#include "rewind/device/memory_budget.h"
#include "rewind/device/parallel.h"
#include "rewind/runtime/kernel_host.h"
#include "rewind/runtime/profile.h"

namespace rw {

// Scratch memory that a frame keeps from run to run: blocks are handed out in turn and taken back at once.
class FrameScratch {
 public:
  void* take(size_t bytes) {
    if (next_ == blocks_.size() || blocks_[next_].bytes() < bytes) {
      if (next_ == blocks_.size()) blocks_.emplace_back();
      blocks_[next_] = Buffer();
      blocks_[next_] = Buffer(cpu_device(), bytes);
    }
    return blocks_[next_++].data();
  }
  void reset() { next_ = 0; }

 private:
  std::vector<Buffer> blocks_;
  size_t next_ = 0;
};

namespace {

constexpr size_t kMostFreeFrames = 8;

class ProgramHost final : public KernelHost {
 public:
  // `planned` is the kernel's part of the arena, for scratch memory.
  ProgramHost(const Op& op, std::span<const View> inputs, FrameScratch& scratch, std::span<char> planned)
      : op_(op), inputs_(inputs), scratch_(scratch), planned_(planned) {}
  ~ProgramHost() override { scratch_.reset(); }
  View allocate_output(int, Shape) override {
    fail_internal(__FILE__, __LINE__,
                  ("the size of " + op_.name + " was known when the program was made").c_str());
  }
  void* scratch(size_t bytes) override {
    if (bytes == 0) return nullptr;
    const size_t rounded = (bytes + 63) / 64 * 64;
    if (rounded > planned_.size()) return scratch_.take(bytes);
    char* const at = planned_.data();
    planned_ = planned_.subspan(rounded);
    return at;
  }
  View variable(int i) override { return writable_variable(inputs_[size_t(i)], op_); }
  void rows_done(int64_t begin, int64_t end) override {
    if (native_) native_->run(buffers_.data(), begin, end);
  }
  // Native code to run on rows that are done.
  void take_rows(const NativeKernel& native, std::span<const uint32_t> operands, const View* views) {
    native_ = &native;
    for (const uint32_t o : operands) buffers_.push_back(views[o].data);
  }

 private:
  const NativeKernel* native_ = nullptr;
  SmallVector<void*, 8> buffers_;
  const Op& op_;
  std::span<const View> inputs_;
  FrameScratch& scratch_;
  std::span<char> planned_;
};

// Programs that live, so that memory can be taken back from those that rest.
struct ProgramRegistry {
  std::mutex mutex;
  std::unordered_set<const Program*> programs;
  static ProgramRegistry& get() {
    static auto* registry = new ProgramRegistry();
    return *registry;
  }
};

std::atomic<int64_t> g_frame_bytes{0};

}  // namespace

void reclaim_memory() {
  ProgramRegistry& r = ProgramRegistry::get();
  const std::lock_guard lock(r.mutex);
  for (const Program* p : r.programs) p->drop_frames();
}

struct Program::Frame {
  ~Frame() { g_frame_bytes.fetch_sub(counted, std::memory_order_relaxed); }
  int64_t counted = 0;
  Buffer arena;
  std::vector<View> views;          // by operand
  std::vector<Value> owned;         // by root: what has memory of its own
  std::vector<const Value*> given;  // by root: arguments
  FrameScratch scratch;

  void point(const ProgramValue& root, void* data) {
    for (const uint32_t u : root.uses) views[u].data = data;
  }
};

Program::Program() {
  ProgramRegistry& r = ProgramRegistry::get();
  const std::lock_guard lock(r.mutex);
  r.programs.insert(this);
}

Program::~Program() {
  ProgramRegistry& r = ProgramRegistry::get();
  const std::lock_guard lock(r.mutex);
  r.programs.erase(this);
}

int64_t Program::frame_bytes() { return g_frame_bytes.load(std::memory_order_relaxed); }

void Program::drop_frames() const {
  std::vector<std::unique_ptr<Frame>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(frames_);
}

void Program::seal() {
  for (Instruction& in : code) {
    in.first_operand = uint32_t(operands_.size());
    for (const auto* list : {&in.inputs, &in.outputs}) {
      for (const int32_t v : *list) {
        values[size_t(values[size_t(v)].root)].uses.push_back(uint32_t(operands_.size()));
        operands_.push_back({v});
      }
    }
  }
}

std::unique_ptr<Program::Frame> Program::take_frame() const {
  {
    std::unique_lock lock(mutex_);
    if (one_frame) given_back_.wait(lock, [&] { return in_flight_ == 0; });
    ++in_flight_;
    if (!frames_.empty()) {
      auto frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  if (arena_bytes > 0) {
    frame->arena = Buffer(cpu_device(), arena_bytes);
    frame->counted = block_bytes(cpu_device(), int64_t(arena_bytes));
    g_frame_bytes.fetch_add(frame->counted, std::memory_order_relaxed);
  }
  frame->views.resize(operands_.size());
  frame->owned.resize(values.size());
  frame->given.resize(values.size());
  for (size_t i = 0; i < operands_.size(); ++i) {
    const ProgramValue& v = values[size_t(operands_[i].value)];
    frame->views[i] = {nullptr, &v.shape, v.dtype, v.size};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ProgramValue& v = values[i];
    if (v.root != int32_t(i)) continue;
    if (v.place.kind == Place::kArena && arena_bytes > 0)
      frame->point(v, static_cast<char*>(frame->arena.data()) + v.place.at);
    if (v.place.kind == Place::kConstant) {
      frame->given[i] = &constants[size_t(v.place.at)];
      frame->point(v, frame->given[i]->data);
    }
  }
  return frame;
}

void Program::give_frame(std::unique_ptr<Frame> frame) const {
  const std::lock_guard lock(mutex_);
  if (frame && frames_.size() < kMostFreeFrames) frames_.push_back(std::move(frame));
  --in_flight_;
  if (one_frame) given_back_.notify_one();
}

void Program::run(std::span<const Value* const> inputs, ValueList* results) const {
  RW_CHECK(inputs.size() == arguments.size());
  // A frame that met an error is dropped with whatever it holds.
  struct Flight {
    const Program& program;
    std::unique_ptr<Frame> frame;
    bool landed = false;
    ~Flight() {
      if (!landed) frame.reset();
      program.give_frame(std::move(frame));
    }
  } flight{*this, nullptr};
  flight.frame = take_frame();
  run_frame(*flight.frame, inputs, results);
  flight.landed = true;
}

void Program::run_frame(Frame& frame, std::span<const Value* const> inputs, ValueList* results) const {
  const KernelFloatMode float_mode;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t v = size_t(arguments[i]);
    frame.given[v] = inputs[i];
    frame.point(values[v], inputs[i]->data);
  }
  const Instruction* at = code.data();
  try {
    for (const Instruction* const end = at + code.size(); at != end; ++at) {
      if (profiling()) [[unlikely]] {
        const int64_t start = profile_clock();
        execute(frame, *at);
        add_span(at->op->name, describe_operands(*at), start);
      } else {
        execute(frame, *at);
      }
      for (const int32_t v : at->releases) frame.owned[size_t(v)] = Value();
    }
  } catch (const Error& e) {
    throw_with_places(e, {{"at", std::static_pointer_cast<const CallSite>(at->site)}});
  }
  results->clear();
  for (const int32_t o : outputs) {
    const ProgramValue& v = values[size_t(o)];
    const Value* from = frame.given[size_t(v.root)];
    Value& result = results->emplace_back(from ? *from : frame.owned[size_t(v.root)]);
    if (v.root == o) continue;
    result.shape = v.shape;
    result.dtype = v.dtype;
  }
}

void Program::execute(Frame& frame, const Instruction& in) const {
  for (const int32_t v : in.allocates) {
    Value& own = frame.owned[size_t(v)];
    const ProgramValue& value = values[size_t(v)];
    // What the last run gave away and got back is used again.
    if (own.storage && own.storage->unique()) continue;
    own = Value::allocate(cpu_device(), value.dtype, value.shape);
    frame.point(value, own.data);
  }
  View* views = frame.views.data() + in.first_operand;
  const size_t num_inputs = in.inputs.size();
  switch (in.kind) {
    case Instruction::kKernel: {
      ProgramHost host(*in.op, {views, num_inputs}, frame.scratch,
                       {static_cast<char*>(frame.arena.data()) + in.scratch_at, size_t(in.scratch_bytes)});
      if (in.native) {
        host.take_rows(*in.native, in.buffers, views);
        View rows = views[in.kernel_output];
        rows.shape = &in.kernel_shape;
        KernelContext ctx(*in.op, in.attrs, {views, in.kernel_inputs}, {&rows, 1}, cpu_device(), host,
                          in.kernel->data);
        in.kernel->run(ctx);
        return;
      }
      VariableLocks locks;
      if (in.op->stateful) locks.lock({views, num_inputs});
      KernelContext ctx(*in.op, in.attrs, {views, num_inputs}, {views + num_inputs, in.outputs.size()},
                        cpu_device(), host, in.kernel->data);
      in.kernel->run(ctx);
      return;
    }
    case Instruction::kNative: {
      SmallVector<void*, 32> pointers(num_inputs + in.outputs.size());
      for (size_t i = 0; i < pointers.size(); ++i) pointers[i] = views[i].data;
      std::atomic<int64_t> status{0};
      const auto run = [&](int64_t begin, int64_t end) {
        if (const int64_t s = in.native->run(pointers.data(), begin, end)) status = s;
      };
      parallel_for(in.extent, in.grain, run, &in);
      if (status != 0) fail_invalid(in.label, in.failures[size_t(status - 1)]);
      return;
    }
    case Instruction::kTiles: return run_tiles(frame, in, views);
    case Instruction::kRead: {
      VariableCell& cell = variable_of(views[0], in.op->tag);
      const int32_t out = in.outputs[0];
      Value& own = frame.owned[size_t(out)];
      {
        const std::lock_guard lock(cell.mutex);
        if (cell.value.dtype == DType::kInvalid)
          fail_precondition(in.op->tag, "variable " + cell.name + " has no value yet");
        own = cell.value;
      }
      if (own.dtype != values[size_t(out)].dtype || !(own.shape == values[size_t(out)].shape))
        fail_invalid(in.op->tag, "variable " + cell.name + " is " + own.view().describe() +
                                     " and was traced as another type or shape");
      frame.point(values[size_t(out)], own.data);
      return;
    }
    case Instruction::kAssign: return assign(frame, in, views[0]);
    case Instruction::kEager: {
      SmallVector<Value, 8> shaped;  // inputs that are another view of their memory
      SmallVector<const Value*, 8> given;
      shaped.reserve(num_inputs);
      for (const int32_t i : in.inputs) {
        const ProgramValue& v = values[size_t(i)];
        const Value* from = frame.given[size_t(v.root)];
        if (!from) from = &frame.owned[size_t(v.root)];
        if (v.root != i) {
          Value& other = shaped.emplace_back(*from);
          other.shape = v.shape;
          other.dtype = v.dtype;
          from = &other;
        }
        given.push_back(from);
      }
      ValueList results = run_eager(*in.op, in.attrs, {given.data(), given.size()});
      for (size_t k = 0; k < in.outputs.size(); ++k) {
        const size_t o = size_t(in.outputs[k]);
        frame.owned[o] = std::move(results[k]);
        frame.point(values[o], frame.owned[o].data);
      }
      return;
    }
  }
}

// Kernels count elements from the start of a value: memory for one block stands in for the whole of it by a
// pointer as far in front of it as the block is behind the start.
void Program::run_tiles(Frame& frame, const Instruction& in, const View* views) const {
  char* const scratch = static_cast<char*>(frame.arena.data()) + in.scratch_at;
  const auto run = [&](int64_t first, int64_t last) {
    SmallVector<void*, 32> pointers;
    for (int64_t part = first; part < last; ++part) {
      const auto own = reinterpret_cast<uintptr_t>(scratch + part * in.part_bytes);
      for (int64_t b = part * in.extent / in.parts; b < (part + 1) * in.extent / in.parts; ++b) {
        for (const Instruction::Tile& tile : in.tiles) {
          pointers.clear();
          for (const Instruction::Tile::Buffer& buffer : tile.buffers) {
            const uintptr_t from = own + uintptr_t(buffer.at) - uintptr_t(b * in.block * buffer.size);
            pointers.push_back(buffer.operand >= 0 ? views[buffer.operand].data
                                                   : reinterpret_cast<void*>(from));  // NOLINT
          }
          tile.native->run(pointers.data(), b, b + 1);
        }
      }
    }
  };
  parallel_for(in.parts, 1, run, &in);
}

void Program::assign(Frame& frame, const Instruction& in, const View& handle) const {
  VariableCell& cell = variable_of(handle, in.op->tag);
  const ProgramValue& v = values[size_t(in.inputs[1])];
  const ProgramValue& root = values[size_t(v.root)];
  const Value* given = frame.given[size_t(v.root)];
  Value& own = frame.owned[size_t(v.root)];
  const std::lock_guard lock(cell.mutex);
  if (cell.value.dtype != DType::kInvalid && cell.value.dtype != v.dtype)
    fail_invalid(in.op->tag, "variable " + cell.name + " is " + std::string(name_of(cell.value.dtype)) +
                                 ", the value is " + std::string(name_of(v.dtype)));
  const bool swaps = !given && in.swaps && cell.value.dtype == v.dtype && cell.value.shape == v.shape &&
                     v.root == in.inputs[1];
  if (!swaps) {
    cell.value = given ? *given : own;
    cell.value.shape = v.shape;
    cell.value.dtype = v.dtype;
    if (in.swaps && !given) own = Value();
    return;
  }
  std::swap(cell.value, own);
  frame.point(root, own.data);
}

std::string Program::describe_operands(const Instruction& in) const {
  std::string text = in.label;
  auto list = [&](const std::vector<int32_t>& ids) {
    for (const int32_t v : ids)
      text += " " + std::string(rw::name_of(values[size_t(v)].dtype)) + values[size_t(v)].shape.to_string();
  };
  list(in.inputs);
  text += " ->";
  list(in.outputs);
  return text;
}

std::string Program::list_kernels() const {
  size_t fused = 0, others = 0, with_loops = 0;
  std::string lines;
  for (size_t i = 0; i < code.size(); ++i) {
    const Instruction& in = code[i];
    if (in.kind == Instruction::kRead || in.kind == Instruction::kAssign) continue;  // pointers change hands
    ++(in.kind == Instruction::kNative ? fused : others);
    const bool rows = in.kind == Instruction::kKernel && in.native;
    if (rows) ++with_loops;
    lines += std::to_string(i) + ": " + (in.kind == Instruction::kNative ? "" : in.op->name) +
             (rows ? " + " : "") + describe_operands(in) + "\n";
  }
  return name + ": " + std::to_string(fused + others) + " kernels, " + std::to_string(fused) +
         " of them fused loops, " + std::to_string(with_loops) + " with loops behind their rows\n" + lines;
}

std::string Program::to_string() const {
  auto describe = [&](int32_t i) {
    const ProgramValue& v = values[size_t(i)];
    const Place& p = values[size_t(v.root)].place;
    static constexpr const char* kNames[] = {"@", "arg", "const", "own"};
    return "%" + std::to_string(i) + ":" + kNames[p.kind] +
           (p.kind == Place::kOwned ? "" : std::to_string(p.at)) + " " + std::string(name_of(v.dtype)) +
           v.shape.to_string();
  };
  std::string text = "program " + name + ", arena of " + std::to_string(arena_bytes) + " bytes\n";
  for (size_t i = 0; i < code.size(); ++i) {
    const Instruction& in = code[i];
    static constexpr const char* kNames[] = {"kernel", "native", "tiles", "eager", "read", "assign"};
    text += std::to_string(i) + ": " + kNames[in.kind] + " " + (in.op ? in.op->name : "") +
            (in.label.empty() ? "" : " [" + in.label + "]") + " (";
    for (size_t k = 0; k < in.inputs.size(); ++k) text += (k ? ", " : "") + describe(in.inputs[k]);
    text += ") -> (";
    for (size_t k = 0; k < in.outputs.size(); ++k) text += (k ? ", " : "") + describe(in.outputs[k]);
    text += ")\n";
  }
  return text;
}

}  // namespace rw
