"""What a model may measure, apart from its bytes, which the store bounds."""

from __future__ import annotations

MAX_BLOCKS = 10_000
MAX_DEPTH = 28
"""Objects and lists inside each other, the model itself being the first. MariaDB's JSON check ends at 31; three are
left for the server, which may store one block inside another (a question inside its answer)."""
MAX_BLOCK_ID_CHARS = 128
MAX_NAME_CHARS = 128
"""`type`, `biz`, `ref`, `stream_id`, `event_type`."""
MAX_MASK_CHARS = 1024
SEQ_MAX = 2**53 - 1
"""The largest integer that a browser counts exactly."""
INTEGER_MIN = -(2**63)
INTEGER_MAX = 2**64 - 1
