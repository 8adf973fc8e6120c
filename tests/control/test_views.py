"""The table of addresses and the names it is read by are in the same order."""

import inspect
import re

from stunt.control.core import views


def test_every_view_is_unpacked_from_its_own_place_in_the_table():
    source = inspect.getsource(views.unpack.py_func)
    unpacked = re.findall(r"(\w+)=_\w+\(table\[(\d+)\]\)", source)
    assert [name for name, _ in unpacked] == list(views.Views._fields)
    assert [int(index) for _, index in unpacked] == list(range(len(views.Views._fields)))
