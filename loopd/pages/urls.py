"""Addresses of pages; every conversation has one."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from . import tasks, views

urlpatterns = [
    path("login/", views.Login.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", views.home, name="home"),
    path("new/", views.new_workspace, name="new-workspace"),
    path("w/<slug:slug>/", views.workspace, name="workspace"),
    path("w/<slug:slug>/inbox/", tasks.inbox, name="inbox"),
    path("w/<slug:slug>/tasks/", tasks.tasks, name="tasks"),
    path("w/<slug:slug>/tasks/<uuid:task_id>/", tasks.task, name="task"),
    path("w/<slug:slug>/tasks/<uuid:task_id>/read/", tasks.task_verb, {"verb": "read"}, name="task-read"),
    path("w/<slug:slug>/tasks/<uuid:task_id>/watch/", tasks.task_verb, {"verb": "watch"}, name="task-watch"),
    path("w/<slug:slug>/tasks/<uuid:task_id>/unwatch/", tasks.task_verb, {"verb": "unwatch"}, name="task-unwatch"),
    path("w/<slug:slug>/c/<uuid:scope_id>/", views.conversation, name="conversation"),
    path("w/<slug:slug>/c/<uuid:scope_id>/about/", views.about, name="about"),
    path("w/<slug:slug>/c/<uuid:scope_id>/read/", views.read, name="read"),
    path("w/<slug:slug>/c/<uuid:scope_id>/join/", views.join, name="join"),
]
