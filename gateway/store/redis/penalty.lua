-- Bans for too many rejections. Twin of limit/penalty.hpp, in microseconds of the server's clock. Key
-- "BUCKET:ban", value "until length rejection...": the end of the ban, the length of the last one (0: there
-- was none), and the moments of rejections that a ban may count.
local offences = {}

-- Twins of penalty::most_rejections and penalty::longest, and the last moment that a number can be.
local most_rejections, longest_ban, latest = 1000, 31536000000000, 9007199254740992

-- Nothing: no such value was written here.
local function read_offences(value)
    if type(value) ~= 'string' or #value > 17 * (2 + most_rejections)
        or not string.match(value, '^%d+ %d+[ %d]*$') then
        return nil
    end
    local numbers = {}
    for digits in string.gmatch(value, '%d+') do
        local number = tonumber(digits)
        if number > latest then
            return nil
        end
        numbers[#numbers + 1] = number
    end
    if numbers[2] > longest_ban or #numbers > 2 + most_rejections then
        return nil
    end
    return { until_ = numbers[1], length = numbers[2], rejections = { unpack(numbers, 3) } }
end

-- Nothing: the key holds something else.
local function offences_at(key)
    if offences[key] == nil then
        local value = redis.pcall('GET', key)
        local none = { until_ = 0, length = 0, rejections = {} }
        offences[key] = not value and none or read_offences(value) or false
    end
    return offences[key]
end

local function write_offences(key, o, penalty)
    local kept = o.until_ > 0 and o.until_ + penalty.max_ban or 0
    local value = { string.format('%.0f %.0f', o.until_, o.length) }
    for _, at in ipairs(o.rejections) do
        value[#value + 1] = string.format('%.0f', at)
        kept = math.max(kept, at + penalty.within)
    end
    local left = math.max(ceil_div(kept - now, 1000), 0) + 1
    redis.call('SET', key, table.concat(value, ' '), 'PX', string.format('%.0f', left))
end

-- Bans the bucket, whatever the key held.
local function ban(key, penalty, length)
    local o = { until_ = now + length, length = length, rejections = {} }
    offences[key] = o
    write_offences(key, o, penalty)
end

-- One more rejection, of a bucket that is not banned.
local function note_rejection(key, penalty)
    local o = offences_at(key)
    local recent = {}
    for _, at in ipairs(o.rejections) do
        if at > now - penalty.within then
            recent[#recent + 1] = at
        end
    end
    recent[#recent + 1] = now
    o.rejections = recent
    if #recent >= penalty.after then
        local again = o.length > 0 and now < o.until_ + penalty.max_ban
        ban(key, penalty, again and math.min(2 * o.length, penalty.max_ban) or penalty.ban)
    else
        write_offences(key, o, penalty)
    end
end

-- Microseconds for which the bucket is still banned; 0: it is not.
local function banned_for(key)
    local o = offences_at(key)
    -- A clock that stepped back would leave a ban longer than any that was given.
    return math.max(math.min(o.until_ - now, o.length), 0)
end
