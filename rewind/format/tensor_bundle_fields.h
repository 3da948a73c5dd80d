// The fields of the messages in tensor_bundle.h (see graph_def_fields.h).
#pragma once

#include "rewind/format/graph_def_fields.h"
#include "rewind/format/tensor_bundle.h"

namespace rw::format {

template <class V, MessageOf<TensorSliceProto::Extent> M>
void fields(V& v, M& m) {
  v.field(1, "start", m.start);
  v.field(2, "length", m.length);
}

template <class V, MessageOf<TensorSliceProto> M>
void fields(V& v, M& m) {
  v.field(1, "extent", m.extent);
}

template <class V, MessageOf<BundleHeaderProto> M>
void fields(V& v, M& m) {
  v.field(1, "num_shards", m.num_shards);
  v.field(2, "endianness", m.endianness);
  v.field(3, "version", m.version);
}

template <class V, MessageOf<BundleEntryProto> M>
void fields(V& v, M& m) {
  v.field(1, "dtype", m.dtype);
  v.field(2, "shape", m.shape);
  v.field(3, "shard_id", m.shard_id);
  v.field(4, "offset", m.offset);
  v.field(5, "size", m.size);
  v.field(6, "crc32c", m.crc32c);
  v.field(7, "slices", m.slices);
}

}  // namespace rw::format
