"""Whether more was admitted than is promised, in any stretch of time. Pure."""
import bisect
from collections import namedtuple

# One admitted request: it was admitted at some moment from `sent` to `answered`.
Grant = namedtuple("Grant", "sent answered")

# The stretch of time in which most was admitted beyond the promise: `excess` tokens, which is at most
# 0 if the promise was kept.
Worst = namedtuple("Worst", "excess begin end admitted")


class Promise:
    """What a limit may give in a stretch of time: burst + rate × its length, and what faults add."""

    def __init__(self, burst, rate):
        self._burst = burst
        self.grants = []
        self._rates = [(float("-inf"), rate), (float("inf"), -rate)]

    def grant(self, begin, end, tokens):
        """So many tokens more in every stretch that meets this one: what was lost in it, say."""
        self.grants.append((begin, end, tokens))

    def faster(self, begin, end, rate):
        """So many tokens per second more from `begin` to `end`, or less."""
        self._rates += [(begin, rate), (end, -rate)]

    def worst(self, grants):
        """Of all stretches; None if nothing was admitted.

        All that was sent at `begin` or later and answered by `end` was admitted between. Beginnings
        are tried from the last one back, all ends at once."""
        if not grants:
            return None
        latest_first = sorted(grants, key=lambda g: -g.sent)
        ends = sorted(g.answered for g in grants)
        issued = self.issued(latest_first[-1].sent)
        sums = _Sums([-(issued(b) - issued(a)) for a, b in zip([latest_first[-1].sent] + ends, ends)])
        waiting = sorted(self.grants, key=lambda grant: grant[1])
        found = Worst(float("-inf"), 0, 0, 0)
        for grant in latest_first:
            while waiting and waiting[-1][1] >= grant.sent:
                begin, _, tokens = waiting.pop()
                sums.add(bisect.bisect_left(ends, begin), -tokens)
            sums.add(bisect.bisect_left(ends, grant.answered), 1)
            most, index = sums.most_from(bisect.bisect_left(ends, grant.sent))
            excess = most + issued(grant.sent) - self._burst
            if excess > found.excess:
                found = Worst(excess, grant.sent, ends[index], 0)
        within = sum(g.sent >= found.begin and g.answered <= found.end for g in grants)
        return found._replace(admitted=within)

    def issued(self, start):
        """The tokens that the rates give from `start` to a moment, as a function of it."""
        changes = sorted((max(at, start), rate) for at, rate in self._rates if at < float("inf"))
        moments, totals, slopes = [], [], []
        total, slope = 0.0, 0.0
        for at, rate in changes:
            total += slope * (at - moments[-1]) if moments else 0.0
            slope += rate
            moments.append(at)
            totals.append(total)
            slopes.append(slope)

        def issued(moment):
            i = max(0, bisect.bisect_right(moments, moment) - 1)
            return totals[i] + slopes[i] * (moment - moments[i])

        return issued


class _Sums:
    """Numbers, of which it tells the greatest sum of the first so many."""

    def __init__(self, numbers):
        self._size = 1 << (len(numbers) - 1).bit_length() if len(numbers) > 1 else 1
        padding = [float("-inf")] * (self._size - len(numbers))
        self._sum = [0.0] * self._size + list(numbers) + padding
        # The greatest sum of a node's first numbers, and the last of these.
        self._most = [(0.0, 0)] * self._size + [(n, i) for i, n in enumerate(self._sum[self._size :])]
        for node in range(self._size - 1, 0, -1):
            self._update(node)

    def _update(self, node):
        left, right = 2 * node, 2 * node + 1
        self._sum[node] = self._sum[left] + self._sum[right]
        through, index = self._most[right]
        self._most[node] = max(self._most[left], (self._sum[left] + through, index))

    def add(self, index, number):
        node = self._size + index
        if node >= 2 * self._size:
            return  # after the last end
        self._sum[node] += number
        self._most[node] = (self._sum[node], index)
        while node > 1:
            node //= 2
            self._update(node)

    def most_from(self, index):
        """The greatest sum of those up to `index` or further, and up to which that is."""
        node = self._size + index
        before, total, most = 0.0, self._sum[node], self._most[node]
        while node > 1:
            sibling = node ^ 1
            if sibling > node:
                through, at = self._most[sibling]
                most = max(most, (total + through, at))
                total += self._sum[sibling]
            else:
                before += self._sum[sibling]
            node //= 2
        return before + most[0], most[1]
