-- Buckets of token buckets and windows in Redis. Twin of the supplies in limit/. Stands behind
-- token_bucket.lua, which explains the value of a token bucket. With windows it is "full_at owed id w":
-- when the bucket is full again, the tokens that it owed when written, and the id of its windows.
-- A bucket's debt is in units of its limit: microseconds, or tokens with windows.
local function ceil_div(a, b)
    return math.ceil(a / b)
end

local most = 3153600000000000
local most_tokens = 1099511627775
-- A request that waits may owe as much more; see limit::max_wait.
local longest_wait = 600000000

-- A debt in units worth `old` a token, in units of the limit. Rounded up: a debt never shrinks by it.
local function rescaled(debt, old, limit)
    local new = limit.unit
    local tokens = math.floor(debt / old)
    local part = (debt - tokens * old) * new
    local scaled = tokens * new + ceil_div(part, old)
    if part >= 9007199254740992 then
        scaled = scaled + 1 -- the product was rounded, by less than this
    end
    return math.min(scaled, limit.windows and limit.windows.most or most)
end

-- Returns the number of a moment's window; only differences mean something. Beyond the known beginnings
-- of a calendar, windows are as long as these are on average.
local function window_at(w, at)
    if not w.begins then
        local shifted = at + w.shift
        local periods = math.floor(shifted / w.length)
        return periods * w.in_length + math.floor((shifted - periods * w.length) * w.in_length / w.length)
    end
    local last = #w.begins
    if at < w.begins[1] then
        return 1 + math.floor((at - w.begins[1]) / w.usual)
    elseif at >= w.begins[last] then
        return last + math.floor((at - w.begins[last]) / w.usual)
    end
    local index = 1
    while w.begins[index + 1] <= at do
        index = index + 1
    end
    return index
end

local function window_begin(w, index)
    if w.begins then
        local known = math.max(1, math.min(index, #w.begins))
        return w.begins[known] + (index - known) * w.usual
    end
    local periods = math.floor(index / w.in_length)
    return periods * w.length + ceil_div((index - periods * w.in_length) * w.length, w.in_length) - w.shift
end

-- Reads a limit: `number` gives the next one of limit::append_numbers(). The key's last digits are
-- those of the client, whose windows begin at an offset of their own unless they are aligned.
local function read_limit(number, key)
    local l = { unit = number() }
    l.burst = number()
    if l.unit > @windows_code@ then
        return l
    elseif l.unit == @sliding_code@ then
        l.sliding = { length = number(), part = number() }
    elseif l.unit == @in_flight_code@ then
        l.places = { lease = number() }
    end
    if l.unit < @windows_code@ then
        l.unit = 1
        return l
    end
    l.unit = 1
    -- in_length: windows that begin in each length.
    local w = { count = number(), length = number(), shift = 0, in_length = 1 }
    local begins = number()
    w.id = number()
    if begins == @spread_windows@ then
        w.in_length, w.count = w.count, 1
    end
    if w.length == 0 then
        w.begins = {}
        for i = 1, number() do
            w.begins[i] = number() * 1000000
        end
        local all = w.begins[#w.begins] - w.begins[1]
        w.usual = math.max(math.floor(all / math.max(#w.begins - 1, 1)), 1)
    else
        w.usual = math.floor(w.length / w.in_length)
        if begins == @offset_windows@ then
            w.shift = tonumber(string.sub(key, -32, -20), 16) % w.length
        end
    end
    w.present = window_at(w, now)
    w.most = math.min(math.floor(most / w.usual) * w.count, most_tokens)
    l.windows, l.id = w, w.id
    return l
end

-- Microseconds until so many units more have been issued.
local function time_of(l, units)
    local w = l.windows
    if not w or units <= 0 then
        return units
    end
    return window_begin(w, w.present + ceil_div(units, w.count)) - now
end

-- Returns the debt of a bucket that owed `owed` when it was written, or nil if it would be full later
-- than that many tokens take, as the clock has stepped back.
local function still_owed(w, full_at, owed)
    local needed = ceil_div(owed, w.count)
    local unneeded = needed * w.count - owed
    local to_come = window_at(w, full_at + math.floor(w.usual / 2)) - w.present
    if to_come > needed + 1 then
        return nil
    end
    return math.max(0, math.min(to_come * w.count - unneeded, owed))
end

-- Sets a bucket to the present terms. A debt made under others must be kept re-based whatever the
-- answer, or a client that is rejected again and again would go on paying at the old rate.
local function adapt(bucket, limit)
    if bucket.debt > 0 and (bucket.unit ~= limit.unit or bucket.id ~= limit.id) then
        bucket.debt = rescaled(bucket.debt, bucket.unit, limit)
        bucket.changed = true
    end
    bucket.unit, bucket.id, bucket.limit = limit.unit, limit.id, limit
end

-- Returns the debt of a value, its unit and the id of its windows, or nil if it is something else.
local function read_debt(value, limit)
    local full_at, old, third, form = string.match(value, '^(%d+) (%d+) (%d+)( ?w?)$')
    full_at, old, third = tonumber(full_at), tonumber(old), tonumber(third)
    if not third then
        return nil
    elseif form == '' then
        if old < 1 or third > most + longest_wait then
            return nil
        end
        -- A clock that stepped back would leave a debt larger than any that can be made.
        return math.min(full_at, now + third) - now, old
    end
    if old > most_tokens then
        return nil
    end
    if full_at <= now then
        return 0, 1, third
    elseif limit.windows and limit.windows.id == third then
        local owed = still_owed(limit.windows, full_at, old)
        return owed or old, 1, owed and third or -1
    end
    return old, 1, third
end

-- The bucket at `key` in the present terms; nil if the key holds something else.
local function read(key, limit)
    local bucket = { debt = 0, unit = limit.unit, id = limit.id, limit = limit }
    local value = redis.pcall('GET', key)
    if not value then
        return bucket
    end
    if type(value) ~= 'string' then
        return nil
    end
    local usual = not limit.windows and read_usual(value, terms_of(limit))
    if usual then
        bucket.debt = usual
        return bucket
    end
    local debt, unit, id = read_debt(value, limit)
    if not debt then
        return nil
    end
    if debt > 0 then
        bucket.debt, bucket.unit, bucket.id = debt, unit, id
        adapt(bucket, limit)
    end
    return bucket
end

-- The key goes with the first whole millisecond behind that moment: %d cuts the rest off.
local function put(key, value, full_at)
    call('SET', key, value, 'PXAT', format('%d', full_at / 1000 + 1))
end

local function write(key, bucket)
    local limit, debt = bucket.limit, bucket.debt
    if limit.windows then
        local full_at = now + time_of(limit, debt)
        put(key, string.format('%d %d %d w', full_at, debt, limit.id), full_at)
    else
        -- Rebased or corrected, it may owe more than it holds.
        put(key, string.format('%d %d %d', now + debt, limit.unit, math.max(debt, (terms_of(limit)))), now + debt)
    end
end
