// Any bytes as the files that datasets read: IDX, CSV, lines of text, PNG and JPEG, plain or gzipped.
#include "rewind/data/idx.h"
#include "rewind/data/image.h"
#include "rewind/data/text.h"
#include "rewind/rewind.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

namespace rw::fuzz {
namespace {

template <class F>
void attempt(F f) {
  try {
    f();
  } catch (const Error&) {}  // NOLINT(bugprone-empty-catch): what is damaged is refused
}

void read(std::string_view bytes) {
  static const Scratch folder("data");
  const std::string path = folder.put("x", bytes);
  memory::set_budget("CPU:0", int64_t{128} << 20);
  attempt([&] { (void)data::read_idx(path); });
  attempt([&] {
    for (const auto& line : data::text_line_dataset(path)) (void)line;
  });
  attempt([&] {
    for (const auto& row : data::csv_dataset(
             {path}, {data::CsvColumn(1), data::CsvColumn(2.5f), data::CsvColumn("x")}, {.header = true}))
      if (row.size() != 3) abort();
  });
  for (const int channels : {0, 1, 3, 4})
    attempt([&] {
      const Tensor image = data::read_image(path, channels);
      if (image.shape().rank() != 3) abort();
    });
}

}  // namespace
}  // namespace rw::fuzz

REWIND_FUZZ_TARGET(data, rw::fuzz::read, rw::fuzz::mutate_bytes)
