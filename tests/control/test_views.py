"""What the kernel reads under a name is the array of that name, and of that kind."""

import mujoco
import numpy as np
import pytest

from stunt.control.core.board import Board
from stunt.control.core.views import LIST, TABLE, views_at
from stunt.maths.compiled import compiled
from stunt.maths.pointers import AddressTable, address_of, layout, record

PAIR = layout(("left", np.int64), ("turn", np.float64, 4), ("right", np.float64))
pair_at = record(PAIR)
THINGS = AddressTable("Things", [("numbers", np.float64), ("whole", np.int64), ("one", PAIR)])
things_at = THINGS.reader()


def board():
    xml = "<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    return Board(model, data, 0.01), model, data


@compiled
def write_signs(address):
    v = views_at(address)
    v.qpos[0], v.qvel[0], v.jnt_type[0], v.last_law[0], v.hooks[3] = 1.5, 2.5, 7, 9, 11
    v.counts.lookouts, v.times.step = 13, 0.25
    return v.sizes.njnt + 10 * v.sizes.nbody


def test_the_kernel_writes_into_the_engines_and_the_boards_own_arrays():
    made, model, data = board()
    assert write_signs(made.table.ctypes.data) == model.njnt + 10 * model.nbody
    assert (data.qpos[0], data.qvel[0], model.jnt_type[0], made.last_law[0], made.hooks[3]) == (1.5, 2.5, 7, 9, 11)
    assert made.counts["lookouts"] == 13 and made.times["step"] == 0.25


def test_every_name_is_there_once_and_the_table_holds_the_address_of_its_array():
    made, model, data = board()
    names = [name for name, _, _ in LIST]
    assert len(set(names)) == len(names) == made.table.size
    for place, (name, _, source) in enumerate(LIST):
        owner = {"data": data, "model": model}.get(source.split(".")[0], made)
        assert made.table[place] == getattr(owner, source.split(".")[-1] if "." in source else name).ctypes.data


def test_an_array_of_another_kind_than_the_kernel_takes_it_for_is_refused():
    made, _, _ = board()
    arrays = dict(made._arrays)
    with pytest.raises(TypeError, match="'law' must be int64, not float64"):
        TABLE.fill(**arrays | {"law": np.zeros(1)})
    with pytest.raises(TypeError, match="contiguous"):
        TABLE.fill(**arrays | {"qpos": np.zeros((4, 2))[:, 0]})
    with pytest.raises(TypeError, match="goal"):
        TABLE.fill(**{name: array for name, array in arrays.items() if name != "goal"})


@compiled
def turn_pairs(address, things):
    pair, t = pair_at(address, 1), things_at(things)
    for k in range(4):
        pair.turn[k] = 10.0 * t.numbers[k]
    pair.left, pair.right = t.whole[1], t.one.right
    t.one.left = 5


def test_a_record_is_the_same_memory_in_python_and_compiled():
    pairs, one = np.zeros(3, PAIR), np.zeros(1, PAIR)
    one["right"] = 0.5
    numbers, whole = np.arange(4.0), np.array([1, 2])
    table = THINGS.fill(numbers=numbers, whole=whole, one=one)
    turn_pairs(address_of(pairs), address_of(table))
    assert pairs["turn"].tolist() == [[0.0] * 4, [0.0, 10.0, 20.0, 30.0], [0.0] * 4]
    assert (pairs["left"][1], pairs["right"][1], one["left"][0]) == (2, 0.5, 5)
