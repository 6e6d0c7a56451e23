-- Questions of any kind: the end of every_kind(); see take.lua.
local function kind_of(limit)
    return limit.sliding and 'sliding' or limit.places and 'places' or 'tokens'
end

-- Returns nil if the key holds something else.
local function read_any(key, limit)
    if limit.sliding then
        return read_sliding(key, limit)
    elseif limit.places then
        return read_places(key, limit)
    end
    local bucket = read(key, limit)
    local kept = not bucket and (kept_in(key) or tokens_before(key))
    if kept then
        -- The limit was a sliding one, or one of places.
        bucket = { debt = kept, unit = 1, changed = true }
        adapt(bucket, limit)
    end
    return bucket
end

-- Writes the bucket if anything in it has changed.
local function write_any(key, bucket)
    if not (bucket.taken or bucket.changed) then
        return
    elseif bucket.limit.sliding then
        write_sliding(bucket)
    elseif bucket.limit.places then
        write_places(bucket)
    else
        write(key, bucket)
    end
    local name = next(bans) and string.gsub(key, before .. '$', '')
    if name and bans[name] then
        keep_ban(name)
    end
end

-- Returns the bucket at that key, or false if the key holds something else.
local function bucket_of(key, limit)
    local home = home_of(key)
    local bucket = buckets[home]
    if bucket and kind_of(bucket.limit) ~= kind_of(limit) then
        write_any(home, bucket) -- a reload came between two questions of one call
        bucket = nil
    end
    if bucket == nil then
        bucket = read_any(home, limit)
        if not bucket and find_ban(key) then
            return bucket_of(key, limit)
        end
        bucket = bucket or false
        buckets[home] = bucket
    elseif bucket and kind_of(limit) == 'tokens' then
        adapt(bucket, limit)
    elseif bucket then
        bucket.changed = bucket.changed or (limit.sliding and limit.sliding.length ~= bucket.limit.sliding.length)
        bucket.limit = limit
    end
    return bucket
end

-- Returns the terms of a bucket as it is, and if it owes anything, or nil if there is none.
local function terms_there(key)
    local home = home_of(key)
    local there = buckets[home]
    if there then
        local l = there.limit
        return { kind = kind_of(l), unit = l.unit, id = l.id, length = l.sliding and l.sliding.length, owes = there.debt > 0 }
    end
    local value = redis.pcall('GET', home)
    if type(value) == 'string' then
        local debt, unit, id = read_debt(value, {})
        return debt and { kind = 'tokens', unit = unit, id = id, owes = debt > 0 }
    end
    local kept, length = kept_in(home)
    if kept then
        return { kind = 'sliding', length = length, owes = true }
    elseif redis.call('TYPE', home).ok == 'zset' then
        return { kind = 'places', owes = redis.call('ZCOUNT', home, now, '+inf') > 0 }
    end
    return find_ban(key) and terms_there(key)
end

-- Returns the limit in whose terms to correct a bucket, or nil. Twin of limit::terms_to_correct_in().
local function limit_to_correct_in(kind, key, limit)
    local there = terms_there(key)
    if not there or not there.owes then
        return limit
    elseif there.kind ~= kind_of(limit) then
        return nil
    elseif kind == @reset@ or there.kind == 'places' then
        return limit
    elseif there.kind == 'sliding' then
        return there.length == limit.sliding.length and limit or nil
    elseif there.id == limit.id and (limit.windows or there.unit == limit.unit) then
        return limit
    elseif kind ~= @charge@ or there.id or limit.id then
        return nil
    end
    local most_burst = math.floor(most / there.unit)
    return { unit = there.unit, burst = math.max(math.min(limit.burst, most_burst), 1) }
end

-- The same for who only looks: a copy, so that the limit's numbers change nothing.
local function copy_of(key, limit)
    find_ban(key)
    local home = home_of(key)
    local kept = buckets[home]
    if kept then
        buckets[home] = {}
        for name, value in pairs(kept) do
            buckets[home][name] = value
        end
    end
    local copy = bucket_of(key, limit)
    buckets[home] = kept
    return copy
end

-- Microseconds until so many units of a bucket have come back.
local function time_until(bucket, units)
    local limit = bucket.limit
    if limit.sliding then
        return sliding_time(bucket, units)
    elseif limit.places then
        return units > 0 and 1000000 or 0
    end
    return time_of(limit, units)
end

-- Returns the microseconds until a bucket is full. A request that waits counts from the end of its wait.
local function full_in(bucket, debt, wait)
    local sliding, time = bucket.limit.sliding, time_until(bucket, debt)
    if sliding and wait > 0 then
        return math.max(time, counted_at(sliding, now + wait) + sliding.length - now)
    end
    return time
end

-- Returns true if a request may wait so long for so many tokens.
local function may_wait(c, missing, wait)
    return c.max_wait and missing <= c.max_reserved and wait <= c.max_wait
end

-- Charges a bucket, if it has the tokens or will have them: allowed, remaining, retry_us, full_us.
local function take(c)
    local bucket, limit = c.bucket, c.limit
    local debt, unit, burst = bucket.debt, limit.unit, limit.burst
    c.before = debt
    local missing = math.max(debt + (math.min(c.cost, burst) - burst) * unit, 0)
    local wait = time_until(bucket, missing)
    local passes = c.cost <= burst and (missing == 0 or may_wait(c, ceil_div(missing, unit), wait))
    local ban_left = math.max(c.penalty and banned_for(c.ban_key) or 0, operator_ban_left(c.key))
    if not passes and ban_left == 0 and c.penalty and c.penalty.after > 0 then
        note_rejection(c.ban_key, c.penalty)
        ban_left = banned_for(c.ban_key)
    end
    if not passes or ban_left > 0 then
        local left = math.max(burst - ceil_div(debt, unit), 0)
        local until_tokens = passes and 0 or wait
        return { ban_left > 0 and @banned_charge@ or 0, left, math.max(until_tokens, ban_left), time_until(bucket, debt) }
    end
    -- Tokens that come when the bucket is full already are lost.
    local w = limit.windows
    debt = math.max(debt, w and ceil_div(missing, w.count) * w.count or missing) + c.cost * unit
    bucket.debt = debt
    return { 1, math.max(burst - ceil_div(debt, unit), 0), wait, full_in(bucket, debt, wait) }
end

-- Units issued in the last so many microseconds.
local function issued_in_last(limit, time)
    local w = limit.windows
    return w and (w.present - window_at(w, now - time)) * w.count or time
end

-- Twin of limit::others_wait(). A correction may be on its way for longer than its question was: the
-- window that it waited for begins that much later.
local function others_wait(c, debt)
    local limit, w = c.limit, c.limit.windows
    if c.held >= 0 then
        return debt > limit.burst * limit.unit
    end
    local ahead = -c.held
    if w then
        local late = math.min(1000000, math.floor(w.usual / 8))
        ahead = (window_at(w, now + ahead + late) - w.present) * w.count
    end
    return debt - ahead >= c.owed_before + (c.cost + 1) * limit.unit
end

-- Twin of limit::corrected().
local function correct(c)
    local bucket, limit = c.bucket, c.limit
    local debt, unit = bucket.debt, limit.unit
    if c.kind == @charge@ then
        local top = not c.into_debt and limit.burst * unit or limit.windows and limit.windows.most or most
        debt = debt + math.min(c.cost, math.floor(math.max(top - debt, 0) / unit)) * unit
    elseif c.in_line and others_wait(c, debt) then
        return
    elseif debt > 0 and (c.kind == @reset@ or c.is_grant or not bucket.changed) then
        local lost = math.max(issued_in_last(limit, c.held) - c.owed_before, 0)
        local tokens = math.min(c.cost, ceil_div(debt + lost, unit))
        local given = c.kind == @reset@ and debt or tokens * unit - lost
        debt = math.max(0, math.min(debt - given, debt))
    end
    bucket.debt = debt
end

-- Bans its bucket, or ends the ban: also the one that its limit's penalty knows of.
local function correct_ban(c)
    local key, home = c.key, home_of(c.key)
    buckets[home] = nil
    if c.kind == @ban@ then
        ban_by_operator(key, c.held)
    elseif bans[key] then
        lift(key)
    end
    buckets[home_of(key)], c.bucket.key = c.bucket, home_of(key)
    if c.penalty then
        ban(c.ban_key, c.penalty, c.kind == @ban@ and c.held or 0)
    end
end

-- A correction that has its receipt already has been made.
local function correct_once(c)
    local done = 1
    if c.is_lost then
        return { c.kind == @renew@ and 0 or 1, 0, 0, 0 }
    end
    if c.kind == @renew@ or redis.call('SET', c.receipt, '1', 'NX', 'PX', '90000') then
        if c.kind >= @ban@ then
            correct_ban(c)
        elseif c.limit.sliding then
            if not correct_sliding(c) then
                -- Perhaps it was held up for so long that it looked for later tokens than its own. If
                -- it is asked for again, that says better when these were taken.
                redis.call('DEL', c.receipt)
            end
        elseif c.limit.places then
            done = correct_permit(c)
        else
            correct(c)
        end
        if c.is_grant and mark_key then
            redis.call('SET', mark_key, string.format('%d', now), 'PX', '60000')
            reply[2] = now
        end
        c.bucket.taken = true
    end
    return { done, math.max(c.limit.burst - ceil_div(c.bucket.debt, c.limit.unit), 0), 0, 0 }
end

-- Tokens of a sliding limit count from when the request goes on, whichever limit it waits for.
local function count_later(c, answer, wait)
    local sliding = c.limit.sliding
    if answer[3] < wait then
        answer[3] = wait
        answer[4] = math.max(answer[4], counted_at(sliding, now + wait) + sliding.length - now)
    end
    take_fresh(c.bucket, counted_at(sliding, now + answer[3]), c.cost)
end

local function decide(charges)
    local answers, admitted, wait = {}, 1, 0
    for i, c in ipairs(charges) do
        answers[i] = c.kind and correct_once(c) or take(c)
        if c.enforced then
            admitted = answers[i][1] == 1 and admitted or 0
            wait = math.max(wait, answers[i][3])
        end
    end
    for i = #charges, 1, -1 do
        local c = charges[i]
        if admitted == 0 or c.looks then
            c.bucket.debt = c.before
        elseif answers[i][1] == 1 and c.cost > 0 and not c.kind then
            c.bucket.taken = true
            if c.limit.places then
                c.bucket.entering[c.place] = true
            elseif c.limit.sliding then
                count_later(c, answers[i], wait)
            end
        end
    end
    append(admitted)
    for i, c in ipairs(charges) do
        local answer = answers[i]
        if (admitted == 0 or c.looks) and answer[1] == 1 then
            -- Nothing is taken: this limit's numbers are those of its untouched bucket.
            local limit, debt = c.limit, c.bucket.debt
            local left = math.max(limit.burst - ceil_div(debt, limit.unit), 0)
            answer = { 1, left, 0, time_until(c.bucket, debt) }
        end
        for _, number in ipairs(answer) do
            append(number)
        end
    end
end

local function charge()
    key = key + 1
    local c = { cost = number() }
    local kind = number()
    c.in_line = kind >= @in_line@
    kind = kind % @in_line@
    local of_lease = kind >= @of_lease@
    kind = kind % @of_lease@
    c.looks = kind >= @looks@
    kind = kind % @looks@
    c.is_grant = kind >= @is_grant@
    local punishes = kind % @is_grant@ >= @has_penalty@
    kind = kind % @has_penalty@
    c.enforced = kind % @may_wait@ == @enforced@
    local bucket_key = KEYS[key]
    c.key = bucket_key
    if kind >= @may_wait@ then
        c.max_wait, c.max_reserved = number(), number()
    elseif kind > @enforced@ then
        c.kind, c.held, c.owed_before = kind, number(), number()
        c.into_debt = c.owed_before == 0
        c.is_lost = of_lease and number() ~= reply[2]
        if kind ~= @renew@ then
            key = key + 1
            c.receipt = KEYS[key]
        end
    end
    c.limit = read_limit(number, bucket_key)
    c.place = c.limit.places and number()
    if punishes then
        c.penalty = { after = number(), within = number(), ban = number(), max_ban = number() }
        key = key + 1
        c.ban_key = KEYS[key]
    end
    if c.kind and c.kind < @ban@ and not c.is_grant then
        local own = limit_to_correct_in(c.kind, bucket_key, c.limit)
        c.is_lost, c.limit = c.is_lost or own == nil, own
    end
    if c.is_lost then
        c.readable = true
        return c
    end
    c.bucket = (c.looks and copy_of or bucket_of)(bucket_key, c.limit)
    c.readable = c.bucket and (not c.penalty or (c.kind or 0) >= @ban@ or offences_at(c.ban_key))
    return c
end

local function answer_any(times, count)
    local charges, readable = {}, true
    for i = 1, count do
        charges[i] = charge()
        readable = readable and charges[i].readable
    end
    for _ = 1, times do
        if readable then
            decide(charges)
        else
            append(@unreadable@)
        end
    end
end

-- Answers a usual question about a bucket that may be of another kind.
local function answer_usual(name, limit, times, cost)
    local bucket = bucket_of(name, limit)
    if not bucket then
        return append(@unreadable@)
    end
    local ban_left = operator_ban_left(name)
    if ban_left > 0 then
        append(@banned_bucket@)
        append(bucket.debt)
        return append(ban_left)
    end
    local debt, step = bucket.debt, cost * limit.unit
    local passed = passing(times, step, limit.unit * limit.burst - debt)
    bucket.debt = debt + passed * step
    bucket.taken = bucket.taken or passed * step > 0
    append(debt)
end

return { answer = answer_any, answer_usual = answer_usual, write = write_any }
