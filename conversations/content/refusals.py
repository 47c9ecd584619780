"""What the store refuses, and how the protocol's refusals are answered."""

from __future__ import annotations

from ..agentue.errors import AgentUEError, TooManyBlocks
from ..errors import InvalidRequest, Refusal, TooLarge


class StorageError(Exception):
    """Stored content is missing or damaged: an internal error, never an empty body."""


def refusal(error: AgentUEError) -> Refusal:
    """The domain's answer to a model or an event that the protocol refuses."""
    kind = TooLarge if isinstance(error, TooManyBlocks) else InvalidRequest
    return kind(str(error), code=error.code, path=error.path)
