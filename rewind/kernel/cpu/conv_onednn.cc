// Convolutions by oneDNN, channels last, weights in the layout it likes best.
//
// How oneDNN sums a filter's gradient, and how it blocks, depends on the number of threads. So a convolution
// is cut here into pieces by its shape alone (images, or rows of few large images); each piece runs on one
// thread by a primitive made for one thread, and filter gradients of pieces are added in order. Bits are the
// same for any number of threads.
#ifdef REWIND_ONEDNN
#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/conv.h"
#include "rewind/kernel/cpu/onednn.h"

namespace rw {
namespace {

using dnnl::memory;
using Dims = memory::dims;

// A part of a convolution: some images, or some rows (of the first spatial axis) of one image.
struct Piece {
  int64_t image = 0, images = 0;
  int64_t in_row = 0, in_rows = 0;
  int64_t out_row = 0, out_rows = 0;
  int64_t before = 0, after = 0;  // padding of the first spatial axis
};

// What a primitive is made for. Plain numbers, so that equality and hash are those of the list.
using Key = std::vector<int64_t>;
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = key.size();
    for (const int64_t v : key) h = (h ^ uint64_t(v)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return size_t(h);
  }
};

struct Entry {
  dnnl::primitive primitive;
  memory::desc a, b, out, scratch;  // in the order of ConvArgs
  int a_arg, b_arg, out_arg;
};

Key key_of(ConvPass pass, const ConvCall& call, const Piece& p) {
  const WindowCall& w = call.window;
  Key key{int64_t(pass), p.images,   p.in_rows,      p.out_rows,       p.before,
          p.after,       w.channels, call.filter_in, call.out_channels};
  for (int i = 0; i < w.spatial; ++i) {
    const WindowAxis& a = w.axes[i];
    for (const int64_t v : {a.filter, a.stride, a.dilation}) key.push_back(v);
    if (i > 0)
      for (const int64_t v : {a.in, a.out, a.before, a.after}) key.push_back(v);
  }
  return key;
}

// (groups, out, in, spatial...), or without groups when there is one.
Dims weight_dims(const ConvCall& call) {
  const int64_t groups = call.groups();
  Dims dims{call.out_channels / groups, call.filter_in};
  for (int i = 0; i < call.window.spatial; ++i) dims.push_back(call.window.axes[i].filter);
  if (groups > 1) dims.insert(dims.begin(), groups);
  return dims;
}

// The filter as it lies: (spatial..., in, groups * out).
memory::desc filter_desc(const ConvCall& call) {
  const int64_t groups = call.groups();
  Dims strides{1, call.out_channels};
  Dims spatial;
  int64_t step = call.out_channels * call.filter_in;
  for (int i = call.window.spatial; i-- > 0;) {
    spatial.insert(spatial.begin(), step);
    step *= call.window.axes[i].filter;
  }
  strides.insert(strides.end(), spatial.begin(), spatial.end());
  if (groups > 1) strides.insert(strides.begin(), call.out_channels / groups);
  return {weight_dims(call), memory::data_type::f32, strides};
}

std::shared_ptr<const Entry> make_entry(ConvPass pass, const ConvCall& call, const Piece& p) {
  const WindowCall& w = call.window;
  Dims src{p.images, w.channels}, dst{p.images, call.out_channels}, strides, dilations, before, after;
  for (int i = 0; i < w.spatial; ++i) {
    const WindowAxis& a = w.axes[i];
    src.push_back(i ? a.in : p.in_rows);
    dst.push_back(i ? a.out : p.out_rows);
    strides.push_back(a.stride);
    dilations.push_back(a.dilation - 1);
    before.push_back(i ? a.before : p.before);
    after.push_back(i ? a.after : p.after);
  }
  using Tag = memory::format_tag;
  const Tag last = w.spatial == 2 ? Tag::nhwc : Tag::ndhwc;
  const auto f32 = memory::data_type::f32;
  const memory::desc src_md(src, f32, last), dst_md(dst, f32, last),
      weights_md(weight_dims(call), f32, Tag::any);
  const auto direct = dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OpenmpAlone alone;
  const auto& engine = onednn_engine();
  const auto kind = dnnl::prop_kind::forward_training;
  const dnnl::convolution_forward::primitive_desc forward(
      {kind, direct, src_md, weights_md, dst_md, strides, dilations, before, after}, attr, engine);
  auto entry = std::make_shared<Entry>();
  switch (pass) {
    case ConvPass::kForward:
      *entry = {
          dnnl::convolution_forward(forward), forward.src_desc(), forward.weights_desc(), forward.dst_desc(),
          forward.scratchpad_desc(),          DNNL_ARG_SRC,       DNNL_ARG_WEIGHTS,       DNNL_ARG_DST};
      break;
    case ConvPass::kInputGrad: {
      const dnnl::convolution_backward_data::primitive_desc pd(
          {direct, src_md, weights_md, dst_md, strides, dilations, before, after}, attr, engine, forward);
      *entry = {dnnl::convolution_backward_data(pd),
                pd.diff_dst_desc(),
                pd.weights_desc(),
                pd.diff_src_desc(),
                pd.scratchpad_desc(),
                DNNL_ARG_DIFF_DST,
                DNNL_ARG_WEIGHTS,
                DNNL_ARG_DIFF_SRC};
      break;
    }
    case ConvPass::kFilterGrad: {
      const dnnl::convolution_backward_weights::primitive_desc pd(
          {direct, src_md, weights_md, dst_md, strides, dilations, before, after}, attr, engine, forward);
      *entry = {dnnl::convolution_backward_weights(pd),
                pd.src_desc(),
                pd.diff_dst_desc(),
                pd.diff_weights_desc(),
                pd.scratchpad_desc(),
                DNNL_ARG_SRC,
                DNNL_ARG_DIFF_DST,
                DNNL_ARG_DIFF_WEIGHTS};
      break;
    }
  }
  return entry;
}

// Primitives by key; null where oneDNN has none. All threads share it.
class Cache {
 public:
  std::shared_ptr<const Entry> find(ConvPass pass, const ConvCall& call, const Piece& piece) {
    Key key = key_of(pass, call, piece);
    const std::lock_guard lock(mutex_);
    const auto it = entries_.find(key);
    if (it != entries_.end()) return it->second;
    if (entries_.size() >= kCapacity) entries_.clear();
    std::shared_ptr<const Entry> entry;
    try {
      entry = make_entry(pass, call, piece);
    } catch (const dnnl::error&) {
      entry = nullptr;  // oneDNN has no such primitive: the plain loops do it
    }
    return entries_.emplace(std::move(key), std::move(entry)).first->second;
  }

 private:
  static constexpr size_t kCapacity = 256;
  std::mutex mutex_;
  std::unordered_map<Key, std::shared_ptr<const Entry>, KeyHash> entries_;
};

Cache& cache() {
  static auto* const c = new Cache;
  return *c;
}

constexpr double kPieceFlops = 8e6;     // some tens of microseconds on one core
constexpr double kPieceResult = 65536;  // elements
constexpr int64_t kMostPieces = 64;

// How many equal parts: near `wanted`, and dividing n where a divisor is near.
int64_t parts_of(int64_t n, int64_t wanted) {
  wanted = std::clamp<int64_t>(wanted, 1, std::min(n, kMostPieces));
  for (int64_t c = wanted; 2 * c > wanted; --c)
    if (n % c == 0) return c;
  return wanted;
}

Piece whole_images(const ConvCall& call, int64_t image, int64_t images) {
  const WindowAxis& a = call.window.axes[0];
  return {image, images, 0, a.in, 0, a.out, a.before, a.after};
}

// The rows of one image that compute output rows [begin, end).
Piece output_rows(const WindowAxis& a, int64_t image, int64_t begin, int64_t end) {
  const int64_t first = begin * a.stride - a.before;
  const int64_t last = (end - 1) * a.stride - a.before + a.reach();
  const int64_t in_row = std::clamp<int64_t>(first, 0, a.in);
  const int64_t in_end = std::clamp<int64_t>(last, in_row, a.in);
  return {image, 1, in_row, in_end - in_row, begin, end - begin, in_row - first, last - in_end};
}

// The rows of one image that compute the gradient of input rows [begin, end); stride 1.
Piece input_rows(const WindowAxis& a, int64_t image, int64_t begin, int64_t end) {
  const int64_t out_row = std::clamp<int64_t>(begin + a.before - (a.reach() - 1), 0, a.out);
  const int64_t out_end = std::clamp<int64_t>(end + a.before, out_row, a.out);
  const int64_t before = a.before + begin - out_row;
  const int64_t after = out_end - out_row - 1 + a.reach() - (end - begin) - before;
  return {image, 1, begin, end - begin, out_row, out_end - out_row, before, after};
}

std::vector<Piece> cut(ConvPass pass, const ConvCall& call) {
  const WindowCall& w = call.window;
  const double image_flops =
      2.0 * double(w.out_positions()) * double(call.depth()) * double(call.out_channels);
  double wanted = image_flops * double(w.batch) / kPieceFlops;
  if (pass != ConvPass::kFilterGrad) {
    // What is done with a piece's result behind it should find it in the cache.
    const int64_t result =
        pass == ConvPass::kForward ? w.out_positions() * call.out_channels : w.in_positions() * w.channels;
    wanted = std::max(wanted, double(w.batch * result) / kPieceResult);
  } else {
    // Each piece has a gradient of its own: no more than 16 MiB of them, but enough for some threads.
    const double bytes = 4.0 * double(call.depth()) * double(call.out_channels);
    wanted = std::min(wanted, std::max(4.0, double(16 << 20) / bytes));
  }
  const WindowAxis& a = w.axes[0];
  std::vector<Piece> pieces;
  const bool by_input = pass == ConvPass::kInputGrad;
  const int64_t rows = by_input ? a.in : a.out;
  if (w.batch < 8 && wanted > double(w.batch) && rows >= 16 && (!by_input || a.stride == 1)) {
    const int64_t step = (rows + parts_of(rows / 8, int64_t(wanted / double(w.batch))) - 1) /
                         parts_of(rows / 8, int64_t(wanted / double(w.batch)));
    bool whole = true;  // every piece must have rows to read
    for (int64_t n = 0; n < w.batch; ++n)
      for (int64_t r = 0; r < rows; r += step) {
        const int64_t end = std::min(rows, r + step);
        pieces.push_back(by_input ? input_rows(a, n, r, end) : output_rows(a, n, r, end));
        whole &= pieces.back().in_rows > 0 && pieces.back().out_rows > 0 && pieces.back().after >= 0;
      }
    if (whole) return pieces;
    pieces.clear();
  }
  const int64_t count = parts_of(w.batch, int64_t(std::min(wanted, double(kMostPieces))));
  const int64_t step = (w.batch + count - 1) / count;
  for (int64_t n = 0; n < w.batch; n += step)
    pieces.push_back(whole_images(call, n, std::min(step, w.batch - n)));
  return pieces;
}

void reorder(const memory::desc& from, const void* x, const memory::desc& to, void* out) {
  memory a(from, onednn_engine(), const_cast<void*>(x));
  memory b(to, onednn_engine(), out);
  const OpenmpAlone alone;
  dnnl::reorder(a, b).execute(onednn_stream(), a, b);
}

char* aligned(KernelContext& ctx, size_t bytes) {
  char* p = ctx.scratch<char>(bytes + 64);
  return p + (64 - reinterpret_cast<uintptr_t>(p) % 64) % 64;
}

}  // namespace

bool conv_onednn(const ConvArgs& args) {
  const ConvCall& call = args.call;
  const WindowCall& w = call.window;
  const ConvPass pass = args.pass;
  const std::vector<Piece> pieces = cut(pass, call);
  std::vector<std::shared_ptr<const Entry>> entries;
  size_t scratch_bytes = 64;
  for (size_t i = 0; i < pieces.size(); ++i) {
    // Neighbours are alike most of the time.
    if (i > 0 && key_of(pass, call, pieces[i]) == key_of(pass, call, pieces[i - 1]))
      entries.push_back(entries.back());
    else entries.push_back(cache().find(pass, call, pieces[i]));
    if (!entries.back()) return false;
    scratch_bytes = std::max(scratch_bytes, (entries.back()->scratch.get_size() + 63) / 64 * 64);
  }
  const memory::desc filter = filter_desc(call);
  const bool to_filter = pass == ConvPass::kFilterGrad;
  // The filter (or its gradient's parts) in the layout of the primitives, which must be one for all pieces.
  const memory::desc weights = to_filter ? entries[0]->out : entries[0]->b;
  for (const auto& entry : entries)
    if ((to_filter ? entry->out : entry->b) != weights) return false;
  const size_t weight_bytes = (weights.get_size() + 63) / 64 * 64;
  char* room = nullptr;
  if (to_filter) {
    room = aligned(args.ctx, weight_bytes * pieces.size());
  } else if (weights != filter) {
    room = aligned(args.ctx, weight_bytes);
    reorder(filter, args.b, weights, room);
  }

  const int64_t in_row = w.in_positions() / w.axes[0].in * w.channels;
  const int64_t out_row = w.out_positions() / w.axes[0].out * call.out_channels;
  const auto at = [](const void* p, int64_t elements) {
    return static_cast<float*>(const_cast<void*>(p)) + elements;
  };
  const int64_t lanes = std::min<int64_t>(num_threads(), int64_t(pieces.size()));
  char* scratch = aligned(args.ctx, scratch_bytes * size_t(lanes));
  parallel_for(lanes, 1, [&](int64_t first_lane, int64_t last_lane) {
    const OpenmpAlone alone;
    char* my_scratch = scratch + scratch_bytes * size_t(first_lane);
    const int64_t count = int64_t(pieces.size());
    for (int64_t i = count * first_lane / lanes; i < count * last_lane / lanes; ++i) {
      const Piece& p = pieces[size_t(i)];
      const Entry& e = *entries[size_t(i)];
      float* in =
          at(pass == ConvPass::kInputGrad ? args.out : args.a, (p.image * w.axes[0].in + p.in_row) * in_row);
      float* out = at(pass == ConvPass::kForward     ? args.out
                      : pass == ConvPass::kInputGrad ? args.a
                                                     : args.b,
                      (p.image * w.axes[0].out + p.out_row) * out_row);
      void* filters = to_filter ? room + weight_bytes * size_t(i) : room ? room : const_cast<void*>(args.b);
      void* handles[3] = {pass == ConvPass::kInputGrad ? out : in,
                          to_filter ? static_cast<void*>(out) : filters,
                          to_filter                      ? filters
                          : pass == ConvPass::kInputGrad ? static_cast<void*>(in)
                                                         : out};
      const auto& engine = onednn_engine();
      const memory a(e.a, engine, handles[0]), b(e.b, engine, handles[1]), o(e.out, engine, handles[2]);
      const memory s(e.scratch, engine, my_scratch);
      const dnnl_exec_arg_t list[4] = {
          {e.a_arg, a.get()}, {e.b_arg, b.get()}, {e.out_arg, o.get()}, {DNNL_ARG_SCRATCHPAD, s.get()}};
      dnnl::error::wrap_c_api(dnnl_primitive_execute(e.primitive.get(), onednn_stream().get(), 4, list),
                              "convolution failed");
      if (to_filter) continue;
      const WindowAxis& axis = w.axes[0];
      const bool by_input = pass == ConvPass::kInputGrad;
      const int64_t line = by_input ? w.in_positions() / axis.in : w.out_positions() / axis.out;
      const int64_t first = by_input ? p.image * axis.in + p.in_row : p.image * axis.out + p.out_row;
      const int64_t lines = by_input ? p.images * p.in_rows : p.images * p.out_rows;
      args.ctx.rows_done(first * line, (first + lines) * line);
    }
  });
  if (!to_filter) return true;

  float* total = reinterpret_cast<float*>(room);
  const int64_t n = int64_t(weights.get_size() / sizeof(float));
  const int64_t step = int64_t(weight_bytes / sizeof(float));
  parallel_for(n, std::max<int64_t>(256, 16384 / int64_t(pieces.size())), [&](int64_t begin, int64_t end) {
    for (size_t piece = 1; piece < pieces.size(); ++piece) {
      const float* part = total + int64_t(piece) * step;
      for (int64_t i = begin; i < end; ++i) total[i] += part[i];
    }
  });
  reorder(weights, total, filter, args.out);
  return true;
}

}  // namespace rw
#endif
