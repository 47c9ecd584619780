from __future__ import annotations

from django.apps import AppConfig


class LoopdConfig(AppConfig):
    name = "loopd"
    verbose_name = "loopd"

    def ready(self) -> None:
        from .bootstrap import build

        build()
