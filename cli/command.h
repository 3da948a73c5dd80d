// What the commands of `rewind` share: where they write, and how they end.
//
// A command is a function that adds itself to the parser; it throws rw::Error where the model or the file is
// at fault, and the program then ends with 1. Wrong usage ends with 2. Results go to stdout, as text or, with
// --json, as one JSON value; progress and messages go to stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "rewind/format/json.h"
#include "rewind/rewind.h"

namespace rw::cli {

struct Context {
  bool json = false;
  int status = 0;  // what the program ends with
};

void add_saved_model(CLI::App& app, Context& context);
void add_checkpoint(CLI::App& app, Context& context);
void add_graph(CLI::App& app, Context& context);
void add_convert(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);

// Rows of cells, columns aligned, two blanks between them and `indent` in front. Columns of which `right`
// holds stand to the right.
std::string table(const std::vector<std::vector<std::string>>& rows, int indent = 2,
                  const std::vector<bool>& right = {});
std::string bytes_text(int64_t bytes);  // "1.2 MB"
void print(const format::Json& value);
void print(const std::string& text);
// "float32 (None, 3)"
std::string spec_text(DType dtype, const Shape& shape);
format::Json spec_json(DType dtype, const Shape& shape);

// A check of options: numbers from which on there is something to do.
CLI::Validator above_zero();
// What to say of a signature that the model does not have.
std::string unknown_signature(const saved_model::LoadedModel& model, const std::string& name);

// The files of a checkpoint: a prefix as it is; a folder's latest; the file behind a name that ends in
// .index.
std::string checkpoint_prefix(const std::string& path);

}  // namespace rw::cli
