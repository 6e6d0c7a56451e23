"""What goes wrong when: a pure function of the seed."""
import random
from collections import namedtuple

GATEWAYS = 3
# Of each store.
MACHINES = {"redis": 1, "sentinel": 3, "cluster": 6, "postgres": 1}
# Nothing begins in the first seconds, and in the last ones everything is whole.
FIRST, LAST = 1.0, 2.5

# `begin` and `end` are seconds from the start of the load. `name` is a method of the lane's part of
# the world (stores.py, network.py, gateways.py), and `arguments` what it is called with.
Action = namedtuple("Action", "begin end lane name arguments")

# Seconds of a fault at least and at most.
Fault = namedtuple("Fault", "name shortest longest")

# What a lane does is one after the other, with a rest between; the lanes overlap as they like.
# Who has failed over needs the time to be able to again.
RESTS = {"store": (1.2, 4.0), "network": (1.0, 5.0), "gateway": (0.5, 3.0)}
SLOW_RESTS = RESTS | {"store": (6.0, 9.0)}

OF_ANY_REDIS = [Fault("hang_up", 0, 0), Fault("forget_scripts", 0, 0), Fault("flush", 0, 0)]

STORE_FAULTS = {
    "redis": [
        Fault("crash", 0.1, 3.0),
        Fault("freeze", 0.2, 3.0),
        Fault("stutter", 0.5, 2.0),
        Fault("pause", 0.2, 1.5),
        Fault("fill_up", 0.3, 2.0),
        Fault("refuse_writes", 0.3, 2.0),
        Fault("run_a_script", 0.3, 1.5),
        *OF_ANY_REDIS,
    ],
    "cluster": [
        Fault("crash", 3.0, 5.0),
        Fault("freeze", 0.2, 4.0),
        Fault("fail_over", 0, 0),
        Fault("isolate", 3.0, 5.0),
        Fault("isolate_among_servers", 3.0, 5.0),
        Fault("move_slots", 0.5, 3.0),
        Fault("move_slots", 0.5, 3.0),
        *OF_ANY_REDIS,
    ],
    "postgres": [
        Fault("crash", 0.1, 2.0),
        Fault("restart", 0.1, 2.0),
        Fault("freeze", 0.2, 3.0),
        Fault("lock", 0.3, 2.0),
        Fault("hang_up", 0, 0),
        Fault("flush", 0, 0),
    ],
    "sentinel": [
        Fault("crash", 3.0, 5.0),
        Fault("freeze", 0.2, 4.0),
        Fault("fail_over", 0, 0),
        Fault("crash_replica", 0.2, 3.0),
        Fault("crash_sentinel", 0.2, 3.0),
        Fault("isolate", 3.0, 5.0),
        Fault("isolate_among_servers", 3.0, 5.0),
        *OF_ANY_REDIS,
    ],
}

GATEWAY_FAULTS = [
    Fault("kill", 0.1, 1.5),
    Fault("restart", 0.1, 0.5),
    Fault("freeze", 0.05, 1.5),
    Fault("reload", 0, 0),
]


def schedule(store, seed, seconds):
    """All actions, by their beginning."""
    rests = SLOW_RESTS if store in ("sentinel", "cluster") else RESTS
    of_store = (lambda chance: {"node": chance.randrange(3)}) if store == "cluster" else lambda _: {}
    lanes = {
        "store": (STORE_FAULTS[store], of_store),
        "network": ([Fault("cut", 0.2, 3.0)], lambda chance: _some_cut(chance, MACHINES[store])),
        "gateway": (GATEWAY_FAULTS, lambda chance: {"number": chance.randrange(GATEWAYS)}),
    }
    found = []
    for lane, (faults, arguments) in lanes.items():
        # A string is hashed the same in every process and version.
        chance = random.Random(f"{store} {seed} {lane}")
        found += _lane(lane, faults, arguments, chance, rests[lane], seconds)
    return sorted(found)


def _lane(lane, faults, arguments, chance, rest, seconds):
    now = FIRST + chance.uniform(0, rest[1] / 2)
    deck = []
    while True:
        # Dealt like cards, so that a short run has different ones.
        deck = deck or chance.sample(faults, len(faults))
        fault = deck.pop()
        end = now + chance.uniform(fault.shortest, fault.longest)
        if end > seconds - LAST:
            return
        yield Action(round(now, 3), round(end, 3), lane, fault.name, arguments(chance))
        now = end + chance.uniform(*rest)


def _some_cut(chance, machines):
    gateways = chance.sample(range(GATEWAYS), chance.choice((1, 1, 2, 3)))
    from_all = chance.random() < 0.5
    return {
        "gateways": sorted(gateways),
        "machines": list(range(machines)) if from_all else [chance.randrange(machines)],
        "way": chance.choice(("both", "both", "there", "back")),
    }


def told(action):
    """A line."""
    arguments = " ".join(f"{name}={value}" for name, value in action.arguments.items())
    return f"{action.begin:7.3f} to {action.end:7.3f}  {action.lane}.{action.name} {arguments}".rstrip()
