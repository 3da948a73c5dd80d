// Macros that other libraries' headers define: those of Xlib.h, X.h and Xutil.h, and of windows.h.
#pragma once

#define Bool int
#define Status int
#define True 1
#define False 0
#define None 0L
#define Always 2
#define WhenMapped 1
#define NotUseful 0
#define Success 0
#define BadRequest 1
#define BadValue 2
#define Complex 0
#define Convex 2
#define Nonconvex 1
#define Above 0
#define Below 1
#define Opposite 4
#define CursorShape 0
#define TileShape 1
#define KeyPress 2
#define KeyRelease 3
#define FocusIn 9
#define FocusOut 10
#define Expose 12
#define Unsorted 0
#define YSorted 1
#define ControlMask (1 << 2)
#define DestroyAll 0
#define AllTemporary 0L
#define GrayScale 1
#define StaticGray 0
#define PseudoColor 3
#define TrueColor 4
#define DirectColor 5
#define NormalState 1
#define NoValue 0x0000
#define AllValues 0x000F
#define XValue 0x0001
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define ERROR 0
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define DELETE 0x10000L
#define NO_ERROR 0L
#define STRICT 1
#define IGNORE 0
#define INFINITE 0xFFFFFFFF
#define ABSOLUTE 1
#define RELATIVE 2
