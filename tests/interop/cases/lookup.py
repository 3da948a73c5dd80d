"""Lookup tables: what one call after another can show. tables.py compares whole programs."""
from case import *  # noqa: F403

PAIRS = [("string", "int64"), ("int64", "string"), ("int64", "int64"), ("int64", "float32"), ("int32", "int32")]
EMPTY_KEYS = {"string": ("", "gone"), "int64": (-1, -2), "int32": (-1, -2)}
SOME = {"string": ["a", "b"], "int64": [1, 2], "int32": [1, 2], "float32": [0.5, 2.5]}


def handle(kind, key, value, **attrs):
    inputs = [lit(k, key) for k in EMPTY_KEYS[key]] if "Dense" in kind else []
    if "OfTensors" in kind: attrs.setdefault("value_shape", [2])
    if "Dense" not in kind: attrs["key_dtype"] = key
    return call(kind, inputs, dict(value_dtype=value, **attrs))


for kind in ("MutableHashTableV2", "AnonymousMutableHashTable", "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors",
             "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable"):
    for key, value in PAIRS:
        if value == "int32" or "Dense" in kind and key == "int64" and value == "string": continue
        table = handle(kind, key, value)
        of_tensors = "OfTensors" in kind
        default = lit(SOME[value], value) if of_tensors else lit(SOME[value][0], value)
        case("LookupTableFindV2", [table, lit(SOME[key], key), default], grad=())
        if "Dense" not in kind: case("LookupTableFindV2", [table, lit([SOME[key]], key), default], grad=())
        case("LookupTableSizeV2", [table], golden=key == "string" or None)  # a handle of every kind
        if "Dense" not in kind: case("LookupTableExportV2", [table], attrs=dict(Tkeys=key, Tvalues=value), grad=())
        values = lit([SOME[value]] * 2 if of_tensors else SOME[value], value)
        case("LookupTableInsertV2", [table, lit(SOME[key], key), values], grad=())
        if "Dense" not in kind: case("LookupTableImportV2", [table, lit(SOME[key], key), values], grad=())
        case("LookupTableRemoveV2", [table, lit(SOME[key], key)], grad=())
        case("LookupTableInsertV2", [table, lit(SOME[key], key), default], error=True)
        case("LookupTableInsertV2", [table, lit([SOME[key]], key), values], error=True)
        case("LookupTableFindV2", [table, lit([0.5], "float64"), default], error=True)
        case("LookupTableFindV2", [table, lit(SOME[key], key), lit(0.5, "float64")], error=True)
        case("LookupTableInsertV2", [table, lit(SOME[key], key), lit([0.5, 1.5], "float64")], error=True)
for kind in ("HashTableV2", "AnonymousHashTable"):
    for key, value in PAIRS:
        table = handle(kind, key, value)
        keys, values = lit(SOME[key], key), lit(SOME[value], value)
        case("LookupTableFindV2", [table, keys, lit(SOME[value][0], value)], error=True)
        case("LookupTableSizeV2", [table], golden=key == "string" or None)  # a handle of every kind
        case("InitializeTableV2", [table, keys, values], grad=())
        case("InitializeTableV2", [table, keys, lit(SOME[value][:1], value)], error=True)
        if "Anonymous" in kind: case("InitializeTableV2", [table, lit([SOME[key][0]] * 2, key), values], error=True)
        case("LookupTableInsertV2", [table, keys, values], error=True)
        case("LookupTableRemoveV2", [table, keys], error=True)
        case("LookupTableImportV2", [table, keys, values], grad=())
    text = handle(kind, "string", "int64")
    for attrs in (dict(key_index=-2, value_index=-1), dict(key_index=0, value_index=1)):
        case("InitializeTableFromTextFileV2", [text, s("/no/such/file")], attrs=attrs, error=True)
    case("InitializeTableFromTextFileV2", [text, s("/dev/null")], attrs=dict(key_index=-2, value_index=-2), error=True)
    case("InitializeTableFromTextFileV2", [text, s("/dev/null")], attrs=dict(key_index=-1, value_index=-1), error=True)
dense = handle("MutableDenseHashTableV2", "int64", "int64")
for reserved in (-1, -2):
    case("LookupTableInsertV2", [dense, lit([5, reserved], "int64"), lit([1, 2], "int64")], error=True)
    case("LookupTableFindV2", [dense, lit([5, reserved], "int64"), lit(0, "int64")], error=True)
    case("LookupTableRemoveV2", [dense, lit([reserved], "int64")], error=True)
for attrs in (dict(initial_num_buckets=5), dict(initial_num_buckets=0), dict(max_load_factor=0.0), dict(max_load_factor=1.5)):
    case("LookupTableSizeV2", [handle("MutableDenseHashTableV2", "int64", "int64", **attrs)], error=True)
case("LookupTableFindV2", [var(f((2,))), lit([1], "int64"), lit(0, "int64")], error=True)
