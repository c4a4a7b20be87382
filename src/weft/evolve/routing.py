"""Routing of attributions to the components that are revised (Weft 3.2.2, targeted component revision). Pure.

Rules, in this order:

1. Failures of the policy, and what the host or a model endpoint lost, select nothing. They do not speak for a component
   either: one attribution with evidence against it outweighs any number of failures of the policy.
2. Attributions to the same component are one selection with all their evidence, each finding once.
3. A task that needs a selected environment is not revised in this round, because what it showed rests on that
   environment: it is certified again as a dependent, and the next round sees what is left. Only a document that is not
   the one its own certificate proves is selected all the same.
4. A task that was blamed both as task and as verifier is revised as a task: its verifier is generated anew with it.
5. Environments come first, then tasks, then verifiers, each by name.
"""

from collections.abc import Mapping, Sequence

from weft.records.evolution import Deferred, Selected
from weft.records.revision import Attribution, Component, EvidenceItem

ORDER = (Component.ENVIRONMENT, Component.TASK, Component.VERIFIER)

BY_HASH = frozenset({"certificate", "state_hash"})
"""Probes that show by themselves that a document is not the certified one."""


def route(
    attributions: Sequence[Attribution], needs: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Selected, ...], tuple[Deferred, ...]]:
    """Select the components to be revised.

    Args:
        attributions: of any number of failures.
        needs: task -> the environments that it needs.

    Returns:
        Each component once, in the order of revision; and what was blamed but left for later, with the rule.
    """
    blamed: dict[tuple[Component, str], list[Attribution]] = {}
    for item in attributions:
        if item.component in ORDER:
            blamed.setdefault((item.component, item.subject), []).append(item)
    environments = {subject for component, subject in blamed if component is Component.ENVIRONMENT}
    selected: list[Selected] = []
    deferred: list[Deferred] = []
    for component, subject in sorted(blamed, key=lambda key: (ORDER.index(key[0]), key[1])):
        group = blamed[component, subject]
        reason = _left_out(component, subject, group, blamed, environments.intersection(needs.get(subject, ())))
        if reason:
            deferred.append(Deferred(component=component, subject=subject, reason=reason))
            continue
        if component is Component.TASK:
            group = [*group, *blamed.get((Component.VERIFIER, subject), [])]
        selected.append(_merged(component, subject, group))
    return tuple(selected), tuple(deferred)


def _left_out(
    component: Component,
    subject: str,
    group: Sequence[Attribution],
    blamed: Mapping[tuple[Component, str], Sequence[Attribution]],
    shaken: frozenset[str] | set[str],
) -> str:
    """Return why a blamed component is not revised, or ""."""
    if component is Component.ENVIRONMENT:
        return ""
    proven = any(item.probe in BY_HASH for one in group for item in one.evidence)
    if shaken and not proven:
        return f"it rests on {', '.join(sorted(shaken))}, which is revised first"
    if component is Component.VERIFIER and (Component.TASK, subject) in blamed:
        return "its task is revised, and its verifier with it"
    return ""


def _merged(component: Component, subject: str, group: Sequence[Attribution]) -> Selected:
    evidence: dict[EvidenceItem, None] = {}
    for one in group:
        evidence.update(dict.fromkeys(one.evidence))
    return Selected(
        component=component,
        subject=subject,
        nodes=tuple(dict.fromkeys(one.node for one in group if one.node)),
        evidence=tuple(evidence),
        attributions=len(group),
    )
