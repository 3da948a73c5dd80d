// Datasets of text files: their lines, and comma-separated values. Files are plain or gzipped; several are
// read one after the other. A line that unpacks to more than ExpansionLimit's default allows is refused.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "rewind/data/dataset.h"
#include "rewind/format/expansion_limit.h"

namespace rw::data {

// Scalars of strings, one a line, without line ends.
DatasetOf<Tensor> text_line_dataset(const std::vector<std::string>& filenames);
inline DatasetOf<Tensor> text_line_dataset(const std::string& filename) {
  return text_line_dataset(std::vector<std::string>{filename});
}
// The whole file as one string.
std::string read_text(const std::string& path, const format::ExpansionLimit& limit = {});

// A column of a CSV file: its type, and what an empty field stands for. A dtype alone: it must not be empty.
class CsvColumn {
 public:
  CsvColumn(DType required) : dtype_(required) {}  // NOLINT: columns are written as what they hold
  template <class T>
    requires(std::is_arithmetic_v<T>)
  CsvColumn(T value) : CsvColumn(constant(value)) {}                   // NOLINT
  CsvColumn(const char* value) : CsvColumn(constant(value)) {}         // NOLINT
  CsvColumn(const std::string& value) : CsvColumn(constant(value)) {}  // NOLINT
  explicit CsvColumn(const Tensor& value) : dtype_(value.dtype()), default_(value) {}
  DType dtype() const { return dtype_; }
  const Tensor& default_value() const { return default_; }  // undefined: required

 private:
  DType dtype_;
  Tensor default_;
};

struct CsvOptions {
  bool header = false;  // the first line of each file is passed over
  char field_delim = ',';
  bool use_quote_delim = true;
  std::string na_value = "";          // reads as empty
  std::vector<int> select_cols = {};  // ascending; without, all
};

// One scalar per column: float32, float64, int32, int64 or string.
DatasetOf<std::vector<Tensor>> csv_dataset(const std::vector<std::string>& filenames,
                                           const std::vector<CsvColumn>& record_defaults,
                                           const CsvOptions& options = {});
Ref<Node> make_csv(std::vector<std::string> filenames, std::vector<CsvColumn> columns, CsvOptions options);

namespace detail {
template <class T>
using CsvTensor = Tensor;
}
// The same with the columns of a tuple: for (auto [age, name] : csv_dataset(files, std::tuple{0, ""})).
template <class... C>
DatasetOf<std::tuple<detail::CsvTensor<C>...>> csv_dataset(const std::vector<std::string>& filenames,
                                                           const std::tuple<C...>& record_defaults,
                                                           const CsvOptions& options = {}) {
  using T = std::tuple<detail::CsvTensor<C>...>;
  const auto columns =
      std::apply([](const C&... c) { return std::vector<CsvColumn>{CsvColumn(c)...}; }, record_defaults);
  return {make_dataset({}, {}, [=](auto, auto) { return make_csv(filenames, columns, options); }),
          std::make_shared<Form<T>>()};
}

}  // namespace rw::data
