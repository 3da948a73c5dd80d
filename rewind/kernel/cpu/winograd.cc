// Convolutions by Winograd's algorithm (isa/winograd.h): which ones, and the walk over their tiles.
//
// Tiles of 4x4 outputs are numbered through the batch and taken in blocks, whose transforms and products stay
// in a core's cache. A tile's result does not depend on its block. A filter's gradient is summed over pieces
// of the tiles that follow from the shape alone, and then over the pieces in order. So bits are the same for
// any number of threads.
#include <algorithm>
#include <atomic>

#include "rewind/device/parallel.h"
#include "rewind/kernel/cpu/conv.h"
#include "rewind/kernel/cpu/isa/isa.h"
#include "rewind/kernel/cpu/isa/winograd.h"

namespace rw {
namespace {

constexpr int64_t kPoints = kWinogradPoints;
constexpr int64_t kTile = 4;               // outputs along an axis
constexpr int64_t kReach = 6;              // inputs along an axis
constexpr int64_t kColumnsAtOnce = 64;     // of a product, before the outputs are transformed
constexpr int64_t kBlockFloats = 4096;     // of one point of a block: left factor and product
constexpr int64_t kSkew = 16;              // keeps points off the same lines of the first cache
constexpr int64_t kPieceFloats = 1 << 22;  // sums of all pieces of a filter's gradient

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
int64_t tiles_along(int64_t n) { return (n + kTile - 1) / kTile; }

// A correlation of images with 3x3 filters at stride 1, of which `out` are the results.
struct Images {
  int64_t height, width, channels;
};
struct Correlation {
  int64_t batch;
  Images in, out;
  int64_t top, left;  // zeros before the input

  int64_t tiles_x() const { return tiles_along(out.width); }
  int64_t tiles_y() const { return tiles_along(out.height); }
  int64_t tiles() const { return batch * tiles_y() * tiles_x(); }
};

struct Tile {
  int64_t image, y, x;  // of its first output
};
Tile tile_at(const Correlation& c, int64_t i) {
  const int64_t x = i % c.tiles_x();
  const int64_t y = i / c.tiles_x() % c.tiles_y();
  return {i / (c.tiles_x() * c.tiles_y()), y * kTile, x * kTile};
}

// Pointers to a square of positions, to `zeros` outside the image.
void find_taps(const float* data, const Images& s, int64_t image, int64_t y, int64_t x, int64_t size,
               const float* zeros, const float** taps) {
  for (int64_t i = y; i < y + size; ++i)
    for (int64_t j = x; j < x + size; ++j) {
      const bool inside = i >= 0 && i < s.height && j >= 0 && j < s.width;
      *taps++ = inside ? data + ((image * s.height + i) * s.width + j) * s.channels : zeros;
    }
}

// Tiles [begin, end) of the input as left factors.
void transform_data(const Correlation& c, const float* in, const float* zeros, int64_t begin, int64_t end,
                    float* out, int64_t point_step) {
  const WinogradLoops& loops = *isa_loops().winograd;
  const int64_t padded = round_up(c.in.channels, 16);
  const float* taps[kReach * kReach];
  for (int64_t i = begin; i < end; ++i, out += padded) {
    const Tile t = tile_at(c, i);
    find_taps(in, c.in, t.image, t.y - c.top, t.x - c.left, kReach, zeros, taps);
    loops.data(taps, out, point_step, c.in.channels, padded);
  }
}

// Splits one piece of scratch memory, at cache lines.
class Room {
 public:
  explicit Room(float* at) : at_(at) {}
  static int64_t floats(int64_t n) { return round_up(n, 16); }
  float* take(int64_t n) {
    float* const mine = at_;
    at_ += floats(n);
    return mine;
  }

 private:
  float* at_;
};

float* scratch(KernelContext& ctx, int64_t n) {
  float* p = ctx.scratch<float>(size_t(n) + 16);
  return p + (64 - reinterpret_cast<uintptr_t>(p) % 64) % 64 / sizeof(float);
}

// Threads take pieces of work as they come to them: work(lane, next), where next() numbers the pieces.
template <class Work>
void take_in_turn(int64_t lanes, Work work) {
  std::atomic<int64_t> taken{0};
  parallel_for(lanes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane) work(lane, [&] { return taken.fetch_add(1); });
  });
}

// Tiles in a block, a multiple of a product's rows.
int64_t block_tiles(int64_t left_channels, int64_t right_channels) {
  const int64_t row = round_up(left_channels, 16) + std::min(round_up(right_channels, 16), kColumnsAtOnce);
  return std::clamp<int64_t>(kBlockFloats / row / 8 * 8, 16, 64);
}

// filter: (3, 3, in, out). Its rows are right factors' rows.
void transform_filter(const Correlation& c, const float* filter, const WinogradPanels& out) {
  const int64_t in = c.in.channels, k = c.out.channels;
  parallel_for(in, std::max<int64_t>(1, 4096 / k), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* taps[9];
      for (int t = 0; t < 9; ++t) taps[t] = filter + (t * in + row) * k;
      isa_loops().winograd->filter(taps, out, row, k);
    }
  });
}

// The filter of the input's gradient: turned by half a turn, with the channels exchanged.
void turn_filter(const float* filter, int64_t in, int64_t out, float* turned) {
  parallel_for(9 * out, std::max<int64_t>(1, 16384 / in), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = filter + (8 - row / out) * in * out + row % out;
      for (int64_t i = 0; i < in; ++i) turned[row * in + i] = from[i * out];
    }
  });
}

void correlate(KernelContext& ctx, const Correlation& c, const float* in, const float* filter, bool turned,
               float* out) {
  const WinogradLoops& loops = *isa_loops().winograd;
  const int64_t in_channels = c.in.channels, out_channels = c.out.channels;
  const int64_t columns = round_up(out_channels, 16), row = round_up(in_channels, 16);
  const int64_t block = block_tiles(in_channels, out_channels);
  const int64_t blocks = (c.tiles() + block - 1) / block;
  const int64_t at_once = std::min(columns, kColumnsAtOnce);
  const int64_t left_step = block * row + kSkew, product_step = block * at_once + kSkew;
  const int64_t filter_step = in_channels * columns;
  const int64_t lane_floats = Room::floats(kPoints * left_step) + Room::floats(kPoints * product_step);
  const int64_t lanes = std::min<int64_t>(num_threads(), blocks);
  Room room(scratch(ctx, Room::floats(row) + Room::floats(kPoints * filter_step) + lanes * lane_floats +
                             (turned ? Room::floats(9 * in_channels * out_channels) : 0)));
  float* zeros = room.take(row);
  std::fill_n(zeros, row, 0.0f);
  const WinogradPanels right{room.take(kPoints * filter_step), filter_step, in_channels, columns};
  if (turned) {
    float* other = room.take(9 * in_channels * out_channels);
    turn_filter(filter, out_channels, in_channels, other);
    filter = other;
  }
  transform_filter(c, filter, right);
  float* lane_room = room.take(lanes * lane_floats);
  take_in_turn(lanes, [&](int64_t lane, const auto& next) {
    Room mine(lane_room + lane * lane_floats);
    float* left = mine.take(kPoints * left_step);
    float* products = mine.take(kPoints * product_step);
    for (int64_t b; (b = next()) < blocks;) {
      const int64_t begin = b * block, end = std::min(c.tiles(), begin + block);
      transform_data(c, in, zeros, begin, end, left, left_step);
      for (int64_t k = 0; k < columns; k += at_once) {
        const int64_t some = std::min(at_once, columns - k);
        const WinogradProduct sizes{round_up(end - begin, 8), some, in_channels, row, 1, at_once, false};
        for (int64_t p = 0; p < kPoints; ++p)
          loops.product(left + p * left_step, right.at + p * filter_step + k * in_channels,
                        products + p * product_step, sizes);
        for (int64_t i = begin; i < end; ++i) {
          const Tile t = tile_at(c, i);
          const int64_t position = (t.image * c.out.height + t.y) * c.out.width + t.x;
          loops.output(products + (i - begin) * at_once, product_step, out + position * out_channels + k,
                       c.out.width * out_channels, out_channels, int(std::min(kTile, c.out.height - t.y)),
                       int(std::min(kTile, c.out.width - t.x)), std::min(at_once, out_channels - k));
          if (k + at_once < columns) continue;
          for (int64_t y = t.y; y < std::min(t.y + kTile, c.out.height); ++y) {
            const int64_t row_start = position + (y - t.y) * c.out.width;
            ctx.rows_done(row_start, row_start + std::min(kTile, c.out.width - t.x));
          }
        }
      }
    }
  });
}

int64_t sum_floats(const Correlation& c) {
  return kPoints * round_up(c.in.channels, 16) * round_up(c.out.channels, 16);
}

// How many pieces the tiles of a filter's gradient are summed in: a power of two, more for more work.
int64_t pieces_of(const Correlation& c) {
  const int64_t most =
      std::min({kPieceFloats / sum_floats(c), c.tiles() / 32, int64_t{c.tiles() < 4096 ? 8 : 16}});
  int64_t pieces = 1;
  while (pieces * 2 <= most) pieces *= 2;
  return pieces;
}

void correlate_to_filter(KernelContext& ctx, const Correlation& c, const float* in, const float* gradient,
                         float* out) {
  const WinogradLoops& loops = *isa_loops().winograd;
  const int64_t rows = round_up(c.in.channels, 16), columns = round_up(c.out.channels, 16);
  const int64_t block = block_tiles(c.in.channels, c.out.channels);
  const int64_t pieces = pieces_of(c);
  const int64_t piece_tiles = (c.tiles() + pieces - 1) / pieces;
  const int64_t left_step = block * rows + kSkew, right_step = block * columns + kSkew;
  const int64_t sum_step = rows * columns;
  const int64_t lane_floats = Room::floats(kPoints * left_step) + Room::floats(kPoints * right_step);
  const int64_t lanes = std::min<int64_t>(num_threads(), pieces);
  const int64_t most = std::max(rows, columns);
  Room room(
      scratch(ctx, Room::floats(most) + Room::floats(pieces * kPoints * sum_step) + lanes * lane_floats));
  float* zeros = room.take(most);
  std::fill_n(zeros, most, 0.0f);
  float* sums = room.take(pieces * kPoints * sum_step);  // (piece, point, in, out)
  float* lane_room = room.take(lanes * lane_floats);
  take_in_turn(lanes, [&](int64_t lane, const auto& next) {
    Room mine(lane_room + lane * lane_floats);
    float* left = mine.take(kPoints * left_step);
    float* right = mine.take(kPoints * right_step);
    for (int64_t piece; (piece = next()) < pieces;) {
      const int64_t stop = std::min(c.tiles(), (piece + 1) * piece_tiles);
      float* sum = sums + piece * kPoints * sum_step;
      if (piece * piece_tiles >= stop) std::fill_n(sum, kPoints * sum_step, 0.0f);
      for (int64_t begin = piece * piece_tiles; begin < stop; begin += block) {
        const int64_t end = std::min(stop, begin + block);
        transform_data(c, in, zeros, begin, end, left, left_step);
        const WinogradPanels panels{right, right_step, end - begin, columns};
        for (int64_t i = begin; i < end; ++i) {
          const Tile t = tile_at(c, i);
          const float* taps[kTile * kTile];
          find_taps(gradient, c.out, t.image, t.y, t.x, kTile, zeros, taps);
          loops.gradient(taps, panels, i - begin, c.out.channels);
        }
        const WinogradProduct sizes{
            rows, columns, end - begin, 1, rows, columns, begin > piece * piece_tiles};
        for (int64_t p = 0; p < kPoints; ++p)
          loops.product(left + p * left_step, right + p * right_step, sum + p * sum_step, sizes);
      }
    }
  });
  parallel_for(kPoints * sum_step, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += 4096) {
      const int64_t n = std::min<int64_t>(4096, end - at);
      for (int64_t piece = 1; piece < pieces; ++piece) {
        const float* from = sums + piece * kPoints * sum_step + at;
        for (int64_t i = 0; i < n; ++i) sums[at + i] += from[i];
      }
    }
  });
  parallel_for(c.in.channels, std::max<int64_t>(1, 4096 / columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      loops.filter_gradient(sums + row * columns, sum_step, out + row * c.out.channels,
                            c.in.channels * c.out.channels, c.out.channels);
  });
}

// By shape alone: enough channels to fill vectors, tiles that are mostly used, and filters whose 36 points
// stay in the caches.
bool suits(ConvPass pass, const ConvCall& call, const Correlation& c) {
  const WindowCall& w = call.window;
  if (w.spatial != 2 || call.groups() != 1) return false;
  for (int i = 0; i < 2; ++i) {
    const WindowAxis& axis = w.axes[i];
    if (axis.filter != 3 || axis.stride != 1 || axis.dilation != 1) return false;
  }
  const int64_t in = c.in.channels, out = c.out.channels;
  if (in < 16 || out < 16 || in * out > (1 << 16)) return false;
  if (c.tiles() < 64) return false;
  // Several threads need several sums.
  if (pass == ConvPass::kFilterGrad && sum_floats(c) * 4 > kPieceFloats) return false;
  return c.tiles() * kTile * kTile * 2 <= c.batch * c.out.height * c.out.width * 3;
}

}  // namespace

bool conv_winograd(const ConvArgs& args) {
  const WindowCall& w = args.call.window;
  if (w.spatial != 2) return false;
  const WindowAxis &y = w.axes[0], &x = w.axes[1];
  const Images in{y.in, x.in, w.channels}, out{y.out, x.out, args.call.out_channels};
  const float* a = static_cast<const float*>(args.a);
  const float* b = static_cast<const float*>(args.b);
  float* result = static_cast<float*>(args.out);
  const bool back = args.pass == ConvPass::kInputGrad;
  const Correlation c = back ? Correlation{w.batch, out, in, 2 - y.before, 2 - x.before}
                             : Correlation{w.batch, in, out, y.before, x.before};
  if (!suits(args.pass, args.call, c)) return false;
  if (args.pass == ConvPass::kFilterGrad) correlate_to_filter(args.ctx, c, a, b, result);
  else correlate(args.ctx, c, a, b, back, result);
  return true;
}

}  // namespace rw
