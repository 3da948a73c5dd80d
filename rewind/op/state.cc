// Variables: handles, reads, assignments, sparse reads and updates.
#include "rewind/op/table.h"

namespace rw {

void register_lookup_ops(OpTable& t);

namespace {

// Shapes of variables are known to the runtime, not to the graph: these rules leave them open.
void variable_shape(ShapeContext& ctx) { ctx.output(0, Shape::unknown_of_rank(1)); }

// params(handle) rows by indices: rank of the result needs the variable.
void open(ShapeContext& ctx) { ctx.output(0, Shape::unknown_rank()); }

}  // namespace

void register_state_ops(OpTable& t) {
  register_lookup_ops(t);
  t.add(
       "VarHandleOp() -> (resource: resource); container: string = ''; shared_name: string = ''; "
       "debug_name: string = ''; dtype: type; shape: shape; allowed_devices: list(string) = []; stateful")
      .shape(scalar_output);
  t.add("ReadVariableOp(resource: resource) -> (value: dtype); dtype: type; stateful").shape(open);
  t.add(
       "AssignVariableOp(resource: resource, value: dtype) -> (); dtype: type; validate_shape: bool = false; "
       "stateful")
      .shape(no_output)
      .tag("assign");
  t.add("AssignAddVariableOp(resource: resource, value: dtype) -> (); dtype: type; stateful")
      .shape(no_output)
      .tag("assign_add");
  t.add("AssignSubVariableOp(resource: resource, value: dtype) -> (); dtype: type; stateful")
      .shape(no_output)
      .tag("assign_sub");
  t.add("VarIsInitializedOp(resource: resource) -> (is_initialized: bool); stateful").shape(scalar_output);
  t.add("VariableShape(input: resource) -> (output: out_type); out_type: {int32, int64} = int32; stateful")
      .shape(variable_shape)
      .host({"output"});
  t.add(
       "ResourceGather(resource: resource, indices: Tindices) -> (output: dtype); batch_dims: int = 0; "
       "validate_indices: bool = true; dtype: type; Tindices: {int32, int64}; stateful")
      .shape(open)
      .tag("sparse_read");
  t.add(
       "ResourceGatherNd(resource: resource, indices: Tindices) -> (output: dtype); dtype: type; "
       "Tindices: {int32, int64}; stateful")
      .shape(open)
      .tag("gather_nd");
  for (const char* kind : {"Add", "Sub", "Mul", "Div", "Min", "Max"}) {
    t.add(std::string("ResourceScatter") + kind +
          "(resource: resource, indices: Tindices, updates: dtype) -> (); dtype: {number}; Tindices: {int32, "
          "int64}; "
          "stateful")
        .shape(no_output);
  }
  t.add(
       "ResourceScatterUpdate(resource: resource, indices: Tindices, updates: dtype) -> (); dtype: type; "
       "Tindices: {int32, int64}; stateful")
      .shape(no_output);
  for (const char* kind : {"Update", "Add", "Sub", "Min", "Max"}) {
    t.add(std::string("ResourceScatterNd") + kind +
          "(ref: resource, indices: Tindices, updates: T) -> (); T: type; Tindices: {int32, int64}; "
          "use_locking: bool = true; bad_indices_policy: string = ''; stateful")
        .shape(no_output);
  }
}

}  // namespace rw
