import random

import pytest

from weft.agents.composition import BoundWords
from weft.agents.rules.composition.phrases import Pointing, ordinal, point, pointing
from weft.records.task import TaskInput

EMAIL = Pointing("email", "the email from step 3", False, False)
KEYED = Pointing("email", "the email of Ana Lima from step 3", False, True)
CONTACT = Pointing("contact", "the contact created in step 2", True, True)
PRODUCT = Pointing("product", "the product from step 1", True, True)


@pytest.mark.parametrize(
    ("text", "said", "how", "wanted"),
    [
        ("Send it to ana@x.example.", "ana@x.example", EMAIL, "Send it to the email from step 3."),
        ("Add one with the email ana@x.example.", "ana@x.example", EMAIL, "Add one with the email from step 3."),
        (
            "Add one with the owner email ana@x.example, and go on.",
            "ana@x.example",
            EMAIL,
            "Add one with the email from step 3 as the owner email, and go on.",
        ),
        (
            "Put the customer with the email address ana@x.example on gold.",
            "ana@x.example",
            KEYED,
            "Put the customer with the email of Ana Lima from step 3 on gold.",
        ),
        (
            "Write to the customer with the email ana@x.example and the tier gold.",
            "ana@x.example",
            KEYED,
            "Write to the customer with the email of Ana Lima from step 3 and the tier gold.",
        ),
        (
            'How many orders does the customer with the full name "Ana" have?',
            '"Ana"',
            Pointing("user", "the user from step 1", True, True),
            "How many orders does the customer with the name of the user from step 1 have?",
        ),
        ("Archive the contact with the ID 41.", "41", CONTACT, "Archive the contact created in step 2."),
        ('What does the product "Mug" cost?', '"Mug"', PRODUCT, "What does the product from step 1 cost?"),
        ('Add one called "Mug" soon.', '"Mug"', PRODUCT, "Add one with the name of the product from step 1 soon."),
        ("Contact 41 has moved.", "41", CONTACT, "The contact created in step 2 has moved."),
        ('"Mug" is gone.', '"Mug"', PRODUCT, "The product from step 1 is gone."),
        (
            'Set the body to "It is late." Change nothing else.',
            '"It is late."',
            EMAIL,
            "Set the body to the email from step 3. Change nothing else.",
        ),
        ("There are 410 of them.", "41", CONTACT, None),
    ],
)  # fmt: skip
def test_a_value_is_pointed_at_as_a_person_would(text: str, said: str, how: Pointing, wanted: str | None) -> None:
    assert point(text, said, how) == wanted


def bound(**more: object) -> BoundWords:
    base = {"input": TaskInput(name="to", value="a@b.example"), "source": 1, "noun": "email"}
    return BoundWords(**{**base, **more})  # type: ignore[arg-type]


def test_what_was_asked_for_is_pointed_at_by_its_step_and_the_rest_by_whose_it_is() -> None:
    rng = random.Random(0)
    assert pointing(bound(), 4, rng, numbered=True).phrase == "the email from step 2"
    whose = bound(asked=False, owner="Ana Lima", entity="contact")
    assert pointing(whose, 4, rng, numbered=True).phrase == "the email of Ana Lima from step 2"
    made = bound(asked=False, made=True, entity="contact", noun="status")
    assert pointing(made, 4, rng, numbered=True).phrase.startswith("the status of the contact ")
    thing = bound(asked=False, made=True, noun="contact", whole=True)
    assert pointing(thing, 2, rng, numbered=False).phrase == "the contact you just created"


def test_turns_of_a_conversation_are_counted_in_words() -> None:
    assert pointing(bound(), 4, random.Random(1), numbered=False).phrase.endswith("my second request")
    assert [ordinal(number) for number in (1, 10, 11, 21, 112)] == ["first", "tenth", "11th", "21st", "112th"]
