"""Memory by address, for kernels: arrays, records with named fields, and tables of addresses.

Unpacking an array argument costs a compiled function more than controlling a joint. So kernels are handed addresses,
and what is behind them is declared once, as numpy dtypes, for Python and compiled code alike:

* `floats(address)[i]` is an array of numbers; rows are indexed flat (`xanchor[3 * j + k]`);
* `actor_at = record(ACTOR)` makes `actor_at(address, n).root_dof` the field of the nth record of a structured array;
* an `AddressTable` is a list of names and kinds: `table_at = TABLE.reader()`, then `table_at(address).xquat[i]`, each
  address read where it is used;
* `TABLE.unpacker(Views)` reads all of them at once, into a named tuple.

Compiled, all of that is plain pointers. Under `NUMBA_DISABLE_JIT=1` the same names are ordinary Python: memory whose
address was made by `address_of` knows its length and kind there, and whoever reads or writes past its end, or takes
integers for numbers, gets an `IndexError` or a `TypeError`.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from typing import Any, Final

import numba
import numpy as np
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model
from numpy.typing import DTypeLike, NDArray

from stunt.maths.compiled import INTERPRETED

ADDRESS: Final = "address"
"""Kind of an entry of a table that stays a bare address: of an array of records, or of what the engine moves about."""


# ---- Python's side: who owns which memory


_OWNED: dict[int, NDArray[Any]] = {}
_STARTS: list[int] = []


def address_of(array: NDArray[Any]) -> int:
    """Return the address of an array's first number; whoever hands it on must keep the array.

    Raises:
        TypeError: The array is not contiguous: flat indices would miss.
    """
    if not array.flags.c_contiguous:
        raise TypeError("memory that kernels read must be contiguous")
    address = int(array.ctypes.data)
    if INTERPRETED and array.nbytes > 0:
        known = _OWNED.get(address)
        if known is None:
            insort(_STARTS, address)
        if known is None or array.nbytes >= known.nbytes:
            _OWNED[address] = array
    return address


class Memory:
    """Numbers at an address, as interpreted kernels see them: indexed like a pointer, but with an end."""

    def __init__(self, address: int, kind: DTypeLike) -> None:
        """Take the memory from an address to the end of the array that it lies in."""
        dtype, owner = np.dtype(kind), _owner(address)
        if owner is not None and owner.dtype.names is None and _plain(owner.dtype) != _plain(dtype):
            raise TypeError(f"memory of {owner.dtype} is read as {dtype}")
        self.address = address
        self._numbers = _array_at(address, _room(address) // dtype.itemsize, dtype)
        self._count = len(self._numbers)

    def __getitem__(self, index: int) -> Any:
        """Return a number."""
        if not 0 <= index < self._count:
            raise IndexError(f"number {index} of {self._count}")
        return self._numbers[index]

    def __setitem__(self, index: int, value: Any) -> None:
        """Write a number."""
        if not 0 <= index < self._count:
            raise IndexError(f"number {index} of {self._count}")
        self._numbers[index] = value


def _plain(kind: np.dtype[Any]) -> str:
    """Return the name of a kind of number; flags of any kind are bytes."""
    return "byte" if kind.itemsize == 1 else str(kind)


def _array_at(address: int, count: int, kind: np.dtype[Any]) -> NDArray[Any]:
    buffer: Any = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
    return np.frombuffer(buffer, kind)


def _owner(address: int) -> NDArray[Any] | None:
    place = bisect_right(_STARTS, address) - 1
    if place < 0:
        return None
    array = _OWNED[_STARTS[place]]
    return array if address < _STARTS[place] + array.nbytes else None


def _room(address: int) -> int:
    """Return how many bytes there are from an address to the end of its array; none in memory nobody told of."""
    owner = _owner(address)
    return 0 if owner is None else int(owner.ctypes.data) + owner.nbytes - int(address)


# ---- arrays


def pointer(kind: DTypeLike) -> Any:
    """Return a function that turns an address into an array of `kind`, in kernels."""
    if INTERPRETED:
        return lambda address: Memory(int(address), kind)
    target = types.CPointer(numba.from_dtype(np.dtype(kind)))

    @intrinsic  # type: ignore[untyped-decorator]
    def make(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(target))

        return target(types.int64), generate

    return make


floats = pointer(np.float64)
ints = pointer(np.int32)
"""The engine's integers."""
longs = pointer(np.int64)
"""Stunt's integers."""


@intrinsic  # type: ignore[untyped-decorator]
def _compiled_address(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], context.get_value_type(types.int64))

    return types.int64(array), generate


def _interpreted_address(array: Memory) -> int:
    return array.address


address = _interpreted_address if INTERPRETED else _compiled_address
"""In kernels: the address of an array, for functions of the engine."""


# ---- records


def layout(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """Return the dtype of a record: `(name, kind)` or `(name, kind, shape)` for each field, placed by numpy.

    Raises:
        TypeError: A field is called like an attribute of numpy's records: interpreted kernels would get that one.
    """
    if taken := [name for name, *_ in fields if hasattr(np.record, name)]:
        raise TypeError(f"numpy's records have these names already: {', '.join(taken)}")
    return np.dtype(list(fields), align=True)


def record(kind: np.dtype[Any], *, foreign: bool = False) -> Any:
    """Return a function of an address and a number: the nth record of `kind` from there, in kernels.

    Args:
        kind: Its dtype.
        foreign: Whether they lie in memory that the engine moves about, whose end is not known.
    """
    size = kind.itemsize
    if INTERPRETED:
        named = np.dtype((np.record, kind))

        def find(address: int, number: int) -> Any:
            count = _room(int(address)) // size
            if not (foreign or 0 <= number < count):
                raise IndexError(f"record {number} of {count}")
            return _array_at(int(address) + int(number) * size, 1, named)[0]

        return find
    target = numba.from_dtype(kind)

    @intrinsic  # type: ignore[untyped-decorator]
    def make(typing_context: Any, address: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            first, index = arguments
            place = builder.add(first, builder.mul(index, index.type(size)))
            return builder.inttoptr(place, context.get_value_type(target))

        return target(types.int64, types.int64), generate

    return make


# ---- tables of addresses


class AddressTable:
    """What the entries of a table of addresses are: names in their order, and the kind of memory behind each.

    Attributes:
        names: Of the entries.
        kinds: The dtype of what is behind each, or `ADDRESS`.
    """

    def __init__(self, name: str, entries: Iterable[tuple[str, Any]]) -> None:
        """Declare a table.

        Args:
            name: What it is a table of.
            entries: Name and kind of each entry: a plain dtype for an array, a structured one for a single record, or
                `ADDRESS`.
        """
        self.kinds: dict[str, Any] = {
            entry: kind if isinstance(kind, str) else np.dtype(kind) for entry, kind in entries
        }
        self.name, self.names = name, tuple(self.kinds)

    def reader(self) -> Callable[[int], Any]:
        """Return a function for kernels: the table at an address; its attributes are arrays, records or addresses."""
        return self._interpreted_at if INTERPRETED else _compiled_at(self)

    def unpacker(self, kind: Any) -> Callable[[int], Any]:
        """Return a function for kernels: all that is behind the table at an address, as a named tuple of `kind`."""
        if not INTERPRETED:
            return _compiled_unpacked(self, kind)

        def unpack(address: int) -> Any:
            table = Memory(int(address), np.int64)
            return kind(*(_behind(entry, table[k]) for k, entry in enumerate(self.kinds.values())))

        return unpack

    def fill(self, **arrays: NDArray[Any] | int) -> NDArray[np.int64]:
        """Return the table of addresses of these arrays; whoever keeps it must keep the arrays.

        Raises:
            TypeError: An array is missing, unknown, or of another kind than kernels take it for.
        """
        if set(arrays) != set(self.names):
            raise TypeError(f"these entries are not in both lists: {sorted(set(arrays) ^ set(self.names))}")
        table = np.array([self._address(name, arrays[name]) for name in self.names], np.int64)
        address_of(table)
        return table

    def _address(self, name: str, array: NDArray[Any] | int) -> int:
        if isinstance(array, int):
            return array
        kind = self.kinds[name]
        if not isinstance(kind, str) and kind.names is None and _plain(array.dtype) != _plain(kind):
            raise TypeError(f"'{name}' must be {kind}, not {array.dtype}")
        if not isinstance(kind, str) and kind.names is not None and array.nbytes < kind.itemsize:
            raise TypeError(f"'{name}' must have room for {kind.itemsize} bytes, not {array.nbytes}")
        return address_of(array)

    def _interpreted_at(self, address: int) -> Any:
        return _Entries(self, Memory(int(address), np.int64))


def _behind(kind: Any, address: int) -> Any:
    if isinstance(kind, str):
        return address
    return Memory(int(address), kind) if kind.names is None else record(kind)(address, 0)


class _Entries:
    """A table as interpreted kernels see it."""

    def __init__(self, table: AddressTable, addresses: Memory) -> None:
        self._table, self._addresses = table, addresses

    def __getattr__(self, name: str) -> Any:
        return _behind(self._table.kinds[name], self._addresses[self._table.names.index(name)])


class _TableType(types.Type):  # type: ignore[misc]
    """The compiler's type of a table: an address whose attributes are read from where it points to."""

    def __init__(self, name: str, entries: tuple[tuple[str, Any], ...]) -> None:
        self.entries = entries
        super().__init__(name=f"{name}{entries}")


@register_model(_TableType)
class _TableModel(PrimitiveModel):  # type: ignore[misc]
    """A table is the address it is at."""

    def __init__(self, manager: Any, kind: Any) -> None:
        from llvmlite import ir

        super().__init__(manager, kind, ir.IntType(64))


def _type_of(kind: Any) -> Any:
    """Return the compiler's type of what is behind an entry."""
    if isinstance(kind, str):
        return types.int64
    return types.CPointer(numba.from_dtype(kind)) if kind.names is None else numba.from_dtype(kind)


def _load(context: Any, builder: Any, address: Any, place: int, kind: Any) -> Any:
    """Read an entry of the table at an address."""
    long = address.type
    entry = builder.load(builder.inttoptr(builder.add(address, long(8 * place)), long.as_pointer()))
    return entry if isinstance(kind, types.Integer) else builder.inttoptr(entry, context.get_value_type(kind))


@infer_getattr
class _TableAttributes(AttributeTemplate):  # type: ignore[misc]
    key = _TableType

    def generic_resolve(self, table: Any, name: str) -> Any:
        """Return the type of an entry."""
        return dict(table.entries).get(name)


@lower_getattr_generic(_TableType)  # type: ignore[untyped-decorator]
def _table_attribute(context: Any, builder: Any, table: Any, address: Any, name: str) -> Any:
    place = [entry for entry, _ in table.entries].index(name)
    return _load(context, builder, address, place, table.entries[place][1])


def _compiled_at(table: AddressTable) -> Any:
    target = _TableType(table.name, tuple((entry, _type_of(kind)) for entry, kind in table.kinds.items()))

    @intrinsic  # type: ignore[untyped-decorator]
    def make(typing_context: Any, address: Any) -> Any:
        return target(types.int64), lambda context, builder, signature, arguments: arguments[0]

    return make


def _compiled_unpacked(table: AddressTable, tuple_: Any) -> Any:
    kinds = [_type_of(kind) for kind in table.kinds.values()]
    target = types.NamedTuple(kinds, tuple_)

    @intrinsic  # type: ignore[untyped-decorator]
    def make(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values = [_load(context, builder, arguments[0], place, kind) for place, kind in enumerate(kinds)]
            return context.make_tuple(builder, target, values)

        return target(types.int64), generate

    return make


# ---- rows and columns


def _interpreted_grid(array: Memory, shape: tuple[int, int]) -> NDArray[Any]:
    return np.asarray(array._numbers[: shape[0] * shape[1]].reshape(shape))


grid = _interpreted_grid if INTERPRETED else numba.carray
"""In kernels: an array of numbers as rows and columns, `grid(array, (rows, columns))[i, k]`; nothing is copied."""
