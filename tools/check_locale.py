#!/usr/bin/env python3
"""Fails if the library makes or reads text by functions whose answer depends on the program's locale.

    tools/check_locale.py                      the sources of rewind/
    tools/check_locale.py --objects FILE...    and what compiled files call: conversions that no text shows, such as
                                               std::to_string of a double, or << of a number into a stream
"""
import pathlib
import re
import subprocess
import sys

NUMBERS = "rewind/base/number_text.h"
ASCII = "rewind/base/ascii.h"
CLASSES = "is(?:alpha|alnum|digit|xdigit|space|blank|upper|lower|punct|print|graph|cntrl)|to(?:lower|upper)"
# What a source must not say, and what stands for it.
SOURCE = [
    (r"\b(?:ato[fil]|atoll|strto(?:d|f|ld|l|ll|ul|ull|imax|umax|q|uq)|sto(?:i|l|ll|ul|ull|f|d|ld))\s*\(", NUMBERS),
    (r"\bv?(?:f|s|sn|d|as|w|fw|sw)?printf\s*\(", NUMBERS + "; std::fputs for text"),
    (r"\bv?[fs]?w?scanf\s*\(", NUMBERS),
    (r"\b(?:basic_)?[io]?stringstream\b", "std::string and " + NUMBERS),
    (r"\bto_string\s*\(\s*(?:\(?(?:float|double)\b|static_cast<\s*(?:float|double)|[-+]?[0-9]*\.[0-9])", NUMBERS),
    (r"(?<![\w:])(?:std::)?(?:" + CLASSES + r")\s*\(", ASCII),
    (r"\bstd::(?:" + CLASSES + r")\b", ASCII),
    (r"#\s*include\s*<(?:cctype|ctype\.h|cwctype|locale|clocale|locale\.h|sstream|iomanip|regex|codecvt)>",
     NUMBERS + " or " + ASCII),
    (r"\bstd::(?:locale|use_facet|regex|put_time|get_time|put_money|wstring_convert)\b|\.imbue\s*\(|\bsetlocale\s*\(",
     "nothing: the locale belongs to the program"),
    (r"\b(?:strftime|wcsftime|strcoll|strxfrm|mbs?r?towcs?|wcs?r?tombs?|mblen|localeconv|nl_langinfo)\s*\(",
     "bytes, UTF-8 and ISO dates of one's own"),
    (r"\b(?:strerror(?:_r)?|perror)\s*\(", "rewind/base/errno_text.h"),
]
# What compiled code must not call, by demangled names.
SYMBOLS = [
    r"(?:__)?v?(?:f|s|sn|d|as)?printf(?:_chk)?",
    r"(?:__isoc\d+_)?v?[fs]?scanf",
    r"(?:__isoc\d+_)?(?:ato[fil]|atoll|strto(?:d|f|ld|l|ll|ul|ull|imax|umax))",
    CLASSES,
    r"__ctype_\w+",
    r"strftime|strcoll|strxfrm|mbr?towc|mbstowcs|wcr?tomb|wcstombs|localeconv|nl_langinfo|setlocale|newlocale|uselocale",
    r"strerror(?:_r)?|__xpg_strerror_r|perror",
    r"std::(?:basic_)?ostream(?:<.*>)?::operator<<\((?!std::basic_streambuf|std::ostream|std::basic_ostream|std::ios).*\)",
    r"std::(?:basic_)?ostream& std::(?:basic_)?ostream::_M_insert<.*",
    r"std::(?:basic_)?istream(?:<.*>)?::operator>>\(.*\)",
    r"std::(?:basic_)?istream& std::(?:basic_)?istream::_M_extract<.*",
    r".*std::(?:__cxx11::)?basic_[io]?stringstream<.*",
    r"std::(?:__cxx11::)?(?:num_put|num_get|time_put|time_get|numpunct|collate|regex_traits)<.*",
    r"std::locale::(?:locale\(char const\*\)|global\(.*|classic\(\))",
]
SYMBOL = re.compile("|".join(f"(?:{s})" for s in SYMBOLS))


def without_comments_and_strings(text):
    """The same text with spaces for comments and for what stands in quotes; lines stay where they are. #include stays."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def check_sources(root):
    rules = [(re.compile(p), use) for p, use in SOURCE]
    found = 0
    for path in sorted((root / "rewind").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        for number, line in enumerate(without_comments_and_strings(path.read_text()).splitlines(), 1):
            for rule, use in rules:
                for m in rule.finditer(line):
                    print(f"{path.relative_to(root)}:{number}: '{m[0].strip()}' depends on the locale; use {use}")
                    found += 1
    return found


def check_objects(files):
    """Undefined symbols of objects and archives, and what is called through them."""
    found = 0
    for file in files:
        out = subprocess.run(["nm", "-A", "--undefined-only", "--demangle", file], check=True, capture_output=True, text=True)
        for line in out.stdout.splitlines():
            m = re.match(r"(.*?):\s+[Uwv] (.*?)(?:@.*)?$", line)
            if m and SYMBOL.fullmatch(m[2]):
                print(f"{m[1]}: calls {m[2]}, which depends on the locale")
                found += 1
    return found


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    found = check_sources(root)
    if sys.argv[1:2] == ["--objects"]:
        found += check_objects(sys.argv[2:])
    print(f"locale: {'ok' if not found else str(found) + ' places depend on it'}")
    sys.exit(found != 0)


main()
