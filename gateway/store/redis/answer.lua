-- Answers all questions of the call, then writes what the functions of every kind have changed.
while at < #ARGV do
    local times, count = number(), number()
    if count > 0 then
        any().answer(times, count)
    else
        answer_usual(times)
    end
end

for name, bucket in pairs(buckets) do
    if bucket then
        kinds.write(name, bucket)
    end
end
return reply
