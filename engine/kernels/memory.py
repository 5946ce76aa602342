"""Machine operations that numba has no words for.

With the compiler switched off they are plain Python.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.jit import is_compiling

BYTE, WORD = ir.IntType(8), ir.IntType(64)
PAIR = ir.VectorType(WORD, 2)


def _address(context, builder, array_type, array, row):
    """Return the address of the first byte of an array's row, and the bytes of a row."""
    array = context.make_array(array_type)(context, builder, array)
    row_bytes = cgutils.unpack_tuple(builder, array.strides, array_type.ndim)[0]
    start = builder.bitcast(array.data, BYTE.as_pointer())
    return builder.gep(start, [builder.mul(row, row_bytes)]), row_bytes


def _begin_to_read(builder, address):
    kind = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), *[ir.IntType(32)] * 3])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    how = [ir.IntType(32)(word) for word in (0, 3, 1)]  # to read, to keep, data
    builder.call(prefetch, [address, *how])


@intrinsic
def _prefetch_row(_context, array, row):
    def generate(context, builder, signature, arguments):
        address, row_bytes = _address(context, builder, signature.args[0], *arguments)
        _begin_to_read(builder, address)
        _begin_to_read(builder, builder.gep(address, [builder.sub(row_bytes, WORD(1))]))
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@intrinsic
def _prefetch_start(_context, array, row):
    def generate(context, builder, signature, arguments):
        _begin_to_read(builder, _address(context, builder, signature.args[0], *arguments)[0])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@intrinsic
def _add_pair(_context, array, row, first, second):
    def generate(context, builder, signature, arguments):
        array, row, first, second = arguments
        address, _ = _address(context, builder, signature.args[0], array, row)
        place = builder.bitcast(address, PAIR.as_pointer())
        added = ir.Constant(PAIR, ir.Undefined)
        for i, word in enumerate((first, second)):
            added = builder.insert_element(added, word, ir.IntType(32)(i))
        total = builder.add(builder.load(place, align=8), added)
        builder.store(total, place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64, types.int64), generate


@intrinsic
def _trailing_zeros(_context, word):
    def generate(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


def _prefetch_nothing(array, row):
    """Do nothing: without the compiler there is nothing to gain."""


def _add_two(array, row, first, second):
    array[row, 0] += first
    array[row, 1] += second


def _lowest_bit(word):
    return np.uint64((int(word) & -int(word)).bit_length() - 1)


prefetch_row = _prefetch_row if is_compiling() else _prefetch_nothing
"""``prefetch_row(array, row)``: begin to read a row of an array that is needed soon; `row` is uint64.

It may lie in two cache lines.
"""

prefetch_start = _prefetch_start if is_compiling() else _prefetch_nothing
"""``prefetch_start(array, row)``: the same of a row that lies in one."""

add_pair = _add_pair if is_compiling() else _add_two
"""``add_pair(array, row, first, second)``: add to an int64 (n, 2) array's row, both numbers in one step."""

trailing_zeros = _trailing_zeros if is_compiling() else _lowest_bit
"""``trailing_zeros(word)``: the place of the lowest bit that is set, from 0; uint64, not 0."""
