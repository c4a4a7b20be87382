"""The data formats. No I/O here: bytes in, records out, and back (see :mod:`weft.records.codec`)."""
