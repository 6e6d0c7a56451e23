-- A call to the store: questions, decided one after the other. Each takes from all of its buckets, or
-- from none. Begins with bucket.lua.
--
-- KEYS  the bucket of each charge, in the order of ARGV; the same one may come more than once, and
--       what was taken from it before counts
-- ARGV  the call's number, which comes back, so that no reply can pass for another's; then per
--       question: how many times it is asked, how many charges it has; per charge: interval (us per
--       token), burst, cost, enforced (1, or 0 for shadow mode)
-- Reply {number, then per question: 1 admitted, 0 rejected, or -1 if a bucket's key holds something
--       else; unless that: per charge: allowed, remaining, retry_us, full_us}, all integers
local buckets = {}

-- False if its key holds something else.
local function bucket_of(key, interval, burst)
    local bucket = buckets[key]
    if bucket == nil then
        bucket = read(key, interval, burst) or false
        buckets[key] = bucket
    elseif bucket then
        adapt(bucket, interval, burst)
    end
    return bucket
end

-- Charges a bucket, if it has the tokens: allowed, remaining, retry_us, full_us.
local function take(c)
    local bucket = c.bucket
    local owed = bucket.full_at - now
    c.before = bucket.full_at
    if c.cost > c.burst or owed > c.interval * (c.burst - c.cost) then
        local retry = owed + (math.min(c.cost, c.burst) - c.burst) * c.interval
        return { 0, math.max(c.burst - ceil_div(owed, c.interval), 0), retry, owed }
    end
    owed = owed + c.cost * c.interval
    bucket.full_at = now + owed
    return { 1, c.burst - ceil_div(owed, c.interval), 0, owed }
end

local reply, said = { tonumber(ARGV[1]) }, 1

local function say(number)
    said = said + 1
    reply[said] = number
end

local function decide(charges)
    local answers, admitted = {}, 1
    for i, c in ipairs(charges) do
        answers[i] = take(c)
        if answers[i][1] == 0 and c.enforced then
            admitted = 0
        end
    end
    for i = #charges, 1, -1 do
        local c = charges[i]
        if admitted == 0 then
            c.bucket.full_at = c.before
        elseif answers[i][1] == 1 then
            c.bucket.taken = true
        end
    end
    say(admitted)
    for i, c in ipairs(charges) do
        local answer = answers[i]
        if admitted == 0 and answer[1] == 1 then
            -- Nothing is taken: this limit's numbers are those of its untouched bucket.
            local owed = c.bucket.full_at - now
            answer = { 1, math.max(c.burst - ceil_div(owed, c.interval), 0), 0, owed }
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
    local c = { interval = number() }
    c.burst = number()
    c.cost = number()
    c.enforced = number() == 1
    c.bucket = bucket_of(KEYS[key], c.interval, c.burst)
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
