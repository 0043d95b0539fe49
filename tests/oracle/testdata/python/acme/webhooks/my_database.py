"""Webhooks that change and judge databases."""

from acme.api.v1.my_database import MyDatabase
from pyopscaffold.api import mutating_webhook, validating_webhook


@mutating_webhook(MyDatabase, timeout_seconds=5, namespace_selector="!acme.example.com/ignore")
@validating_webhook(
    MyDatabase,
    operations=["create", "update", "delete"],
    failure_policy="ignore",
    match_conditions={"not-the-operator": "request.userInfo.username != 'system:serviceaccount:acme:operator'"},
)
class MyDatabaseWebhook:
    """Answers nothing yet."""
