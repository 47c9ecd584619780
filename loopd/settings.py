"""Django settings. Everything a deployment may change comes from the environment through `loopd.env`."""

from __future__ import annotations

from csp.constants import NONCE

from . import env

BASE_DIR = env.BASE_DIR
DEBUG = env.flag("DEBUG", False)
SECRET_KEY = env.secret_key()
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "loopd",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "conversations",
    "unread",
    "realtime",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "loopd.problem.ProblemMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "loopd.urls"
ASGI_APPLICATION = "loopd.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": env.database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = env.redis_url()
if REDIS_URL:
    # redis-py 8 ends idle reads after 5 s unless told otherwise; the layer's consumers block for longer.
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None}], "capacity": 1000},
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.home() / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "loopd.pages.assets.VersionedStaticFilesStorage"},
}

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("LOOPD_SECURE_COOKIES", False)
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": ("/v1/docs", "/admin"),
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "connect-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "style-src": ["'self'"],
        "script-src": ["'self'", NONCE],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
    },
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "conversations.api.authentication.BearerAuthentication",
        "conversations.api.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["conversations.api.parsing.JSONParser"],
    "EXCEPTION_HANDLER": "loopd.problem.exception_handler",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "loopd",
    "DESCRIPTION": "People and AI agents in one place: durable messages, exact unread, streamed answers.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SCHEMA_PATH_PREFIX": "/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "conversations.api.openapi.too_large_bodies",
    ],
    "ENUM_NAME_OVERRIDES": {
        "MemberStatus": "conversations.models.workspace.MemberStatus",
        "ConversationStatus": "conversations.models.scope.ScopeStatus",
        "MessageStatus": "conversations.models.message.MessageStatus",
        "ConversationType": "conversations.models.scope.ScopeType",
        "TaskStatus": "conversations.models.task.TaskStatus",
    },
}

DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024

LOOPD_PROFILE = env.profile()
LOOPD_MANAGED_WORKSPACES = env.managed_workspaces()
LOOPD_LEASE_TTL_S = env.duration_s("LOOPD_LEASE_TTL", "15s")
# Threads share one interpreter: more of them help only while they wait for a database across the network.
LOOPD_HTTP_THREADS = env.positive_int("LOOPD_HTTP_THREADS", 8, 256)
LOOPD_HEARTBEAT_S = env.duration_s("LOOPD_HEARTBEAT", "25s", 3600)
LOOPD_STOP_DEADLINE_S = env.duration_s("LOOPD_STOP_DEADLINE", "20s", 600)
LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL_S = env.duration_s("LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_INTERVAL", "30s")
LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_BATCH_SIZE = env.positive_int(
    "LOOPD_UNREAD_RUNTIME_SNAPSHOT_FLUSH_BATCH_SIZE", 1000, 1000
)
LOOPD_UNREAD_RUNTIME_HYDRATE_MAX_CONCURRENCY = env.positive_int("LOOPD_UNREAD_RUNTIME_HYDRATE_MAX_CONCURRENCY", 2, 64)
LOOPD_UNREAD_RUNTIME_HYDRATE_BATCH_SIZE = env.positive_int("LOOPD_UNREAD_RUNTIME_HYDRATE_BATCH_SIZE", 100, 10_000)
LOOPD_MESSAGES_PER_SECOND = env.positive_int("LOOPD_MESSAGES_PER_SECOND", 50, 1_000_000)
LOOPD_MESSAGE_TTL_S = env.duration_s("LOOPD_MESSAGE_TTL", "24h", 365 * 24 * 3600)
# TiDB refuses rows over 6 MiB; 64 KiB of that are left to the other columns.
MESSAGE_ROW_BYTES = env.positive_int("MESSAGE_ROW_BYTES", 6 * 1024 * 1024 - 65_536)
MESSAGE_INLINE_BLOCKS = env.positive_int("MESSAGE_INLINE_BLOCKS", 32)
MESSAGE_INLINE_BYTES = env.positive_int("MESSAGE_INLINE_BYTES", 65_536, at_most=MESSAGE_ROW_BYTES)
MESSAGE_PART_BYTES = env.positive_int("MESSAGE_PART_BYTES", 262_144, 6 * 1024 * 1024)
MESSAGE_META_BYTES = env.positive_int("MESSAGE_META_BYTES", 262_144)
MESSAGE_CONTENT_BYTES = env.positive_int("MESSAGE_CONTENT_BYTES", 32 * 1024 * 1024)
# Every block can be read on its own, so an answer holds at least a row.
MESSAGE_RESPONSE_BYTES = env.positive_int("MESSAGE_RESPONSE_BYTES", 8 * 1024 * 1024, at_least=MESSAGE_ROW_BYTES)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.choice("LOOPD_LOG_LEVEL", "INFO", env.LOG_LEVELS)},
    "loggers": {"django.request": {"level": "ERROR"}, "daphne": {"level": "WARNING"}},
}
