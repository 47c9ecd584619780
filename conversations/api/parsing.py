"""Request bodies: strict JSON, bounded in size and depth."""

from __future__ import annotations

from typing import IO, Any

import orjson
from rest_framework import exceptions, parsers

from conversations.errors import TooLarge

MAX_BODY_BYTES = 8 * 1024 * 1024


class JSONParser(parsers.BaseParser):
    """UTF-8 JSON without NaN, lone surrogates or integers over 64 bits; `TooLarge` over `MAX_BODY_BYTES`."""

    media_type = "application/json"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        body = stream.read(MAX_BODY_BYTES + 1)
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge(f"The request body may have at most {MAX_BODY_BYTES} bytes.")
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise exceptions.ParseError(f"The request body is not valid JSON: {error}") from None
