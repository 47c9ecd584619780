"""The one shape of every error answer."""

from __future__ import annotations

import logging
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.text import Truncator
from rest_framework import exceptions
from rest_framework.response import Response

from conversations.errors import Refusal

logger = logging.getLogger(__name__)

MAX_DETAIL_CHARS = 300
NO_DATABASE = "The database does not answer; try again shortly."
_TYPES = {
    400: "invalid_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "invalid_request",
    406: "invalid_request",
    409: "conflict",
    413: "too_large",
    415: "invalid_request",
    421: "misdirected",
    429: "rate_limited",
    503: "unavailable",
}


def body(kind: str, message: str, fields: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"type": kind, "message": message, "fields": fields or {}}}


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook. What is not known here goes on to `ProblemMiddleware` and becomes a logged 500."""
    if isinstance(error, Refusal):
        answer = Response(body(error.type, error.message, error.fields), status=error.status)
        if (wait := error.fields.get("retry_after_s")) is not None:
            answer["Retry-After"] = str(int(wait) + 1)
        return answer
    if isinstance(error, (Http404, exceptions.NotFound)):
        return Response(body("not_found", "There is nothing here."), status=404)
    if isinstance(error, PermissionDenied):
        return Response(body("forbidden", str(error) or "You may not do this."), status=403)
    if isinstance(error, RequestDataTooBig):
        return Response(body("too_large", "The request body is too large."), status=413)
    if isinstance(error, exceptions.ValidationError):
        detail = _brief(error.detail)
        fields = detail if isinstance(detail, dict) else {"body": detail}
        return Response(body("invalid_request", _first(detail), fields), status=400)
    if isinstance(error, exceptions.APIException):
        answer = Response(
            body(_TYPES.get(error.status_code, "internal"), _first(error.detail)), status=error.status_code
        )
        if header := getattr(error, "auth_header", None):
            answer["WWW-Authenticate"] = header
        if wait := getattr(error, "wait", None):
            answer["Retry-After"] = str(int(wait) + 1)
        return answer
    return None


def _brief(detail: Any) -> Any:
    """DRF's details with each sentence cut: some repeat the value that was refused, however long it is."""
    if isinstance(detail, dict):
        return {name: _brief(value) for name, value in detail.items()}
    if isinstance(detail, list):
        return [_brief(value) for value in detail]
    return Truncator(str(detail)).chars(MAX_DETAIL_CHARS)


def _first(detail: Any, path: str = "") -> str:
    """One readable sentence out of DRF's nested details, naming the field."""
    if isinstance(detail, dict) and detail:
        key, value = next(iter(detail.items()))
        return _first(value, f"{path}.{key}" if path else str(key))
    if isinstance(detail, list) and detail:
        return _first(detail[0], path)
    return f"{path}: {detail}" if path and path != "non_field_errors" else str(detail)


class ProblemMiddleware:
    """Gives `/v1` the error shape where Django itself answers: unknown paths, CSRF, and exceptions nobody expected."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self):
            return self._acall(request)
        return _shaped(request, self.get_response(request))

    async def _acall(self, request: HttpRequest) -> HttpResponse:
        return _shaped(request, await self.get_response(request))

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not request.path.startswith("/v1/"):
            return None
        if isinstance(error, Refusal):
            return JsonResponse(body(error.type, error.message, error.fields), status=error.status)
        if isinstance(error, (Http404, PermissionDenied, SuspiciousOperation)):
            return None
        if isinstance(error, (OperationalError, InterfaceError)):
            logger.error("no database in %s %s: %s", request.method, request.path, error)
            return JsonResponse(body("unavailable", NO_DATABASE), status=503, headers={"Retry-After": "2"})
        logger.exception("unexpected error in %s %s", request.method, request.path)
        return JsonResponse(body("internal", "Something went wrong here; it has been logged."), status=500)


_MESSAGES = {400: "The request could not be read.", 403: "You may not do this.", 404: "There is nothing here."}


def _shaped(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if not request.path.startswith("/v1/") or response.status_code < 400:
        return response
    if response.get("Content-Type", "").startswith("application/json"):
        return response
    kind = _TYPES.get(response.status_code, "internal" if response.status_code >= 500 else "invalid_request")
    message = _MESSAGES.get(response.status_code, "The request was refused.")
    return JsonResponse(body(kind, message), status=response.status_code)
