#include "rewind/data/text.h"

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/data/file.h"
#include "rewind/data/position.h"

namespace rw::data {
namespace {

// Records of several files, one after the other.
class FilesCursor : public Cursor {
 public:
  FilesCursor(const std::vector<std::string>& names, const char* tag) : names_(names), tag_(tag) {}
  bool next(Element* out) override {
    while (at_ < names_.size()) {
      if (!file_) {
        file_ = std::make_unique<File>(names_[at_], tag_);
        begin(*file_);
      }
      if (record(*file_, out)) return true;
      file_.reset();
      ++at_;
    }
    return false;
  }
  void save(PositionWriter& to) override {
    to.mark(tag_);
    to.number(int64_t(at_));
    to.number(file_ ? file_->offset() : -1);
  }
  void load(PositionReader& from) override {
    from.mark(tag_);
    at_ = size_t(from.number(0, int64_t(names_.size())));
    const int64_t offset = from.number(-1, INT64_MAX);
    if (offset < 0) return;
    if (at_ == names_.size()) from.fail("there are fewer files");
    file_ = std::make_unique<File>(names_[at_], tag_);
    file_->seek(offset);
  }

 protected:
  virtual void begin(File&) {}
  virtual bool record(File& file, Element* out) = 0;

 private:
  const std::vector<std::string>& names_;
  const char* tag_;
  size_t at_ = 0;
  std::unique_ptr<File> file_;
};

class LinesNode final : public Node {
 public:
  explicit LinesNode(std::vector<std::string> names) : names_(std::move(names)) {}
  const char* name() const override { return "text_line_dataset"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : FilesCursor {
      using FilesCursor::FilesCursor;
      bool record(File& file, Element* out) override {
        std::string line;
        if (!file.line(&line)) return false;
        out->clear();
        out->push_back(constant(line));
        return true;
      }
    };
    return std::make_unique<Pass>(names_, "text_line_dataset");
  }

 protected:
  Specs find_specs() const override { return {{DType::kString, {}, {}}}; }

 private:
  const std::vector<std::string> names_;
};

class CsvNode final : public Node {
 public:
  CsvNode(std::vector<std::string> names, std::vector<CsvColumn> columns, CsvOptions options)
      : names_(std::move(names)), columns_(std::move(columns)), options_(std::move(options)) {}
  const char* name() const override { return "csv_dataset"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : FilesCursor {
      explicit Pass(const CsvNode& n) : FilesCursor(n.names_, "csv_dataset"), node(n) {}
      void begin(File& file) override {
        if (node.options_.header) node.read_record(file, &fields);
      }
      bool record(File& file, Element* out) override {
        const int64_t start = file.offset();
        if (!node.read_record(file, &fields)) return false;
        node.convert(fields, file.path() + ", record at byte " + std::to_string(start), out);
        return true;
      }
      const CsvNode& node;
      std::vector<std::string> fields;
    };
    return std::make_unique<Pass>(*this);
  }

 protected:
  Specs find_specs() const override {
    Specs specs;
    for (const CsvColumn& c : columns_) specs.push_back({c.dtype(), {}, {}});
    return specs;
  }

 private:
  // Fields of a record that ends with its line, unless the end stands in quotes.
  bool read_record(File& file, std::vector<std::string>* fields) const {
    fields->clear();
    int c = file.get();
    while (c == '\n' || c == '\r') c = file.get();  // empty lines
    if (c < 0) return false;
    std::string field;
    while (true) {
      field.clear();
      if (c == '"' && options_.use_quote_delim) {
        const int64_t start = file.offset();
        for (c = file.get();; c = file.get()) {
          if (c < 0)
            file.fail_damaged("the quoted field that begins at byte " + std::to_string(start - 1) +
                              " has no end");
          if (c != '"') {
            field.push_back(char(c));
            continue;
          }
          c = file.get();
          if (c != '"') break;
          field.push_back('"');
        }
        if (c == '\r') c = file.get();
        if (c >= 0 && c != options_.field_delim && c != '\n')
          file.fail_damaged("a quote that ends a field must stand before a delimiter or the line's end");
      } else {
        for (; c >= 0 && c != options_.field_delim && c != '\n'; c = file.get()) {
          if (c == '"' && options_.use_quote_delim)
            file.fail_damaged("a quote inside a field that is not quoted");
          field.push_back(char(c));
        }
        if (c != options_.field_delim && !field.empty() && field.back() == '\r') field.pop_back();
      }
      fields->push_back(field);
      if (c != options_.field_delim) return true;
      c = file.get();
    }
  }

  void convert(const std::vector<std::string>& fields, const std::string& where, Element* out) const {
    const std::vector<int>& picked = options_.select_cols;
    if (picked.empty() && fields.size() != columns_.size())
      fail_invalid("csv_dataset", where + " has " + std::to_string(fields.size()) + " fields, expected " +
                                      std::to_string(columns_.size()));
    out->clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      const size_t column = picked.empty() ? i : size_t(picked[i]);
      if (column >= fields.size())
        fail_invalid("csv_dataset", where + " has " + std::to_string(fields.size()) + " fields, column " +
                                        std::to_string(column) + " was asked for");
      out->push_back(convert(fields[column], columns_[i], where + ", column " + std::to_string(column)));
    }
  }

  Tensor convert(const std::string& field, const CsvColumn& column, const std::string& where) const {
    if (field.empty() || field == options_.na_value) {
      if (column.default_value().defined()) return column.default_value();
      fail_invalid("csv_dataset", where + ": the field is required and empty");
    }
    const auto number = [&]<class T>(T value) -> Tensor {
      const size_t begin = field.find_first_not_of(' ');
      const size_t end = field.find_last_not_of(' ') + 1;
      if (begin == std::string::npos ||
          !parse_number(std::string_view(field).substr(begin, end - begin), &value))
        fail_invalid("csv_dataset",
                     where + ": '" + field + "' is no " + std::string(name_of(column.dtype())));
      return tensor_from_bytes(&value, column.dtype(), {});
    };
    switch (column.dtype()) {
      case DType::kFloat32: return number(0.0f);
      case DType::kFloat64: return number(0.0);
      case DType::kInt32: return number(int32_t{0});
      case DType::kInt64: return number(int64_t{0});
      default: return constant(field);
    }
  }

  const std::vector<std::string> names_;
  const std::vector<CsvColumn> columns_;
  const CsvOptions options_;
};

}  // namespace

DatasetOf<Tensor> text_line_dataset(const std::vector<std::string>& filenames) {
  return {make_dataset({}, {}, [=](auto, auto) { return new_node<LinesNode>(filenames); }),
          std::make_shared<Form<Tensor>>()};
}

std::string read_text(const std::string& path, const format::ExpansionLimit& limit) {
  return File(path, "read_text", {}, limit).rest();
}

Ref<Node> make_csv(std::vector<std::string> filenames, std::vector<CsvColumn> columns, CsvOptions options) {
  constexpr DTypeSet kTypes =
      set_of(DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kString);
  if (columns.empty()) fail_invalid("csv_dataset", "record_defaults must name at least one column");
  for (const CsvColumn& c : columns)
    if (!contains(kTypes, c.dtype()))
      fail_invalid("csv_dataset", "columns must be float32, float64, int32, int64 or string: got " +
                                      std::string(name_of(c.dtype())));
  if (!options.select_cols.empty() && options.select_cols.size() != columns.size())
    fail_invalid("csv_dataset", "select_cols must hold one column per record default: got " +
                                    std::to_string(options.select_cols.size()) + " for " +
                                    std::to_string(columns.size()));
  for (size_t i = 0; i < options.select_cols.size(); ++i)
    if (options.select_cols[i] < 0 || (i > 0 && options.select_cols[i] <= options.select_cols[i - 1]))
      fail_invalid("csv_dataset", "select_cols must be ascending and not negative");
  return new_node<CsvNode>(std::move(filenames), std::move(columns), std::move(options));
}

DatasetOf<std::vector<Tensor>> csv_dataset(const std::vector<std::string>& filenames,
                                           const std::vector<CsvColumn>& record_defaults,
                                           const CsvOptions& options) {
  const std::vector<Tensor> like(record_defaults.size(), Tensor(0));
  return {make_dataset({}, {}, [=](auto, auto) { return make_csv(filenames, record_defaults, options); }),
          std::make_shared<Form<std::vector<Tensor>>>(like)};
}

}  // namespace rw::data
