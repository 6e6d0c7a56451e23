-- Bans that an operator has given, of buckets of any limit.
--
-- The bucket's key is then a list of one entry, "ban UNTIL", and what the bucket owes is at
-- "BUCKET:before" until the ban is over. So who is not banned costs nothing: a reader finds a list
-- which is none of a sliding limit, and then asks here.

-- Until when buckets are banned, by their keys.
local bans = {}

local before = ':before'

-- Returns the key that holds what the bucket owes.
local function home_of(key)
    return bans[key] and key .. before or key
end

-- Ends the ban: what the bucket owes goes back to its own key.
local function lift(key)
    local home = key .. before
    redis.call('DEL', key)
    if redis.call('EXISTS', home) == 1 then
        redis.call('RENAME', home, key)
    end
    bans[key] = nil
end

-- True if a ban was found that was not known, or is over: what the bucket owes is to be read again.
local function find_ban(key)
    if bans[key] then
        return false
    end
    local text = redis.pcall('LINDEX', key, 0)
    local until_ = tonumber(string.match(type(text) == 'string' and text or '', '^ban (%d+)$'))
    if not until_ or until_ > 9007199254740992 then
        return false
    end
    if until_ <= now then
        lift(key)
    else
        bans[key] = until_
    end
    return true
end

-- Microseconds for which the bucket is still banned; 0: it is not.
local function operator_ban_left(key)
    return math.max((bans[key] or 0) - now, 0)
end

-- Has the ban outlive what the bucket owes.
local function keep_ban(key)
    local left = math.max(redis.call('PTTL', key .. before), math.ceil((bans[key] - now) / 1000))
    redis.call('PEXPIRE', key, string.format('%.0f', left + 1))
end

-- Bans the bucket for so long, whatever was before.
local function ban_by_operator(key, length)
    if not bans[key] then
        redis.call('DEL', key .. before)
        if redis.call('EXISTS', key) == 1 then
            redis.call('RENAME', key, key .. before)
        end
    end
    bans[key] = now + length
    redis.call('DEL', key)
    redis.call('RPUSH', key, string.format('ban %.0f', bans[key]))
    keep_ban(key)
end
