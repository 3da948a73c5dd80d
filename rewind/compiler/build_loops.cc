// A group runs over a domain: all elements, or rows of elements when it has row reductions. Loops over the
// axes of the domain, those merged that every operand walks alike; the last one has lanes. A row is walked
// once per stage: a reduction's result is there in the next stage. Values that a later stage needs again are
// computed again when that is cheap, and kept in a row of scratch memory when it is not.
#include "rewind/compiler/build_loops.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "rewind/compiler/fusible.h"
#include "rewind/compiler/loop/builder.h"
#include "rewind/compiler/rewrite.h"

namespace rw {
namespace {

using loop::Affine;
using loop::Builder;
using loop::Index;
using loop::LoopKind;
using loop::Var;

constexpr int64_t kMostScratchBytes = 64 << 10;
constexpr int64_t kWorkOfThread = 64 << 10;  // ops that are worth another thread
constexpr int64_t kFewRows = 8;

using Steps = SmallVector<int64_t, 6>;  // per axis of the domain, in elements

int64_t product(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

class LoopBuilding {
 public:
  explicit LoopBuilding(const Graph& body, bool by_rows = false, int64_t flat_block = 0)
      : g_(body), by_rows_(by_rows), flat_block_(flat_block) {}

  std::optional<FusedLoops> run() {
    if (!find_domain() || !collapse()) return std::nullopt;
    if (flat_block_ > 0 && (kept_axes_ >= 0 || domain_.size() != 1 || domain_[0] % flat_block_ != 0))
      return std::nullopt;
    declare_buffers();
    find_stages();
    write_loops();
    FusedLoops result;
    result.extent = parallel_extent_;
    const int64_t work = std::max<int64_t>(1, product({domain_.begin(), domain_.size()}) / parallel_extent_) *
                         int64_t(g_.nodes().size() + 1);
    result.grain = std::max<int64_t>(1, kWorkOfThread / work);
    result.kernel = builder_.finish();
    return result;
  }

 private:
  const GraphValue& value(ValueId v) const { return g_.value(v); }
  bool is_row_value(ValueId v) const { return row_value_[size_t(v)] != 0; }

  // ---- the domain

  bool find_domain() {
    kinds_.resize(g_.nodes().size());
    int kept = -1;
    const Shape* widest = nullptr;
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      if (n.op->name == "Const") continue;
      kinds_[i] = fusible(g_, n);
      if (kinds_[i].kind == FuseKind::kNot) return false;
      if (kinds_[i].kind == FuseKind::kPart) {
        if (by_rows_ && may_be_written_over(n.inputs[0])) return false;
        continue;
      }
      const bool reduces = kinds_[i].kind == FuseKind::kRowReduce;
      if (reduces && kept >= 0 && kept != kinds_[i].kept_axes) return false;
      if (reduces) kept = kinds_[i].kept_axes;
      const Shape& s = reduces ? value(n.inputs[0]).shape : value(n.outputs[0]).shape;
      if (!widest || s.num_elements() > widest->num_elements() || (reduces && s.rank() > widest->rank()))
        widest = &s;
    }
    if (!widest || (by_rows_ && kept >= 0)) return false;
    domain_shape_ = *widest;
    kept_axes_ = kept;
    row_value_.assign(g_.num_values(), 0);
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      if (n.op->name == "Const" || kinds_[i].kind == FuseKind::kPart) continue;
      const bool row =
          kinds_[i].kind == FuseKind::kRowReduce || !(value(n.outputs[0]).shape == domain_shape_);
      if (row && kept < 0) return false;
      row_value_[size_t(n.outputs[0])] = row;
    }
    return true;
  }

  // A result of rows may lie in the memory of an argument like it: parts of that are other rows.
  bool may_be_written_over(ValueId argument) const {
    return std::any_of(g_.outputs.begin(), g_.outputs.end(), [&](ValueId v) {
      return value(v).dtype == value(argument).dtype && value(v).shape == value(argument).shape;
    });
  }

  // The node that takes a part of an argument, if the value is one.
  const Node* part(ValueId v) const {
    const Node* maker = g_.producer(v);
    return maker && kinds_[size_t(value(v).node)].kind == FuseKind::kPart ? maker : nullptr;
  }

  // How a value of shape s, which lies in one of shape `whole`, lies under a node whose result has shape
  // `out`.
  Steps steps_of(const Shape& s, const Shape& whole, const Shape& out) const {
    Steps steps(size_t(domain_shape_.rank()), 0);
    int64_t step = 1;
    const int shift = out.rank() - s.rank();
    for (int a = s.rank() - 1; a >= 0; --a) {
      if (s[a] != 1) steps[size_t(a) + size_t(shift)] = step;
      step *= whole[a];
    }
    return steps;
  }
  Steps steps_under(ValueId v, const Shape& out) const {
    const Node* slice = part(v);
    return steps_of(value(v).shape, value(slice ? slice->inputs[0] : v).shape, out);
  }
  Steps dense_steps(ValueId v) const { return steps_of(value(v).shape, value(v).shape, value(v).shape); }

  // Merges axes that all operands walk alike.
  bool collapse() {
    std::vector<Steps> all;
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      if (n.op->name == "Const" || kinds_[i].kind == FuseKind::kPart) continue;
      const bool reduces = kinds_[i].kind == FuseKind::kRowReduce;
      const Shape& out = reduces ? domain_shape_ : value(n.outputs[0]).shape;
      if (out.rank() != domain_shape_.rank() && out.rank() != kept_axes_) return false;
      const size_t inputs = reduces ? 1 : kinds_[i].kind == FuseKind::kSpread ? 1 : n.inputs.size();
      if (kinds_[i].kind != FuseKind::kConstant)
        for (size_t k = 0; k < inputs; ++k)
          if (value(n.inputs[k]).shape.num_elements() > 1 || !value(n.inputs[k]).known->data)
            all.push_back(steps_under(n.inputs[k], out));
      all.push_back(dense_steps(n.outputs[0]));
    }
    const int rank = domain_shape_.rank();
    for (int a = 0; a < rank; ++a) {
      if (domain_shape_[a] == 1) continue;
      bool merge = !axes_.empty() && !(axes_.back().back() < kept_axes_ && a >= kept_axes_);
      if (by_rows_ && a == rank - 1) merge = false;
      if (merge) {
        const size_t before = size_t(axes_.back().back());
        for (const Steps& s : all) merge &= s[before] == s[size_t(a)] * domain_shape_[a];
      }
      if (merge) {
        axes_.back().push_back(a);
        domain_.back() *= domain_shape_[a];
      } else {
        axes_.push_back({a});
        domain_.push_back(domain_shape_[a]);
      }
    }
    if (domain_.empty()) {
      axes_.push_back({});
      domain_.push_back(1);
    }
    // A row is the last axis, and all axes in front of it are one loop.
    if (by_rows_ && (domain_.size() != 2 || domain_.back() != domain_shape_.back())) return false;
    row_loops_ = 0;
    if (kept_axes_ >= 0) {
      for (const auto& merged : axes_)
        if (!merged.empty() && merged.front() < kept_axes_) ++row_loops_;
      // The elements of a row lie along one loop.
      if (axes_.size() == row_loops_) {
        axes_.push_back({});
        domain_.push_back(1);
      }
      if (axes_.size() != row_loops_ + 1) return false;
    } else {
      row_loops_ = axes_.size() - 1;
    }
    return true;
  }

  int64_t step_along(const Steps& steps, size_t loop) const {
    return axes_[loop].empty() ? 0 : steps[size_t(axes_[loop].back())];
  }

  // ---- buffers and stages

  void declare_buffers() {
    buffer_of_.assign(g_.num_values(), -1);
    for (const ValueId a : g_.arguments)
      buffer_of_[size_t(a)] = builder_.in(value(a).dtype, value(a).shape.num_elements());
    for (const ValueId v : g_.outputs) {
      const int32_t b = builder_.out(value(v).dtype, value(v).shape.num_elements());
      if (g_.value(v).node >= 0) buffer_of_[size_t(v)] = b;
    }
    is_output_.assign(g_.num_values(), 0);
    for (const ValueId v : g_.outputs) is_output_[size_t(v)] = 1;
  }

  void find_stages() {
    stage_.assign(g_.num_values(), 0);
    last_stage_ = 0;
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      int s = 0;
      for (const ValueId v : n.inputs) s = std::max(s, stage_[size_t(v)]);
      if (kinds_[i].kind == FuseKind::kRowReduce) ++s;  // there from the next stage on
      stage_[size_t(n.outputs[0])] = s;
      if (!is_row_value(n.outputs[0])) last_stage_ = std::max(last_stage_, s);
    }
    keep_costly_values();
  }

  // Full values that are read in a later stage than their own and cost too much to be made again.
  void keep_costly_values() {
    scratch_of_.assign(g_.num_values(), -1);
    if (last_stage_ == 0) return;
    std::vector<uint8_t> costly(g_.num_values(), 0);
    std::vector<int> read_in(g_.num_values(), 0);
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      const ValueId out = n.outputs[0];
      const bool reduces = kinds_[i].kind == FuseKind::kRowReduce;
      const int when = stage_[size_t(out)] - (reduces ? 1 : 0);
      for (const ValueId v : n.inputs) read_in[size_t(v)] = std::max(read_in[size_t(v)], when);
      if (is_row_value(out)) continue;
      bool c = n.op->name != "Const" && kinds_[i].kind != FuseKind::kPart && weight_of(*n.op) != 1;
      for (const ValueId v : n.inputs) c |= costly[size_t(v)] != 0;
      costly[size_t(out)] = c;
    }
    // Reads by values that are themselves computed again in later stages count as late reads.
    for (size_t i = g_.nodes().size(); i-- > 0;) {
      const Node& n = g_.nodes()[i];
      const ValueId out = n.outputs[0];
      if (is_row_value(out) || costly[size_t(out)]) continue;
      for (const ValueId v : n.inputs)
        read_in[size_t(v)] = std::max(read_in[size_t(v)], read_in[size_t(out)]);
    }
    int64_t bytes = 0;
    for (size_t v = 0; v < g_.num_values(); ++v) {
      if (!costly[v] || is_row_value(ValueId(v)) || is_output_[v] || read_in[v] <= stage_[v]) continue;
      const int64_t more = domain_.back() * int64_t(size_of(value(ValueId(v)).dtype));
      if (bytes + more > kMostScratchBytes) continue;
      bytes += more;
      scratch_of_[v] = builder_.scratch(value(ValueId(v)).dtype, domain_.back());
    }
  }

  // ---- loops

  void write_loops() {
    // The parallel loop goes outside: the longest row loop, or blocks of the last one when there are few
    // rows.
    size_t parallel = 0;
    int64_t rows = 1;
    for (size_t l = 0; l < row_loops_; ++l) {
      rows *= domain_[l];
      if (domain_[l] > domain_[parallel]) parallel = l;
    }
    at_.assign(domain_.size(), {});
    const bool has_rows = kept_axes_ >= 0;
    if (!has_rows && !by_rows_ && rows < kFewRows) {
      const int64_t block = flat_block_ > 0 ? flat_block_ : block_of(domain_.back());
      parallel_extent_ = domain_.back() / block;
      builder_.loop(parallel_extent_, LoopKind::kParallel, [&](Index b) {
        nest(0, row_loops_, [&] {
          builder_.loop(block, LoopKind::kVector, [&](Index i) {
            at_.back() = block * b + i;
            write_elements();
          });
        });
      });
      return;
    }
    parallel_extent_ = domain_[parallel];
    builder_.loop(parallel_extent_, LoopKind::kParallel, [&](Index i) {
      at_[parallel] = 1 * i;
      nest(0, parallel, [&] {
        nest(parallel + 1, row_loops_, [&] {
          if (has_rows) return write_row();
          builder_.loop(domain_.back(), LoopKind::kVector, [&](Index k) {
            at_.back() = 1 * k;
            write_elements();
          });
        });
      });
    });
  }

  // Loops [from, to) around `inside`.
  template <class Inside>
  void nest(size_t from, size_t to, const Inside& inside) {
    if (from == to) return inside();
    builder_.loop(domain_[from], LoopKind::kSerial, [&](Index i) {
      at_[from] = 1 * i;
      nest(from + 1, to, inside);
    });
  }

  // A length that divides n, so that all blocks are alike; n itself when there is no good one.
  static int64_t block_of(int64_t n) {
    constexpr int64_t kLongest = 4096, kShortest = 256;
    if (n <= kLongest) return n;
    for (int64_t b = kLongest; b >= kShortest; b -= 16)
      if (n % b == 0) return b;
    for (int64_t b = kLongest; b >= kShortest; --b)
      if (n % b == 0) return b;
    return n;
  }

  Affine place(const Steps& steps, bool whole) const {
    Affine at;
    for (size_t l = 0; l < domain_.size(); ++l) {
      if (l + 1 == domain_.size() && !whole) break;
      if (const int64_t step = step_along(steps, l)) at = at + step * at_[l];
    }
    return at;
  }

  void write_elements() {
    stage_now_ = 0;
    made_.clear();
    // A result that lies in an argument's memory is written when nobody reads that any more.
    if (by_rows_)
      for (const ValueId out : g_.outputs) element(out);
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const ValueId out = g_.nodes()[i].outputs[0];
      if (is_output_[size_t(out)]) store(out);
    }
  }

  void store(ValueId v) {
    const Var x = element(v);
    for (size_t k = 0; k < g_.outputs.size(); ++k)
      if (g_.outputs[k] == v)
        builder_.store(int32_t(g_.arguments.size() + k), place(dense_steps(v), !is_row_value(v)), x);
  }

  void write_row() {
    row_vars_.clear();
    for (stage_now_ = 0; stage_now_ <= last_stage_ + 1; ++stage_now_) {
      write_row_values();
      if (stage_now_ > last_stage_ && !has_reductions(stage_now_)) continue;
      if (!stage_has_work(stage_now_)) continue;
      made_.clear();
      std::vector<std::pair<NodeId, Var>> reduced;
      const auto results = builder_.reduce_many(domain_.back(), [&](Index i) {
        at_.back() = 1 * i;
        std::vector<std::pair<loop::Combine, Var>> values;
        for (size_t n = 0; n < g_.nodes().size(); ++n) {
          const Node& node = g_.nodes()[n];
          const ValueId out = node.outputs[0];
          if (kinds_[n].kind == FuseKind::kRowReduce) {
            if (stage_[size_t(out)] != stage_now_ + 1) continue;
            values.emplace_back(row_reduction(*node.op).combine, element(node.inputs[0]));
            reduced.emplace_back(NodeId(n), -1);
          } else if (node.op->name != "Const" && !is_row_value(out) && stage_[size_t(out)] == stage_now_) {
            if (is_output_[size_t(out)]) store(out);
            if (scratch_of_[size_t(out)] >= 0)
              builder_.store(scratch_of_[size_t(out)], at_.back(), element(out));
          }
        }
        return values;
      });
      for (size_t k = 0; k < reduced.size(); ++k) finish_reduction(reduced[k].first, results[k]);
    }
  }

  bool has_reductions(int stage) const {
    for (size_t n = 0; n < g_.nodes().size(); ++n)
      if (kinds_[n].kind == FuseKind::kRowReduce && stage_[size_t(g_.nodes()[n].outputs[0])] == stage + 1)
        return true;
    return false;
  }
  bool stage_has_work(int stage) const {
    if (has_reductions(stage)) return true;
    for (const Node& n : g_.nodes()) {
      const size_t out = size_t(n.outputs[0]);
      if (n.op->name != "Const" && !row_value_[out] && stage_[out] == stage &&
          (is_output_[out] || scratch_of_[out] >= 0))
        return true;
    }
    return false;
  }

  void finish_reduction(NodeId id, Var sum) {
    const Node& n = g_.node(id);
    const ValueId out = n.outputs[0];
    if (row_reduction(*n.op).mean) {
      const Var count = builder_.constant_of(builder_.dtype_of_var(sum), double(domain_.back()));
      sum = builder_.op("RealDiv", {sum, count});
    }
    row_vars_[out] = builder_.cast(sum, value(out).dtype);
  }

  // Row values that can be had now, in order, each once; results among them are stored.
  void write_row_values() {
    for (size_t i = 0; i < g_.nodes().size(); ++i) {
      const Node& n = g_.nodes()[i];
      const ValueId out = n.outputs[0];
      if (n.op->name == "Const" || !is_row_value(out) || stage_[size_t(out)] != stage_now_) continue;
      if (kinds_[i].kind != FuseKind::kRowReduce) {
        made_.clear();
        row_vars_[out] = compute(n, i, /*row=*/true);
      }
      if (is_output_[size_t(out)]) store(out);
    }
  }

  // ---- values

  Var element(ValueId v) {
    if (const auto it = row_vars_.find(v); it != row_vars_.end()) return it->second;
    return operand(v, value(v).shape, !is_row_value(v));
  }

  // The value as an operand under a result of shape `out`.
  Var operand(ValueId v, const Shape& out, bool whole) {
    if (const auto it = row_vars_.find(v); it != row_vars_.end()) return it->second;
    const GraphValue& gv = value(v);
    const Node* maker = g_.producer(v);
    const Node* slice = part(v);
    if (!maker || maker->op->name == "Const" || slice) {
      if (gv.known->data && gv.shape.num_elements() == 1 && maker) return literal(gv.known, 0);
      const uint64_t key = uint64_t(v) << 8 | uint64_t(out.rank() & 127) << 1 | uint64_t(whole);
      if (const auto it = made_.find(key); it != made_.end()) return it->second;
      Affine at = place(steps_under(v, out), whole);
      if (slice) at.constant += start_of(*slice);
      return made_[key] = builder_.load(buffer_of_[size_t(slice ? slice->inputs[0] : v)], at);
    }
    const uint64_t key = uint64_t(v) << 8;
    if (const auto it = made_.find(key); it != made_.end()) return it->second;
    Var x;
    if (stage_[size_t(v)] < stage_now_ && scratch_of_[size_t(v)] >= 0)
      x = builder_.load(scratch_of_[size_t(v)], at_.back());
    else if (stage_[size_t(v)] < stage_now_ && is_output_[size_t(v)] && weight_of(*maker->op) != 1)
      x = builder_.load(buffer_of_[size_t(v)], place(dense_steps(v), true));
    else x = compute(*maker, size_t(gv.node), !whole);
    return made_[key] = x;
  }

  // Where a part begins, in elements of what it is a part of.
  int64_t start_of(const Node& slice) const {
    const Shape& whole = value(slice.inputs[0]).shape;
    int64_t at = 0;
    for (int a = 0; a < whole.rank(); ++a)
      at = at * whole[a] + int64_t(known_element(value(slice.inputs[1]).known, a));
    return at;
  }

  Var literal(const HostTensor& t, int64_t i) {
    uint64_t bits = 0;
    const size_t bytes = size_of(t.dtype);
    std::memcpy(&bits, static_cast<const char*>(t.data.get()) + size_t(i) * bytes, bytes);
    return builder_.constant_bits(t.dtype, bits);
  }

  Var compute(const Node& n, size_t i, bool row) {
    const Shape& out = value(n.outputs[0]).shape;
    const DType dtype = value(n.outputs[0]).dtype;
    if (kinds_[i].kind == FuseKind::kConstant) {
      if (n.op->name == "Fill") return literal(value(n.inputs[1]).known, 0);
      return builder_.constant_of(dtype, n.op->name == "OnesLike" ? 1 : 0);
    }
    if (kinds_[i].kind == FuseKind::kSpread) return operand(n.inputs[0], out, !row);
    SmallVector<Var, 4> args;
    for (const ValueId v : n.inputs) args.push_back(operand(v, out, !row));
    if (n.op->name == "Cast") return builder_.cast(args[0], dtype);
    if (n.op->name == "SelectV2") return builder_.select(args[0], args[1], args[2]);
    return builder_.op(n.op->name, args.data(), args.size());
  }

  const Graph& g_;
  const bool by_rows_;
  const int64_t flat_block_;
  Builder builder_{"fused"};
  std::vector<Fusible> kinds_;
  Shape domain_shape_;
  int kept_axes_ = -1;
  std::vector<uint8_t> row_value_;         // by value: one per row
  std::vector<SmallVector<int, 6>> axes_;  // by loop: the axes it merges
  SmallVector<int64_t, 6> domain_;         // by loop
  size_t row_loops_ = 0;                   // loops in front of the last
  std::vector<int32_t> buffer_of_, scratch_of_;
  std::vector<uint8_t> is_output_;
  std::vector<int> stage_;
  int last_stage_ = 0;
  int stage_now_ = 0;
  int64_t parallel_extent_ = 1;
  std::vector<Affine> at_;                     // by loop: where it is
  std::unordered_map<ValueId, Var> row_vars_;  // of this row
  std::unordered_map<uint64_t, Var> made_;     // of this element
};

}  // namespace

std::optional<FusedLoops> build_loops(const Graph& body) { return LoopBuilding(body).run(); }
std::optional<FusedLoops> build_flat_loops(const Graph& body, int64_t block) {
  return LoopBuilding(body, false, block).run();
}
std::optional<FusedLoops> build_row_loops(const Graph& body) { return LoopBuilding(body, true).run(); }

}  // namespace rw
