-- A token bucket in Redis in the usual case: the beginning of every script of ours. In microseconds of
-- the server's clock; the contract tests hold it and limit/supply.hpp to the same answers.
--
-- Value "full_at interval capacity": when the bucket is full again, the interval it was charged
--       under, and the largest debt that can be.
--       Every key expires when its bucket is full, which is as good as never seen.
-- All numbers are below 2^53, where doubles are exact integers; see limit::max_refill.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function ceil_div(a, b)
    return math.ceil(a / b)
end

-- The end of the value of a token bucket that owes no more than it holds.
local function usual_end(limit)
    if not limit.usual_end then
        limit.usual_end = string.format(' %d %d', limit.unit, limit.unit * limit.burst)
    end
    return limit.usual_end
end

-- Of a token bucket that was charged under this very limit, what it owes now; nil: it is another one.
local function read_usual(value, limit)
    -- Moments have 16 digits from 2001 to 2286.
    if limit.windows or string.sub(value, 17) ~= usual_end(limit) then
        return nil
    end
    local full_at = tonumber(string.sub(value, 1, 16))
    -- A clock that stepped back would leave a debt larger than any that can be made.
    return full_at and math.max(0, math.min(full_at - now, limit.unit * limit.burst))
end

-- Writes what is full again in so many microseconds.
local function put(key, value, full_in)
    redis.call('SET', key, value, 'PX', string.format('%d', math.max(ceil_div(full_in, 1000), 0) + 1))
end

local function write_usual(key, bucket)
    put(key, string.format('%d', now + bucket.debt) .. usual_end(bucket.limit), bucket.debt)
end
