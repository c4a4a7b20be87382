import random

from weft.records.task import AtomicSolution, AtomicTask, EnvironmentPin, Texts
from weft.records.verdict import Verifier
from weft.tasks.binding import Drawn, Link
from weft.tasks.selection import Pool, select


def drawn(server: str, number: int) -> Drawn:
    name = f"{server}{number}"
    texts = Texts(vague="v", partial="p", full="f")
    pin = EnvironmentPin(name=server, hash="h", state="s")
    task = AtomicTask(id=name, server=server, kind="read", intent="i", environment=pin, texts=texts)
    return Drawn(task, AtomicSolution(task=name, chain=(), reference=(), reply_text="", verifier=Verifier()), {})


ALL = [drawn(server, number) for server in "ab" for number in range(4)]
INDEX = {item.task.id: place for place, item in enumerate(ALL)}
TASKS = {"a": ALL[:4], "b": ALL[4:]}
JOIN = Link(3, "email", 7, "to", "flow", "x@y.example")  # a3 -> b3: the last that would be drawn


def test_both_ends_of_a_binding_between_servers_are_selected_before_what_is_merely_needed() -> None:
    found = select(Pool(TASKS, {"a": 2, "b": 2}), [JOIN], INDEX, random.Random(0))
    assert {item.task.id for item in found.drawn} == {"a0", "a3", "b0", "b3"}
    (link,) = found.links
    assert found.drawn[link.source].task.id == "a3"
    assert found.drawn[link.target].task.id == "b3"


def test_a_banned_task_or_binding_is_not_selected() -> None:
    pool = Pool(TASKS, {"a": 2, "b": 2}, banned={"a0"}, unbound={("a3", "email", "b3", "to")})
    found = select(pool, [JOIN], INDEX, random.Random(0))
    assert {item.task.id for item in found.drawn} == {"a1", "a2", "b0", "b1"}
    assert found.links == []


def test_a_pool_says_how_much_is_left_of_it() -> None:
    assert Pool(TASKS, {"a": 3, "b": 2}).size == 5
    assert Pool(TASKS, {"a": 3, "b": 2}, banned={"a0", "a1", "b0"}).size == 4
