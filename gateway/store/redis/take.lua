-- A call to the store: questions, decided one after the other. Each takes from all of its buckets, or
-- from none. Begins with bucket.lua.
--
-- KEYS  the bucket of each charge, in the order of ARGV; the same one may come more than once, and
--       what was taken from it before counts. Behind that of a correction its receipt, which is kept
--       for longer than the correction is asked for again
-- ARGV  the call's number, which comes back, so that no reply can pass for another's; then per
--       question: how many times it is asked, how many charges it has; per charge: cost, enforced
--       (1, or 0 for shadow mode), and the limit's numbers. Of a correction instead: tokens, kind (2
--       give back, 3 charge, 4 reset), microseconds since they were taken, what was owed before
-- Reply {number, then per question: 1 admitted, 0 rejected, or -1 if a bucket's key holds something
--       else; unless that: per charge: allowed, remaining, retry_us, full_us}, all integers
local buckets = {}

-- False if its key holds something else.
local function bucket_of(key, limit)
    local bucket = buckets[key]
    if bucket == nil then
        bucket = read(key, limit) or false
        buckets[key] = bucket
    elseif bucket then
        adapt(bucket, limit)
    end
    return bucket
end

-- Charges a bucket, if it has the tokens: allowed, remaining, retry_us, full_us.
local function take(c)
    local bucket, limit = c.bucket, c.limit
    local debt, unit, burst = bucket.debt, limit.unit, limit.burst
    c.before = debt
    if c.cost > burst or debt > unit * (burst - c.cost) then
        local missing = debt + (math.min(c.cost, burst) - burst) * unit
        local left = math.max(burst - ceil_div(debt, unit), 0)
        return { 0, left, time_of(limit, missing), time_of(limit, debt) }
    end
    debt = debt + c.cost * unit
    bucket.debt = debt
    return { 1, burst - ceil_div(debt, unit), 0, time_of(limit, debt) }
end

-- Units issued in the last so many microseconds.
local function issued_in_last(limit, time)
    local w = limit.windows
    return w and (w.present - window_at(w, now - time)) * w.count or time
end

-- Twin of limit::corrected().
local function correct(c)
    local bucket, limit = c.bucket, c.limit
    local debt, unit = bucket.debt, limit.unit
    if c.kind == 3 then
        local top = limit.windows and limit.windows.most or most
        debt = debt + math.min(c.cost, math.floor((top - debt) / unit)) * unit
    elseif debt > 0 and not bucket.changed then
        local lost = math.max(issued_in_last(limit, c.held) - c.owed_before, 0)
        local tokens = math.min(c.cost, ceil_div(debt + lost, unit))
        local given = c.kind == 4 and debt or tokens * unit - lost
        debt = math.max(0, math.min(debt - given, debt))
    end
    bucket.debt = debt
end

-- A correction that has its receipt already has been made.
local function correct_once(c)
    if redis.call('SET', c.receipt, '1', 'NX', 'PX', '90000') then
        correct(c)
        c.bucket.taken = true
    end
    return { 1, math.max(c.limit.burst - ceil_div(c.bucket.debt, c.limit.unit), 0), 0, 0 }
end

local reply, said = { tonumber(ARGV[1]) }, 1

local function say(number)
    said = said + 1
    reply[said] = number
end

local function decide(charges)
    local answers, admitted = {}, 1
    for i, c in ipairs(charges) do
        answers[i] = c.kind and correct_once(c) or take(c)
        if answers[i][1] == 0 and c.enforced then
            admitted = 0
        end
    end
    for i = #charges, 1, -1 do
        local c = charges[i]
        if admitted == 0 then
            c.bucket.debt = c.before
        elseif answers[i][1] == 1 and c.cost > 0 and not c.kind then
            c.bucket.taken = true
        end
    end
    say(admitted)
    for i, c in ipairs(charges) do
        local answer = answers[i]
        if admitted == 0 and answer[1] == 1 then
            -- Nothing is taken: this limit's numbers are those of its untouched bucket.
            local limit, debt = c.limit, c.bucket.debt
            local left = math.max(limit.burst - ceil_div(debt, limit.unit), 0)
            answer = { 1, left, 0, time_of(limit, debt) }
        end
        for _, number in ipairs(answer) do
            say(number)
        end
    end
end

local at, key = 1, 0

local function number()
    at = at + 1
    return tonumber(ARGV[at])
end

local function charge()
    key = key + 1
    local c = { cost = number() }
    local kind = number()
    c.enforced = kind == 1
    local bucket_key = KEYS[key]
    if kind > 1 then
        c.kind, c.held, c.owed_before = kind, number(), number()
        key = key + 1
        c.receipt = KEYS[key]
    end
    c.limit = read_limit(number, bucket_key)
    c.bucket = bucket_of(bucket_key, c.limit)
    return c
end

while at < #ARGV do
    local times = number()
    local charges, readable = {}, true
    for i = 1, number() do
        charges[i] = charge()
        readable = readable and charges[i].bucket
    end
    for _ = 1, times do
        if readable then
            decide(charges)
        else
            say(-1)
        end
    end
end

for name, bucket in pairs(buckets) do
    if bucket and (bucket.taken or bucket.changed) then
        write(name, bucket)
    end
end
return reply
