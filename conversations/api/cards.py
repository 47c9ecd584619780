"""Human cards: asking people, answering, and how a question stands."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..access import see_message, workspace_member
from ..actions.answering import MAX_TEXT_CHARS, answer
from ..actions.asking import MAX_CHOICES, MAX_TIMEOUT_S, Question, ask
from ..actions.card_ends import settle_cards
from ..agentue.cards import ANSWERS, ASK, CONFIRM, CardStatus
from ..errors import InvalidRequest, NotFound
from ..models import Message
from ..models.message import Purpose
from ..queries.cards import Place, card_state, cards_to_answer
from ..queries.json_values import moment
from ..queries.messages import render_messages
from .fields import ActorField, Flag, Key, Text
from .message_shapes import MessageShape
from .messages import Replies, validated
from .name_fields import IdField
from .openapi import LIMIT, READ, WRITE, paged, query, refusals
from .paging import choice_of, limit_of, text_of

MAX_TITLE_CHARS = 200
MAX_PROMPT_CHARS = 8000
MAX_LABEL_CHARS = 200
MAX_VALUE_CHARS = 200
MAX_DESCRIPTION_CHARS = 1000
MAX_CURSOR_CHARS = 80


@extend_schema_field({"type": "number", "maximum": MAX_TIMEOUT_S})
class Seconds(serializers.Field[float, Any, float, Any]):
    """A JSON number; the action says which."""

    default_error_messages = {"invalid": "Must be a number."}

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, (int, float)):
            self.fail("invalid")
        return float(data)


class Choice(serializers.Serializer[Any]):
    value = Text(max_length=MAX_VALUE_CHARS)
    label = Text(max_length=MAX_LABEL_CHARS)  # type: ignore[assignment]
    description = Text(required=False, allow_null=True, allow_blank=True, max_length=MAX_DESCRIPTION_CHARS)


class Asking(serializers.Serializer[Any]):
    actor = ActorField(help_text="Who asks: the caller's own actor or a role below it.")
    effect_key = Key(help_text="Identity of the question, in this conversation and by this actor.")
    kind = serializers.ChoiceField(choices=[ASK, CONFIRM])
    title = Text(max_length=MAX_TITLE_CHARS)
    prompt = Text(allow_blank=True, max_length=MAX_PROMPT_CHARS)
    timeout_s = Seconds(help_text="From now on; a retry does not move the deadline.")
    choices = serializers.ListField(
        child=Choice(), required=False, allow_null=True, max_length=MAX_CHOICES, help_text="Absent for a text alone."
    )
    allow_other = Flag(required=False)
    confirm_label = Text(required=False, allow_null=True, max_length=MAX_LABEL_CHARS)
    decline_label = Text(required=False, allow_null=True, max_length=MAX_LABEL_CHARS)
    target = ActorField(required=False, allow_null=True, help_text="The only person who may answer.")


class Answer(serializers.Serializer[Any]):
    reply_to_id = IdField(help_text="The question.")
    outcome = serializers.ChoiceField(choices=[each.value for each in ANSWERS])
    value = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_TEXT_CHARS,
        help_text="With success: of a choice, accepted or declined, or a text where the question allows others.",
    )


class AnswerShape(serializers.Serializer[Any]):
    question = MessageShape()
    reply = MessageShape()


class CardShape(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=[each.value for each in CardStatus])
    value = serializers.CharField(required=False, help_text="With success.")
    reason = serializers.CharField(required=False, help_text="With failure.")
    answered_by = serializers.UUIDField(required=False, help_text="The member, with success and dismissed.")
    deadline = serializers.DateTimeField()


class Human(APIView):
    @extend_schema(
        operation_id="human_ask",
        tags=["human"],
        request=Asking,
        responses={
            201: MessageShape,
            200: OpenApiResponse(MessageShape, description="A retry: the first question, as it is now."),
            **refusals(*WRITE, 429),
        },
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """Ask people, with a deadline. The same effect key again is answered with the first question."""
        given = validated(Asking, request)
        actor, effect_key, target = given.pop("actor"), given.pop("effect_key"), given.pop("target", None)
        asked = ask(
            user=request.user,
            scope_id=scope_id,
            actor=(actor["kind"], actor["key"]),
            effect_key=effect_key,
            question=Question(**given, target=None if target is None else (target["kind"], target["key"])),
        )
        return Response(_shown(asked.message), status=201 if asked.created else 200)


class RepliesAndAnswers(Replies):
    @extend_schema(
        operation_id="human_answer",
        tags=["human"],
        request=Answer,
        responses={200: AnswerShape, **refusals(*WRITE, 429)},
    )
    def post(self, request: Request, scope_id: UUID) -> Response:
        """Answer a question, or dismiss it. A 409 has the `status`, `value` and `deadline` of a card that has ended."""
        given = validated(Answer, request)
        done = answer(
            user=request.user,
            scope_id=scope_id,
            question_id=given["reply_to_id"],
            outcome=given["outcome"],
            value=given.get("value"),
        )
        return Response({"question": _shown(done.question), "reply": _shown(done.reply)})


class OneCard(APIView):
    @extend_schema(operation_id="human_state", tags=["human"], responses={200: CardShape, **refusals(404, 413)})
    def get(self, request: Request, message_id: UUID) -> Response:
        """How a question stands."""
        _, message = see_message(request.user, message_id)
        if message.purpose != Purpose.HUMAN_REQUEST:
            raise NotFound("This message asks nothing.")
        settle_cards([message])
        return Response(card_state(message))


class Cards(APIView):
    @extend_schema(
        operation_id="human_pending",
        tags=["human"],
        parameters=[
            query("status", "Of the cards.", enum=[CardStatus.PENDING.value]),
            LIMIT,
            query("cursor", "`next` of the page before."),
        ],
        responses={200: paged("CardPage", MessageShape), **refusals(*READ, 413)},
    )
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """The questions that the caller may answer, the most urgent first."""
        choice_of(request, "status", [CardStatus.PENDING.value])
        member = workspace_member(request.user, workspace_id)
        limit = limit_of(request)
        found = cards_to_answer(member, _place(request), limit + 1)
        more, found = len(found) > limit, found[:limit]
        following = f"{moment(found[-1].human_due_at)}/{found[-1].id}" if more else None
        return Response({"items": render_messages(found), "next": following})


def _place(request: Request) -> Place | None:
    raw = text_of(request, "cursor", MAX_CURSOR_CHARS)
    if not raw:
        return None
    at, _, message_id = raw.partition("/")
    try:
        found = datetime.fromisoformat(at), UUID(message_id)
    except ValueError:
        raise InvalidRequest("cursor must be the `next` of a page.", cursor=raw) from None
    if found[0].tzinfo is None:
        raise InvalidRequest("cursor must be the `next` of a page.", cursor=raw)
    return found


def _shown(message: Message) -> dict[str, Any]:
    rendered = render_messages([message])
    if not rendered:
        raise NotFound("This message does not exist.")
    return rendered[0]


urlpatterns = [
    path("conversations/<uuid:scope_id>/human", Human.as_view()),
    path("conversations/<uuid:scope_id>/replies", RepliesAndAnswers.as_view()),
    path("human/<uuid:message_id>", OneCard.as_view()),
    path("workspaces/<uuid:workspace_id>/human", Cards.as_view()),
]
