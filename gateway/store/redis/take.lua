-- One question to the store: take from every bucket, or from none. Twin of limit/bucket.hpp, in
-- microseconds of the server's clock; the contract tests hold both to the same answers.
--
-- KEYS  one bucket per charge; the same one may appear twice, and then sees both, in order
-- ARGV  per charge: interval (us per token), burst, cost, enforced (1, or 0 for shadow mode);
--       last the question's number, which comes back, so that no reply can pass for another's
-- Reply {number, admitted, then per charge: allowed, remaining, retry_us, full_us}, all integers
-- Value "full_at interval capacity": when the bucket is full again, and the terms it was charged
--       under. Every key expires when its bucket is full, which is as good as never seen.
-- All numbers are below 2^53, where doubles are exact integers; see limit::max_refill.
local most = 3153600000000000

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function ceil_div(a, b)
    return math.ceil(a / b)
end

-- The same debt in tokens, paid back at another rate. Rounded up: a debt never shrinks by it.
local function rescaled(owed, old, new)
    local tokens = math.floor(owed / old)
    local part = (owed - tokens * old) * new
    local scaled = tokens * new + ceil_div(part, old)
    if part >= 9007199254740992 then
        scaled = scaled + 1 -- the product was rounded, by less than this
    end
    return math.min(scaled, most)
end

-- When the bucket at `key` is full, in the present terms; nil if the key holds something else.
local function read(key, interval)
    local value = redis.call('GET', key)
    if not value then
        return now
    end
    local full_at, old, capacity = string.match(value, '^(%d+) (%d+) (%d+)$')
    full_at, old, capacity = tonumber(full_at), tonumber(old), tonumber(capacity)
    if not capacity or old < 1 or capacity > most then
        return nil
    end
    -- A clock that stepped back would leave a debt larger than any that can be made.
    local owed = math.min(full_at, now + capacity) - now
    if owed <= 0 then
        return now
    end
    if old ~= interval then
        owed = rescaled(owed, old, interval)
    end
    return now + owed
end

local before, after, answers, admitted = {}, {}, {}, 1
for i, key in ipairs(KEYS) do
    local interval, burst = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
    local cost, enforced = tonumber(ARGV[4 * i - 1]), ARGV[4 * i] == '1'
    if not before[key] then
        before[key] = read(key, interval)
        if not before[key] then
            return redis.error_reply('CORRUPT a bucket key holds something else')
        end
        after[key] = { full_at = before[key] }
    end
    local bucket, capacity = after[key], interval * burst
    local owed = bucket.full_at - now
    if cost > burst or owed > capacity - cost * interval then
        local retry = owed + math.min(cost, burst) * interval - capacity
        answers[i] = { 0, math.max(burst - ceil_div(owed, interval), 0), retry, owed }
        if enforced then
            admitted = 0
        end
    else
        owed = owed + cost * interval
        bucket.full_at, bucket.interval, bucket.capacity = now + owed, interval, capacity
        answers[i] = { 1, burst - ceil_div(owed, interval), 0, owed }
    end
end

local reply = { tonumber(ARGV[#ARGV]), admitted }
for i, key in ipairs(KEYS) do
    local answer = answers[i]
    if admitted == 0 and answer[1] == 1 then
        -- Nothing is taken: this limit's numbers are those of its untouched bucket.
        local interval, burst = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
        local owed = before[key] - now
        answer = { 1, math.max(burst - ceil_div(owed, interval), 0), 0, owed }
    end
    for _, number in ipairs(answer) do
        reply[#reply + 1] = number
    end
end

if admitted == 1 then
    for key, bucket in pairs(after) do
        if bucket.interval then
            local value = string.format('%.0f %.0f %.0f', bucket.full_at, bucket.interval, bucket.capacity)
            local lifetime = ceil_div(bucket.full_at - now, 1000) + 1
            redis.call('SET', key, value, 'PX', string.format('%.0f', lifetime))
        end
    end
end
return reply
