"""A small believable workspace for tools that work on files (Weft 3.1.1, workspace state)."""

import json

from weft.agents.rules.seeds.draw import stream
from weft.agents.rules.seeds.facts import EntityWords, RowFacts, iso, parse_clock, slug
from weft.records.state import Files

REPORT = '''def total(rows):
    """Sum the quantities."""
    return sum(row["quantity"] for row in rows)
'''


def workspace(words: EntityWords, clock: str, *, seed: int, size: int) -> Files:
    """Return a file tree: a README, documents, notes, tables and settings, and one empty folder.

    Args:
        words: what the files are about.
        clock: the virtual now, RFC 3339.
        seed: of the draws.
        size: number of notes; everything else is fixed in number.
    """
    now = parse_clock(clock)
    facts = [RowFacts(i, words, stream(seed, "file", i), now, max(size, 6), 3) for i in range(max(size, 6))]
    rng = stream(seed, "workspace")
    lead = facts[0]
    people = "".join(f"{f.person.full},{f.person.email},{f.place.city}\n" for f in facts[:8])
    stock = [{"item": f.subject, "quantity": rng.randint(1, 40), "price": rng.randint(4, 90) + 0.5} for f in facts[:5]]
    tasks = "".join(f"[{'x' if f.index % 3 == 0 else ' '}] {f.title}\n" for f in facts[:6])
    files: Files = {
        "README.md": f"# {lead.company}\n\n{lead.sentences(2, rng)}\n\n- docs/: guides\n- data/: tables\n",
        "config/settings.yaml": f"language: {lead.place.language}\ntimezone: {lead.place.timezone}\nretries: 3\n",
        "data/contacts.csv": "name,email,city\n" + people,
        "data/inventory.json": json.dumps(stock, indent=2, ensure_ascii=False) + "\n",
        "docs/archive/": "",
        "docs/faq.md": "# Questions\n" + "".join(f"\n## {f.subject}\n\n{f.sentences(2, rng)}\n" for f in facts[2:5]),
        "docs/guide.md": f"# Guide to the {facts[1].subject}\n\n{facts[1].sentences(3, rng)}\n\nTODO: contact\n",
        "src/report.py": REPORT,
        "todo.txt": tasks,
    }
    for fact in facts[: max(3, size // 2)]:
        day = iso(fact.created)[:10]
        body = fact.sentences(2, rng)
        files[f"notes/{day}-{slug(fact.subject)}.md"] = f"# {fact.title}\n\n{day}, {fact.place.city}\n\n{body}\n"
    return dict(sorted(files.items()))
