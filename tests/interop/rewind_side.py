"""Rewind behind ctypes: librewind_interop.so (tests/support/capi.cc)."""
import ctypes
import glob
import os

from wire import Reader

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def find_library():
    """$REWIND_INTEROP_LIB, or the newest one under build/."""
    named = os.environ.get("REWIND_INTEROP_LIB")
    if named: return named
    found = glob.glob(f"{ROOT}/build/**/librewind_interop.so", recursive=True)
    return max(found, key=os.path.getmtime) if found else None


class Rewind:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        out = ctypes.POINTER(ctypes.c_uint8)
        self.lib.rw_run_case.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(out),
                                         ctypes.POINTER(ctypes.c_size_t)]
        self.lib.rw_dump_op_table.argtypes = [ctypes.POINTER(out), ctypes.POINTER(ctypes.c_size_t)]
        self.lib.rw_free.argtypes = [out]
        self.out = out

    def _reply(self, fn, *args):
        data, n = self.out(), ctypes.c_size_t()
        status = fn(*args, ctypes.byref(data), ctypes.byref(n))
        try:
            return status, ctypes.string_at(data, n.value)
        finally:
            self.lib.rw_free(data)

    def run(self, case_bytes):
        _, reply = self._reply(self.lib.rw_run_case, case_bytes, len(case_bytes))
        return Reader(reply).result()

    def op_table(self):
        """One row a line, in the syntax of schema.row_of."""
        return self._reply(self.lib.rw_dump_op_table)[1].decode().splitlines()
