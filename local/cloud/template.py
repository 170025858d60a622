"""Reads the SAM template: what of it runs, with every value resolved."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from local.cloud.functions_section import read_function
from local.cloud.intrinsics import Resolver, TemplateError, load_template
from local.cloud.resources import (
    ApiSpec,
    Application,
    FunctionSpec,
    QueueSourceSpec,
    RouteSpec,
    RuleSpec,
    ScheduleSpec,
    TargetSpec,
    arn,
)
from local.cloud.routes_section import read_api

PLAIN_FUNCTION = "AWS::Serverless::Function"


class Template:
    """A template file and the values it is resolved with."""

    def __init__(self, path: Path, parameters: Mapping[str, Any] | None = None) -> None:
        self.root = path.resolve().parent
        self._raw = load_template(path)
        declared = self._raw.get("Parameters", {})
        defaults = {name: _typed_default(body) for name, body in declared.items() if "Default" in body}
        self.parameters = defaults | {name: value for name, value in (parameters or {}).items() if name in declared}
        self._resolver = Resolver(
            {**self.parameters}, self._raw.get("Conditions", {}), self._raw.get("Mappings", {}), {}
        )

    def missing_parameters(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Name and declaration of the parameters that have no value yet."""
        for name, body in self._raw.get("Parameters", {}).items():
            if name not in self.parameters:
                yield name, body

    def resources(self, *types: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Logical id and unresolved properties of the resources of some types whose condition holds."""
        for name, body in self._raw.get("Resources", {}).items():
            condition = body.get("Condition")
            if body["Type"] in types and (condition is None or self._resolver.condition(condition)):
                yield name, body.get("Properties", {})

    def resolve(self, value: Any) -> Any:
        """A value with its intrinsic functions replaced. Raises TemplateError for what is not known (yet)."""
        return self._resolver.resolve(value)

    def resolve_with(self, value: Any, attributes: Mapping[str, Any]) -> Any:
        """The same, where resources have these attributes (`Name`, `Name.Arn`…)."""
        return replace(self._resolver, attributes=attributes).resolve(value)

    def read(self, attributes: Mapping[str, Any], timeouts: Mapping[str, float] | None = None) -> Application:
        """The application.

        `attributes` has what was created outside (queues, keys: `Name`, `Name.Arn`…); names of functions and buses are
        added here. `timeouts` overrides functions' timeouts by logical id, in seconds.
        """
        self._resolver.attributes = {**attributes, **self._name_resources()}
        functions = {name: self._read_function(name, body) for name, body in self.resources(PLAIN_FUNCTION)}
        for name, seconds in (timeouts or {}).items():
            functions[name] = replace(functions[name], timeout=seconds)
        by_arn = {spec.arn: name for name, spec in functions.items()}
        return Application(
            functions=functions,
            buses=("default", *(self.resolve(body["Name"]) for _, body in self.resources("AWS::Events::EventBus"))),
            rules=tuple(self._read_rules(functions)),
            schedules=tuple(self._read_schedules(functions)),
            queue_sources=tuple(self._read_queue_sources(functions)),
            api=self._read_api(by_arn),
        )

    def _name_resources(self) -> dict[str, Any]:
        names: dict[str, Any] = {}
        for name, body in self.resources(PLAIN_FUNCTION):
            function = self.resolve(body.get("FunctionName", name))
            names |= {name: function, f"{name}.Arn": arn("lambda", f"function:{function}")}
        for name, body in self.resources("AWS::Events::EventBus"):
            bus = self.resolve(body["Name"])
            names |= {name: bus, f"{name}.Name": bus, f"{name}.Arn": arn("events", f"event-bus/{bus}")}
        for kind in ("AWS::Serverless::Api", "AWS::Serverless::LayerVersion", "AWS::Logs::LogGroup", "AWS::SNS::Topic"):
            names |= {name: name for name, _ in self.resources(kind)}
        return names

    def _read_function(self, name: str, body: Mapping[str, Any]) -> FunctionSpec:
        versions = self.resources("AWS::Serverless::LayerVersion")
        layers = {layer: self.root / self.resolve(properties["ContentUri"]) for layer, properties in versions}
        shared = self._raw.get("Globals", {}).get("Function", {})
        return read_function(self.root, self.resolve(shared), self.resolve(body), name, layers)

    def _function_events(self, *types: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for function, body in self.resources(PLAIN_FUNCTION):
            for name, event in body.get("Events", {}).items():
                if event["Type"] in types:
                    yield function, f"{function}{name}", self.resolve(event.get("Properties", {}))

    def _read_rules(self, functions: Mapping[str, FunctionSpec]) -> Iterator[RuleSpec]:
        for function, name, event in self._function_events("EventBridgeRule", "CloudWatchEvent"):
            target = read_target(functions[function].arn, event)
            yield RuleSpec(name, event.get("EventBusName", "default"), event["Pattern"], (target,))
        for name, body in self.resources("AWS::Events::Rule"):
            rule = self.resolve(body)
            if "EventPattern" in rule and rule.get("State", "ENABLED") == "ENABLED":
                targets = tuple(read_target(target["Arn"], target) for target in rule.get("Targets", []))
                yield RuleSpec(name, rule.get("EventBusName", "default"), rule["EventPattern"], targets)

    def _read_schedules(self, functions: Mapping[str, FunctionSpec]) -> Iterator[ScheduleSpec]:
        for function, name, event in self._function_events("Schedule", "ScheduleV2"):
            expression = event.get("ScheduleExpression") or event["Schedule"]
            yield ScheduleSpec(name, function, expression, read_target(functions[function].arn, event))
        for name, body in self.resources("AWS::Scheduler::Schedule"):
            schedule = self.resolve(body)
            target = read_target(schedule["Target"]["Arn"], schedule["Target"])
            yield ScheduleSpec(name, name, schedule["ScheduleExpression"], target)

    def _read_queue_sources(self, functions: Mapping[str, FunctionSpec]) -> Iterator[QueueSourceSpec]:
        for function, _, event in self._function_events("SQS"):
            yield QueueSourceSpec(
                event["Queue"],
                functions[function].arn,
                batch_size=int(event.get("BatchSize", QueueSourceSpec.batch_size)),
                partial_failures="ReportBatchItemFailures" in event.get("FunctionResponseTypes", []),
                concurrency=int(event.get("ScalingConfig", {}).get("MaximumConcurrency", QueueSourceSpec.concurrency)),
            )

    def _read_api(self, by_arn: Mapping[str, str]) -> ApiSpec:
        shortcuts = []
        for function, _, event in self._function_events("Api"):
            streaming = event.get("ResponseTransferMode") == "RESPONSE_STREAM"
            shortcuts.append(RouteSpec(event["Method"].upper(), event["Path"], function, streaming))
        for _, body in self.resources("AWS::Serverless::Api"):
            return read_api(self.resolve(body), by_arn, shortcuts)
        return ApiSpec(routes=tuple(shortcuts))


def read_target(target_arn: str, body: Mapping[str, Any]) -> TargetSpec:
    """A target with its retry policy; the defaults are EventBridge's (185 tries, 24 hours)."""
    policy = body.get("RetryPolicy", {})
    dead_letter = body.get("DeadLetterConfig", {}).get("Arn")
    return TargetSpec(
        target_arn,
        retries=int(policy.get("MaximumRetryAttempts", TargetSpec.retries)),
        event_age=float(policy.get("MaximumEventAgeInSeconds", TargetSpec.event_age)),
        dead_letter=dead_letter,
        input=_read_input(body.get("Input")),
    )


def _read_input(value: Any) -> Mapping[str, Any] | None:
    if value is None or isinstance(value, Mapping):
        return value
    loaded = json.loads(value)
    if not isinstance(loaded, dict):
        raise TemplateError("an Input must be a JSON object")
    return loaded


def _typed_default(parameter: Mapping[str, Any]) -> Any:
    if parameter.get("Type") == "CommaDelimitedList":
        return [item for item in str(parameter["Default"]).split(",") if item]
    return parameter["Default"]
