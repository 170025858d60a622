"""What the local cloud reads from a template."""

from pathlib import Path
from typing import Any

import pytest

from local.cloud.functions_section import find_code_root
from local.cloud.intrinsics import Resolver, TemplateError, load_template
from local.cloud.options import ROOT
from local.cloud.resources import Application
from local.cloud.template import Template, read_target

PARAMETERS = ("DatabaseSecretArn", "MigrationDatabaseSecretArn", "OpenAiSecretArn")
JWT = ("JwtIssuer", "JwtAudience", "JwtJwksUrl", "PublicOrigin")


@pytest.fixture(scope="module")
def application() -> Application:
    """The application of the repository's own template."""
    template = Template(ROOT / "template.yaml", {name: f"the-{name}" for name in (*PARAMETERS, *JWT)})
    attributes: dict[str, Any] = {}
    for name, _ in template.resources("AWS::SQS::Queue"):
        attributes |= {name: f"url-{name}", f"{name}.Arn": f"arn:aws:sqs:::{name}", f"{name}.QueueName": name}
    for name, _ in template.resources("AWS::KMS::Key"):
        attributes |= {name: "key", f"{name}.Arn": "key-arn"}
    for name, _ in template.resources("AWS::S3::Bucket"):
        attributes |= {name: "bucket", f"{name}.Arn": "bucket-arn"}
    return template.read(attributes, {"SpecialistFunction": 3})


def test_functions_have_globals_and_their_own_properties(application: Application) -> None:
    gate = application.functions["GateFunction"]

    assert gate.handler == "functions.stage.app.handler"
    assert gate.code_root == ROOT
    assert ROOT / "layers/runtime" in gate.layers
    assert gate.timeout == 15
    assert gate.environ["STAGE"] == "gate"
    assert gate.environ["DATABASE_SECRET_ARN"] == "the-DatabaseSecretArn"
    assert gate.environ["PG_SCHEMA"] == "oria"
    assert gate.retries == 0
    assert gate.event_age == 60
    assert gate.on_failure == application.functions["TurnFailedFunction"].arn


def test_timeouts_can_be_overridden(application: Application) -> None:
    assert application.functions["SpecialistFunction"].timeout == 3


def test_rules_schedules_and_routes_are_found(application: Application) -> None:
    rules = {rule.targets[0].arn: rule for rule in application.rules}
    gate = rules[application.functions["GateFunction"].arn]

    assert gate.bus in application.buses
    assert gate.pattern["detail"] == {"stage": ["gate"]}
    assert gate.targets[0].event_age == 60
    assert gate.targets[0].dead_letter == "arn:aws:sqs:::BusDeadLetterQueue"
    schedules = {schedule.owner: schedule.expression for schedule in application.schedules}
    assert schedules == {"SweepFunction": "rate(1 minute)", "RefreshDueFunction": "rate(5 minutes)"}
    [queue] = application.queue_sources
    assert queue.function_arn == application.functions["RefreshSourceFunction"].arn
    assert (queue.batch_size, queue.partial_failures) == (1, True)
    assert 2 <= queue.concurrency <= 10
    streaming = {(route.method, route.resource) for route in application.api.routes if route.streaming}
    assert ("GET", "/v1/turns/{id}/events") in streaming


def test_intrinsic_functions_resolve(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(
        """
        Conditions: {Big: !And [!Equals [!Ref Size, "2"], !Not [!Equals [a, b]]], Small: !Not [!Condition Big]}
        Value:
          sub: !Sub ["${x}-${Size}-${!Literal}-${Queue.Arn}", {x: !Ref Size}]
          join: !Join [",", [a, !Ref Size, !If [Small, b, !Ref AWS::NoValue]]]
          pick: !Select [1, !Split ["/", "a/b/c"]]
          map: !FindInMap [Sizes, !Ref Size, name]
          import: !ImportValue shared
          absent: !If [Big, !Ref AWS::NoValue, present]
          attribute: !GetAtt Queue.Arn
        """
    )
    loaded = load_template(path)
    mappings = {"Sizes": {"2": {"name": "two"}}}
    attributes = {"Queue.Arn": "arn", "shared": "imported"}
    resolved = Resolver({"Size": 2}, loaded["Conditions"], mappings, attributes).resolve(loaded["Value"])

    assert resolved == {
        "sub": "2-2-${Literal}-arn",
        "join": "a,2",
        "pick": "b",
        "map": "two",
        "import": "imported",
        "attribute": "arn",
    }


@pytest.mark.parametrize("value", [{"Ref": "Nothing"}, {"Fn::GetAtt": ["A", "B"]}, {"Fn::If": ["No", 1, 2]}])
def test_what_does_not_exist_is_named(value: Any) -> None:
    with pytest.raises(TemplateError, match=r"Nothing|A\.B|No"):
        Resolver({}).resolve(value)


def test_the_code_root_is_where_the_handler_is_found(tmp_path: Path) -> None:
    package = tmp_path / "functions" / "one"
    package.mkdir(parents=True)
    (package / "app.py").touch()

    assert find_code_root(package, "app.handler") == package
    assert find_code_root(package, "functions.one.app.handler") == tmp_path
    with pytest.raises(TemplateError, match="other"):
        find_code_root(package, "other.handler")


def test_targets_have_the_defaults_of_eventbridge() -> None:
    target = read_target("arn", {"Input": '{"a": 1}'})

    assert (target.retries, target.event_age, target.dead_letter) == (185, 86_400, None)
    assert target.input == {"a": 1}
