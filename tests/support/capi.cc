// librewind_interop.so: cases in, results out, for the Python harness (tests/interop/rewind_side.py).
// The bytes are those of case_io.h. What a call returns in *out is freed with rw_free.
#include <cstdlib>
#include <cstring>
#include <exception>

#include "rewind/tensor/tensor.h"
#include "tests/support/case_run.h"

namespace {

void give(const std::string& bytes, uint8_t** out, size_t* out_n) {
  *out = static_cast<uint8_t*>(std::malloc(bytes.size() + 1));
  std::memcpy(*out, bytes.data(), bytes.size());
  *out_n = bytes.size();
}

}  // namespace

#define RW_EXPORT extern "C" __attribute__((visibility("default")))

// 0, or 1 when the case failed (the reply says how).
RW_EXPORT int rw_run_case(const uint8_t* in, size_t n, uint8_t** out, size_t* out_n) {
  rw::test::Result r;
  try {
    r = rw::test::run_case(rw::test::read_case({reinterpret_cast<const char*>(in), n}));
  } catch (const std::exception& e) {
    r = {};
    r.failed = true;
    r.error = "std::exception";
    r.message = e.what();
  }
  give(rw::test::write_result(r), out, out_n);
  return r.failed;
}

RW_EXPORT int rw_dump_op_table(uint8_t** out, size_t* out_n) {
  give(rw::test::dump_op_table(), out, out_n);
  return 0;
}

// A tensor of the given dtype and sizes as text: as print(t) shows it, or as repr(t). Strings come one after
// the other in `data`, with their lengths.
RW_EXPORT int rw_tensor_text(int dtype, const int64_t* dims, int rank, const char* data,
                             const int64_t* lengths, int repr, uint8_t** out, size_t* out_n) {
  const rw::Shape shape(std::span<const int64_t>(dims, size_t(rank)));
  rw::Tensor t;
  if (rw::DType(dtype) == rw::DType::kString) {
    std::vector<std::string> strings;
    for (int64_t i = 0; i < shape.num_elements(); data += lengths[i++])
      strings.emplace_back(data, size_t(lengths[i]));
    t = rw::tensor_from_strings(strings, shape);
  } else {
    t = rw::tensor_from_bytes(data, rw::DType(dtype), shape);
  }
  give(repr ? t.repr() : t.to_string(), out, out_n);
  return 0;
}

RW_EXPORT void rw_free(uint8_t* bytes) { std::free(bytes); }
