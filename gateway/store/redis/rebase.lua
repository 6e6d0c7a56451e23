-- One step of a walk over all keys: what is owed under a changed rate is paid back at the new one from
-- now on, also by clients that stay away. Begins with token_bucket.lua and bucket.lua. See
-- redis/rebasing.hpp.
--
-- ARGV  where the walk is: SCAN's cursor, "0" at first; how many keys to look at; the key prefix;
--       the limits: "name number,number,... name number,number,... "
-- Reply the next cursor; "0" at the end
local limits = {}
for name, numbers in string.gmatch(ARGV[4], '(%S+) (%S+)') do
    limits[ARGV[3] .. name .. ':'] = numbers
end

local function limit_of(numbers, key)
    local next_number = string.gmatch(numbers, '%-?%d+')
    return read_limit(function() return tonumber(next_number()) end, key)
end

local page = redis.call('SCAN', ARGV[1], 'COUNT', ARGV[2])
for _, key in ipairs(page[2]) do
    local numbers = limits[string.sub(key, 1, -33)] -- without the 32 digits of the client
    if numbers then
        local limit = limit_of(numbers, key)
        local owes = not limit.trail and not limit.places -- what these keep follows when it is read
        local bucket = owes and read(key, limit)
        if bucket and bucket.changed then
            write(key, bucket)
        end
    end
end
return page[1]
