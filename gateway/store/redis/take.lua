-- One question to the store: take from every bucket, or from none. Begins with bucket.lua.
--
-- KEYS  one bucket per charge; the same one may appear twice, and then sees both, in order
-- ARGV  per charge: interval (us per token), burst, cost, enforced (1, or 0 for shadow mode);
--       last the question's number, which comes back, so that no reply can pass for another's
-- Reply {number, admitted, then per charge: allowed, remaining, retry_us, full_us}, all integers
local buckets, answers, admitted = {}, {}, 1
for i, key in ipairs(KEYS) do
    local interval, burst = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
    local cost, enforced = tonumber(ARGV[4 * i - 1]), ARGV[4 * i] == '1'
    local bucket = buckets[key] or read(key, interval, burst)
    if not bucket then
        return redis.error_reply('CORRUPT a bucket key holds something else')
    end
    buckets[key] = bucket
    local capacity = interval * burst
    local owed = bucket.full_at - now
    if cost > burst or owed > capacity - cost * interval then
        local retry = owed + math.min(cost, burst) * interval - capacity
        answers[i] = { 0, math.max(burst - ceil_div(owed, interval), 0), retry, owed }
        if enforced then
            admitted = 0
        end
    else
        owed = owed + cost * interval
        bucket.full_at, bucket.taken = now + owed, true
        answers[i] = { 1, burst - ceil_div(owed, interval), 0, owed }
    end
end

local reply = { tonumber(ARGV[#ARGV]), admitted }
for i, key in ipairs(KEYS) do
    local answer = answers[i]
    if admitted == 0 and answer[1] == 1 then
        -- Nothing is taken: this limit's numbers are those of its untouched bucket.
        local interval, burst = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
        local owed = buckets[key].before - now
        answer = { 1, math.max(burst - ceil_div(owed, interval), 0), 0, owed }
    end
    for _, number in ipairs(answer) do
        reply[#reply + 1] = number
    end
end

for key, bucket in pairs(buckets) do
    if admitted == 1 and bucket.taken then
        write(key, bucket.full_at, bucket)
    elseif bucket.changed then
        write(key, bucket.before, bucket)
    end
end
return reply
