-- The places of requests in flight: a sorted set of the numbers that gateways gave them, by the moment
-- until which they are leased. A renewal that comes later finds nothing.
local function read_places(key, limit)
    local bucket = { key = key, unit = 1, limit = limit, debt = 0, entering = {} }
    local gone = redis.pcall('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now))
    if type(gone) == 'number' then
        bucket.debt = redis.call('ZCARD', key)
    elseif type(redis.pcall('GET', key)) == 'string' or kept_in(key) then
        bucket.replaces = true -- tokens, from when the limit was another one
    else
        return nil
    end
    return bucket
end

local function lease_until(bucket)
    return string.format('%.0f', now + bucket.limit.places.lease)
end

-- Returns 1, or 0 if the permit to be renewed is lost. Tokens of another kind change by an operator only.
local function correct_permit(c)
    local bucket = c.bucket
    if c.kind == @renew@ then
        if not redis.call('ZSCORE', bucket.key, c.place) then
            return 0
        end
        redis.call('ZADD', bucket.key, 'XX', lease_until(bucket), c.place)
    elseif c.kind == @reset@ then
        redis.call('DEL', bucket.key)
        bucket.debt, bucket.entering = 0, {}
    elseif bucket.replaces then
        return 1
    elseif bucket.entering[c.place] then
        bucket.debt, bucket.entering[c.place] = bucket.debt - 1, nil
    else
        bucket.debt = bucket.debt - redis.call('ZREM', bucket.key, c.place)
    end
    return 1
end

local function write_places(bucket)
    local key = bucket.key
    if bucket.replaces then
        redis.call('DEL', key)
    end
    for place in pairs(bucket.entering) do
        redis.call('ZADD', key, lease_until(bucket), place)
    end
    local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
    if last[2] then
        redis.call('PEXPIRE', key, string.format('%.0f', math.max(ceil_div(last[2] - now, 1000), 0) + 1))
    end
end
