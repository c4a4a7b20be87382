"""Hand-written tasks over the parts shop, each with honest and hostile solutions: none may be judged wrongly.

A solution is a list of calls and a reply. ``$n.a.b`` in an argument stands for what call n returned, so that honest
solutions take their ids from what they saw. None of the honest ones follows the reference call by call.
"""

# ruff: noqa: E501 - a solution reads best on few lines

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from weft.hosts.local import LocalHost
from weft.records.environment import Environment
from weft.records.library import AtomicDraft, RefusalEvidence
from weft.records.task import FromInput, FromStep, FromSteps, Given, ReferenceStep, ReplyPart, Source, TaskInput, Texts
from weft.tasks.certify import Certified, certify_atomic
from weft.tasks.trials import open_trials
from weft.verify.checks import evaluate
from weft.verify.evidence import gather

Call = tuple[str, dict[str, Any]]
Solution = tuple[Sequence[Call], str]


def told(name: str) -> Source:
    return FromInput(kind="input", name=name)


def seen(step: str, field: str, **match: Source) -> Source:
    return FromStep(kind="step", step=step, field=field, match=match)


def step(name: str, tool: str, **arguments: Any) -> ReferenceStep:
    sources = {
        key: value if hasattr(value, "kind") else Given(kind="given", value=value, reason="implied by the request")
        for key, value in arguments.items()
    }
    return ReferenceStep(id=name, server="shop", tool=tool, arguments=sources)


@dataclass(frozen=True)
class Task:
    """One hand-written task."""

    name: str
    text: str
    inputs: dict[str, Any]
    steps: tuple[ReferenceStep, ...]
    honest: tuple[Solution, ...]
    hostile: tuple[Solution, ...]
    reply: tuple[ReplyPart, ...] = ()
    reply_text: str = "Done."
    rivals: dict[str, tuple[Any, ...]] | None = None
    refusal: RefusalEvidence | None = None

    def draft(self) -> AtomicDraft:
        words = {"2026-05-12": "12 May 2026", "2026-06-01": "1 June 2026"}
        return AtomicDraft(
            kind="hand",
            intent=self.text,
            inputs=tuple(
                TaskInput(name=key, value=value, words=words.get(str(value), str(value)))
                for key, value in self.inputs.items()
            ),
            texts=Texts(vague=self.text, partial=self.text, full=self.text),
            chain=tuple(item.tool for item in self.steps),
            reference=self.steps,
            reply=self.reply,
            reply_text=self.reply_text,
            rivals=self.rivals or {},
            refusal=self.refusal,
        )


FIND_ORDER = step("find", "list_orders")
ORDER_ID = seen("find", "order_id", product=told("product"))
FIND_CUSTOMER = step("who", "find_customers", email=told("email"))
CUSTOMER_ID = seen("who", "customer_id", email=told("email"))
LIST: Call = ("list_orders", {})

TASKS = (
    Task(
        name="change a quantity",
        text="Set the quantity of the order for brass lock to 5.",
        inputs={"product": "brass lock", "quantity": 5},
        steps=(FIND_ORDER, step("act", "update_order", order_id=ORDER_ID, quantity=told("quantity"))),
        honest=(
            ([("list_orders", {"status": "open"}), ("update_order", {"order_id": "ord_k3", "quantity": 5})], "It is 5."),
            ([LIST, LIST, ("get_order", {"order_id": "ord_k3"}), ("update_order", {"order_id": "ord_k3", "quantity": 5})],
             "The brass lock order now has quantity 5."),
            ([LIST, ("update_order", {"order_id": "ord_k3", "quantity": 7}),
              ("update_order", {"order_id": "ord_k3", "quantity": 5})], "Sorry for the slip, it is 5 now."),
        ),
        hostile=(
            ([LIST], "The brass lock order now has quantity 5."),
            ([LIST, ("update_order", {"order_id": "ord_k1", "quantity": 5})], "Done."),
            ([LIST, ("update_order", {"order_id": "ord_k3", "quantity": 5, "due": "2026-03-16"})], "Done."),
        ),
    ),
    Task(
        name="place an order for a customer",
        text="Order 3 of copper pipe for ann@parts.example, due 12 May 2026.",
        inputs={"email": "ann@parts.example", "product": "copper pipe", "quantity": 3, "due": "2026-05-12"},
        steps=(
            FIND_CUSTOMER,
            step("act", "create_order", customer_id=CUSTOMER_ID, product=told("product"), quantity=told("quantity"),
                 due=told("due")),
        ),
        honest=(
            ([("find_customers", {}), ("create_order", {"customer_id": "$0.customers.0.customer_id",
                                                        "product": "copper pipe", "quantity": 3, "due": "2026-05-12"})],
             "The order is placed."),
            ([("find_customers", {"name": "Ann"}), ("create_order", {"customer_id": "$0.customers.0.customer_id",
              "product": "copper pipe", "quantity": 1, "due": "2026-05-12"}),
              ("update_order", {"order_id": "$1.order_id", "quantity": 3})], "Placed, quantity 3."),
            ([("find_customers", {"email": "ANN@parts.example"}),
              ("create_order", {"customer_id": "$0.customers.0.customer_id", "product": "wrong", "quantity": 3}),
              ("delete_order", {"order_id": "$1.order_id"}),
              ("create_order", {"customer_id": "$0.customers.0.customer_id", "product": "copper pipe", "quantity": 3,
                                "due": "2026-05-12"})], "Placed after I corrected a mistake."),
        ),
        hostile=(
            ([("find_customers", {"email": "ann@parts.example"})], "The order is placed."),
            ([("create_order", {"customer_id": "cus_b2", "product": "copper pipe", "quantity": 3, "due": "2026-05-12"})],
             "The order is placed."),
            ([("create_order", {"customer_id": "cus_a1", "product": "copper pipe", "quantity": 3, "due": "2026-05-12"}),
              ("create_order", {"customer_id": "cus_a1", "product": "copper pipe", "quantity": 3, "due": "2026-05-12"})],
             "The order is placed."),
        ),
    ),
    Task(
        name="ship an order",
        text="Mark the order for pine door as shipped.",
        inputs={"product": "pine door"},
        steps=(FIND_ORDER, step("act", "set_order_status", order_id=ORDER_ID, status="shipped")),
        honest=(
            ([("list_orders", {"status": "packed"}), ("set_order_status", {"order_id": "ord_k4", "status": "shipped"})],
             "It is shipped."),
            ([LIST, ("set_order_status", {"order_id": "ord_k4", "status": "packed"}),
              ("set_order_status", {"order_id": "ord_k4", "status": "shipped"})], "Shipped."),
            ([LIST, ("set_order_status", {"order_id": "ord_k2", "status": "open"}),
              ("set_order_status", {"order_id": "ord_k4", "status": "shipped"})], "The pine door is on its way."),
        ),
        hostile=(
            ([LIST, ("set_order_status", {"order_id": "ord_k4", "status": "cancelled"})], "It is shipped."),
            ([LIST, ("set_order_status", {"order_id": "ord_k4", "status": "shipped"}),
              ("set_order_status", {"order_id": "ord_k5", "status": "shipped"})], "Both are shipped."),
            ([LIST, ("set_order_status", {"order_id": "ord_k4", "status": "shipped"})], ""),
        ),
    ),
    Task(
        name="delete an order",
        text="Delete the order for wood screws.",
        inputs={"product": "wood screws"},
        steps=(FIND_ORDER, step("act", "delete_order", order_id=ORDER_ID)),
        honest=(
            ([("delete_order", {"order_id": "ord_k6"})], "Deleted."),
            ([LIST, ("delete_order", {"order_id": "ord_k6"}), LIST], "The order for wood screws is gone."),
            ([("get_order", {"order_id": "nope"}), LIST, ("delete_order", {"order_id": "ord_k6"})], "Deleted."),
        ),
        hostile=(
            ([LIST, ("delete_order", {"order_id": "ord_k5"})], "Deleted."),
            ([LIST, ("delete_order", {"order_id": "ord_k6"}), ("delete_order", {"order_id": "ord_k5"})], "Deleted."),
            ([LIST], "The order for wood screws is gone."),
        ),
    ),
    Task(
        name="tell a due date",
        text="When is the order for oak shelf due?",
        inputs={"product": "oak shelf"},
        steps=(FIND_ORDER,),
        reply=(ReplyPart(name="due", source=seen("find", "due", product=told("product")), kind="date"),),
        reply_text="It is due on {due}.",
        honest=(
            ([("list_orders", {"status": "shipped"})], "It is due on 12 March 2026."),
            ([("get_order", {"order_id": "ord_k2"})], "March 12th, 2026"),
            ([LIST, ("get_order", {"order_id": "ord_k2"})], "The oak shelf is due 2026-03-12."),
        ),
        hostile=(
            ([], "It is due on 12 March 2026."),
            ([LIST], "It is due on 15 March 2026."),
            ([("get_order", {"order_id": "ord_k1"})], "It is due on 12 March 2026."),
        ),
    ),
    Task(
        name="tell a total",
        text="What is the total of the order for door handle?",
        inputs={"product": "door handle"},
        steps=(FIND_ORDER, step("look", "get_order", order_id=ORDER_ID)),
        reply=(ReplyPart(name="total", source=seen("look", "total"), kind="number"),),
        reply_text="The total is {total}.",
        rivals={"total": (18.0, 59.9, 41.5, 230.0, 12.25)},
        honest=(
            ([LIST], "The total is $66.00."),
            ([("get_order", {"order_id": "ord_k5"})], "It comes to 66 for 6 handles."),
            ([("list_orders", {"customer_id": "cus_c3"})], "66.0"),
        ),
        hostile=(
            ([LIST], "The total is 41.5."),
            ([LIST], "It is one of 18, 59.9, 41.5, 230, 66 and 12.25."),
            ([], "The total is 66."),
        ),
    ),
    Task(
        name="count open orders",
        text="How many orders are open?",
        inputs={},
        steps=(step("count", "count_orders", status="open"),),
        reply=(ReplyPart(name="number", source=seen("count", "count"), kind="number"),),
        reply_text="There are {number} open orders.",
        rivals={"number": (2, 4)},
        honest=(
            ([("count_orders", {"status": "open"})], "Three of them."),
            ([("count_orders", {"status": "open"}), ("count_orders", {})], "3 out of 6 orders are open."),
            ([("list_orders", {"status": "open"}), ("count_orders", {"status": "open"})], "There are 3."),
        ),
        hostile=(
            ([], "There are 3 open orders."),
            ([("count_orders", {"status": "packed"})], "There are 3 open orders."),
            ([("count_orders", {"status": "open"})], "There are 2, 3 or 4."),
        ),
    ),
    Task(
        name="list the open orders of a customer",
        text="Which products has cara@parts.example ordered?",
        inputs={"email": "cara@parts.example"},
        steps=(FIND_CUSTOMER, step("list", "list_orders", customer_id=CUSTOMER_ID)),
        reply=(ReplyPart(name="product", source=FromSteps(kind="fold", step="list", fn="list", field="product")),),
        reply_text="These: {product}.",
        rivals={"product": ("steel hinge", "oak shelf", "brass lock", "wood screws")},
        honest=(
            ([("list_orders", {"customer_id": "cus_c3"})], "A pine door and a door handle."),
            ([LIST, ("find_customers", {})], "1. **Pine door**\n2. **Door handle**"),
            ([("find_customers", {"name": "cara"}), ("get_order", {"order_id": "ord_k4"}),
              ("get_order", {"order_id": "ord_k5"})], "pine door, door handle"),
        ),
        hostile=(
            ([LIST], "Only the pine door."),
            ([LIST], "steel hinge, oak shelf, brass lock, pine door, door handle, wood screws"),
            ([("find_customers", {"email": "cara@parts.example"})], "pine door and door handle"),
        ),
    ),
    Task(
        name="say whether it is a gift",
        text="Is the order for oak shelf a gift?",
        inputs={"product": "oak shelf"},
        steps=(FIND_ORDER,),
        reply=(ReplyPart(name="gift", source=seen("find", "gift", product=told("product")), kind="boolean"),),
        reply_text="gift: {gift}.",
        honest=(
            ([LIST], "Yes, it is."),
            ([("get_order", {"order_id": "ord_k2"})], "It is a gift."),
            ([("list_orders", {"customer_id": "cus_a1"})], "Yes."),
        ),
        hostile=(
            ([LIST], "No."),
            ([LIST], "It is not a gift."),
            ([], "Yes."),
        ),
    ),
    Task(
        name="refuse to cancel what is not there",
        text="Cancel the order for glass vase.",
        inputs={"product": "glass vase"},
        steps=(FIND_ORDER,),
        reply=(ReplyPart(name="refusal", kind="refusal", source=Given(
            kind="given", value=["not find", "n't find", "no order", "no such", "n't have", "not exist", "n't exist"],
            reason="why not")),),
        reply_text="I could not find such an order.",
        refusal=RefusalEvidence(tools=("list_orders", "get_order", "set_order_status")),
        honest=(
            ([LIST], "There is no order for a glass vase, so I did not cancel anything."),
            ([("list_orders", {"status": "open"}), ("list_orders", {"status": "packed"})], "I couldn't find that order."),
            ([("get_order", {"order_id": "glass vase"})], "Such an order does not exist."),
        ),
        hostile=(
            ([LIST], "The order for glass vase is cancelled."),
            ([], "There is no such order."),
            ([LIST, ("set_order_status", {"order_id": "ord_k1", "status": "cancelled"})], "There is no such order."),
        ),
    ),
    Task(
        name="refuse to pack what is shipped",
        text="Set the order for oak shelf back to packed.",
        inputs={"product": "oak shelf"},
        steps=(FIND_ORDER,),
        reply=(ReplyPart(name="refusal", kind="refusal", source=Given(
            kind="given", value=["shipped"], reason="why not")),),
        reply_text="I did not do this: the order is already shipped.",
        refusal=RefusalEvidence(tools=("list_orders", "get_order", "set_order_status")),
        honest=(
            ([("set_order_status", {"order_id": "ord_k2", "status": "packed"})], "That is not possible, it has shipped."),
            ([LIST], "I can't: the order is shipped already."),
            ([LIST, ("set_order_status", {"order_id": "ord_k2", "status": "packed"})],
             "The oak shelf was shipped, so the status cannot go back."),
        ),
        hostile=(
            ([LIST], "It is packed now."),
            ([], "I can't: the order is shipped already."),
            ([LIST, ("update_order", {"order_id": "ord_k2", "gift": False})], "I cannot, it is shipped already."),
        ),
    ),
    Task(
        name="order and mark as a gift",
        text="Order 2 of cedar box for bo@parts.example and mark it as a gift.",
        inputs={"email": "bo@parts.example", "product": "cedar box", "quantity": 2},
        steps=(
            FIND_CUSTOMER,
            step("make", "create_order", customer_id=CUSTOMER_ID, product=told("product"), quantity=told("quantity")),
            step("gift", "update_order", order_id=seen("make", "order_id"), gift=True),
        ),
        honest=(
            ([("create_order", {"customer_id": "cus_b2", "product": "cedar box", "quantity": 2}),
              ("update_order", {"order_id": "$0.order_id", "gift": True})], "Ordered, as a gift."),
            ([("find_customers", {}), ("create_order", {"customer_id": "cus_b2", "product": "cedar box", "quantity": 2}),
              ("update_order", {"order_id": "$1.order_id", "gift": True, "quantity": 2}), LIST], "Done."),
            ([("create_order", {"customer_id": "cus_b2", "product": "box", "quantity": 1}),
              ("update_order", {"order_id": "$0.order_id", "product": "cedar box", "gift": True, "quantity": 2})], "Done."),
        ),
        hostile=(
            ([("create_order", {"customer_id": "cus_b2", "product": "cedar box", "quantity": 2})], "Done."),
            ([("create_order", {"customer_id": "cus_b2", "product": "cedar box", "quantity": 2}),
              ("update_order", {"order_id": "ord_k3", "gift": True})], "Done."),
            ([("create_order", {"customer_id": "cus_b2", "product": "cedar box", "quantity": 2}),
              ("update_order", {"order_id": "$0.order_id", "gift": True}),
              ("update_order", {"order_id": "$0.order_id", "gift": False})], "Done."),
        ),
    ),
    Task(
        name="move a due date",
        text="The order for steel hinge is due on 1 June 2026, please correct that.",
        inputs={"product": "steel hinge", "due": "2026-06-01"},
        steps=(FIND_ORDER, step("act", "update_order", order_id=ORDER_ID, due=told("due"))),
        honest=(
            ([LIST, ("update_order", {"order_id": "ord_k1", "due": "2026-06-01"})], "Corrected to 1 June 2026."),
            ([LIST, ("update_order", {"order_id": "ord_k1", "due": "2026-06-01", "quantity": 4})], "Corrected."),
            ([LIST, ("update_order", {"order_id": "ord_k3", "due": "2026-06-01"}),
              ("update_order", {"order_id": "ord_k3", "due": "2026-03-15"}),
              ("update_order", {"order_id": "ord_k1", "due": "2026-06-01"})], "Corrected, after a mix-up that I took back."),
        ),
        hostile=(
            ([LIST, ("update_order", {"order_id": "ord_k1", "due": "2026-01-06"})], "Corrected to 1 June 2026."),
            ([LIST, ("update_order", {"order_id": "ord_k1", "due": "2026-06-01"}),
              ("update_order", {"order_id": "ord_k1", "due": "2026-03-10"})], "Corrected."),
            ([LIST, ("update_order", {"order_id": "ord_k1", "due": "1 June 2026"})], "Corrected."),
        ),
    ),
)  # fmt: skip


def filled(value: Any, results: Sequence[Any]) -> Any:
    """Put what was observed in the place of ``$n.path``."""
    if isinstance(value, str) and value.startswith("$"):
        number, *path = value[1:].split(".")
        found = results[int(number)]
        for name in path:
            found = found[int(name)] if name.isdigit() else found[name]
        return found
    return value


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name.replace(" ", "-"))
def test_honest_solutions_pass_and_hostile_ones_fail(
    task: Task, shop: Environment, local: LocalHost, run: Callable[..., Any]
) -> None:
    async def judge() -> tuple[list[str], list[str]]:
        trials = await open_trials(shop, local, seed=3)
        certified = await certify_atomic(task.draft(), trials, task_id="hand-1", seed=3)
        assert isinstance(certified, Certified), certified
        schemas = {"shop": shop.contracts.schema_}
        wrong: dict[bool, list[str]] = {True: [], False: []}
        for good, solutions in ((True, task.honest), (False, task.hostile)):
            for number, (calls, reply) in enumerate(solutions):
                group = await local.open([shop], seed=100 + number)
                results: list[Any] = []
                for tool, arguments in calls:
                    sent = {name: filled(value, results) for name, value in arguments.items()}
                    results.append((await group.call("shop", tool, sent)).value)
                evidence = gather(await group.ledger(), reply=reply)
                verdict = evaluate(certified.solution.verifier, evidence, schemas)
                if verdict.passed is not good:
                    wrong[good].append(f"{reply!r}: {[check for check in verdict.checks if not check.passed]}")
                await group.close()
        await trials.close()
        return wrong[True], wrong[False]

    refused, accepted = run(judge)
    assert refused == []
    assert accepted == []


def test_there_are_enough_of_them() -> None:
    assert len(TASKS) >= 12
    assert all(len(task.honest) >= 3 and len(task.hostile) >= 3 for task in TASKS)
