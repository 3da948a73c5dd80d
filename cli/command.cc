#include "cli/command.h"

#include <cstdio>
#include <filesystem>

#include "rewind/base/number_text.h"

namespace rw::cli {

std::string table(const std::vector<std::vector<std::string>>& rows, int indent,
                  const std::vector<bool>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line(size_t(indent), ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      const bool to_the_right = i < right.size() && right[i];
      line += (i == 0 ? "" : "  ") + (to_the_right ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string bytes_text(int64_t bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = double(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  return fixed_text(value, unit == 0 || value >= 99.5 ? 0 : 1) + " " + units[unit];
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw FailedPreconditionError("[rewind] cannot write to stdout");
}
void print(const format::Json& value) { print(format::to_text(value) + "\n"); }

std::string spec_text(DType dtype, const Shape& shape) {
  return std::string(name_of(dtype)) + " " + shape.to_string();
}

format::Json spec_json(DType dtype, const Shape& shape) {
  format::Json spec = format::Json::object();
  spec["dtype"] = std::string(name_of(dtype));
  if (shape.has_rank()) {
    format::Json::Array sizes;
    for (int i = 0; i < shape.rank(); ++i)
      sizes.push_back(shape[i] < 0 ? format::Json() : format::Json(shape[i]));
    spec["shape"] = std::move(sizes);
  } else {
    spec["shape"] = format::Json();
  }
  return spec;
}

CLI::Validator above_zero() {
  return {[](std::string& text) {
            double value = 0;
            const bool number = CLI::detail::lexical_cast(text, value);
            return number && value > 0 ? std::string() : "must be a number above 0: got " + text;
          },
          "POSITIVE", "above zero"};
}

std::string unknown_signature(const saved_model::LoadedModel& model, const std::string& name) {
  std::string names;
  for (const auto& [known, signature] : model.signatures()) names += (names.empty() ? "" : ", ") + known;
  return "unknown signature \"" + name + "\"; available: " + (names.empty() ? "none" : names);
}

std::string checkpoint_prefix(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.ends_with(".index")) return path.substr(0, path.size() - 6);
  if (fs::exists(path + ".index")) return path;
  if (fs::is_directory(path)) {
    if (fs::exists(path + "/variables/variables.index")) return path + "/variables/variables";
    const std::string latest = train::latest_checkpoint(path);
    if (!latest.empty()) return latest;
    throw NotFoundError(
        "[checkpoint] " + path +
        " has no checkpoint: neither a file \"checkpoint\" that names one nor variables/variables.index");
  }
  throw NotFoundError("[checkpoint] there is no " + path +
                      ".index; a checkpoint is named without \".index\"");
}

}  // namespace rw::cli
