"""The inventory's lists as a Django REST framework service, for comparison: what a careful author writes by hand.

Two of the resources, with the same fields, envelope, usual filters, token authentication and visibility, on SQLite
with the same durability. Relations are joined, connections kept, indexes those that help Django's queries; there is no
middleware and no log. It keeps no history, knows no grants on single records and no entity tags: that is left out
in the peer's favour.

    python3 -c 'import peer; peer.fill(100000)'    makes the database, prints the tokens as JSON
    python3 -m gunicorn peer:application           serves it

PEER_DATABASE names the file of the database.
"""
import json
import os
import uuid
from datetime import datetime, timedelta, timezone

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of a benchmark",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF="peer",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "rest_framework",
        "rest_framework.authtoken",
        "django_filters",
        "peer",
    ],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": os.environ["PEER_DATABASE"],
            "CONN_MAX_AGE": None,
            "OPTIONS": {"timeout": 30},
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
    TIME_ZONE="UTC",
    USE_I18N=False,
    USE_L10N=False,
    LOGGING_CONFIG=None,
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
        "DEFAULT_RENDERER_CLASSES": [
            "rest_framework.renderers.JSONRenderer",
            "rest_framework.renderers.BrowsableAPIRenderer",
        ],
        "DEFAULT_FILTER_BACKENDS": [
            "django_filters.rest_framework.DjangoFilterBackend",
            "rest_framework.filters.SearchFilter",
            "rest_framework.filters.OrderingFilter",
        ],
        "SEARCH_PARAM": "query",
    },
)
django.setup()

from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.utils.timezone import now  # noqa: E402
from django_filters import rest_framework as filters  # noqa: E402
from rest_framework import pagination, permissions, serializers, viewsets  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.routers import DefaultRouter  # noqa: E402

USERS = 50
GROUPS = 10
TYPES = ["TEXT", "JSON", "OBJECT", "DMAPPANNOTATION"]
FIELD_META = uuid.UUID("00000000-0000-4000-8000-000000000003")


def durable(connection, **_):
    """As the other side has it: a write-ahead log that is on disk before the answer is sent."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")


connection_created.connect(durable)


def to(model, **more):
    return models.ForeignKey(model, models.PROTECT, related_name="+", **more)


class Record(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created = models.DateTimeField(default=now)
    modified = models.DateTimeField(default=now)
    created_by = to(User)
    modified_by = to(User)
    owner = to(User)
    owned_by = to(Group)
    public = models.BooleanField(default=False)
    deleted = models.BooleanField(default=False)
    description = models.TextField(blank=True, default="")

    class Meta:
        abstract = True


class Reference(models.Model):
    """What records refer to: field meta, categories, equipment, places."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.TextField()

    class Meta:
        app_label = "peer"


def text(default=""):
    return models.TextField(blank=True, default=default)


def of_what_is_there(name, *fields):
    """An index in the order of the list: Django writes NOT deleted, for which no ordinary index is used."""
    return models.Index(fields=fields, name=name, condition=models.Q(deleted=False))


class AnnotationType(Record):
    name = models.TextField()
    choice_label = text()
    type = models.TextField()
    label = text()
    help_text = text()
    default = text()
    has_default = models.BooleanField(default=False)
    multiple = models.BooleanField(default=False)
    is_protocol_parameter = models.BooleanField(default=False)
    autocomplete = text()
    searchable = models.BooleanField(default=True)
    readonly = models.BooleanField(default=False)
    sortable = models.BooleanField(default=True)
    cv_category = to(Reference, null=True, blank=True)
    mandatory = models.BooleanField(default=False)
    validations = models.JSONField(default=list)
    visibility = text("ALWAYS")
    edit_visibility = text("ALWAYS")
    list_visibility = text("ALWAYS")
    value_choices = models.JSONField(null=True, blank=True)
    choices_value = text("id")
    choices_label = text("name")
    preferred_view_widget = text("TEXT")
    preferred_edit_widget = text("TEXTINPUT")
    preferred_list_widget = text("TEXT")
    field_meta = to(Reference, default=FIELD_META)

    class Meta:
        app_label = "peer"
        indexes = [
            of_what_is_there("type_name", "name", "id", "public", "owner", "owned_by"),
            models.Index(fields=["type", "name"]),
            # Holds all that counting looks at.
            models.Index(fields=["deleted", "public", "owner", "owned_by"]),
        ]


class Location(Record):
    label = models.TextField()
    equipment = to(Reference, null=True, blank=True)
    place = to(Reference, null=True, blank=True)

    class Meta:
        app_label = "peer"
        indexes = [
            of_what_is_there("location_label", "label", "id", "public", "owner", "owned_by"),
            models.Index(fields=["deleted", "public", "owner", "owned_by"]),
        ]


class RecordSerializer(serializers.ModelSerializer):
    created_by = serializers.SlugRelatedField("username", read_only=True)
    modified_by = serializers.SlugRelatedField("username", read_only=True)
    created = serializers.SerializerMethodField()
    modified = serializers.SerializerMethodField()

    def moment(self, record, name):
        value = getattr(record, name).isoformat(timespec="microseconds")
        return {"name": name, "value": value, "category": "property"}

    def get_created(self, record):
        return self.moment(record, "created")

    def get_modified(self, record):
        return self.moment(record, "modified")


class AnnotationTypeSerializer(RecordSerializer):
    url = serializers.SerializerMethodField()
    permissions = serializers.SerializerMethodField()
    unit_choices_api = serializers.SerializerMethodField()
    choices_api = serializers.SerializerMethodField()
    owner = serializers.SlugRelatedField("username", read_only=True)
    owned_by = serializers.SlugRelatedField("name", queryset=Group.objects.all(), required=False)

    def get_url(self, record):
        request = self.context["request"]
        return request.build_absolute_uri(f"/api/v2/annotationtypes/{record.id}/?format=api")

    def get_permissions(self, record):
        user = self.context["request"].user
        mine = user.is_superuser or record.owner_id == user.id
        return {"public": record.public, "actions": {"change": True, "delete": True} if mine else {}}

    def get_unit_choices_api(self, record):
        return None

    def get_choices_api(self, record):
        return None

    class Meta:
        model = AnnotationType
        fields = """url id created_by modified_by created modified name choice_label description public permissions
            unit_choices_api type label help_text default has_default multiple is_protocol_parameter autocomplete
            searchable readonly sortable cv_category mandatory validations visibility edit_visibility list_visibility
            value_choices choices_value choices_label choices_api preferred_view_widget preferred_edit_widget
            preferred_list_widget field_meta owner owned_by""".split()


class LocationSerializer(RecordSerializer):
    # Accepted, and not among the fields that are shown.
    description = serializers.CharField(write_only=True, required=False)

    class Meta:
        model = Location
        fields = "id created_by modified_by created modified label description equipment place".split()


class RecordFilter(filters.FilterSet):
    description = filters.CharFilter(lookup_expr="icontains")
    owner = filters.CharFilter("owner__username")
    created_by = filters.CharFilter("created_by__username")
    modified_by = filters.CharFilter("modified_by__username")
    owned_by = filters.CharFilter("owned_by__name")


class AnnotationTypeFilter(RecordFilter):
    name = filters.CharFilter(lookup_expr="istartswith")

    class Meta:
        model = AnnotationType
        fields = ["id", "created", "modified", "public", "type", "label"]


class LocationFilter(RecordFilter):
    name = filters.CharFilter("label", lookup_expr="istartswith")

    class Meta:
        model = Location
        fields = ["id", "created", "modified", "public", "deleted", "label", "equipment", "place"]


class Pages(pagination.PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_paginated_response(self, data):
        return Response(
            {
                "previous": self.get_previous_link(),
                "next": self.get_next_link(),
                "current": self.page.number,
                "total": self.page.paginator.count,
                "total_pages": self.page.paginator.num_pages,
                "results": data,
            }
        )


class OwnersWrite(permissions.BasePermission):
    def has_object_permission(self, request, view, record):
        user = request.user
        return request.method in permissions.SAFE_METHODS or user.is_superuser or record.owner_id == user.id


class Records(viewsets.ModelViewSet):
    pagination_class = Pages
    permission_classes = [permissions.IsAuthenticatedOrReadOnly, OwnersWrite]

    def get_queryset(self):
        """What the caller may see: what is public, their own, and their groups'."""
        found = super().get_queryset().filter(deleted=False)
        user = self.request.user
        if user.is_superuser:
            return found
        seen = models.Q(public=True)
        if user.is_authenticated:
            groups = user.groups.values_list("id", flat=True)
            seen |= models.Q(owner=user) | models.Q(owned_by__in=list(groups))
        return found.filter(seen)

    def perform_create(self, serializer):
        user = self.request.user
        people = {"created_by": user, "modified_by": user, "owner": user}
        serializer.save(**people, owned_by=user.groups.order_by("id").first())

    def perform_update(self, serializer):
        serializer.save(modified_by=self.request.user, modified=now())


class AnnotationTypes(Records):
    queryset = AnnotationType.objects.order_by("name", "id").select_related(
        "created_by", "modified_by", "owner", "owned_by"
    )
    serializer_class = AnnotationTypeSerializer
    filterset_class = AnnotationTypeFilter
    search_fields = ["name"]
    ordering_fields = ["name", "label", "type", "created", "modified", "owner__username"]


class Locations(Records):
    queryset = Location.objects.select_related("created_by", "modified_by").order_by("label", "id")
    serializer_class = LocationSerializer
    filterset_class = LocationFilter
    search_fields = ["label"]
    ordering_fields = ["label", "created", "modified", "created_by__username"]


router = DefaultRouter()
router.register("annotationtypes", AnnotationTypes)
router.register("locations", Locations)
urlpatterns = [path("api/v2/", include(router.urls))]


def fill(records):
    """Makes the data by the rule of rest.bench.ts, and prints the tokens of admin and user0."""
    call_command("migrate", verbosity=0)
    with connection.schema_editor() as editor:
        for model in (Reference, AnnotationType, Location):
            editor.create_model(model)
    admin = User.objects.create(username="admin", is_superuser=True)
    groups = [Group.objects.create(name=f"Group {i}") for i in range(GROUPS)]
    users = [User.objects.create(username=f"user{i}") for i in range(USERS)]
    for i, user in enumerate(users):
        user.groups.add(groups[i % GROUPS])
    admin.groups.add(groups[0])
    Reference.objects.create(id=FIELD_META, name="default")
    epoch = datetime.fromtimestamp(1_700_000_000, timezone.utc)

    def common(kind, i):
        at = epoch + timedelta(microseconds=i)
        user = users[i % USERS]
        return {
            "id": uuid.UUID(f"{kind}0000000-0000-4000-8000-{i:012d}"),
            "description": f"Description of thing {i}, number {i * 104729 % 1000} of its kind",
            **{"created": at, "modified": at, "created_by": user, "modified_by": user, "owner": user},
            **{"owned_by": groups[i % GROUPS], "public": i % 2 == 1},
        }

    def annotation_type(i):
        name = f"type_{i * 7919 % records:07d}"
        return AnnotationType(**common(1, i), name=name, label=name, choice_label=name, type=TYPES[i % len(TYPES)])

    def location(i):
        return Location(**common(2, i), label=f"Box {i}")

    with transaction.atomic():
        for start in range(0, records, 10_000):
            these = range(start, min(start + 10_000, records))
            AnnotationType.objects.bulk_create(map(annotation_type, these))
            Location.objects.bulk_create(map(location, these))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    tokens = {user.username: Token.objects.create(user=user).key for user in (admin, users[0])}
    print(json.dumps(tokens), flush=True)


application = get_wsgi_application()
