from __future__ import annotations

from django.apps import AppConfig


class UnreadConfig(AppConfig):
    name = "unread"
    verbose_name = "Unread runtime"

    def ready(self) -> None:
        from .app import unread_app

        unread_app()
