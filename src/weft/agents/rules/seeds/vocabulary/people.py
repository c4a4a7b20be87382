"""People's names, from several languages, as ASCII-safe pairs of display form and login form."""

GIVEN = (
    "Amara", "Lukas", "Priya", "Mateo", "Hana", "Oliver", "Zainab", "Ingrid", "Tomás", "Mei",
    "Samuel", "Chloe", "Yusuf", "Elena", "Kofi", "Astrid", "Rafael", "Noor", "Daniel", "Sofia",
    "Kenji", "Fatima", "Marek", "Isla", "Diego", "Anika", "Henrik", "Lucía", "Omar", "Greta",
    "Thabo", "Nina", "Victor", "Leila", "Pavel", "Grace", "Arjun", "Camille", "Jonas", "Maya",
    "Felix", "Ivana", "Hugo", "Salma", "Peter", "Renée", "Callum", "Yara", "Stefan", "Wei",
)  # fmt: skip
"""Given names."""

FAMILY = (
    "Okafor", "Brandt", "Sharma", "Alvarez", "Sato", "Bennett", "Rahman", "Lindqvist", "Novák", "Chen",
    "Mensah", "Dubois", "Haddad", "Petrova", "Osei", "Nielsen", "Moreira", "Siddiqui", "Keller", "Rossi",
    "Tanaka", "Farouk", "Kowalski", "Fraser", "Castillo", "Iyer", "Johansen", "Ortega", "Mansour", "Vogel",
    "Dlamini", "Horvat", "Laurent", "Azizi", "Sokolov", "Walker", "Menon", "Lefevre", "Weber", "Cohen",
    "Baumann", "Jurić", "Marchetti", "Nasser", "Clarke", "Girard", "Murray", "Saleh", "Ionescu", "Zhang",
)  # fmt: skip
"""Family names."""

JOB_TITLES = (
    "Account Manager", "Product Designer", "Backend Engineer", "Operations Lead", "Data Analyst",
    "Support Specialist", "Marketing Manager", "Finance Partner", "Research Associate", "Sales Director",
    "Quality Engineer", "Office Coordinator", "Site Manager", "People Partner", "Technical Writer",
)  # fmt: skip

DEPARTMENTS = ("Engineering", "Sales", "Operations", "Finance", "Marketing", "Support", "Research", "Legal", "People")

ROLES = ("member", "admin", "editor", "viewer", "owner", "guest", "manager")
