"""First-level domain labels of specs, by the words that they use (Agent-World, Environment Taxonomy Construction).

This is the rules author's labelling of the first level alone: a spec that names its domain keeps it; else the words
of its name,
tools and descriptions vote. The taxonomy in three levels, clustered from the specs themselves, is built on top of it.
"""

import re
from collections import Counter

from weft.records.spec import McpSpec

UNLABELLED = "Communication & General Utilities"

KEYWORDS: dict[str, tuple[str, ...]] = {
    "Search & Information Retrieval": (
        "web", "news", "url", "urls", "crawl", "scrape", "serp", "webpage", "extract", "wikipedia", "snippet",
    ),
    "Academic & Scientific Research": (
        "paper", "papers", "citation", "citations", "arxiv", "pubmed", "doi", "author", "authors", "journal",
        "zotero", "scholar",
    ),
    "Social Media & Community": (
        "tweet", "subreddit", "discord", "guild", "topic", "follower", "followers", "forum", "channel", "channels",
        "reaction", "reactions", "stream", "community",
    ),
    "Finance & Markets": (
        "stock", "stocks", "portfolio", "invoice", "invoices", "payment", "payments", "ledger", "ticker", "account",
        "bill", "bills", "vendor", "option", "dividend", "tax", "journal", "estimate", "financial", "trading",
    ),
    "Cryptocurrency & Web3": ("crypto", "blockchain", "wallet", "token", "defi", "nft", "ethereum", "swap"),
    "Weather & Geospatial": (
        "weather", "forecast", "map", "geocode", "latitude", "longitude", "directions", "elevation", "climate",
        "population", "city", "geo", "isochrone",
    ),
    "Software Development": (
        "repository", "repo", "branch", "commit", "pull", "merge", "issue", "issues", "code", "git", "package",
        "test", "api", "collection", "workflow", "sprint", "project", "projects",
    ),
    "System & Cloud Infrastructure": (
        "server", "servers", "cluster", "deployment", "pod", "kubernetes", "docker", "container", "dns", "domain",
        "vm", "node",
        "droplet", "pipeline", "incident", "incidents", "monitor", "job", "build", "host", "file", "files",
        "directory", "log",
    ),
    "Browser Automation & Testing": ("browser", "click", "screenshot", "page", "selector", "navigate", "dom",
    "console"), "Data Storage & Databases": (
        "database", "table", "tables", "query", "schema", "sql", "index", "document", "documents", "bucket",
        "collection", "dashboard", "dashboards", "dataset",
    ),
    "AI & Machine Learning": ("model", "models", "experiment", "embedding", "prompt", "prompts", "llm", "run",
    "trace", "agent"), "Document & Design": (
        "note", "notes", "notebook", "spreadsheet", "workbook", "worksheet", "sheet", "slide", "presentation",
        "paragraph", "word", "pdf", "design", "figma", "vault", "block", "blocks", "page", "shape",
    ),
    "Communication & General Utilities": (
        "email", "emails", "mail", "mailbox", "message", "messages", "calendar", "event", "events", "contact",
        "contacts", "sms", "call", "chat", "meeting", "task", "tasks", "reminder", "time", "timezone", "conversation",
    ),
    "Business & Sales": (
        "crm", "deal", "deals", "lead", "leads", "campaign", "campaigns", "audience", "company", "companies",
        "opportunity", "ticket", "tickets", "customer", "subscriber", "incident",
    ),
    "Commerce & Retail": (
        "order", "orders", "product", "products", "cart", "coupon", "refund", "inventory", "shipping", "warehouse",
        "return", "returns", "sku", "restaurant", "menu", "delivery", "app", "apps", "store",
    ),
    "Travel & Transportation": (
        "flight", "flights", "airport", "hotel", "hotels", "booking", "bookings", "reservation", "listing", "trip",
        "aircraft", "airbnb", "train", "room", "itinerary",
    ),
    "Healthcare & Life Sciences": (
        "patient", "patients", "appointment", "appointments", "clinic", "doctor", "medication", "health", "sleep",
        "heart", "disease", "drug",
    ),
    "Sports & Fitness": ("workout", "workouts", "exercise", "activity", "activities", "athlete", "training",
    "segment", "routine"),
    "Media & Entertainment": ("movie", "music", "playlist", "video", "videos", "song", "track", "album", "image",
    "photo"),
    "Home & Internet of Things": ("device", "devices", "light", "sensor", "thermostat", "automation", "entity",
    "scene", "switch"),
}  # fmt: skip
"""Label -> words that speak for it. Order breaks ties."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(text: str) -> list[str]:
    """Return the lower-case words of a text or identifier."""
    return [word.lower() for word in _WORD.findall(text)]


def label(spec: McpSpec) -> str:
    """Return the first-level label of a spec; its own when it names one."""
    if spec.domain:
        return spec.domain
    votes: Counter[str] = Counter()
    votes.update(dict.fromkeys(words(spec.name), 4))
    for tool in spec.tools:
        for word in words(tool.name):
            votes[word] += 3
        for word in words(tool.description[:200]):
            votes[word] += 1
    scores = {name: sum(votes[word] for word in keywords) for name, keywords in KEYWORDS.items()}
    best = max(scores.values(), default=0)
    return next((name for name, score in scores.items() if score == best and best > 0), UNLABELLED)


def labelled(spec: McpSpec) -> McpSpec:
    """Return the spec with its domain filled in."""
    return spec.model_copy(update={"domain": label(spec)})
