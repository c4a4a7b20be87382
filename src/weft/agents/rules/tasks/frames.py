"""Sentence frames: how a person asks for each kind of task, at three levels of disclosure (Weft 3.1.3, pure).

Every frame holds every slot with a needed value, so that no level leaves out what the user knows; ``vague`` leaves out the
how. Frames are chosen by the task's own random generator.
"""

import random
import re
from collections.abc import Mapping

from weft.records.task import Texts

Level = tuple[str, ...]

FRAMES: dict[str, dict[str, Level]] = {
    "create": {
        "vague": ("I need {a_new} {details}.", "Can we have {a_new} {details}?", "There should be {a_new} {details}.",
                  "We are missing {a_thing} {details}. Can you sort that out?"),
        "partial": ("Please create {a_new} {details}.", "Could you add {a_new} {details}?",
                    "Set up {a_new} {details}, please.", "Add {a_new} {details}. Thanks!"),
        "full": ("Please create {a_new} {details}. {lookup}Leave every other entry as it is, and confirm when it is done.",
                 "{lookup}Create {a_new} {details}. Use exactly these values, change nothing else, and tell me once it is there.",
                 "I would like you to add {a_new} {details}. {lookup}Nothing else should change. Let me know when it is done."),
        "intent": ("Create {a_new} {details}.",),
    },
    "update": {
        "vague": ("{target} needs {nouns} instead.", "For {target} it is {nouns} now. Can you take care of it?",
                  "Something changed for {target}: we now need {nouns}.", "We agreed on {nouns} for {target}."),
        "partial": ("Please change {sets}.", "Could you set {sets}?", "Update {target}: set {plain_sets}.",
                    "I would like to change {sets}."),
        "full": ("Please set {sets}. {lookup}Change nothing else, and confirm when it is done.",
                 "{lookup}Update {target}: set {plain_sets}. Leave all other values and entries as they are, and let me know.",
                 "Change {sets}, please. {lookup}Nothing else may change. Tell me once it is saved."),
        "intent": ("Change {sets}.",),
    },
    "correction": {
        "vague": ("There is a mistake in {target}: it should have {nouns}.", "{target} is recorded wrongly, we need {nouns}."),
        "partial": ("There is a mistake in {target}. Please correct {plain_sets}.", "Please fix {target}: set {plain_sets}.",
                    "{target} was entered wrongly. Could you set {plain_sets}?"),
        "full": ("{target} was entered wrongly. {lookup}Set {plain_sets}, keep everything else as it is, and confirm.",
                 "Please correct {target}: set {plain_sets}. {lookup}Nothing else may change. Tell me once it is fixed."),
        "intent": ("Correct {target}: set {plain_sets}.",),
    },
    "transition": {
        "vague": ("{target} is now {value}. Can you reflect that?", "We consider {target} as {value} from now on.",
                  "{target} should count as {value}."),
        "partial": ("Please set {label_of} to {value}.", "Could you mark {target} as {value}?", "Move {target} to {value}, please."),
        "full": ("Please set {label_of} to {value}. {lookup}Change nothing else, and confirm when it is done.",
                 "{lookup}Mark {target} as {value} and leave everything else alone. Let me know when that is done."),
        "intent": ("Set {label_of} to {value}.",),
    },
    "delete": {
        "vague": ("{target} is not needed any more.", "We can do without {target}. Can you take care of it?",
                  "I do not want to see {target} again."),
        "partial": ("Please delete {target}.", "Could you remove {target}?", "Get rid of {target}, please.",
                    "{target} can be deleted."),
        "full": ("Please delete {target}. {lookup}Remove only that one, and confirm when it is gone.",
                 "{lookup}Delete {target} and nothing else. Tell me once it is gone."),
        "intent": ("Delete {target}.",),
    },
    "act": {
        "vague": ("I think we should {verb} {target}{with}.", "It is time to {verb} {target}{with}.",
                  "We need to {verb} {target}{with}."),
        "partial": ("Please {verb} {target}{with}.", "Could you {verb} {target}{with}?", "I would like you to {verb} {target}{with}."),
        "full": ("Please {verb} {target}{with}. {lookup}Leave everything else as it is, and confirm when it is done.",
                 "{lookup}{Verb} {target}{with}. Nothing else may change. Let me know once that is done."),
        "intent": ("{Verb} {target}{with}.",),
    },
    "link": {
        "vague": ("{first} and {second} belong together.{with_more}", "{first} should be with {second}.{with_more}"),
        "partial": ("Please add {first} to {second}.{with_more}", "Could you connect {first} with {second}?{with_more}",
                    "Put {first} together with {second}, please.{with_more}"),
        "full": ("Please add {first} to {second}.{with_more} {lookup}Leave everything else as it is, and confirm when it is done.",
                 "{lookup}Connect {first} with {second}.{with_more} Nothing else may change. Let me know once that is done."),
        "intent": ("Add {first} to {second}.{with_more}",),
    },
    "unlink": {
        "vague": ("{first} and {second} do not belong together any more.{with_more}", "{second} should be without {first}.{with_more}"),
        "partial": ("Please take {first} out of {second}.{with_more}", "Could you remove {first} from {second}?{with_more}"),
        "full": ("Please remove {first} from {second}.{with_more} {lookup}Leave everything else as it is, and confirm when it is done.",
                 "{lookup}Take {first} out of {second}.{with_more} Nothing else may change. Let me know once that is done."),
        "intent": ("Remove {first} from {second}.{with_more}",),
    },
    "bulk": {
        "vague": ("{targets} all need the same: {verb} them{with}.", "We should {verb} {targets}{with}."),
        "partial": ("Please {verb} {targets}{with}.", "Could you {verb} {targets} in one go{with}?"),
        "full": ("Please {verb} {targets}{with}. {lookup}Touch only those, and confirm when it is done.",
                 "{lookup}{Verb} {targets}{with} and leave all others alone. Tell me once that is done."),
        "intent": ("{Verb} {targets}{with}.",),
    },
    "read": {
        "vague": ("What about {ask_of}?", "I was wondering about {ask_of}.", "Do you know {ask_of}?"),
        "partial": ("What is {ask_of}?", "Please tell me {ask_of}.", "Could you look up {ask_of}?", "I need to know {ask_of}."),
        "full": ("{lookup}Then tell me {ask_of}, exactly as it is recorded. Change nothing.",
                 "Please look up {ask_of} and tell me the exact value as it is recorded. Do not change anything."),
        "intent": ("Find out {ask_of}.",),
    },
    "check": {
        "vague": ("Do you know {whether}?", "I was wondering {whether}."),
        "partial": ("Please tell me {whether}.", "Could you check {whether}?", "Can you find out {whether}?"),
        "full": ("{lookup}Then tell me, yes or no, {whether}. Change nothing.",
                 "Please check {whether}, and answer with yes or no. Do not change anything."),
        "intent": ("Find out {whether}.",),
    },
    "count": {
        "vague": ("How many {many} {conditions}?", "What is the number of {many} that {conditions}?"),
        "partial": ("How many {many} {conditions}? Please give me the number.", "Please count the {many} that {conditions}.",
                    "Could you tell me how many {many} {conditions}?"),
        "full": ("{lookup}Then count the {many} that {conditions} and tell me the exact number. Change nothing.",
                 "Please find out how many {many} {conditions} and give me the exact number. Do not change anything."),
        "intent": ("Find out how many {many} {conditions}.",),
    },
    "count_all": {
        "vague": ("How many {many} are there?", "How many {many} do we have?"),
        "partial": ("How many {many} are there in total? Please give me the number.", "Please count all {many}.",
                    "Could you tell me how many {many} there are?"),
        "full": ("Please find out how many {many} there are in total and give me the exact number. Do not change anything.",
                 "Count all {many} and tell me the exact number. Change nothing."),
        "intent": ("Find out how many {many} there are.",),
    },
    "list": {
        "vague": ("Which {many} {conditions}? I am after {their}.", "I wonder which {many} {conditions}; {their} will do."),
        "partial": ("Which {many} {conditions}? Please list {their}.", "Please give me {their} of the {many} that {conditions}.",
                    "Could you list {their} of all {many} that {conditions}?"),
        "full": ("{lookup}Then list {their} of all {many} that {conditions}. Leave none out, add no others, and change nothing.",
                 "Please find all {many} that {conditions} and list {their}, complete and without any others. Do not change anything."),
        "intent": ("List {their} of the {many} that {conditions}.",),
    },
    "measure": {
        "vague": ("What does {measure} come to{scope}?", "I was wondering about {measure}{scope}."),
        "partial": ("What is {measure}{scope}?", "Please tell me {measure}{scope}.", "Could you find out {measure}{scope}?"),
        "full": ("{lookup}Please find out {measure}{scope} and give me the exact value. Change nothing.",
                 "Tell me {measure}{scope}, exactly as it is reported. {lookup}Do not change anything."),
        "intent": ("Find out {measure}{scope}.",),
    },
    "say": {
        "vague": ("{wish}.", "I would like this: {wish_small}."),
        "partial": ("Please {wish_small}.", "Could you {wish_small}?"),
        "full": ("Please {wish_small}. {lookup}Leave everything else as it is, and confirm when it is done.",
                 "{lookup}Please {wish_small}. Nothing else may change. Let me know once that is done."),
        "intent": ("{wish}.",),
    },
}  # fmt: skip

DONE = ("Done.", "That is done.", "It is done as you asked.", "All set.")


def sentence(text: str) -> str:
    """Return a text with its first letter capital and single spaces."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]


def fill(frame: str, slots: Mapping[str, str]) -> str:
    """Fill a frame; sentences begin with a capital."""
    text = frame
    for name, value in slots.items():
        text = text.replace("{" + name + "}", value)
    text = re.sub(r'( in the [a-z ]+ "[^"]*")(?: and)? in the ', r"\1 and the ", text)
    # A quotation that ends a sentence brings its own full stop.
    return re.sub(r"([.!?])\"\.(?=\s|$)", r'\1"', sentences(text))


def sentences(text: str) -> str:
    """Return a text in which every sentence that a frame began starts with a capital."""
    text = sentence(text)
    for mark in (". ", "? ", "! "):
        head, *rest = text.split(mark)
        # A quotation may hold such marks; only text outside quotation marks is touched.
        done = head
        for part in rest:
            inside = done.count('"') % 2 == 1
            done += mark + (part if inside or not part else part[:1].upper() + part[1:])
        text = done
    return text


def compose_texts(kind: str, slots: Mapping[str, str], rng: random.Random) -> tuple[Texts, str]:
    """Return the three texts and the intent of a task.

    Args:
        kind: which frames.
        slots: phrases by slot name; ``Name`` is filled from ``name``.
        rng: chooses the frames.
    """
    filled = {"lookup": "", **slots}
    filled.update({name[:1].upper() + name[1:]: sentence(value) for name, value in slots.items() if value})
    if filled["lookup"]:
        filled["lookup"] = filled["lookup"].strip() + " "
    levels = FRAMES[kind]
    texts = {level: fill(rng.choice(levels[level]), filled) for level in ("vague", "partial", "full")}
    intent = fill(rng.choice(levels["intent"]), filled)
    return Texts(**texts), intent
