from weft.tasks.ranking import Capability, coherent, rank, score


def able(mcp: str, **sets: set[str]) -> Capability:
    return Capability(mcp, "d", 5, **{name: frozenset(value) for name, value in sets.items()})


CRM = able(
    "crm",
    gives={"email", "id:contacts"},
    takes={"email"},
    entities={"contact"},
    functions={"create contact", "get contact"},
)
MAIL = able("mail", gives={"date"}, takes={"email"}, writes={"email"}, entities={"message"}, functions={"send message"})
CRM2 = able("crm2", takes={"id:contacts"}, entities={"contact"}, functions={"create contact", "list contact"})


def test_the_three_scores_by_hand() -> None:
    found = score([CRM, MAIL])
    assert found.shared == 0.5  # {contact, email} and {message, email}: one of two
    assert found.complementary == 0.5  # an email goes from crm to mail, nothing back
    assert found.redundant == 0.0
    assert found.total == 1.0


def test_two_mcps_that_do_the_same_are_redundant() -> None:
    found = score([CRM, CRM2])
    assert found.redundant == round(1 / 3, 6)
    assert found.complementary == 0.0  # a contact's id means nothing in another server


def test_ranking_puts_the_complementary_pair_first_and_keeps_ties_in_order() -> None:
    known = {item.mcp: item for item in (CRM, MAIL, CRM2)}
    assert rank([("crm", "crm2"), ("crm", "mail")], known)[0] == ("crm", "mail")
    assert rank([("crm",), ("mail",)], known) == [("crm",), ("mail",)]


def test_a_combination_is_coherent_when_bindings_connect_all_of_it() -> None:
    joined = {"crm": frozenset({"mail"}), "mail": frozenset({"crm"})}
    assert coherent([CRM, MAIL], joined) == ""
    assert coherent([CRM, MAIL, CRM2], joined) == "no value can travel between crm2 and crm"
    assert coherent([CRM2], joined) == ""
