-- A call to the store: questions, decided one after the other. Each takes from all of its buckets, or
-- from none. Begins with token_bucket.lua; every_kind() is bans.lua, bucket.lua, sliding.lua, places.lua, penalty.lua
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
--       is asked, how many charges it has; per charge: cost, kind, which is a sum of the numbers in
--       remote/call_flags.hpp, and the limit's numbers, of places behind them the place's own. A request
--       that may_wait has behind its kind the microseconds and the tokens. A correction (all but renew
--       have a receipt) has tokens instead of the cost, and behind its kind the microseconds since they
--       were taken or of the ban, and what was owed before (of a charge 0 if the bucket may owe more than
--       it holds, 1 if it is emptied at most); of_lease, then the mark of when they were taken. With
--       has_penalty the penalty's after, within, ban, max_ban are at the end.
--       Usual questions, of one charge of a token bucket and nothing else, that differ in their key
--       only are encoded together: how many times each is asked, 0 charges, cost, which of those limits it
--       is, how many keys
-- Reply {number, mark, then per question: 1 admitted, 0 rejected, or unreadable if a bucket's key holds
--       something else; unless that: per charge: allowed (or banned_charge), remaining, retry_us, full_us},
--       all integers. Of a usual question, however many times it is asked: what its bucket owed, from which
--       the rest follows, or unreadable; of one that is banned banned_bucket, what it owes, and for how many
--       microseconds it is banned

-- Buckets that the functions of every kind have read. Usual ones are not among them.
local buckets = {}

local call_number = tonumber(ARGV[1])
local mark_key = call_number > 0 and KEYS[#KEYS]
-- A key of another type is no mark, and the next grant replaces it.
local mark = mark_key and redis.pcall('GET', mark_key)
local reply, filled = { call_number, type(mark) == 'string' and tonumber(mark) or 0 }, 2

local function append(number)
    filled = filled + 1
    reply[filled] = number
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

-- Returns how many of so many equal questions pass where there is room for so many units more.
local function passing(times, step, room)
    if step > room then
        return 0
    end
    return step == 0 and times or min(times, math.floor(room / step))
end

-- Usual questions, whose buckets are read together, and each written as soon as it is decided: none of
-- them comes twice (encoded_call.cpp sees to it), unless it is asked for more than it ever holds.
local function answer_usual(times)
    local cost, limit, keys = number(), limits[number()], number()
    local full, ending = terms_of(limit)
    local step, form = cost * limit.unit, '%d' .. ending
    local values = call('MGET', unpack(KEYS, key + 1, key + keys))
    for i = 1, keys do
        local name, value = KEYS[key + i], values[i]
        local debt = not value and 0 or read_usual(value, full, ending)
        local passed = debt and passing(times, step, full - debt) or 0
        local usual = debt and not (kinds and buckets[name] ~= nil)
        if usual and passed > 0 and step > 0 then
            local full_at = now + debt + passed * step
            local text, gone_at = format(form, full_at), format('%d', full_at / 1000 + 1)
            if value then
                call('SET', name, text, 'PXAT', gone_at)
            else
                -- MGET returns nothing for a key of another type.
                usual = call('SET', name, text, 'PXAT', gone_at, 'NX')
            end
        elseif usual and not value then
            usual = call('EXISTS', name) == 0
        end
        if usual then
            filled = filled + 1
            reply[filled] = debt
        else
            any().answer_usual(name, limit, times, cost)
        end
    end
    key = key + keys
end
