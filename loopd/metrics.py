"""`/metrics` for Prometheus, with a bearer token like everything else."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from rest_framework.decorators import api_view
from rest_framework.request import Request


@extend_schema(exclude=True)
@api_view(["GET"])
def metrics(request: Request) -> HttpResponse:
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)
