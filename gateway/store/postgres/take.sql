-- A call of questions of any kind, in the numbers of redis/take.lua, with the same reply. Calls of usual
-- questions are in take_usual.sql, of one alone in take_one.sql.
--
-- A first pass only looks, and what it refuses locks and writes nothing. For the other questions the
-- missing rows are made while nothing is locked, all rows are locked in the order of their keys, and the
-- questions are decided for good. If a row was deleted meanwhile, the gateway asks again.

-- Passes over a call. `looking`: it returns which questions are refused, and the rows that the others
-- want locked. Otherwise those stay refused, and `said` is what the look found.
CREATE FUNCTION gateway.pass_over(
    keys text[], numbers bigint[], looking boolean, now bigint, said bigint[],
    INOUT begins int[], INOUT refused boolean[], OUT reply bigint[], OUT wanted text[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    mark_key text := keys[cardinality(keys)];
    at int := 3;
    key int := 0;
    number int := 0;
    q gateway.question;
    answered record;
BEGIN
    -- Of the look, by which some may be refused: see take_one_1.
    reply := ARRAY[numbers[1], CASE WHEN looking THEN gateway.mark(mark_key, now) ELSE said[2] END];
    WHILE at <= cardinality(numbers) LOOP
        number := number + 1;
        q := gateway.question_in(keys, key, numbers, at + 2, numbers[at + 1]::int, now);
        IF NOT looking AND refused[number] THEN
            reply := reply || said[begins[number] : begins[number] + numbers[at] * (1 + 4 * numbers[at + 1]) - 1];
        ELSE
            begins[number] := cardinality(reply) + 1;
            answered := gateway.answer(q, numbers[at], mark_key, looking, now);
            reply := reply || answered.reply;
            q := answered.q;
        END IF;
        IF looking THEN
            refused[number] := NOT (gateway.wants_writing(q) OR coalesce(gateway.rows_of(q) && wanted, false));
            wanted := CASE WHEN refused[number] THEN wanted ELSE wanted || gateway.rows_of(q) END;
        END IF;
        at := q.at;
        key := q.key;
    END LOOP;
END $$;

CREATE FUNCTION gateway.take_1(keys text[], numbers bigint[]) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    seen record := gateway.pass_over(keys, numbers, true, gateway.now(), NULL, NULL, NULL);
    wanted text[] := ARRAY(SELECT DISTINCT w FROM unnest(seen.wanted) w);
    locked bigint;
BEGIN
    IF seen.wanted IS NULL THEN
        RETURN seen.reply;
    END IF;
    INSERT INTO gateway.buckets (key, kind, full_at)
    SELECT w, 'n', 0 FROM unnest(wanted) w WHERE NOT EXISTS (SELECT FROM gateway.buckets b WHERE b.key = w)
    ORDER BY w COLLATE "C"
    ON CONFLICT (key) DO NOTHING;
    PERFORM FROM gateway.buckets b WHERE b.key = ANY (wanted) ORDER BY b.key FOR UPDATE;
    GET DIAGNOSTICS locked = ROW_COUNT;
    IF locked < cardinality(wanted) THEN
        RAISE serialization_failure USING MESSAGE = 'a bucket was deleted by another call';
    END IF;
    seen := gateway.pass_over(keys, numbers, false, gateway.now(), seen.reply, seen.begins, seen.refused);
    RETURN seen.reply;
END $$;
