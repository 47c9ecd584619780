"""`/metrics` for Prometheus, with a bearer token like everything else; and the gauges of the process itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from rest_framework.decorators import api_view
from rest_framework.request import Request


@extend_schema(exclude=True)
@api_view(["GET"])
def metrics(request: Request) -> HttpResponse:
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


class Gauges(Collector):
    """Numbers that are read only when they are scraped: `{name: (what it says, read)}`."""

    def __init__(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        self._gauges = gauges
        REGISTRY.register(self)

    def collect(self) -> Iterator[Metric]:
        for name, (says, read) in self._gauges.items():
            yield GaugeMetricFamily(name, says, value=read())
