"""A long phrase is said once."""

import pytest

from weft.agents.rules.tasks.pronouns import pronounced

EVENT = 'the event "Team Lunch"'


@pytest.mark.parametrize(
    ("text", "phrases", "said"),
    [
        (f"Please delete {EVENT}. Look up {EVENT} first. Thanks.", [EVENT],
         f"Please delete {EVENT}. Look it up first. Thanks."),
        (f"Look up {EVENT} first. Delete {EVENT} and nothing else.", [EVENT],
         f"Look up {EVENT} first. Delete it and nothing else."),
        (f"Look up {EVENT} first. Then tell me the start date of {EVENT}.", [EVENT],
         f"Look up {EVENT} first. Then tell me its start date."),
        (f"Look up {EVENT} first. Delete the attendee ann@x.org of {EVENT}.", [EVENT],
         f"Look up {EVENT} first. Delete the attendee ann@x.org of that event."),
        (f"Look up {EVENT} first. Then tell me, yes or no, whether {EVENT} is private.", [EVENT],
         f"Look up {EVENT} first. Then tell me, yes or no, whether it is private."),
        ("Look up Ann Lima first. Then tell me the email of Ann Lima.", ["Ann Lima"],
         "Look up Ann Lima first. Then tell me their email."),
        (f"Add Ann Lima to {EVENT}. Look up {EVENT} and Ann Lima first.", [EVENT, "Ann Lima"],
         f"Add Ann Lima to {EVENT}. Look both up first."),
        (f"Add a guest for {EVENT}, with the name Bo. Look up {EVENT} first.", [EVENT],
         f"Add a guest for {EVENT}, with the name Bo. Look that event up first."),
        (f"T{EVENT[1:]} is wrong. Look up {EVENT} first. Set the day to 2.", [EVENT],
         f"T{EVENT[1:]} is wrong. Look it up first. Set the day to 2."),
        ('Look up the note "All done." first. Delete the note "All done." Tell me.', ['the note "All done."'],
         'Look up the note "All done." first. Delete it. Tell me.'),
        (f"Delete {EVENT}.", [], f"Delete {EVENT}."),
    ],
)  # fmt: skip
def test_what_is_looked_up_is_named_once(text: str, phrases: list[str], said: str) -> None:
    assert pronounced(text, phrases) == said
