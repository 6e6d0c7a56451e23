-- A call to the store: questions, decided one after the other. Each takes from all of its buckets, or
-- from none. Begins with token_bucket.lua; every_kind() is bucket.lua, trail.lua, places.lua, penalty.lua
-- and take_any.lua, whose functions are made when the first question needs them: for the usual one that
-- would cost as much as all the rest. Ends with answer.lua.
--
-- KEYS  the bucket of each charge, in the order of ARGV; the same one may come more than once, and
--       what was taken from it before counts. Behind that of a correction its receipt, which is kept
--       for longer than the correction is asked for again; behind that of a limit with a penalty the
--       key of its bans. Last the key of the mark: when tokens that nobody expects were given last.
--       Of a negative number there is none: in a cluster, in which no key is on all nodes
-- ARGV  the call's number, which comes back, so that no reply can pass for another's; how many token
--       buckets' limits follow, and interval and burst of each. Then per question: how many times it
--       is asked, how many charges it has; per charge: cost, enforced
--       (1, or 0 for shadow mode), and the limit's numbers, of places behind them the place's own. If
--       it may wait, 8 is added to that kind, and behind it come the microseconds and the tokens. Of
--       a correction instead: tokens, kind (2 give back, 3 charge, 4 reset, 5 renew a place, which has
--       no receipt, 6 ban, 7 unban), microseconds since they were taken or of the ban, what was owed
--       before; 32 is added to the kind of one that nobody expects. Of a limit with a penalty 16 is
--       added to the kind, and at the end are the penalty's after, within, ban, max_ban. To that of a
--       charge that only looks, and leaves no trace, 64 is added.
--       Usual questions, of one charge of a token bucket and nothing else, that differ in their key
--       only are told together: how many times each is asked, 0 charges, or -1 in shadow mode, cost,
--       which of those limits it is, how many keys
-- Reply {number, mark, then per question: 1 admitted, 0 rejected, or -1 if a bucket's key holds something
--       else; unless that: per charge: allowed (2: banned), remaining, retry_us, full_us}, all integers.
--       Of a usual question that is asked many times, all together: 2, or 3 in shadow mode, how many
--       times, how many of them passed; if some did: remaining and full_us of the first, and by how
--       much less and more they are of each next; if not all did: remaining, retry_us, full_us
local buckets = {}

local call_number = tonumber(ARGV[1])
local mark_key = call_number > 0 and KEYS[#KEYS]
-- Of another type it is none, and the next gift replaces it.
local mark = mark_key and redis.pcall('GET', mark_key)
local reply, said = { call_number, type(mark) == 'string' and tonumber(mark) or 0 }, 2

local function say(number)
    said = said + 1
    reply[said] = number
end

local at, key = 1, 0

local function number()
    at = at + 1
    return tonumber(ARGV[at])
end

local limits = {}
for i = 1, number() do
    limits[i] = { unit = number(), burst = number() }
end

local every_kind, kinds

-- The functions for every kind of limit.
local function any()
    kinds = kinds or every_kind()
    return kinds
end

local function say_run(times, passed, debt, bucket, cost, enforced)
    local limit = bucket.limit
    say(enforced and 2 or 3)
    say(times)
    say(passed)
    if passed > 0 then
        local step = cost * limit.unit
        say(limit.burst - ceil_div(debt + step, limit.unit))
        say(debt + step)
        say(cost)
        say(step)
    end
    if passed < times then
        debt = bucket.debt
        say(math.max(limit.burst - ceil_div(debt, limit.unit), 0))
        say(debt + (math.min(cost, limit.burst) - limit.burst) * limit.unit)
        say(debt)
    end
end

-- The usual question, as often as it is asked: as many pass as there are tokens for.
local function decide_usual(times, bucket, cost, enforced)
    local limit, debt = bucket.limit, bucket.debt
    local unit, burst = limit.unit, limit.burst
    local passed = 0
    if cost <= burst and debt <= unit * (burst - cost) then
        passed = cost == 0 and times or math.min(times, math.floor((unit * burst - debt) / (cost * unit)))
        bucket.debt = debt + passed * cost * unit
        bucket.taken = bucket.taken or cost > 0
    end
    if times > 1 then
        return say_run(times, passed, debt, bucket, cost, enforced)
    end
    debt = bucket.debt
    reply[said + 1] = (passed == 1 or not enforced) and 1 or 0
    reply[said + 2] = passed
    reply[said + 3] = math.max(burst - ceil_div(debt, unit), 0)
    reply[said + 4] = passed == 1 and 0 or debt + (math.min(cost, burst) - burst) * unit
    reply[said + 5] = debt
    said = said + 5
end

-- The bucket of a usual question; `value` is what MGET has found: nothing also of another type.
local function usual_bucket(name, limit, value)
    if buckets[name] ~= nil then
        return any().bucket_of(name, limit)
    end
    local debt = 0
    if value then
        debt = read_usual(value, limit)
    elseif redis.call('EXISTS', name) == 1 then
        debt = nil
    end
    if not debt then
        return any().bucket_of(name, limit)
    end
    local bucket = { debt = debt, unit = limit.unit, limit = limit }
    buckets[name] = bucket
    return bucket
end

local function answer_usual(times, enforced)
    local cost, limit, keys = number(), limits[number()], number()
    local values = redis.call('MGET', unpack(KEYS, key + 1, key + keys))
    for i = 1, keys do
        local bucket = usual_bucket(KEYS[key + i], limit, values[i])
        if bucket then
            decide_usual(times, bucket, cost, enforced)
        else
            for _ = 1, times do
                say(-1)
            end
        end
    end
    key = key + keys
end
