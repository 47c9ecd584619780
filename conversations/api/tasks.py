"""Tasks: created, listed, shown and changed. Their messages are those of their conversation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_scope, workspace_member
from ..actions.attention import MAX_WATCHERS
from ..actions.tasks import (
    MAX_COLUMN_CHARS,
    MAX_TITLE_CHARS,
    NO_TASK,
    TaskChange,
    change_task,
    create_task,
)
from ..actions.unchanged import UNCHANGED
from ..errors import NotFound
from ..models import Member, Task
from ..models.task import TaskStatus
from ..queries.tasks import listed_tasks, render_tasks
from .messages import validated
from .name_fields import IdField, IdListField, NameField
from .openapi import PAGING, READ, WRITE, paged, query, refusals
from .paging import choice_of, page, text_of, uuid_of


class TaskShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    workspace_id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=TaskStatus.choices)
    column = serializers.CharField(help_text="Of a board; empty where it is in none.")
    assignee_id = serializers.UUIDField(allow_null=True)
    created_by = serializers.UUIDField()
    watch = serializers.BooleanField(allow_null=True, help_text="The caller's own choice; null where there is none.")
    version = serializers.IntegerField(help_text="Rises with every change.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class NewTask(serializers.Serializer[Any]):
    title = NameField(max_length=MAX_TITLE_CHARS)
    assignee_id = IdField(required=False, allow_null=True)
    watcher_ids = IdListField(required=False, max_length=MAX_WATCHERS)


class TaskPatch(serializers.Serializer[Any]):
    title = NameField(max_length=MAX_TITLE_CHARS, required=False)
    status = serializers.ChoiceField(choices=TaskStatus.choices, required=False)
    column = NameField(max_length=MAX_COLUMN_CHARS, allow_blank=True, required=False)
    assignee_id = IdField(allow_null=True, required=False)
    version = serializers.IntegerField(
        min_value=1, max_value=2**53, required=False, help_text="That the caller has seen: 409 where it is another."
    )


class Tasks(APIView):
    @extend_schema(
        operation_id="list_tasks",
        tags=["tasks"],
        parameters=[
            query("status", enum=TaskStatus.values),
            query("assignee_id", "", OpenApiTypes.UUID),
            query("column", "Of a board."),
            *PAGING,
        ],
        responses={200: paged("TaskPage", TaskShape), **refusals(*READ)},
    )
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """The tasks of a workspace that are not archived."""
        member = workspace_member(request.user, workspace_id)
        tasks = listed_tasks(
            member,
            status=choice_of(request, "status", TaskStatus.values),
            assignee_id=uuid_of(request, "assignee_id"),
            column=text_of(request, "column", MAX_COLUMN_CHARS) or None,
        )
        return Response(page(tasks, request, lambda rows: render_tasks(member, rows)))

    @extend_schema(
        operation_id="create_task", tags=["tasks"], request=NewTask, responses={201: TaskShape, **refusals(*WRITE)}
    )
    def post(self, request: Request, workspace_id: UUID) -> Response:
        """A task with its conversation. Nobody's attention is asked for by that alone."""
        given = validated(NewTask, request)
        task = create_task(user=request.user, workspace_id=workspace_id, **given)
        return Response(_rendered(workspace_member(request.user, workspace_id), task), status=201)


class OneTask(APIView):
    @extend_schema(operation_id="get_task", tags=["tasks"], responses={200: TaskShape, **refusals(404)})
    def get(self, request: Request, task_id: UUID) -> Response:
        task = Task.objects.filter(id=task_id).first()
        if task is None:
            raise NotFound(NO_TASK)
        try:
            access = see_scope(request.user, task.scope_id)
        except NotFound:
            raise NotFound(NO_TASK) from None
        return Response(_rendered(access.member, task))

    @extend_schema(
        operation_id="change_task", tags=["tasks"], request=TaskPatch, responses={200: TaskShape, **refusals(*WRITE)}
    )
    def patch(self, request: Request, task_id: UUID) -> Response:
        """Each field that becomes another value is an activity, for the task's watchers and its assignee."""
        given = validated(TaskPatch, request)
        change = TaskChange(**{"assignee_id": UNCHANGED, **given})
        task = change_task(user=request.user, task_id=task_id, change=change)
        return Response(_rendered(workspace_member(request.user, task.workspace_id), task))


def _rendered(member: Member, task: Task) -> dict[str, Any]:
    return render_tasks(member, [task])[0]


urlpatterns = [
    path("workspaces/<uuid:workspace_id>/tasks", Tasks.as_view()),
    path("tasks/<uuid:task_id>", OneTask.as_view()),
]
