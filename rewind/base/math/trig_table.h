// The bits of 2/pi that matter for x 2/pi mod 4, by the size of x, in parts (tools/fit_math.py tables).
// kFloatReduction serves floats from 2^17 (a column each 2^16), its first two parts times a float are exact.
// kDoubleReduction serves doubles from 2^24 (a column each 2^32) and is scaled by 2^200 against underflow.
#pragma once

namespace rw::scalar {

inline constexpr double kFloatReduction[3][7] = {
    {0x1.45f3000000000p-1, 0x1.f306dc9000000p-9, 0x1.b939104000000p-26, 0x1.1054a7e000000p-42,
     0x1.4fe13a8000000p-59, 0x1.3abe8f8000000p-75, 0x1.a3ea69b000000p-89},
    {0x1.b727220000000p-23, 0x1.91054a7000000p-38, 0x1.4a7f09d000000p-54, 0x1.09d5f47000000p-70,
     0x1.f47d4d3000000p-86, 0x1.4d37703000000p-102, 0x1.7036d8a000000p-118},
    {0x1.529fc2757d1f4p-52, 0x1.e13abe8fa9a6ep-67, 0x1.7d1f534ddc0dap-84, 0x1.a9a6ee06db14ap-99,
     0x1.dc0db6295993cp-116, 0x1.b6295993c4390p-132, 0x1.5993c439041fep-148},
};
inline constexpr double kDoubleReduction[4][32] = {
    {0x1.45f3040000000p+199, 0x1.17cc1b727220ap+197, 0x1.c882a53f84eacp+163, 0x1.e13abe8fa9a6ep+133,
     0x1.a9a6ee06db14ap+101, 0x1.b6295993c4390p+68,  0x1.e21c820ff28b1p+37,  0x1.f28b1d5ef5de2p+5,
     0x1.ebbc561b7246ep-28,  0x1.b92371d2126e9p-59,  0x1.26e9700324970p-95,  0x1.924bba8274648p-126,
     0x1.3a32439fc3bd4p-157, 0x1.f0ef58e5894d3p-187, 0x1.894d39f74411ap-219, 0x1.4411afa975da2p-251,
     0x1.75da24274ce38p-283, 0x1.4ce38135a2fbfp-315, 0x1.a2fbf209cc8ebp-347, 0x1.cc8eb1cc1a99cp-379,
     0x1.a99cfa4e422f0p-415, 0x1.c845f8bbdf928p-444, 0x1.efc941d8ffc4bp-475, 0x1.ff897ffde0598p-508,
     0x1.e05980fef2f10p-540, 0x1.79788c5ad0536p-571, 0x1.a0a6d1f6d367ep-604, 0x1.69b3f6793e584p-635,
     0x1.3e584dba7a31fp-667, 0x1.e8c7ecd3cbfd4p-701, 0x1.e5fea2d7527bap-732, 0x1.a93dd63f5f2f8p-763},
    {0x1.6e4e441529fc2p+176, 0x1.29fc2757d1f53p+144, 0x1.d1f534ddc0db6p+112, 0x1.c0db6295993c4p+80,
     0x1.993c439041fe5p+48,  0x1.07f9458eaf7acp+14,  0x1.abdebbc561b72p-16,  0x1.61b7246e3a424p-48,
     0x1.d2126e9700320p-83,  0x1.c00c925dd413ap-113, 0x1.d413a32439fc2p-145, 0x1.cfe1deb1cb120p-180,
     0x1.1cb129a73ee88p-208, 0x1.3ee88235f52ebp-240, 0x1.f52ebb4484e99p-272, 0x1.09d338e04d68ap-305,
     0x1.35a2fbf209cc8p-339, 0x1.04e64758e60d4p-370, 0x1.cc1a99cfa4e40p-403, 0x1.f49c845f8bbdfp-432,
     0x1.8bbdf9283b1ffp-464, 0x1.d8ffc4bffef00p-499, 0x1.ffde05980fef2p-528, 0x1.fde5e2316b400p-565,
     0x1.8b5a0a6d1f6d3p-592, 0x1.1f6d367ecf27cp-624, 0x1.9e4f96136e9e8p-657, 0x1.b74f463f669e5p-688,
     0x1.669e5fea2d752p-720, 0x1.6ba93dd63f5f0p-755, 0x1.8fd7cbe2f67a0p-785, 0x1.7b3d0739f78a5p-816},
    {0x1.d5f47d4d37702p+122, 0x1.377036d8a5664p+90,  0x1.4acc9e21c820cp+57,  0x1.c820ff28b1d5cp+25,
     0x1.63abdebbc5618p-8,   0x1.78ac36e48dc74p-37,  0x1.1b8e909374b80p-70,  0x1.ba5c00c925dd4p-101,
     0x1.25dd413a32439p-133, 0x1.921cfe1deb1c8p-168, 0x1.bd63962534e7dp-197, 0x1.34e7dd1046beap-229,
     0x1.1afa975da2424p-263, 0x1.68909d338e04dp-293, 0x1.8e04d68befc82p-325, 0x1.efc827323ac73p-357,
     0x1.d639835339f48p-392, 0x1.9cfa4e422fc5cp-423, 0x1.17e2ef7e4a0ecp-454, 0x1.250763ff12fffp-485,
     0x1.12fffbc0b301fp-517, 0x1.6603fbcbc462cp-550, 0x1.e2316b414da3ep-581, 0x1.4da3eda6cfd9ep-613,
     0x1.9fb3c9f2c26dcp-646, 0x1.6136e9e8c7ecdp-677, 0x1.8fd9a797fa8b4p-710, 0x1.fd45aea4f758fp-741,
     0x1.eeb1faf97c5ecp-774, 0x1.7c5ecf41ce7dep-806, 0x1.ce7de294a4ba8p-838, 0x1.497535fdafd88p-871},
    {0x1.6d8a5664f10e4p+70,  0x1.e21c820ff28b0p+37,  0x1.f9458eaf7aef1p+6,   0x1.7aef1586dc91bp-26,
     0x1.b92371d2126e8p-59,  0x1.09374b801924bp-90,  0x1.924bba8274640p-126, 0x1.3a32439fc3bd0p-157,
     0x1.f877ac72c4a69p-186, 0x1.894d39f74411ap-219, 0x1.a208d7d4baed1p-250, 0x1.75da24274ce38p-283,
     0x1.a671c09ad17dfp-314, 0x1.a2fbf209cc8eap-347, 0x1.cc8eb1cc1a99cp-379, 0x1.a99cfa4e422e0p-415,
     0x1.c845f8bbdf928p-444, 0x1.efc941d8ffc4ap-475, 0x1.ff897ffde0598p-508, 0x1.7816603fbcbc4p-538,
     0x1.bcbc462d6829bp-570, 0x1.6829b47db4d9fp-602, 0x1.b4d9fb3c9f2c2p-634, 0x1.3e584dba7a31ep-667,
     0x1.3d18fd9a797fap-698, 0x1.e5fea2d7527b8p-732, 0x1.d49eeb1faf97cp-762, 0x1.af97c5ecf41cep-794,
     0x1.e839cfbc52948p-827, 0x1.4a525d4d7f6b8p-861, 0x1.afed7ec47e357p-890, 0x1.f8d5d08560330p-924},
};

}  // namespace rw::scalar
