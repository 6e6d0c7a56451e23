"""What was wrong: answers and incidents against what the documentation promises. Pure."""
from collections import Counter, defaultdict

from chaos import clients, journal
from chaos.limits import LEASE_TIME, LIMITS, TIMEOUT
from chaos.oracle import Grant, Promise

# docs/operations.md: the store decides again at most a second after it is back.
RECOVERY = 1.0
# What a busy machine of two cores adds at most to what is awaited, and to one answer of some ten thousand.
NOISE = 0.150
LATE = 0.400
# What may be told of one kind of problem.
TOLD = 5


class Judge:
    def __init__(self, incidents, lives, noise=NOISE):
        self._incidents, self._noise = incidents, noise
        self._gateways = sorted({gateway for gateway, _ in lives})
        self.lives = lives
        self._excuses = {g: self._excused(g) for g in self._gateways}
        self.problems = []
        self.figures = []

    def _of(self, kind, gateway=None):
        return [
            i for i in self._incidents if i.kind == kind and (gateway is None or gateway in i.gateways)
        ]

    def _excused(self, gateway):
        """When it may be without the store."""
        kinds = (journal.OUTAGE, journal.DOWN, journal.FROZEN)
        slack = RECOVERY + self._noise
        return merged([(i.begin, i.end + slack) for kind in kinds for i in self._of(kind, gateway)])

    def _tell(self, what, cases):
        cases = list(cases)
        if cases:
            self.problems.append(f"{what}: {len(cases)} times: " + "; ".join(map(str, cases[:TOLD])))

    # Each request

    def answers(self, answers):
        self._tell("an answer that nobody should get", (a for a in answers if not self._expected(a)))
        self._tell("decided without the store, which was there", (a for a in answers if self._unexcused(a)))
        self._tell("an answer that took too long", (a for a in answers if self._late(a)))

    @staticmethod
    def _expected(answer):
        limit = LIMITS[answer.limit]
        failed = {
            "open": clients.UNLIMITED,
            "closed": clients.CLOSED,
            "local": clients.IN_PART if limit.share else clients.ALLOWED,
        }[limit.policy]
        return answer.verdict in (clients.ALLOWED, clients.REJECTED, failed)

    def _unexcused(self, answer):
        if answer.verdict in (clients.ALLOWED, clients.REJECTED):
            return False
        return not meets(self._excuses[answer.gateway], answer.sent, answer.answered)

    def _late(self, answer):
        # docs/operations.md: a decision never takes longer than the store's timeout.
        if answer.took <= TIMEOUT + LATE:
            return False
        stands = self._of(journal.FROZEN, answer.gateway) + self._of(journal.DOWN, answer.gateway)
        return not meets([(i.begin, i.end + self._noise) for i in stands], answer.sent, answer.answered)

    def lost(self, lost):
        def unexcused(it):
            down = [(i.begin, i.end) for i in self._of(journal.DOWN, it.gateway)]
            return "no answer" in it.why or not meets(down, it.sent, it.ended)

        self._tell("a request that got no answer", (it for it in lost if unexcused(it)))

    def recoveries(self, answers):
        """After each excuse the next answers of a gateway tell of the store."""
        first, last = min(a.sent for a in answers), max(a.answered for a in answers)
        for gateway in self._gateways:
            begins = [begin for begin, _ in self._excuses[gateway]] + [last]
            nexts = zip((end for _, end in self._excuses[gateway]), begins[1:])
            ends = [end for end, begin in nexts if first < end < min(begin, last) - 0.5]
            decided = [a for a in answers if a.gateway == gateway and a.limit == "closed"]
            for end in ends:
                after = [a for a in decided if end < a.sent < end + 0.5]
                if not any(a.verdict in (clients.ALLOWED, clients.REJECTED) for a in after):
                    self.problems.append(f"gateway {gateway} does not decide by the store at {end:.3f}")

    # What was admitted

    def bounds(self, answers):
        granted = defaultdict(list)
        for a in answers:
            if a.verdict in (clients.ALLOWED, clients.IN_PART):
                granted[a.limit, a.key].append(a)
        for (name, key), admitted in sorted(granted.items()):
            limit = LIMITS[name]
            by_store = [a for a in admitted if a.verdict == clients.ALLOWED]
            if limit.share != 1:
                self._hold(f"{name}-{key}, by the store", self._of_store(limit), by_store)
            if limit.share:
                self._hold(f"{name}-{key}, in all", self._of_all(limit), admitted)
            for gateway in self._gateways:
                here = [a for a in admitted if a.verdict == clients.IN_PART and a.gateway == gateway]
                self._hold(f"{name}-{key}, by gateway {gateway} alone", self._of_part(limit, gateway), here)

    def _hold(self, whose, promise, answers):
        worst = promise.worst([Grant(a.sent, a.answered) for a in answers])
        if worst is None:
            return
        self.figures.append((whose, worst))
        if worst.excess > 1e-6:
            self.problems.append(
                f"{whose}: {worst.admitted} admitted from {worst.begin:.3f} to {worst.end:.3f}, "
                f"{worst.excess:.3f} more than promised"
            )

    def _of_store(self, limit):
        """docs/operations.md: what a store loses makes each bucket full once more."""
        promise = Promise(limit.burst, limit.rate)
        linger = LEASE_TIME if limit is LIMITS["leased"] else 0
        for loss in self._of(journal.LOSS):
            promise.grant(loss.begin, loss.end + RECOVERY + linger, limit.burst)
        for split in self._of(journal.SPLIT):
            end = self._all_know(split)
            promise.grant(split.begin, end, limit.burst)
            promise.faster(split.begin, end, limit.rate)
        return promise

    def _all_know(self, split):
        """When no gateway asks the server any more that was replaced. Who stands still or is cut off
        meanwhile hears of it later."""
        slack = RECOVERY + self._noise
        end = split.end + slack
        hindered = self._of(journal.FROZEN) + self._of(journal.OUTAGE)
        for it in sorted(hindered, key=lambda it: it.begin):
            if it.begin <= end and split.begin <= it.end:
                end = max(end, it.end + slack)
        return end

    def _of_part(self, limit, gateway):
        promise = Promise(limit.burst * limit.share, limit.rate * limit.share)
        for down in self._of(journal.DOWN, gateway):
            promise.grant(down.begin, down.end, limit.burst * limit.share)
        return promise

    def _of_all(self, limit):
        """What the store gives, a full bucket of each gateway that is without it, and its rate for that
        time. While nobody has the store, only theirs."""
        promise = self._of_store(limit)
        for gateway in self._gateways:
            for begin, end in self._excuses[gateway]:
                promise.grant(begin, end, limit.burst * limit.share)
                promise.faster(begin, end, float(limit.rate * limit.share))
            for down in self._of(journal.DOWN, gateway):
                promise.grant(down.begin, down.end, limit.burst * limit.share)
        for begin, end in self._nobody_has_it():
            promise.faster(begin, end, -limit.rate)
        return promise

    def _nobody_has_it(self):
        sure = [
            (i.begin + TIMEOUT + self._noise, i.sure_until)
            for i in self._of(journal.OUTAGE)
            if i.sure_until and len(i.gateways) == len(self._gateways)
        ]
        return merged([(begin, end) for begin, end in sure if begin < end])

    # At the end

    def metrics(self, gateway, since, scraped, answers):
        """Of a gateway that has run since then: it has counted what its clients were told, and is well."""
        for name, expected in (("gateway_store_up", 1), ("gateway_corrections_lost_total", 0)):
            if scraped.count(name) != expected:
                self.problems.append(f"gateway {gateway} has {name} {scraped.count(name):.0f}")
        seen = Counter((a.limit, a.verdict) for a in answers if a.gateway == gateway and a.answered >= since)
        for name in LIMITS:
            counted = {
                outcome: scraped.count("gateway_decisions_total", limit=name, outcome=outcome)
                for outcome in ("allowed", "failed_open", "failed_local", "failed_closed", "rejected")
            }
            told = {
                "allowed": seen[name, clients.ALLOWED] + seen[name, clients.IN_PART],
                "failed_open": seen[name, clients.UNLIMITED],
                "failed_closed": seen[name, clients.CLOSED],
                "rejected": seen[name, clients.REJECTED],
            }
            counted["allowed"] += counted.pop("failed_local")
            if counted != told:
                self.problems.append(f"gateway {gateway} counts {counted} of {name}, clients {told}")


def merged(stretches):
    found = []
    for begin, end in sorted(stretches):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def meets(stretches, begin, end):
    return any(b <= end and begin <= e for b, e in stretches)
