-- A token bucket in Redis in the usual case: the beginning of every script of ours. In microseconds of
-- the server's clock; the contract tests hold it and limit/token_bucket.hpp to the same answers.
--
-- Value "full_at interval capacity": when the bucket is full again, the interval it was charged
--       under, and the largest debt that can be.
--       Every key expires when its bucket is full, which is as good as never seen.
-- All numbers are below 2^53, where doubles are exact integers; see limit::max_refill.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Looked up once, instead of wherever a bucket is decided.
local call, sub, format, min, max = redis.call, string.sub, string.format, math.min, math.max

-- Returns what the limit of token buckets says of them: most units owed, and how a value ends.
local function terms_of(limit)
    if not limit.full then
        limit.full = limit.unit * limit.burst
        limit.ending = format(' %d %d', limit.unit, limit.full)
    end
    return limit.full, limit.ending
end

-- Returns what is owed now by a value that was written under the limit of these terms, or nil if it is
-- another one.
local function read_usual(value, full, ending)
    -- Moments have 16 digits from 2001 to 2286.
    local full_at = sub(value, 17) == ending and tonumber(sub(value, 1, 16))
    -- A clock that stepped back would leave a debt larger than any that can be made.
    return full_at and max(0, min(full_at - now, full)) or nil
end
