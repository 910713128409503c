"""Checks the state machine of stacks/analytics.yaml: it runs its states, with their JSONata, against a model of DynamoDB's
exports.

A history is some weeks of nights in which anything may happen: no run is started or several are, a run is stopped between
any two states, a call fails, an export fails or lasts longer than a day, somebody moves the full export away while a run is
in progress. After each step no day may be left out. After some calm nights the exports must be complete, and runs must
succeed. The model follows what AWS says of ExportTableToPointInTime: periods, the time of recovery, tokens. It stands for
AWS only here; nothing was run there.

    plan.py TEMPLATE HISTORIES
"""

import collections
import heapq
import json
import random
import re
import sys

import jsonata
import yaml

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
BEGIN = 1_767_225_600_000  # 2026-01-01
RECOVERY = 35 * DAY
LATEST = 5 * MINUTE
TOKEN = 8 * HOUR
WEEKS = 12
CALM_NIGHTS = 3
LOST = 0.05
STOPPED = 0.001
MOVED = 0.0002
ANEW = {"FirstExportDidNotEnd", "DaysAreLost", "FullExportIsGone"}
FIELDS = {
    "Task": {"Type", "Resource", "Arguments", "Assign", "Retry", "Catch", "Next"},
    "Choice": {"Type", "Choices", "Default"},
    "Wait": {"Type", "Seconds", "Next"},
    "Fail": {"Type", "Error", "Cause"},
    "Succeed": {"Type"},
}


class Refused(Exception):
    """An error of a call, by its name in Step Functions."""


class Loader(yaml.SafeLoader):
    """YAML with CloudFormation's tags, which are not looked at."""


Loader.add_multi_constructor("!", lambda loader, suffix, node: f"!{suffix}")


def machine(template: str) -> dict:
    """The definition, with its substitutions."""
    definition = yaml.load(template, Loader)["Resources"]["Exports"]["Properties"]["Definition"]
    for name, state in definition["States"].items():
        unknown = set(state) - FIELDS[state["Type"]]
        if unknown:
            sys.exit(f"{name} has fields that this check does not know: {unknown}")
    return substituted(definition)


def substituted(value):
    if isinstance(value, dict):
        return {key: substituted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [substituted(one) for one in value]
    return re.sub(r"\$\{(\w+)\}", r"\1", value) if isinstance(value, str) else value


class World:
    """A bucket, and the exports of a table whose recovery began at some time."""

    def __init__(self, chance: random.Random, recovery_from: int):
        self.now = BEGIN
        self.chance = chance
        self.recovery_from = recovery_from
        self.objects = {}
        self.exports = []
        self.calm = False
        self.is_moved = False

    def call(self, resource: str, arguments: dict) -> dict:
        # An answer that is lost: the call may have had its effect.
        lost = not self.calm and self.chance.random() < LOST
        if lost and self.chance.random() < 0.5:
            raise Refused("States.TaskFailed")
        service, action = resource.split(":")[-2:]
        answer = getattr(self, f"{service}_{action}")(**arguments)
        if lost:
            raise Refused("States.TaskFailed")
        return answer

    def s3_getObject(self, Bucket, Key):  # noqa: N802, N803
        if Key not in self.objects:
            raise Refused("S3.NoSuchKeyException")
        return {"Body": self.objects[Key]}

    def s3_putObject(self, Bucket, Key, Body):  # noqa: N802, N803
        # As JSON: a text has quotes.
        self.objects[Key] = json.dumps(Body)
        return {}

    def s3_listObjectsV2(self, Bucket, Prefix, MaxKeys):  # noqa: N802, N803
        manifests = [f"{one['prefix']}/AWSDynamoDB/{one['arn']}/manifest-files.json" for one in self.completed()]
        return {"KeyCount": min(MaxKeys, sum(key.startswith(Prefix) for key in [*self.objects, *manifests]))}

    def dynamodb_describeExport(self, ExportArn):  # noqa: N802, N803
        export = self.exports[int(ExportArn)]
        return {"ExportDescription": {"ExportStatus": export["outcome"] if self.now >= export["ends"] else "IN_PROGRESS"}}

    def dynamodb_exportTableToPointInTime(self, ClientToken, **request):  # noqa: N802, N803
        for export in self.exports:
            if export["token"] == ClientToken and self.now < export["ends"] + TOKEN:
                if export["request"] != request:
                    raise Refused("DynamoDb.ExportConflictException")
                return {"ExportDescription": {"ExportArn": export["arn"]}}
        period = period_of(request)
        oldest = max(self.recovery_from, self.now - RECOVERY)
        if any(not oldest <= time <= self.now - LATEST for time in period):
            raise Refused("DynamoDb.InvalidExportTimeException")
        if len(period) == 2 and not 15 * MINUTE <= period[1] - period[0] <= DAY:
            raise Refused("DynamoDb.ValidationException")
        takes = self.chance.choice([5 * MINUTE, 20 * MINUTE, HOUR] + ([] if self.calm else [5 * HOUR, 30 * HOUR]))
        outcome = "FAILED" if not self.calm and self.chance.random() < 0.1 else "COMPLETED"
        arn = str(len(self.exports))
        self.exports.append({
            "arn": arn, "token": ClientToken, "request": request, "period": period, "prefix": request["S3Prefix"],
            "ends": self.now + takes, "outcome": outcome,
        })  # fmt: skip
        self.objects[f"{request['S3Prefix']}/AWSDynamoDB/{arn}/_started"] = ""
        return {"ExportDescription": {"ExportArn": arn}}

    def following(self) -> str | None:
        """The first day that is not exported yet."""
        return json.loads(self.objects.get("next/Table", "null"))

    def begin_anew(self) -> None:
        """The operator moves the series out of the way, as the runbook says."""
        if not self.in_progress():
            self.move("")
            self.is_moved = False

    def move_during_a_run(self) -> None:
        """Against the runbook, the operator moves the series, or its full export alone, while a run is in progress. Also
        against it, while a day is being exported: that export still writes where it was told to."""
        if not any(len(one["period"]) == 1 for one in self.in_progress()):
            self.move(self.chance.choice(["", "exports/Table/full"]))
            self.is_moved = True

    def move(self, prefix: str) -> None:
        self.objects = {key: body for key, body in self.objects.items() if not key.startswith(prefix)}
        for one in self.exports:
            if one["prefix"].startswith(prefix) and self.now >= one["ends"]:
                one["prefix"] = "elsewhere"

    def in_progress(self) -> list:
        return [one for one in self.exports if self.now < one["ends"]]

    def completed(self) -> list:
        return [one for one in self.exports if one["outcome"] == "COMPLETED" and self.now >= one["ends"]]


def period_of(request: dict) -> tuple:
    """The moment of a full export, or the two ends of a period."""
    times = request.get("IncrementalExportSpecification")
    texts = (times["ExportFromTime"], times["ExportToTime"]) if times else (request["ExportTime"],)
    return tuple(jsonata.Jsonata(f"$toMillis('{text}')").evaluate(None) for text in texts)


COMPILED = {}


def evaluated(value, world: World, variables: dict, states: dict):
    """A value whose expressions are evaluated, as Step Functions evaluates JSONata."""
    if isinstance(value, dict):
        return {key: evaluated(one, world, variables, states) for key, one in value.items()}
    if not (isinstance(value, str) and value.startswith("{%")):
        return value
    text = value.removeprefix("{%").removesuffix("%}")
    expression = COMPILED.setdefault(text, jsonata.Jsonata(text))
    frame = expression.create_frame()
    expression.register_lambda("millis", lambda: world.now)
    for name, known in (variables | {"states": states}).items():
        frame.bind(name, known)
    result = expression.evaluate(None, frame)
    if result is None:
        raise SystemExit(f"{text} has no value: {variables}")
    return result


def run(definition: dict, world: World):
    """One execution. Yields the milliseconds until its next state, and returns how it ended."""
    variables, attempts = {}, 0
    context = {"Execution": {"StartTime": jsonata.Jsonata(f"$fromMillis({world.now})").evaluate(None)}}
    name = definition["StartAt"]
    while True:
        state = definition["States"][name]
        states = {"context": context}
        if state["Type"] in ("Succeed", "Fail"):
            return state.get("Error", "Done")
        if state["Type"] == "Wait":
            yield state["Seconds"] * 1000
            name = state["Next"]
        elif state["Type"] == "Choice":
            taken = (one["Next"] for one in state["Choices"] if evaluated(one["Condition"], world, variables, states))
            name = next(taken, state["Default"])
        else:
            try:
                states["result"] = world.call(state["Resource"], evaluated(state["Arguments"], world, variables, states))
                new = evaluated(state.get("Assign", {}), world, variables, states)
                variables, name, attempts = variables | new, state["Next"], 0
            except Refused as refused:
                error = str(refused)
                retrier = next((one for one in state.get("Retry", []) if is_of(error, one)), {"MaxAttempts": 0})
                caught = [one["Next"] for one in state.get("Catch", []) if is_of(error, one)]
                if attempts < retrier["MaxAttempts"]:
                    yield retrier["IntervalSeconds"] * retrier["BackoffRate"] ** attempts * 1000
                    attempts += 1
                elif caught:
                    name, attempts = caught[0], 0
                else:
                    return error
            yield 1000


def is_of(error: str, handler: dict) -> bool:
    """Whether a retrier or a catcher is for this error. Any error of a call is a failure of its task."""
    return bool({error, "States.TaskFailed"} & set(handler["ErrorEquals"]))


def history(definition: dict, seed: int) -> collections.Counter:
    """Weeks in which anything may happen, and some calm nights. Returns how the runs ended."""
    chance = random.Random(seed)
    # Recovery may begin in the middle of the first day.
    world = World(chance, BEGIN + chance.choice([-RECOVERY, 10 * HOUR]))
    end = BEGIN + WEEKS * 7 * DAY
    starts = [night + HOUR for night in range(BEGIN, end, DAY) if chance.random() < 0.8]
    starts += [chance.randrange(BEGIN, end) for _ in range(10)]
    starts += [one + chance.randrange(3000) for one in chance.sample(starts, 5)]
    # A silence, after which some histories do not go on by themselves.
    quiet, wakes = chance.randrange(BEGIN, end), chance.choice([0, 10, 20, 40]) * DAY
    starts = [one for one in starts if not quiet <= one < quiet + wakes]
    ends = collections.Counter(simulate(definition, world, starts).values())
    world.calm = True
    for _ in range(2):
        # The last run may have lasted longer.
        end = max(end, world.now - world.now % DAY + DAY)
        nights = [end + night * DAY + HOUR for night in range(CALM_NIGHTS)]
        calm = simulate(definition, world, nights)
        ends.update(calm.values())
        check(world)
        if world.following() == day(nights[-1]) and calm[1] == calm[2] == "Done":
            world.is_moved = False
            check(world)
            return ends
        if not set(calm.values()) & ANEW:
            break
        world.begin_anew()
    raise SystemExit(f"history {seed}: after calm nights the next day is {world.following()}: {calm}")


def simulate(definition: dict, world: World, starts: list) -> dict:
    """Runs side by side, each of which may be stopped between two states. Returns how each ended."""
    running, ends, under_way = [run(definition, world) for _ in starts], {}, set()
    queue = [(start, number) for number, start in enumerate(starts)]
    heapq.heapify(queue)
    while queue:
        world.now, number = heapq.heappop(queue)
        if not world.calm and world.chance.random() < STOPPED:
            ends[number] = "stopped"
            under_way.discard(number)
            continue
        if not world.calm and under_way and world.chance.random() < MOVED:
            world.move_during_a_run()
        try:
            later = world.now + next(running[number])
        except StopIteration as stop:
            ends[number] = stop.value
            under_way.discard(number)
            if stop.value in ANEW and not under_way and not world.calm:
                world.begin_anew()
            continue
        under_way.add(number)
        check(world)
        heapq.heappush(queue, (later, number))
    return ends


def check(world: World) -> None:
    """Nothing is left out: what is read so far is one moment and all days from there to the next one."""
    following = world.following()
    if following is None:
        return
    done = [one for one in world.completed() if one["prefix"].startswith("exports/Table/")]
    full = {one["period"] for one in done if len(one["period"]) == 1}
    days = {one["period"] for one in done if len(one["period"]) == 2}
    until = jsonata.Jsonata(f"$toMillis('{following}')").evaluate(None)
    if not full and world.is_moved:
        # It was moved between IsFullThere and WriteNext, or alone. The next run ends with FullExportIsGone.
        return
    if len(full) != 1:
        raise SystemExit(f"{len(full)} full exports of different times")
    since = full.pop()[0]
    missing = [one for one in range(since, until, DAY) if (one, one + DAY) not in days]
    if missing or since % DAY:
        raise SystemExit(f"{len(missing)} days are missing before {following}")


def day(milliseconds: int) -> str:
    return jsonata.Jsonata(f"$fromMillis({milliseconds}, '[Y0001]-[M01]-[D01]')").evaluate(None)


def main() -> int:
    definition = machine(open(sys.argv[1]).read())
    ends = collections.Counter()
    for seed in range(int(sys.argv[2])):
        ends += history(definition, seed)
    for wanted in ("Done", "ExportFailed", "FirstExportDidNotEnd", "DaysAreLost", "FullExportIsGone", "stopped"):
        if not ends[wanted]:
            sys.exit(f"no history has a run that ended with {wanted}, so the check says little: {dict(ends)}")
    print(f"{sum(ends.values())} runs in {sys.argv[2]} histories")
    return 0


if __name__ == "__main__":
    sys.exit(main())
