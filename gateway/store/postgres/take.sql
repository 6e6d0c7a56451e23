-- A call to the store: questions, decided one after the other. Each takes from all of its buckets,
-- or from none. They are told in the numbers of redis/take.lua, whose reply this one's is, too, but
-- for usual questions that are told together: for them it has what each of their buckets owed, then
-- how many passed at each, of which the gateway knows the rest.
--
-- Everything is looked at first, and what is refused then is refused: it locks and writes nothing.
-- The rows of the other questions are locked in the order of their keys, so that calls wait for each
-- other in that order only, and then these questions are decided for good. A row that is not there
-- is made first, as only a row can be locked.

-- What a row of a token bucket owes. Null: there is none.
CREATE FUNCTION gateway.debt_of(b gateway.buckets, its_unit bigint, burst bigint, now bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN b.full_at <= now THEN 0
        WHEN b.kind = 't' AND b.unit = its_unit THEN least(b.full_at - now, b.owed)
        ELSE gateway.debt_in(b, ROW('t', its_unit, burst, 0, 0, NULL, 0, 0, 0, NULL, 0, 0), now)
    END
$$;

-- How many of so many equal requests pass, one after the other.
CREATE FUNCTION gateway.passing(times bigint, cost bigint, unit bigint, burst bigint, debt bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN cost > burst OR debt > unit * (burst - cost) THEN 0
        WHEN cost = 0 THEN times
        ELSE least(times, (unit * burst - debt) / (cost * unit))
    END
$$;

-- Usual questions that differ in their key only, told from that number on, by keys behind that one.
-- Which of them are refused, and the rows that the others want locked.
CREATE FUNCTION gateway.look_at_usual(
    keys text[], key int, numbers bigint[], at int, wanted text[], now bigint,
    OUT reply bigint[], OUT refused boolean[], OUT wants text[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    times bigint := numbers[at];
    cost bigint := numbers[at + 2];
    its_unit bigint := numbers[1 + 2 * numbers[at + 3]];
    burst bigint := numbers[2 + 2 * numbers[at + 3]];
BEGIN
    WITH owing AS MATERIALIZED (
        SELECT a.n, a.its_key, coalesce(gateway.debt_of(b, its_unit, burst, now), 0) AS debt,
            coalesce(b.full_at > now AND (b.kind <> 't' OR b.unit <> its_unit), false) AS changed
        FROM unnest(keys[key + 1 : key + numbers[at + 4]]) WITH ORDINALITY a(its_key, n)
            LEFT JOIN gateway.buckets b ON b.key = a.its_key
    ), decided AS MATERIALIZED (
        SELECT n, its_key, debt, changed, gateway.passing(times, cost, its_unit, burst, debt) AS passed FROM owing
    ), looked_at AS MATERIALIZED (
        SELECT n, its_key, debt, passed,
            passed * cost > 0 OR changed OR coalesce(its_key = ANY (wanted), false) AS wants_lock
        FROM decided
    )
    SELECT array_agg(debt ORDER BY n) || array_agg(passed ORDER BY n),
        array_agg(NOT wants_lock ORDER BY n), array_agg(its_key) FILTER (WHERE wants_lock)
    INTO reply, refused, wants
    FROM looked_at;
END $$;

-- Decides them, but for those that are refused.
CREATE FUNCTION gateway.take_usual(
    keys text[], key int, numbers bigint[], at int, refused boolean[], number int, now bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    times bigint := numbers[at];
    cost bigint := numbers[at + 2];
    its_unit bigint := numbers[1 + 2 * numbers[at + 3]];
    burst bigint := numbers[2 + 2 * numbers[at + 3]];
    reply bigint[];
BEGIN
    WITH owing AS MATERIALIZED (
        SELECT a.n, a.its_key, refused[number + a.n] AS is_refused,
            coalesce(gateway.debt_of(b, its_unit, burst, now), 0) AS debt
        FROM unnest(keys[key + 1 : key + numbers[at + 4]]) WITH ORDINALITY a(its_key, n)
            LEFT JOIN gateway.buckets b ON b.key = a.its_key
    ), decided AS MATERIALIZED (
        SELECT n, its_key, is_refused, debt, CASE
            WHEN is_refused THEN 0 ELSE gateway.passing(times, cost, its_unit, burst, debt) END AS passed
        FROM owing
    ), written AS (
        UPDATE gateway.buckets b
        SET full_at = now + d.debt + d.passed * cost * its_unit, kind = 't', unit = its_unit,
            owed = greatest(its_unit * burst, d.debt + d.passed * cost * its_unit),
            moments = NULL, amounts = NULL
        FROM decided d WHERE NOT d.is_refused AND b.key = d.its_key
    )
    SELECT array_agg(debt ORDER BY n) || array_agg(passed ORDER BY n) INTO reply FROM decided;
    RETURN reply;
END $$;

-- One pass over a call, whose questions are numbered; of those told together each is one. `looking`:
-- it only looks, and tells which are refused. Else these stay so, and `said` is what the look found.
CREATE FUNCTION gateway.pass_over(
    keys text[], numbers bigint[], looking boolean, now bigint, said bigint[],
    INOUT begins int[], INOUT refused boolean[], OUT reply bigint[], OUT wanted text[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    mark_key text := keys[cardinality(keys)];
    at int := 3 + 2 * numbers[2];
    key int := 0;
    number int := 0;
    q gateway.question;
    looked record;
BEGIN
    reply := ARRAY[numbers[1], coalesce((
        SELECT owed FROM gateway.buckets b WHERE b.key = mark_key AND b.full_at > now), 0)];
    WHILE at <= cardinality(numbers) LOOP
        IF numbers[at + 1] <= 0 AND looking THEN
            looked := gateway.look_at_usual(keys, key, numbers, at, wanted, now);
            reply := reply || looked.reply;
            refused := refused || looked.refused;
            wanted := wanted || looked.wants;
        ELSIF numbers[at + 1] <= 0 THEN
            reply := reply || gateway.take_usual(keys, key, numbers, at, refused, number, now);
        END IF;
        IF numbers[at + 1] <= 0 THEN
            number := number + numbers[at + 4];
            key := key + numbers[at + 4];
            at := at + 5;
            CONTINUE;
        END IF;
        number := number + 1;
        q := gateway.question_in(keys, key, numbers, at + 2, numbers[at + 1]::int, now);
        IF NOT looking AND refused[number] THEN
            reply := reply || said[begins[number] : begins[number] + numbers[at] * (1 + 4 * numbers[at + 1]) - 1];
        ELSE
            begins[number] := cardinality(reply) + 1;
            looked := gateway.answer(q, numbers[at], mark_key, looking, now);
            reply := reply || looked.reply;
            q := looked.q;
        END IF;
        IF looking THEN
            refused[number] := NOT (gateway.wants_writing(q) OR coalesce(gateway.rows_of(q) && wanted, false));
            wanted := CASE WHEN refused[number] THEN wanted ELSE wanted || gateway.rows_of(q) END;
        END IF;
        at := q.at;
        key := q.key;
    END LOOP;
END $$;

-- `most_wait`: for how many milliseconds a lock may be waited for.
CREATE FUNCTION gateway.take_1(keys text[], numbers bigint[], most_wait int)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
-- One plan for all calls, by the primary key, also while the table's statistics are of another time.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
    seen record := gateway.pass_over(keys, numbers, true, gateway.now(), NULL, NULL, NULL);
BEGIN
    IF seen.wanted IS NULL THEN
        RETURN seen.reply;
    END IF;
    PERFORM set_config('lock_timeout', most_wait::text, true);
    INSERT INTO gateway.buckets (key, kind, full_at)
    SELECT DISTINCT w, 'n'::"char", 0 FROM unnest(seen.wanted) w
    WHERE NOT EXISTS (SELECT FROM gateway.buckets b WHERE b.key = w)
    ORDER BY w
    ON CONFLICT (key) DO NOTHING;
    PERFORM FROM gateway.buckets b WHERE b.key = ANY (seen.wanted) ORDER BY b.key FOR UPDATE;
    seen := gateway.pass_over(keys, numbers, false, gateway.now(), seen.reply, seen.begins, seen.refused);
    RETURN seen.reply;
END $$;
