"""One error per refusal, each with a stable `code`, the `path` of the offending value and a message for a person."""

from __future__ import annotations


class AgentUEError(ValueError):
    """A model or an event that the protocol refuses; whatever it would have changed is untouched."""

    code = "refused"

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class WrongType(AgentUEError):
    """Another JSON type than the protocol has at this place."""

    code = "wrong_type"


class MissingMember(AgentUEError):
    code = "missing_member"


class UnknownMember(AgentUEError):
    """A member that this envelope, or this op, does not have."""

    code = "unknown_member"


class UnknownOp(AgentUEError):
    code = "unknown_op"


class UnknownVersion(AgentUEError):
    code = "unknown_version"


class BadSequence(AgentUEError):
    """`seq` is not a whole number from 0 to `SEQ_MAX`."""

    code = "bad_sequence"


class BadNumber(AgentUEError):
    """NaN, an infinity, or an integer beyond 64 bits: no database and no browser keeps it."""

    code = "bad_number"


class BadString(AgentUEError):
    """A lone surrogate: it has no UTF-8 form."""

    code = "bad_string"


class NotJson(AgentUEError):
    """A value that JSON does not have."""

    code = "not_json"


class TooDeep(AgentUEError):
    code = "too_deep"


class TooLong(AgentUEError):
    """An identifier longer than its limit."""

    code = "too_long"


class TooManyBlocks(AgentUEError):
    code = "too_many_blocks"


class DuplicateBlock(AgentUEError):
    code = "duplicate_block"


class IncompleteBlock(AgentUEError):
    """Neither a complete inline block (`id` and `type`) nor a reference."""

    code = "incomplete_block"


class MalformedReference(AgentUEError):
    """A reference is exactly `{id, ref}`, both filled strings."""

    code = "malformed_reference"


class ReferenceVersion(AgentUEError):
    """References need version 1.1."""

    code = "reference_version"


class UnresolvedReference(AgentUEError):
    """A field of a block whose body is elsewhere cannot be changed."""

    code = "unresolved_reference"


class BadErrorObject(AgentUEError):
    """`meta.error` is null or an object with string `code` and `message`."""

    code = "bad_error_object"


class BadMask(AgentUEError):
    code = "bad_mask"


class ProtectedField(AgentUEError):
    """`block.id` and `block.ref` are what they were created as."""

    code = "protected_field"


class MissingValue(AgentUEError):
    """The payload holds nothing at the masked path."""

    code = "missing_value"


class MissingBlock(AgentUEError):
    """The event names a block that the model does not have."""

    code = "missing_block"


class BlockedPath(AgentUEError):
    """The masked path leads through a value that is not an object."""

    code = "blocked_path"


class NotAppendable(AgentUEError):
    """Only a string extends a string, and a list a list."""

    code = "not_appendable"


class ClientReference(AgentUEError):
    """Chat content from outside carries whole blocks; where they lie is the server's own business."""

    code = "client_reference"


class ControlledMeta(AgentUEError):
    """`meta.output` and `meta.human` are written by the server alone."""

    code = "controlled_meta"


class ControlledBlock(AgentUEError):
    """Human cards and the replies to them are made by the server alone."""

    code = "controlled_block"
