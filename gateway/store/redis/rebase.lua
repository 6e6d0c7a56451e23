-- One step of a walk over all keys (redis/rebasing.hpp): debts under a changed rate are paid back at the
-- new one from now on, also by clients that stay away.
--
-- KEYS  the key of the mark, by which all gateways forget what they remember; none in a cluster
-- ARGV  where the walk is: SCAN's cursor, "0" at first; how many keys to look at; the key prefix;
--       the limits: "name number,number,... name number,number,... "
-- Reply the next cursor; "0" at the end
local limits, prefix = {}, ARGV[3]
for name, numbers in string.gmatch(ARGV[4], '(%S+) (%S+)') do
    limits[prefix .. name .. ':'] = numbers
end

-- Returns a key without the client's 32 digits, and without a cluster's "{12345678}" behind the prefix.
local function limit_in(key)
    local name = string.sub(key, 1, -33)
    if string.sub(name, 1, #prefix + 1) == prefix .. '{' then
        name = prefix .. string.sub(name, #prefix + 11)
    end
    return name
end

local function limit_of(numbers, key)
    local next_number = string.gmatch(numbers, '%-?%d+')
    return read_limit(function() return tonumber(next_number()) end, key)
end

local page = redis.call('SCAN', ARGV[1], 'COUNT', ARGV[2])
for _, key in ipairs(page[2]) do
    local name = string.gsub(key, before .. '$', '')
    local numbers = limits[limit_in(name)]
    if numbers then
        local limit = limit_of(numbers, name)
        local owes = not limit.sliding and not limit.places -- what these keep follows when it is read
        if name ~= key then
            find_ban(name)
            key = home_of(name)
        end
        local bucket = owes and read(key, limit)
        if bucket and bucket.changed then
            write(key, bucket)
            if bans[name] then
                keep_ban(name)
            end
        end
    end
end
if page[1] == '0' and KEYS[1] then
    redis.call('SET', KEYS[1], string.format('%d', now), 'PX', '60000')
end
return page[1]
