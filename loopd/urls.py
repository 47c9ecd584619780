"""What Django serves; health, static files, streams and sockets are beside it (`loopd.application`)."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from .metrics import metrics

urlpatterns = [
    path("v1/schema", SpectacularAPIView.as_view(), name="schema"),
    path("v1/docs", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    path("v1/", include("conversations.api.urls")),
    path("v1/", include("unread.api")),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("", include("loopd.pages.urls")),
]
