// Lookup tables: handles, what fills them, reads and updates.
#include "rewind/op/table.h"

namespace rw {
namespace {

// What a key stands for follows from the table, which the graph does not see.
void find_shape(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.output(0, Shape::unknown_rank());
}
void size_shape(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.output(0, Shape{});
}
void handle_only(ShapeContext& ctx) { ctx.require_scalar(0); }
void file_shape(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.require_scalar(1);
}
void export_shape(ShapeContext& ctx) {
  ctx.require_scalar(0);
  ctx.output(0, Shape::unknown_rank());
  ctx.output(1, Shape::unknown_rank());
}

}  // namespace

void register_lookup_ops(OpTable& t) {
  const std::string named =
      "container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; ";
  const std::string types = "key_dtype: type; value_dtype: type; ";
  const std::string shaped = types + "value_shape: shape = []; ";
  const std::string dense = "(empty_key: key_dtype, deleted_key: key_dtype) -> (table_handle: resource); ";
  const std::string buckets =
      "initial_num_buckets: int = 131072; max_load_factor: float = 0.800000012; stateful";
  const auto add = [&](const std::string& row) { t.add(row).shape(scalar_output).tag("lookup table"); };
  add("HashTableV2() -> (table_handle: resource); " + named + types + "stateful");
  add("AnonymousHashTable() -> (table_handle: resource); " + types + "stateful");
  add("MutableHashTableV2() -> (table_handle: resource); " + named + types + "stateful");
  add("AnonymousMutableHashTable() -> (table_handle: resource); " + types + "stateful");
  add("MutableHashTableOfTensorsV2() -> (table_handle: resource); " + named + shaped + "stateful");
  add("AnonymousMutableHashTableOfTensors() -> (table_handle: resource); " + shaped + "stateful");
  add("MutableDenseHashTableV2" + dense + named + shaped + buckets);
  add("AnonymousMutableDenseHashTable" + dense + shaped + buckets);
  t.add(
       "InitializeTableV2(table_handle: resource, keys: Tkey, values: Tval) -> (); Tkey: type; Tval: type; "
       "stateful")
      .shape(handle_only)
      .tag("lookup table");
  t.add(
       "InitializeTableFromTextFileV2(table_handle: resource, filename: string) -> (); key_index: int >= -2; "
       "value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\t'; offset: int = 0; "
       "stateful")
      .shape(file_shape)
      .tag("lookup table");
  t.add(
       "LookupTableFindV2(table_handle: resource, keys: Tin, default_value: Tout) -> (values: Tout); "
       "Tin: type; Tout: type; stateful")
      .shape(find_shape)
      .tag("lookup");
  t.add(
       "LookupTableInsertV2(table_handle: resource, keys: Tin, values: Tout) -> (); Tin: type; Tout: type; "
       "stateful")
      .shape(handle_only)
      .tag("lookup table insert");
  t.add("LookupTableRemoveV2(table_handle: resource, keys: Tin) -> (); Tin: type; stateful")
      .shape(handle_only)
      .tag("lookup table remove");
  t.add("LookupTableSizeV2(table_handle: resource) -> (size: int64); stateful")
      .shape(size_shape)
      .tag("lookup table size");
  t.add(
       "LookupTableExportV2(table_handle: resource) -> (keys: Tkeys, values: Tvalues); Tkeys: type; "
       "Tvalues: type; stateful")
      .shape(export_shape)
      .tag("lookup table export");
  t.add(
       "LookupTableImportV2(table_handle: resource, keys: Tin, values: Tout) -> (); Tin: type; Tout: type; "
       "stateful")
      .shape(handle_only)
      .tag("lookup table import");
}

}  // namespace rw
