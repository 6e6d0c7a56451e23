-- A bucket in Redis: the beginning of every script of ours. Twin of limit/bucket.hpp, in microseconds
-- of the server's clock; the contract tests hold both to the same answers.
--
-- Value "full_at interval capacity": when the bucket is full again, the interval it was charged
--       under, and the largest debt that can be. Every key expires when its bucket is full, which
--       is as good as never seen.
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

-- Sets a bucket to the present terms. A debt made at another rate must be kept re-based whatever the
-- answer, or a client that is rejected again and again would go on paying at the old one.
local function adapt(bucket, interval, burst)
    local owed = bucket.full_at - now
    if bucket.interval ~= interval and owed > 0 then
        bucket.full_at = now + rescaled(owed, bucket.interval, interval)
        bucket.changed = true
    end
    bucket.interval, bucket.capacity = interval, interval * burst
end

-- The bucket at `key` in the present terms; nil if the key holds something else.
local function read(key, interval, burst)
    local bucket = { full_at = now, interval = interval, capacity = interval * burst }
    local value = redis.pcall('GET', key)
    if not value then
        return bucket
    end
    if type(value) ~= 'string' then
        return nil
    end
    local full_at, old, capacity = string.match(value, '^(%d+) (%d+) (%d+)$')
    full_at, old, capacity = tonumber(full_at), tonumber(old), tonumber(capacity)
    if not capacity or old < 1 or capacity > most then
        return nil
    end
    -- A clock that stepped back would leave a debt larger than any that can be made.
    full_at = math.min(full_at, now + capacity)
    if full_at > now then
        bucket.full_at, bucket.interval = full_at, old
        adapt(bucket, interval, burst)
    end
    return bucket
end

local function write(key, bucket)
    local owed = bucket.full_at - now
    -- A rebased debt can be more than a full bucket, if the burst has shrunk, too.
    local capacity = math.max(bucket.capacity, owed)
    local value = string.format('%.0f %.0f %.0f', bucket.full_at, bucket.interval, capacity)
    redis.call('SET', key, value, 'PX', string.format('%.0f', ceil_div(owed, 1000) + 1))
end
