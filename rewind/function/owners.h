// Which modules live, by address, and which one a module is a copy of: a function that is a member of a
// module finds the module that a copy of it belongs to.
#pragma once

namespace rw {

// Said by modules. `source`: the module that this one is a copy of, or nullptr.
void note_owner(const void* module, const void* source);
void forget_owner(const void* module);
// Whether a module lives at `address` that is a copy of the one at `source`, or of a class with this virtual
// table: read only if a module lives there.
bool is_copy_of_owner(const void* address, const void* source, const void* virtual_table);

}  // namespace rw
