"""Words that threads share without a lock: int64 arrays, read and written in one step each.

With the compiler switched off they are plain Python, and right for one thread only.
"""

import os

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from engine.jit import is_compiling, kernel

WORD = ir.IntType(64)
ORDERING = "seq_cst"


def _place(context, builder, array_type, array, index):
    array = context.make_array(array_type)(context, builder, array)
    return builder.gep(array.data, [index])


@intrinsic
def _load(_context, array, index):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, ORDERING, 8)

    return types.int64(array, types.int64), generate


@intrinsic
def _store(_context, array, index, value):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, ORDERING, 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


@intrinsic
def _add(_context, array, index, value):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", place, arguments[2], ORDERING)

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _swap(_context, array, index, expected, value):
    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        found = builder.cmpxchg(place, arguments[2], arguments[3], ORDERING, ORDERING)
        return builder.extract_value(found, 1)

    return types.boolean(array, types.int64, types.int64, types.int64), generate


def _load_plainly(array, index):
    return array[index]


def _store_plainly(array, index, value):
    array[index] = value


def _add_plainly(array, index, value):
    before = array[index]
    array[index] = before + value
    return before


def _swap_plainly(array, index, expected, value):
    is_expected = array[index] == expected
    if is_expected:
        array[index] = value
    return is_expected


load = _load if is_compiling() else _load_plainly
"""``load(array, index)``: what stands there now, and nothing after it is read sooner."""

store = _store if is_compiling() else _store_plainly
"""``store(array, index, value)``: seen by others only after all that was written before."""

add = _add if is_compiling() else _add_plainly
"""``add(array, index, value)``: add to a word that others may change meanwhile; what it was before."""

swap = _swap if is_compiling() else _swap_plainly
"""``swap(array, index, expected, value)``: write if the word is as expected; tell whether it was."""


if is_compiling() and os.name == "posix":
    offer_core = types.ExternalFunction("sched_yield", types.int32())
    """``offer_core()``: let another thread run if one waits for a core."""
else:

    @kernel
    def offer_core():
        """Do nothing: the system takes the core away by itself, later."""
        return 0
