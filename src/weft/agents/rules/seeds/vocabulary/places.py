"""Cities with what belongs to them, so that one row's place is coherent."""

from typing import NamedTuple


class Place(NamedTuple):
    """A city and its facts; latitude and longitude in degrees."""

    city: str
    region: str
    country: str
    code: str
    postal: str
    timezone: str
    latitude: float
    longitude: float
    currency: str
    language: str
    dialling: str


PLACES = (
    Place("Lisbon", "Lisboa", "Portugal", "PT", "1100-148", "Europe/Lisbon", 38.7223, -9.1393, "EUR", "pt", "351"),
    Place("Hamburg", "Hamburg", "Germany", "DE", "20095", "Europe/Berlin", 53.5511, 9.9937, "EUR", "de", "49"),
    Place("Austin", "Texas", "United States", "US", "78701", "America/Chicago", 30.2672, -97.7431, "USD", "en", "1"),
    Place("Osaka", "Osaka", "Japan", "JP", "530-0001", "Asia/Tokyo", 34.6937, 135.5023, "JPY", "ja", "81"),
    Place("Toronto", "Ontario", "Canada", "CA", "M5H 2N2", "America/Toronto", 43.6532, -79.3832, "CAD", "en", "1"),
    Place("Nairobi", "Nairobi", "Kenya", "KE", "00100", "Africa/Nairobi", -1.2921, 36.8219, "KES", "en", "254"),
    Place("Lyon", "Auvergne-Rhône-Alpes", "France", "FR", "69002", "Europe/Paris", 45.764, 4.8357, "EUR", "fr", "33"),
    Place("Pune", "Maharashtra", "India", "IN", "411001", "Asia/Kolkata", 18.5204, 73.8567, "INR", "en", "91"),
    Place("Bogotá", "Cundinamarca", "Colombia", "CO", "110111", "America/Bogota", 4.711, -74.0721, "COP", "es", "57"),
    Place("Leeds", "England", "United Kingdom", "GB", "LS1 4DY", "Europe/London", 53.8008, -1.5491, "GBP", "en", "44"),
    Place("Seattle", "Washington", "United States", "US", "98101", "America/Los_Angeles", 47.6062, -122.3321, "USD",
    "en", "1"),
    Place("Gothenburg", "Västra Götaland", "Sweden", "SE", "411 05", "Europe/Stockholm", 57.7089, 11.9746, "SEK",
    "sv", "46"),
    Place("Valencia", "Valencia", "Spain", "ES", "46002", "Europe/Madrid", 39.4699, -0.3763, "EUR", "es", "34"),
    Place("Melbourne", "Victoria", "Australia", "AU", "3000", "Australia/Melbourne", -37.8136, 144.9631, "AUD", "en",
    "61"),
    Place("Kraków", "Lesser Poland", "Poland", "PL", "31-001", "Europe/Warsaw", 50.0647, 19.945, "PLN", "pl", "48"),
    Place("Seoul", "Seoul", "South Korea", "KR", "04524", "Asia/Seoul", 37.5665, 126.978, "KRW", "ko", "82"),
    Place("Accra", "Greater Accra", "Ghana", "GH", "GA-145", "Africa/Accra", 5.6037, -0.187, "GHS", "en", "233"),
    Place("Denver", "Colorado", "United States", "US", "80202", "America/Denver", 39.7392, -104.9903, "USD", "en", "1"),
    Place("Bologna", "Emilia-Romagna", "Italy", "IT", "40121", "Europe/Rome", 44.4949, 11.3426, "EUR", "it", "39"),
    Place("Singapore", "Singapore", "Singapore", "SG", "048616", "Asia/Singapore", 1.3521, 103.8198, "SGD", "en", "65"),
    Place("Curitiba", "Paraná", "Brazil", "BR", "80010-000", "America/Sao_Paulo", -25.429, -49.2671, "BRL", "pt", "55"),
    Place("Cork", "Munster", "Ireland", "IE", "T12 W8KP", "Europe/Dublin", 51.8985, -8.4756, "EUR", "en", "353"),
)  # fmt: skip
"""Cities, in a fixed order."""

STREETS = (
    "Harbour Street", "Mill Lane", "Station Road", "Linden Avenue", "Market Square", "River Walk", "Orchard Way",
    "Castle Hill", "Garden Terrace", "Foundry Street", "Chapel Road", "Bridge Street", "Lake View", "Meadow Close",
)  # fmt: skip
