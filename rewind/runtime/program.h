// A Program: a graph for fixed shapes as a flat list of instructions on planned memory. Most values lie in
// one arena at offsets the planner chose; a frame (an arena and a view for each operand) is made once and
// used again, so a steady run resolves nothing and allocates nothing.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "rewind/device/buffer.h"
#include "rewind/kernel/kernel.h"
#include "rewind/op/attrs.h"
#include "rewind/runtime/eager.h"

namespace rw {

// Machine code made by the compiler. Runs iterations [begin, end) of its parallel loop; returns 0, or the
// number of what went wrong.
class NativeKernel {
 public:
  virtual ~NativeKernel() = default;
  virtual int64_t run(void* const* buffers, int64_t begin, int64_t end) const = 0;
};

struct Place {
  enum Kind : uint8_t {
    kArena,     // at: offset in bytes
    kArgument,  // at: which argument
    kConstant,  // at: which constant
    kOwned,     // memory of its own, counted: results, values of unknown size, what eager instructions touch
  };
  Kind kind = kArena;
  int64_t at = 0;
};

// Values that share memory (a reshape and what it reshapes) share a place: `root` is the first of them.
struct ProgramValue {
  DType dtype = DType::kInvalid;
  Shape shape;  // fully known, unless the value is made while running
  int64_t size = -1;
  int32_t root = -1;
  Place place;                 // of roots
  std::vector<uint32_t> uses;  // of roots: operands, by number, that point to this memory
};

struct Instruction {
  enum Kind : uint8_t {
    kKernel,  // a kernel of the op on views; with native code, that takes its rows further as they are done
    kNative,  // machine code on pointers
    kTiles,   // a list of those, all for one block of their loop, then for the next
    kEager,   // the eager executor on values
    kRead,    // a variable's snapshot
    kAssign,  // a variable's new value; takes the value's memory when nobody reads it behind, and gives the
              // old one back
  };
  Kind kind = kKernel;
  const Op* op = nullptr;
  Attrs attrs;
  const KernelEntry* kernel = nullptr;
  std::shared_ptr<const NativeKernel> native;
  int64_t extent = 1, grain = 1;         // of the native kernel's parallel loop
  std::vector<int32_t> inputs, outputs;  // values
  uint32_t first_operand = 0;            // operands of inputs, then of outputs
  // Of a kernel with native code behind it: how many inputs are the kernel's own, which operand (counted from
  // the first) it writes its rows to, and the operands that are the native code's buffers.
  uint32_t kernel_inputs = 0, kernel_output = 0;
  std::vector<uint32_t> buffers;
  Shape kernel_shape;  // of those rows, as the kernel has them
  // Of kTiles: the kernels, how many elements a block has, in how many parts blocks go to threads, and what
  // each part takes of the scratch memory.
  struct Tile {
    std::shared_ptr<const NativeKernel> native;
    struct Buffer {
      int32_t operand = -1;  // -1: in the part's memory
      int64_t at = 0;        // there
      int64_t size = 0;      // of an element
    };
    std::vector<Buffer> buffers;
  };
  std::vector<Tile> tiles;
  int64_t block = 0, parts = 1, part_bytes = 0;
  std::vector<int32_t> allocates;     // owned roots that get memory before it runs
  std::vector<int32_t> releases;      // owned roots that nobody reads behind it
  std::vector<std::string> failures;  // of a native kernel, by status - 1
  bool swaps = false;                 // an assignment that is the value's last reader
  std::string label;                  // for dumps and profiles
  int64_t scratch_bytes = 0;          // of the kernel, where the arena has room for it
  int64_t scratch_at = 0;             // its offset there
  std::shared_ptr<const void> site;   // the user's line that made the op: see base/call_site.h
};

class Program {
 public:
  std::string name;
  std::vector<ProgramValue> values;
  std::vector<Instruction> code;
  std::vector<int32_t> arguments, outputs;  // values
  std::vector<Value> constants;
  size_t arena_bytes = 0;
  // Runs of a program under a budget wait for each other: there is room for one frame.
  bool one_frame = false;
  std::shared_ptr<const void> plan;  // what the compiler knows of its memory

  Program();
  ~Program();
  // Numbers the operands; call once, when all else is set.
  void seal();
  // Any number of threads; each run in flight has a frame of its own.
  void run(std::span<const Value* const> inputs, ValueList* results) const;
  // Gives back the memory of frames that no run uses.
  void drop_frames() const;
  // What the arenas of all programs take.
  static int64_t frame_bytes();
  // One line an instruction, with places.
  std::string to_string() const;
  // How many kernels a run starts, and one line each: the op, or the ops fused in it, and the shapes.
  std::string list_kernels() const;

 private:
  struct Frame;
  std::unique_ptr<Frame> take_frame() const;
  void give_frame(std::unique_ptr<Frame> frame) const;
  void run_frame(Frame& frame, std::span<const Value* const> inputs, ValueList* results) const;
  void execute(Frame& frame, const Instruction& in) const;
  void run_tiles(Frame& frame, const Instruction& in, const View* views) const;
  void assign(Frame& frame, const Instruction& in, const View& handle) const;
  std::string describe_operands(const Instruction& in) const;

  struct Operand {
    int32_t value;
  };
  std::vector<Operand> operands_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> frames_;  // free ones
  mutable std::condition_variable given_back_;
  mutable int in_flight_ = 0;
};

}  // namespace rw
