-- Answers all questions of the call, then writes what has changed.
while at < #ARGV do
    local times, count = number(), number()
    if count > 0 then
        any().answer(times, count)
    else
        answer_usual(times, count == 0)
    end
end

for name, bucket in pairs(buckets) do
    local limit = bucket and bucket.limit
    if not bucket then
        -- Its key holds something else.
    elseif limit.windows or limit.trail or limit.places or bucket.debt > limit.unit * limit.burst then
        any().write(name, bucket)
    elseif bucket.taken or bucket.changed then
        write_usual(name, bucket)
    end
end
return reply
