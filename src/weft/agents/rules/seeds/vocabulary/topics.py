"""Titles, short names and sentences of common domains, and which entity words belong to which domain."""

from typing import NamedTuple


class Topic(NamedTuple):
    """Words of a domain.

    Attributes:
        subjects: what things are about, in title case.
        forms: patterns of titles with ``{0}`` for a subject.
        names: short names of things, as a catalogue would hold.
        sentences: texts with ``{0}`` for the row's own subject in lower case.
    """

    subjects: tuple[str, ...]
    forms: tuple[str, ...]
    names: tuple[str, ...]
    sentences: tuple[str, ...]


TOPICS: dict[str, Topic] = {
    "general": Topic(
        ("Quarterly Budget", "Office Move", "Vendor Review", "Hiring Plan", "Customer Survey", "Training Week",
         "Annual Report", "Safety Audit", "Launch Checklist", "Team Offsite", "Supplier Contract", "Brand Refresh"),
        ("{0}", "{0} Draft", "{0} Follow-up", "Notes on {0}", "{0} Summary"),
        ("Riverside", "Northgate", "Summit", "Cedar", "Horizon", "Beacon", "Harvest", "Keystone", "Lantern", "Maple",
         "Orbit", "Prairie", "Quartz", "Rowan", "Sierra", "Timber", "Umber", "Violet", "Willow", "Zephyr"),
        ("The {0} needs a decision before the end of the month.", "Everyone agreed on the scope of the {0}.",
         "Two open questions about the {0} remain.", "Costs for the {0} came in below the estimate.",
         "Please read the latest version of the {0} and comment.", "The {0} was discussed with the regional team."),
    ),
    "commerce": Topic(
        ("Ceramic Mug", "Trail Backpack", "Desk Lamp", "Wool Blanket", "Steel Bottle", "Linen Shirt",
         "Pour-over Kettle",
         "Noise-cancelling Headphones", "Yoga Mat", "Leather Wallet", "Garden Shears", "Travel Pillow"),
        ("{0}", "{0} Set", "{0} Large", "{0} Mini", "{0} Limited Edition"),
        ("Aurora", "Basalt", "Clover", "Drift", "Ember", "Fjord", "Grove", "Haven", "Iris", "Juno", "Kite", "Lagoon"),
        ("The {0} ships in recycled packaging.", "A customer asked whether the {0} can be exchanged.",
         "Stock of the {0} is replenished every second week.", "The {0} arrived with a scratched lid.",
         "Reviewers praise the {0} for its finish.", "The {0} is part of the spring range."),
    ),
    "software": Topic(
        ("Login Timeout", "Search Index", "Payment Webhook", "Dark Mode", "Cache Eviction", "Rate Limiter",
         "CSV Export",
         "Onboarding Flow", "Audit Log", "Image Upload", "Session Cookie", "Retry Queue"),
        ("{0} fails under load", "Improve {0}", "Add tests for {0}", "Document {0}", "{0} regression", "Refactor {0}"),
        ("atlas", "billing-api", "checkout", "data-sync", "edge-proxy", "frontend", "gateway", "identity",
         "jobs-runner",
         "knowledge-base", "ledger", "mailer", "notifier", "orchestrator", "pipeline", "query-cache", "reporting"),
        ("The {0} breaks when two requests arrive at once.",
         "Steps to reproduce the problem with the {0} are attached.",
         "The change to the {0} is behind a feature flag.", "Measured the {0} before and after the patch.",
         "The {0} needs a migration first.", "Reviewed the {0} with the platform team."),
    ),
    "calendar": Topic(
        ("Design Review", "Sprint Planning", "Board Meeting", "Dentist Appointment", "Customer Call", "Budget Workshop",
         "Team Lunch", "Hiring Panel", "Project Kickoff", "One-on-one", "Release Party", "Retrospective"),
        ("{0}", "{0} with Sales", "Weekly {0}", "{0} (moved)", "Remote {0}"),
        ("Work", "Personal", "Team", "Holidays", "Travel", "Family", "Projects", "Interviews"),
        ("Agenda for the {0} is in the shared folder.", "The {0} takes place in the large meeting room.",
         "Please bring your notes to the {0}.", "The {0} was moved by half an hour.",
         "Dial-in details for the {0} follow.", "Lunch is provided after the {0}."),
    ),
    "mail": Topic(
        ("Invoice Overdue", "Contract Renewal", "Travel Itinerary", "Welcome Pack", "Delivery Delay", "Survey Results",
         "Interview Schedule", "Password Reset", "Newsletter Draft", "Partnership Offer", "Event Invitation",
         "Refund Request"),
        ("{0}", "Re: {0}", "Fwd: {0}", "Reminder: {0}", "Question about {0}"),
        ("Inbox", "Receipts", "Clients", "Newsletters", "Projects", "Archive", "Travel", "Follow up"),
        ("Thanks for sending the details about the {0}.", "Could you confirm the {0} by Friday?",
         "I have attached the file for the {0}.", "Sorry for the late answer about the {0}.",
         "Let us talk about the {0} tomorrow morning.", "The {0} looks fine from our side."),
    ),
    "files": Topic(
        ("Meeting Notes", "Project Plan", "Price List", "Research Summary", "Style Guide", "Travel Policy", "Roadmap",
         "Expense Sheet", "Press Kit", "User Manual", "Test Protocol", "Site Survey"),
        ("{0}", "{0} 2026", "{0} v2", "{0} final", "{0} draft"),
        ("Reports", "Contracts", "Templates", "Photos", "Invoices", "Designs", "Policies", "Research", "Minutes",
         "Exports"),
        ("This version of the {0} replaces the one from last year.", "Figures in the {0} were checked twice.",
         "The {0} lists every open point with an owner.", "See the appendix of the {0} for sources.",
         "The {0} is shared with the whole department.", "Sections two and three of the {0} are new."),
    ),
    "health": Topic(
        ("Morning Run", "Blood Test", "Back Pain", "Annual Check-up", "Sleep Study", "Physiotherapy",
         "Strength Session",
         "Allergy Screening", "Recovery Ride", "Vaccination", "Nutrition Plan", "Interval Training"),
        ("{0}", "{0} follow-up", "{0} results", "Easy {0}", "{0} week 2"),
        ("Push Day", "Pull Day", "Leg Day", "Mobility", "Endurance", "Recovery", "Core", "Cardio"),
        ("The {0} went well and without discomfort.", "Values from the {0} are within the usual range.",
         "Repeat the {0} in four weeks.", "Felt tired after the {0}.", "The {0} was cut short by rain.",
         "Heart rate stayed low during the {0}."),
    ),
    "finance": Topic(
        ("Office Rent", "Cloud Hosting", "Consulting Fee", "Salary Run", "Card Payment", "Equipment Lease",
         "Client Retainer",
         "Tax Instalment", "Travel Advance", "Insurance Premium", "Dividend", "Software Licence"),
        ("{0}", "{0} March", "{0} adjustment", "Monthly {0}", "{0} (corrected)"),
        ("Operating", "Savings", "Payroll", "Petty Cash", "Reserve", "Marketing", "Travel", "Receivables"),
        ("The {0} was booked on the operating account.", "Approval for the {0} came from the controller.",
         "The {0} is due at the end of the month.", "A receipt for the {0} is on file.",
         "The {0} was split over two cost centres.", "Exchange differences on the {0} are small."),
    ),
    "travel": Topic(
        ("Harbour View Hotel", "City Break", "Mountain Lodge", "Airport Transfer", "Old Town Walk", "Island Ferry",
         "Museum Pass", "Night Train", "Vineyard Tour", "Beach Apartment", "Ski Weekend", "Coastal Drive"),
        ("{0}", "{0} for Two", "{0} Deluxe", "Summer {0}", "{0} Extended"),
        ("Seaside", "Parkside", "Central", "Riverside", "Old Town", "Garden", "Lakeview", "Station"),
        ("The {0} includes breakfast.", "Guests of the {0} can check in after three.",
         "The {0} is close to the main station.", "Cancellation of the {0} is free until the day before.",
         "The {0} has a view of the water.", "Luggage can be left at the {0}."),
    ),
    "food": Topic(
        ("Tomato Soup", "Green Curry", "Mushroom Risotto", "Lentil Salad", "Lemon Tart", "Grilled Trout",
         "Chickpea Stew",
         "Beef Noodles", "Apple Crumble", "Falafel Wrap", "Pumpkin Ravioli", "Mango Lassi"),
        ("{0}", "Spicy {0}", "{0} for Four", "Classic {0}", "{0} Special"),
        ("Saffron Table", "The Copper Pot", "Green Fork", "Harbour Grill", "Noodle Corner", "Olive & Thyme",
         "Piri House"),
        ("The {0} takes half an hour to make.", "Serve the {0} with fresh bread.", "The {0} can be made without nuts.",
         "A regular asked for the {0} without onions.", "The {0} sold out before eight.", "Season the {0} at the end."),
    ),
    "media": Topic(
        ("Midnight Harbour", "Paper Lanterns", "The Long Field", "Glass Rivers", "Slow Signals", "Northern Stations",
         "Salt and Cedar", "Empty Theatres", "A Map of Rain", "Second Sunrise", "Quiet Engines", "Letters Home"),
        ("{0}", "{0} (Live)", "{0}, Part II", "The Making of {0}", "{0} Revisited"),
        ("Focus", "Road Trip", "Sunday Morning", "Deep Cuts", "New Arrivals", "Late Night", "Favourites", "Workout"),
        ("Critics called {0} a quiet triumph.", "{0} was recorded in three days.",
         "The second half of {0} is stronger.",
         "{0} reached the weekly charts.", "A remaster of {0} is planned.", "Viewers liked the pacing of {0}."),
    ),
}  # fmt: skip
"""Domain label -> words."""

ENTITY_TOPICS: dict[str, str] = {
    **dict.fromkeys(("product", "item", "order", "cart", "listing", "variant", "sku", "shop", "store", "return",
        "coupon",
                     "discount", "inventory", "shipment", "review", "warehouse", "merchant"), "commerce"),
    **dict.fromkeys(("issue", "bug", "repo", "repository", "branch", "commit", "pull", "merge", "pipeline", "build",
        "deploy",
                     "deployment", "server", "service", "container", "cluster", "node", "pod", "release", "incident",
                     "alert",
                     "monitor", "job", "run", "workflow", "app", "application", "function", "test", "webhook", "bucket",
                     "database", "schema", "table", "collection", "index", "namespace", "dag", "experiment", "model",
                     "dashboard", "environment", "project", "error", "trace", "span", "log", "query", "flag", "droplet",
                     "volume", "image", "registry", "domain", "certificate", "website", "site", "host"), "software"),
    **dict.fromkeys(("event", "meeting", "appointment", "calendar", "schedule", "reminder", "booking", "slot"),
        "calendar"),
    **dict.fromkeys(("email", "mail", "message", "thread", "draft", "mailbox", "campaign", "template", "newsletter",
        "chat",
                     "conversation", "channel", "ticket", "sms"), "mail"),
    **dict.fromkeys(("file", "document", "doc", "folder", "directory", "drive", "attachment", "page", "note", "sheet",
                     "spreadsheet", "presentation", "slide", "paper", "article", "notebook", "block", "wiki",
                     "report"), "files"),
    **dict.fromkeys(("workout", "exercise", "patient", "appointment", "sleep", "activity", "routine", "measurement",
                     "medication", "health"), "health"),
    **dict.fromkeys(("transaction", "invoice", "payment", "account", "expense", "bill", "payout", "charge", "refund",
        "budget",
                     "portfolio", "asset", "trade", "position", "loan", "estimate", "transfer", "balance"), "finance"),
    **dict.fromkeys(("hotel", "flight", "trip", "reservation", "room", "property", "itinerary", "destination",
        "airport"), "travel"),
    **dict.fromkeys(("recipe", "restaurant", "meal", "dish", "menu", "ingredient", "food", "delivery"), "food"),
    **dict.fromkeys(("movie", "film", "song", "track", "album", "playlist", "video", "episode", "podcast", "book",
        "show",
                     "artist", "media", "post", "story"), "media"),
}  # fmt: skip
"""Singular entity word -> domain of its titles."""

PEOPLE = frozenset({
    "user", "person", "people", "contact", "customer", "member", "employee", "author", "assignee", "owner",
    "patient", "lead",
    "attendee", "guest", "driver", "student", "teacher", "doctor", "recipient", "sender", "collaborator", "reviewer",
    "agent",
    "profile", "participant", "follower", "creator", "staff", "candidate", "client", "subscriber", "artist",
    "principal",
    "buyer", "seller", "host", "player", "manager", "technician", "speaker", "organizer",
})  # fmt: skip
"""Entity words whose name is a person's."""

COMPANY_LIKE = frozenset({
    "company", "organization", "organisation", "org", "vendor", "supplier", "merchant", "business", "brand", "employer",
    "partner", "tenant", "workspace", "carrier", "publisher", "manufacturer", "agency", "institution",
})  # fmt: skip
"""Entity words whose name is a company's."""

PLACE_LIKE = frozenset(
    {"city", "location", "place", "destination", "office", "branch_office", "venue", "warehouse", "region"}
)
"""Entity words whose name is a place's."""

CODE_LIKE = frozenset({
    "repo", "repository", "branch", "server", "service", "cluster", "node", "pod", "container", "deployment", "app",
    "application", "bucket", "database", "namespace", "dag", "droplet", "volume", "registry", "pipeline", "job",
    "table",
    "collection", "index", "queue", "function", "environment", "host", "variable", "secret", "key", "schema", "worker",
    "package", "module", "image", "network", "instance", "workload", "topic", "flag",
})  # fmt: skip
"""Entity words whose name is written like an identifier."""

LABEL_LIKE = frozenset({"label", "tag", "category", "type", "status", "priority", "list", "group", "team", "folder",
"calendar",
                        "mailbox", "playlist", "section", "board", "column", "role", "channel", "stage"})  # fmt: skip
"""Entity words whose name is one or two words."""
