"""What happens to events that fail: retries, ages, destinations and queues (DESIGN §2.2)."""

from typing import Any

import pytest

from graph.registry import ASSISTANTS
from tests.support.template import Stack, Target

STAGES = {
    "gate": "GateFunction",
    "supervisor": "SupervisorFunction",
    "specialist": "SpecialistFunction",
    "knowledge": "KnowledgeFunction",
}
TO_TURN_FAILED = {"OnFailure": {"Destination": {"Fn::GetAtt": ["TurnFailedFunction", "Arn"]}}}


def rules(stack: Stack) -> list[tuple[Any, Any]]:
    """Pattern and target of every rule."""
    found = stack.of_type("AWS::Events::Rule").values()
    return [(rule["EventPattern"], target) for rule in found for target in rule["Targets"]]


def test_each_stage_event_reaches_exactly_its_stage_function(stack: Stack) -> None:
    reached = {
        (kind, *stages): stack.target(target["Arn"]).function
        for pattern, target in rules(stack)
        for kind in pattern["detail-type"]
        for stages in [pattern.get("detail", {}).get("stage", [])]
    }
    assert reached == {("turn.stage", stage): name for stage, name in STAGES.items()} | {
        ("turn.approved",): "MemoryFunction"
    }


def test_rules_listen_to_our_source_on_our_bus(stack: Stack) -> None:
    for rule in stack.of_type("AWS::Events::Rule").values():
        assert rule["EventBusName"] == {"Ref": "Bus"}
        assert rule["EventPattern"]["source"] == ["oria"]


def test_rule_targets_give_up_after_a_minute_into_a_queue_that_accepts(stack: Stack) -> None:
    for _, target in rules(stack):
        assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] == 60
        assert accepts_from_events(stack, target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0])


def test_rule_targets_run_once_and_report_to_turn_failed(stack: Stack) -> None:
    """Followed to the invoke configuration of the very qualifier that the rule names: another one has the defaults."""
    targets = [stack.target(target["Arn"]) for _, target in rules(stack)]
    assert len(targets) == len(STAGES) + 1
    for target in targets:
        config = stack.invoke_config(target)
        assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 60), target
        assert config["DestinationConfig"] == TO_TURN_FAILED, target


def test_stages_may_invoke_their_destination(stack: Stack) -> None:
    wanted = {"Fn::GetAtt": ["TurnFailedFunction", "Arn"]}
    for name in (*STAGES.values(), "MemoryFunction"):
        statements = stack.statements(name)
        assert any(s["Action"] == "lambda:InvokeFunction" and s["Resource"] == wanted for s in statements), name


def test_turn_failed_retries_twice_and_keeps_what_it_could_not_decide(stack: Stack) -> None:
    config = stack.invoke_config(Target("TurnFailedFunction"))
    assert config["MaximumRetryAttempts"] == 2
    destination = config["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]
    assert destination in stack.of_type("AWS::SQS::Queue")


def test_a_migration_is_tried_once_per_deploy(stack: Stack) -> None:
    assert stack.invoke_config(Target("MigrateFunction"))["MaximumRetryAttempts"] == 0


def test_sweep_runs_every_minute(stack: Stack) -> None:
    assert read_schedules(stack)["SweepFunction"] == "rate(1 minute)"


def test_what_is_due_is_looked_for_every_five_minutes(stack: Stack) -> None:
    assert read_schedules(stack)["RefreshDueFunction"] == "rate(5 minutes)"


def test_schedules_are_not_retried_because_they_come_again(stack: Stack) -> None:
    for schedule in stack.of_type("AWS::Scheduler::Schedule").values():
        config = stack.invoke_config(stack.target(schedule["Target"]["Arn"]))
        assert (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]) == (0, 60)


def test_the_refresh_queue_gives_one_message_at_a_time_to_few_workers_and_keeps_what_fails_three_times(
    stack: Stack,
) -> None:
    (mapping,) = stack.of_type("AWS::Lambda::EventSourceMapping").values()
    assert mapping["BatchSize"] == 1
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "RefreshConcurrency"}}
    redrive = stack.of_type("AWS::SQS::Queue")["RefreshQueue"]["RedrivePolicy"]
    assert redrive["maxReceiveCount"] == 3
    assert redrive["deadLetterTargetArn"] == {"Fn::GetAtt": ["RefreshDeadLetterQueue", "Arn"]}


def test_queues_hide_a_message_for_six_timeouts_of_their_consumer(stack: Stack) -> None:
    for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values():
        queue = stack.of_type("AWS::SQS::Queue")[mapping["EventSourceArn"]["Fn::GetAtt"][0]]
        function = stack.functions[mapping["FunctionName"]["Ref"]]
        assert queue.get("VisibilityTimeout", 30) >= 6 * function["Timeout"]
        assert "RedrivePolicy" in queue


def test_dead_letters_are_kept_two_weeks_and_encrypted(stack: Stack) -> None:
    for name, queue in stack.of_type("AWS::SQS::Queue").items():
        assert queue["MessageRetentionPeriod"] == 1_209_600, name
        assert queue["SqsManagedSseEnabled"] is True, name


@pytest.mark.parametrize("queue", ["BusDeadLetterQueue", "TurnFailedDeadLetterQueue", "RefreshDeadLetterQueue"])
def test_a_dead_letter_raises_an_alarm(stack: Stack, queue: str) -> None:
    dimension = {"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}
    alarms = stack.of_type("AWS::CloudWatch::Alarm").values()
    (alarm,) = (alarm for alarm in alarms if dimension in alarm["Dimensions"])
    assert (alarm["MetricName"], alarm["Threshold"]) == ("ApproximateNumberOfMessagesVisible", 1)


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_failing_turns_raise_an_alarm(stack: Stack, assistant: str) -> None:
    dimension = {"Name": "assistant", "Value": assistant}
    alarms = stack.of_type("AWS::CloudWatch::Alarm").values()
    (alarm,) = (alarm for alarm in alarms if dimension in alarm["Dimensions"])
    assert alarm["MetricName"] == "turns"
    assert {"Name": "outcome", "Value": "failed"} in alarm["Dimensions"]
    for function in stack.functions.values():
        assert function["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"] == alarm["Namespace"]


def test_alarms_tell_somebody(stack: Stack) -> None:
    for name, alarm in stack.of_type("AWS::CloudWatch::Alarm").items():
        assert alarm["AlarmActions"] == [{"Ref": "Alarms"}], name


def read_schedules(stack: Stack) -> dict[str, str]:
    """The expression of each function's schedule."""
    schedules = stack.of_type("AWS::Scheduler::Schedule").values()
    return {stack.target(schedule["Target"]["Arn"]).function: schedule["ScheduleExpression"] for schedule in schedules}


def accepts_from_events(stack: Stack, queue: str) -> bool:
    for policy in stack.of_type("AWS::SQS::QueuePolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            if {"Ref": queue} in policy["Queues"] and statement["Principal"] == {"Service": "events.amazonaws.com"}:
                return bool(statement["Action"] == "sqs:SendMessage" and statement["Condition"])
    return False
