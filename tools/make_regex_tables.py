#!/usr/bin/env python3
"""Writes rewind/base/regex/unicode_sets.inc: the sets of characters that patterns name, and the cases of characters,
as TensorFlow's patterns know them.

    make_regex_tables.py        with a Python that has TensorFlow
"""
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from character_tables import runs_of_distances, table  # noqa: E402

PATH = pathlib.Path(__file__).resolve().parent.parent / "rewind" / "base" / "regex" / "unicode_sets.inc"
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cs".split()
SCRIPTS = """Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo
Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic
Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic
Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul
Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian
Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin
Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi
Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar
Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian
Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya
Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian
Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le
Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic
Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square""".split()


def utf8(code):
    """Of surrogates too, as patterns take them."""
    return chr(code).encode("utf-8", "surrogatepass")


CHARACTERS = tf.constant([utf8(c) for c in range(0x110000)])


def matches(pattern, texts=CHARACTERS):
    return tf.strings.regex_full_match(texts, pattern).numpy()


def runs_of(names):
    """(first character, number of its set) of runs; those of no set have the number len(names)."""
    number, known = np.full(0x110000, 255, np.int32), []
    for name in names:
        try: of = matches(rf"\p{{{name}}}")
        except tf.errors.InvalidArgumentError:
            print("not known:", name)
            continue
        assert (number[of] == 255).all(), name
        number[of] = len(known)
        known.append(name)
    assert len(known) < 255
    starts = [0] + [int(c) for c in np.nonzero(np.diff(number))[0] + 1]
    return known, [(c, int(number[c])) for c in starts], number


text = ("// Made by tools/make_regex_tables.py. Sets of characters by the first characters of runs, with the number of the set\n"
        "// (255: none); and runs of characters (first, last, step) whose next other case lies at a distance.\n")
for title, names in (("Category", CATEGORIES), ("Script", SCRIPTS)):
    known, runs, number = runs_of(names)
    text += table("std::string_view", f"k{title}Names", [f'"{n}",' for n in known], 8)
    text += table("SetRun", f"k{title}Runs", [f"{{0x{c:x}, {n}}}," for c, n in runs], 9)
    if title == "Category":
        for letter in "LMNPSZC":
            whole = np.isin(number, [i for i, n in enumerate(known) if n[0] == letter])
            assert (matches(rf"\p{letter}") == whole).all(), letter
cased = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and (chr(c).lower() != chr(c) or chr(c).upper() != chr(c) or chr(c).casefold() != chr(c))]
cased_texts = tf.constant([utf8(c) for c in cased])
following = []
for c in cased:
    orbit = [cased[i] for i in np.nonzero(matches(f"(?i)\\x{{{c:x}}}", cased_texts))[0]]
    if len(orbit) > 1: following.append((c, orbit[(orbit.index(c) + 1) % len(orbit)] - c))
runs = runs_of_distances(following)
text += table("FoldRun", "kFolds", [f"{{0x{a:x}, 0x{b:x}, {s}, {d}}}," for a, b, s, d in runs], 5)
PATH.write_text(text)
print(f"{PATH}: {len(text)} bytes, {len(following)} characters with cases")
