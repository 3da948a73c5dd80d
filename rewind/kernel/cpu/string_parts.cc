// Strings taken apart: words, n-grams, substrings. And put together along axes and by segments.
#include <algorithm>
#include <string_view>

#include "rewind/base/ascii.h"
#include "rewind/kernel/cpu/indexing.h"
#include "rewind/kernel/kernel.h"

namespace rw {
namespace {

using Pieces = std::vector<std::string_view>;

// Puts what split(text, &pieces) gives for each text into the three outputs.
template <class Split>
void split_all(KernelContext& ctx, Split split) {
  const View& in = ctx.in(0);
  Pieces all;
  std::vector<size_t> ends;
  size_t longest = 0;
  for (int64_t i = 0; i < in.size; ++i) {
    const size_t before = all.size();
    split(std::string_view(in.as<std::string>()[i]), &all);
    ends.push_back(all.size());
    longest = std::max(longest, all.size() - before);
  }
  const auto count = int64_t(all.size());
  auto* indices = ctx.allocate_output(0, {count, 2}).as<int64_t>();
  auto* values = ctx.allocate_output(1, {count}).as<std::string>();
  ctx.out(2).as<int64_t>()[0] = in.size;
  ctx.out(2).as<int64_t>()[1] = int64_t(longest);
  size_t at = 0;
  for (size_t row = 0; row < ends.size(); ++row)
    for (const size_t first = at; at < ends[row]; ++at) {
      indices[2 * at] = int64_t(row);
      indices[2 * at + 1] = int64_t(at - first);
      values[at] = all[at];
    }
}

std::string_view without_leading_space(std::string_view s) {
  while (!s.empty() && ascii::is_space(s.front())) s.remove_prefix(1);
  return s;
}

// As Python splits: at any white space where the separator is empty. At most `most` cuts, -1: any number.
void split_v2(KernelContext& ctx) {
  const std::string_view separator = *ctx.in(1).as<std::string>();
  const auto most = ctx.attr<int64_t>("maxsplit");
  split_all(ctx, [&](std::string_view text, Pieces* pieces) {
    int64_t cuts = 0;
    if (most == 0) return pieces->push_back(text);
    if (separator.empty()) {
      text = without_leading_space(text);
      while (!text.empty()) {
        const auto* const end = std::find_if(text.begin(), text.end(), ascii::is_space);
        const auto size = size_t(end - text.begin());
        pieces->push_back(text.substr(0, size));
        text = without_leading_space(text.substr(size));
        if (++cuts == most) return pieces->push_back(text);
      }
      return;
    }
    for (size_t found; cuts != most && (found = text.find(separator)) != std::string_view::npos; ++cuts) {
      pieces->push_back(text.substr(0, found));
      text.remove_prefix(found + separator.size());
    }
    pieces->push_back(text);
  });
}

// At each of the delimiter's bytes; where it is empty, between all bytes.
void split_v1(KernelContext& ctx) {
  const std::string_view delimiters = *ctx.in(1).as<std::string>();
  const bool skip_empty = ctx.attr<bool>("skip_empty");
  split_all(ctx, [&](std::string_view text, Pieces* pieces) {
    if (delimiters.empty()) {
      for (size_t i = 0; i < text.size(); ++i) pieces->push_back(text.substr(i, 1));
      return;
    }
    if (text.empty()) return;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find_first_of(delimiters, begin), text.size());
      if (end > begin || !skip_empty) pieces->push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  });
}

// ---- n-grams

struct NGrams {
  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width;
  bool preserve_short;

  explicit NGrams(const KernelContext& ctx)
      : separator(ctx.attr<std::string>("separator")),
        left_pad(ctx.attr<std::string>("left_pad")),
        right_pad(ctx.attr<std::string>("right_pad")),
        widths(ctx.attr<std::vector<int64_t>>("ngram_widths")),
        pad_width(ctx.attr<int64_t>("pad_width")),
        preserve_short(ctx.attr<bool>("preserve_short_sequences")) {}

  int64_t padding(int64_t width) const { return std::min(pad_width < 0 ? width - 1 : pad_width, width - 1); }
  // Of the tokens [0, count), with the padding on both sides.
  void add(const std::string* tokens, int64_t count, int64_t width, int64_t pad,
           std::vector<std::string>* out) const {
    for (int64_t first = -pad; first + width <= count + pad; ++first) {
      std::string& text = out->emplace_back();
      for (int64_t k = first; k < first + width; ++k) {
        if (k > first) text += separator;
        text += k < 0 ? left_pad : k < count ? tokens[k] : right_pad;
      }
    }
  }
  void add_row(KernelContext& ctx, const std::string* tokens, int64_t count,
               std::vector<std::string>* out) const {
    const size_t before = out->size();
    for (const int64_t width : widths) {
      const int64_t pad = padding(width);
      check_size(ctx, count, width, pad);
      add(tokens, count, width, pad, out);
    }
    if (!preserve_short || out->size() > before || count == 0 || pad_width < 0) return;
    check_size(ctx, count, count + 2 * pad_width, pad_width);
    add(tokens, count, count + 2 * pad_width, pad_width, out);
  }

 private:
  // Padding alone could fill the memory.
  static void check_size(KernelContext& ctx, int64_t count, int64_t width, int64_t pad) {
    constexpr int64_t kMost = int64_t{1} << 24;
    int64_t number = 0, parts = 0;
    const bool fits = !__builtin_mul_overflow(pad, int64_t{2}, &number) &&
                      !__builtin_add_overflow(number, count, &number) &&
                      !__builtin_sub_overflow(number, width - 1, &number) &&
                      !__builtin_mul_overflow(std::max<int64_t>(number, 0), width, &parts) && parts <= kMost;
    if (!fits)
      ctx.fail("n-grams of width " + std::to_string(width) + " with padding " + std::to_string(pad) +
               " are too many for one row");
  }
};

void ngrams(KernelContext& ctx) {
  const NGrams make(ctx);
  const View& data = ctx.in(0);
  const int64_t* splits = widened(ctx, ctx.in(1));
  const int64_t count = ctx.in(1).size;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t least = i == 0 ? 0 : splits[i - 1];
    if (splits[i] < least || splits[i] > data.size || (i == 0 && splits[0] != 0))
      ctx.fail("data_splits must rise from 0 to the number of strings, " + std::to_string(data.size) + ": " +
               place_of(ctx, 1, i) + " = " + std::to_string(splits[i]));
  }
  if (count > 0 && splits[count - 1] != data.size)
    ctx.fail("data_splits must end with the number of strings, " + std::to_string(data.size) + ": got " +
             std::to_string(splits[count - 1]));
  std::vector<std::string> made;
  const View& out_splits = ctx.out(1);
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) make.add_row(ctx, data.as<std::string>() + splits[i - 1], splits[i] - splits[i - 1], &made);
    if (out_splits.dtype == DType::kInt64) {
      out_splits.as<int64_t>()[i] = int64_t(made.size());
    } else {
      if (made.size() > INT32_MAX) ctx.fail("the n-grams' splits do not fit int32: ask for Tsplits int64");
      out_splits.as<int32_t>()[i] = int32_t(made.size());
    }
  }
  auto* out = ctx.allocate_output(0, {int64_t(made.size())}).as<std::string>();
  std::move(made.begin(), made.end(), out);
}

// ---- substrings

bool continues_character(char c) { return (c & 0xc0) == 0x80; }

// Where character `number` begins; the end of the text for the number behind the last one.
size_t offset_of_character(std::string_view s, int64_t number) {
  size_t at = 0;
  for (; number > 0 && at < s.size(); --number) {
    ++at;
    while (at < s.size() && continues_character(s[at])) ++at;
  }
  return at;
}

void substr(KernelContext& ctx) {
  const View& out = ctx.out(0);
  const bool characters = ctx.attr<std::string>("unit") == "UTF8_CHAR";
  const int64_t* positions = widened(ctx, ctx.in(1));
  const int64_t* lengths = widened(ctx, ctx.in(2));
  // The element of a broadcast input that stands at a place of the output.
  const auto element = [&](const View& in, int64_t place) {
    int64_t at = 0, step = 1;
    for (int d = in.rank() - 1, o = out.rank() - 1; d >= 0; --d, --o) {
      const int64_t index = place % out.dim(o);
      place /= out.dim(o);
      if (in.dim(d) > 1) at += index * step;
      step *= in.dim(d);
    }
    return at;
  };
  for (int64_t i = 0; i < out.size; ++i) {
    const std::string_view s = ctx.in(0).as<std::string>()[element(ctx.in(0), i)];
    const int64_t p = element(ctx.in(1), i);
    const int64_t size = characters
                             ? int64_t(s.size()) - std::count_if(s.begin(), s.end(), continues_character)
                             : int64_t(s.size());
    const int64_t position = positions[p] < 0 ? positions[p] + size : positions[p];
    if (position < 0 || position > size)
      ctx.fail("pos " + std::to_string(positions[p]) + " is outside of '" + std::string(s) + "'");
    if (!characters) {
      out.as<std::string>()[i] = s.substr(size_t(position), size_t(lengths[p]));
      continue;
    }
    const std::string_view rest = s.substr(offset_of_character(s, position));
    out.as<std::string>()[i] = rest.substr(0, lengths[p] < 0 ? 0 : offset_of_character(rest, lengths[p]));
  }
}

// ---- joins

void reduce_join(KernelContext& ctx) {
  const View& in = ctx.in(0);
  const View& axes = ctx.in(1);
  const std::string separator = ctx.attr<std::string>("separator");
  std::vector<int64_t> strides(size_t(in.rank()), 1);
  for (int d = in.rank() - 1; d > 0; --d) strides[size_t(d) - 1] = strides[size_t(d)] * in.dim(d);
  SmallVector<int, 6> kept, joined;
  std::vector<bool> is_joined(size_t(in.rank()));
  for (int64_t k = 0; k < axes.size; ++k) {
    const int32_t a = axes.as<int32_t>()[k];
    joined.push_back(a < 0 ? a + in.rank() : a);
    is_joined[size_t(joined.back())] = true;
  }
  for (int d = 0; d < in.rank(); ++d)
    if (!is_joined[size_t(d)]) kept.push_back(d);
  std::reverse(joined.begin(), joined.end());  // the first axis that is given runs fastest
  int64_t parts = 1;
  for (const int d : joined) parts *= in.dim(d);
  // The offset of a number counted over some axes, the last of them fastest.
  const auto offset = [&](const SmallVector<int, 6>& over, int64_t number) {
    int64_t at = 0;
    for (size_t k = over.size(); k-- > 0;) {
      at += number % in.dim(over[k]) * strides[size_t(over[k])];
      number /= in.dim(over[k]);
    }
    return at;
  };
  for (int64_t i = 0; i < ctx.out(0).size; ++i) {
    std::string& text = ctx.out(0).as<std::string>()[i];
    const std::string* from = in.as<std::string>() + offset(kept, i);
    for (int64_t k = 0; k < parts; ++k) {
      if (k > 0) text += separator;
      text += from[offset(joined, k)];
    }
  }
}

void segment_join(KernelContext& ctx) {
  const View& in = ctx.in(0);
  const View& out = ctx.out(0);
  const std::string separator = ctx.attr<std::string>("separator");
  const int64_t count = ctx.in(1).size;
  const int64_t segments = out.rank() > 0 ? out.dim(0) : 0;
  const int64_t* ids = widened(ctx, ctx.in(1));
  for (int64_t k = 0; k < count; ++k)
    if (ids[k] < 0 || ids[k] >= segments)
      ctx.fail(place_of(ctx, 1, k) + " = " + std::to_string(ids[k]) + " is not in [0, " +
               std::to_string(segments) + ")");
  if (out.size == 0 || in.size == 0) return;
  const int64_t columns = out.size / segments;
  std::vector<bool> begun(static_cast<size_t>(segments));
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t c = 0; c < columns; ++c) {
      std::string& text = out.as<std::string>()[ids[k] * columns + c];
      if (begun[size_t(ids[k])]) text += separator;
      text += in.as<std::string>()[k * columns + c];
    }
    begun[size_t(ids[k])] = true;
  }
}

}  // namespace

void register_string_part_cpu_kernels() {
  register_kernel("StringSplit", DeviceType::kCpu, split_v1);
  register_kernel("StringSplitV2", DeviceType::kCpu, split_v2);
  register_kernel("StringNGrams", DeviceType::kCpu, ngrams);
  register_kernel("Substr", DeviceType::kCpu, substr);
  register_kernel("ReduceJoin", DeviceType::kCpu, reduce_join);
  register_kernel("UnsortedSegmentJoin", DeviceType::kCpu, segment_join);
}

}  // namespace rw
