"""Public and private documents never share a file."""

import pytest

from weft.errors import FormatError, InputError
from weft.records.library import AtomicLibrary
from weft.records.state import InitialState
from weft.records.task import AtomicSolution, AtomicTask, EnvironmentPin, Texts
from weft.records.verdict import AnswerPart, Verifier
from weft.tasks.files import library_files, read_atomic, task_files

TASK = AtomicTask(
    id="shop-read-1",
    server="shop",
    kind="read",
    intent="Find out the total.",
    environment=EnvironmentPin(name="shop", hash="h", state="s"),
    texts=Texts(vague="a", partial="b", full="c"),
)
SECRET = Verifier(answer=(AnswerPart(name="total", value="seventeen-point-four", kind="text"),))
SOLUTION = AtomicSolution(task="shop-read-1", chain=("get",), reference=(), reply_text="Done.", verifier=SECRET)


def test_the_public_document_holds_nothing_of_the_private_one() -> None:
    files = task_files(TASK, SOLUTION)
    assert sorted(files) == ["private/shop-read-1.json", "tasks/shop-read-1.json"]
    assert b"seventeen" not in files["tasks/shop-read-1.json"]
    assert b"reference" not in files["tasks/shop-read-1.json"]
    assert read_atomic(files, "shop-read-1") == (TASK, SOLUTION)


def test_a_library_report_holds_no_private_part_and_states_are_named_by_content() -> None:
    library = AtomicLibrary(environment="shop", environment_hash="h", tasks=(TASK,), solutions=(SOLUTION,))
    files = library_files(library, [InitialState(), InitialState()])
    assert list(files) == sorted(files)
    assert b"seventeen" not in files["library.json"]
    assert sum(path.startswith("states/") for path in files) == 1
    assert files == library_files(library, [InitialState()])


@pytest.mark.parametrize("name", ["../x", "a/b", "", "A", ".x"])
def test_an_id_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="file name"):
        task_files(TASK.model_copy(update={"id": name}), SOLUTION.model_copy(update={"task": name}))


def test_documents_of_different_tasks_are_refused() -> None:
    with pytest.raises(InputError, match="shop-read-2"):
        task_files(TASK, SOLUTION.model_copy(update={"task": "shop-read-2"}))
    with pytest.raises(FormatError, match="private"):
        read_atomic({"tasks/shop-read-1.json": task_files(TASK, SOLUTION)["tasks/shop-read-1.json"]}, "shop-read-1")
