"""The client of the API server: protocols first, and one implementation over aiohttp in ``http``."""
