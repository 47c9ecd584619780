"""Addresses of pages; every conversation has one."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from . import views

urlpatterns = [
    path("login/", views.Login.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", views.home, name="home"),
    path("new/", views.new_workspace, name="new-workspace"),
    path("w/<slug:slug>/", views.workspace, name="workspace"),
    path("w/<slug:slug>/c/<uuid:scope_id>/", views.conversation, name="conversation"),
    path("w/<slug:slug>/c/<uuid:scope_id>/about/", views.about, name="about"),
    path("w/<slug:slug>/c/<uuid:scope_id>/read/", views.read, name="read"),
    path("w/<slug:slug>/c/<uuid:scope_id>/join/", views.join, name="join"),
]
