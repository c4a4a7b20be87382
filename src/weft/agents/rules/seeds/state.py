"""Initial state from the rules: coherent rows for every table, and files where tools work on them (Weft 3.1.1)."""

from weft.agents.rules.seeds.conditions import meet_conditions
from weft.agents.rules.seeds.constraints import collect
from weft.agents.rules.seeds.facts import EntityWords, entity_words, parse_clock, singular, words_of
from weft.agents.rules.seeds.files import workspace
from weft.agents.rules.seeds.tables import TableSeeder
from weft.records.contract import ContractSet
from weft.records.spec import McpSpec
from weft.records.state import InitialState


def seed_state(spec: McpSpec, contracts: ContractSet, *, seed: int, size: int) -> InitialState:
    """Return the initial state of an environment: the same inputs and seed give the same rows and files.

    Values satisfy their columns' schemas, and those of the arguments and results that hold them where one value can
    satisfy all. Foreign keys are valid and uneven, every enum value occurs where there are enough rows, created and
    updated moments lie before the clock, and planned ones on both sides of it.

    Args:
        spec: the server's spec: its words decide the vocabulary.
        contracts: schema and contracts.
        seed: of every draw.
        size: rows of a main table.
    """
    clock = InitialState().clock
    context = _context(spec)
    words = {
        table.name: entity_words(table.entity or table.name, spec.domain, context) for table in contracts.schema_.tables
    }
    seeder = TableSeeder(
        contracts.schema_, collect(spec, contracts), words, parse_clock(clock), seed=seed, size=max(1, size)
    )
    files = workspace(file_words(spec, context), clock, seed=seed, size=size) if uses_files(contracts) else {}
    rows = meet_conditions(spec, contracts, seeder.seed_all())
    return InitialState(rows=rows, files=files, clock=clock)


def _context(spec: McpSpec) -> list[str]:
    """The singular words of the server's name and tools, for the vote on a domain."""
    names = [spec.name, spec.title, *(tool.name for tool in spec.tools[:60])]
    return [singular(word) for name in names for word in words_of(name)]


def file_words(spec: McpSpec, context: list[str]) -> EntityWords:
    """Return the vocabulary of workspace files."""
    return entity_words("file", spec.domain, context)


def uses_files(contracts: ContractSet) -> bool:
    """True if a contract reads or writes the workspace."""
    return any(
        place == "files" or place.startswith("files.")
        for contract in contracts.contracts
        for case in contract.cases
        for place in (*case.reads, *case.writes)
    )
