#include "rewind/op/table.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/op/families.h"
#include "rewind/op/library_rows.h"
#include "rewind/op/schema.h"

namespace rw {

#define RW_DECLARE(family) void register_##family##_ops(OpTable& table);
RW_OP_FAMILIES(RW_DECLARE)
#undef RW_DECLARE

namespace {

// Rows live here for ever; the deque keeps their addresses.
struct Rows {
  std::shared_mutex mutex;
  std::deque<Op> rows;
  std::unordered_map<std::string_view, const Op*> by_name;
  size_t library_rows = 0;  // the first ones
};

Rows& rows() {
  static auto* r = new Rows;
  return *r;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (ascii::to_lower(a[i - 1]) == ascii::to_lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

constinit OpTable g_table;
constinit std::atomic<bool> g_filled{false};

// Registration asks for the table too, and gets it as it is: on the thread that fills it. Other threads wait.
void fill_table() {
  static std::recursive_mutex mutex;
  static constinit bool begun = false;
  const std::lock_guard lock(mutex);
  if (std::exchange(begun, true)) return;
#define RW_REGISTER(family) register_##family##_ops(g_table);
  RW_OP_FAMILIES(RW_REGISTER)
#undef RW_REGISTER
  register_kernel_rules();
  register_runtime_rules();
  register_autodiff_rules();
  if (register_function_rules) register_function_rules();
  register_data_rules();
  {
    const std::unique_lock lock(rows().mutex);
    rows().library_rows = rows().rows.size();
  }
  g_filled.store(true, std::memory_order_release);
}

}  // namespace

OpBuilder& OpBuilder::host(std::initializer_list<std::string_view> arguments) {
  for (const std::string_view name : arguments) {
    bool found = false;
    for (std::vector<ArgDef>* args : {&op_.inputs, &op_.outputs}) {
      for (ArgDef& arg : *args) {
        if (arg.name != name) continue;
        arg.host_memory = true;
        found = true;
      }
    }
    if (!found) fail_invalid("op schema", op_.name + " has no argument " + std::string(name));
  }
  return *this;
}

OpBuilder OpTable::add(std::string_view schema) {
  Op parsed;
  parse_schema(schema, &parsed);
  Rows& r = rows();
  const std::unique_lock lock(r.mutex);
  if (r.by_name.contains(parsed.name))
    throw AlreadyExistsError("[op table] there is an op " + parsed.name + " already");
  Op& op = r.rows.emplace_back();
  op.name = std::move(parsed.name);
  op.tag = std::move(parsed.tag);
  op.inputs = std::move(parsed.inputs);
  op.outputs = std::move(parsed.outputs);
  op.attrs = std::move(parsed.attrs);
  op.stateful = parsed.stateful;
  op.commutative = parsed.commutative;
  op.aggregate = parsed.aggregate;
  op.simple = parsed.simple;
  r.by_name.emplace(op.name, &op);
  return OpBuilder(op);
}

const Op* OpTable::find(std::string_view name) const {
  Rows& r = rows();
  const std::shared_lock lock(r.mutex);
  const auto it = r.by_name.find(name);
  return it == r.by_name.end() ? nullptr : it->second;
}

std::vector<const Op*> OpTable::all() const {
  Rows& r = rows();
  const std::shared_lock lock(r.mutex);
  std::vector<const Op*> list;
  for (const Op& op : r.rows) list.push_back(&op);
  return list;
}

bool is_library_row(const Op& op) {
  (void)op_table();
  Rows& r = rows();
  const std::shared_lock lock(r.mutex);
  const auto end = r.rows.begin() + std::ptrdiff_t(r.library_rows);
  return std::find_if(r.rows.begin(), end, [&](const Op& row) { return &row == &op; }) != end;
}

OpTable& op_table() {
  if (!g_filled.load(std::memory_order_acquire)) [[unlikely]]
    fill_table();
  return g_table;
}

const Op& find_op(std::string_view name) {
  if (const Op* op = op_table().find(name)) return *op;
  std::vector<std::pair<size_t, std::string_view>> near;
  for (const Op* op : op_table().all()) near.emplace_back(edit_distance(name, op->name), op->name);
  std::sort(near.begin(), near.end());
  std::string hint;
  for (size_t i = 0; i < std::min<size_t>(3, near.size()); ++i)
    hint += (i ? ", " : "") + std::string(near[i].second);
  fail_not_found("op table", "there is no op " + std::string(name) + "; the nearest are " + hint);
}

}  // namespace rw
