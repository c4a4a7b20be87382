"""The rules author of environments (Weft 3.1.1, environment synthesis agent): deterministic, offline."""

from collections.abc import Sequence

from weft.agents.rules.environment.assembly import assemble
from weft.agents.rules.environment.planning import plan_server
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.revision import Overrides, overrides_of, revised
from weft.agents.rules.environment.stated import stated_rules
from weft.agents.rules.seeds import seed_state
from weft.records.contract import Contract, ContractSet
from weft.records.draft import EnvironmentDraft, Finding
from weft.records.spec import McpSpec, Refusal


class RulesEnvironmentAuthor:
    """Drafts environments by rules. Implements :class:`weft.agents.environment.EnvironmentAuthor`."""

    name = "rules"

    def draft(self, spec: McpSpec, *, seed: int, size: int) -> EnvironmentDraft:
        """Draft schema, contracts and seed rows from a spec."""
        return self._draft(spec, Overrides(), seed=seed, size=size)

    def revise(
        self, spec: McpSpec, draft: EnvironmentDraft, findings: Sequence[Finding], *, seed: int, size: int
    ) -> EnvironmentDraft:
        """Draft again: each finding's argument or tool takes its next reading; a tool without one is refused.

        The lists of readings are fixed by the spec (:mod:`weft.agents.rules.environment.ladder`), each round takes one
        from at least one of them or refuses a tool, so it ends.
        """
        overrides = overrides_of(draft)
        rungs = plan_server(spec, overrides.readings).rungs
        overrides = revised(overrides, draft, findings, rungs)
        return self._draft(spec, overrides, seed=seed, size=size)

    def _draft(self, spec: McpSpec, overrides: Overrides, *, seed: int, size: int) -> EnvironmentDraft:
        contracts, refused = draft_contracts(spec, overrides)
        return EnvironmentDraft(
            contracts=contracts,
            seed=seed_state(spec, contracts, seed=seed, size=size),
            refused=tuple(refused),
            readings=dict(sorted(overrides.readings.items())),
        )


def draft_contracts(spec: McpSpec, overrides: Overrides) -> tuple[ContractSet, list[Refusal]]:
    """The schema and contracts of a spec, and the tools that are not served.

    Args:
        spec: the usable tools of one server.
        overrides: readings and refusals that validation asked for.
    """
    plan = plan_server(spec, overrides.readings)
    taken: set[str] = set()
    contracts: list[Contract] = []
    refused: list[Refusal] = []
    for tool in plan.tools:
        subject = f"{spec.name}/{tool.tool.name}"
        earlier = overrides.refusal(tool.tool.name)
        try:
            if earlier is not None:
                raise earlier
            if tool.problem is not None:
                raise tool.problem
            contracts.append(assemble(tool, plan.blueprint, taken))
        except Refused as problem:
            refused.append(problem.refusal(subject))
    schema = plan.blueprint.schema()
    told = {tool.tool.name: tool.tool.description for tool in plan.tools}
    stated = [
        contract.model_copy(update={"stated_rules": stated_rules(told[contract.tool], contract, schema)})
        for contract in contracts
    ]
    return ContractSet(schema=schema, contracts=tuple(stated)), refused
