// Reductions over segments of the first axes: rows and shape rules.
#include "rewind/op/table.h"

namespace rw {
namespace {

// segment_ids is sorted and says where each row of data goes; the number of segments is in the data.
void sorted_segment_shape(ShapeContext& ctx) {
  ctx.require_rank(1, 1);
  const Shape& data = ctx.input(0);
  if (!data.has_rank()) return ctx.output(0, Shape::unknown_rank());
  if (data.rank() == 0) ctx.fail("data must have at least one axis: " + ctx.describe(0));
  const Shape& ids = ctx.input(1);
  if (ids.has_rank() && ids[0] >= 0 && data[0] >= 0 && ids[0] != data[0])
    ctx.fail("segment_ids must be as long as the first axis of data: " + ctx.describe(0) + ", " +
             ctx.describe(1));
  Shape out = data;
  out.set(0, Shape::kUnknown);
  ctx.output(0, std::move(out));
}

// [num_segments] + data[ids.rank:]
void unsorted_segment_shape(ShapeContext& ctx) {
  ctx.require_scalar(2);
  IntVector count;
  const bool known = ctx.ints(2, &count);
  if (known && count[0] < 0) ctx.fail("num_segments must not be negative: got " + std::to_string(count[0]));
  const Shape& data = ctx.input(0);
  const Shape& ids = ctx.input(1);
  if (!data.has_rank() || !ids.has_rank()) return ctx.output(0, Shape::unknown_rank());
  bool prefix = ids.rank() <= data.rank();
  for (int d = 0; prefix && d < ids.rank(); ++d) prefix = ids[d] < 0 || data[d] < 0 || ids[d] == data[d];
  if (!prefix)
    ctx.fail("data's shape must begin with segment_ids' shape: " + ctx.describe(0) + ", " + ctx.describe(1));
  Shape out{known ? count[0] : Shape::kUnknown};
  for (int d = ids.rank(); d < data.rank(); ++d) out.append(data[d]);
  ctx.output(0, std::move(out));
}

}  // namespace

void register_segment_ops(OpTable& t) {
  struct Kind {
    const char* name;
    const char* types;
    const char* tag;
  };
  const Kind kinds[] = {{"Sum", "{number}", "sum"},
                        {"Mean", "{number}", "mean"},
                        {"Prod", "{number}", "prod"},
                        {"Max", "{real}", "max"},
                        {"Min", "{real}", "min"}};
  for (const Kind& k : kinds) {
    const std::string name = k.name;
    t.add("Segment" + name + "(data: T, segment_ids: Tindices) -> (output: T); T: " + k.types +
          "; Tindices: {int32, int64}")
        .shape(sorted_segment_shape)
        .tag(std::string("segment_") + k.tag);
    if (name == "Mean") continue;
    t.add("UnsortedSegment" + name +
          "(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T); T: " + k.types +
          "; Tindices: {" + (name == "Sum" ? "int16, " : "") +
          "int32, int64}; Tnumsegments: {int32, int64} = int32")
        .shape(unsorted_segment_shape)
        .host({"num_segments"})
        .tag(std::string("unsorted_segment_") + k.tag);
  }
}

}  // namespace rw
