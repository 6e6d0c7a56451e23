-- Decides questions of any kind; see question.sql.

-- Takes the tokens of charges that were all allowed. Those of a sliding limit count from when the
-- request goes on, whichever limit it waits for.
CREATE FUNCTION gateway.taken(q gateway.question, now bigint) RETURNS gateway.question
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    c gateway.charge;
    h gateway.held;
    t gateway.terms;
    wait bigint := (SELECT max(a.said[3]) FROM unnest(q.charges) a WHERE a.enforced);
BEGIN
    FOR i IN REVERSE cardinality(q.charges) .. 1 LOOP
        c := q.charges[i];
        CONTINUE WHEN c.said[1] <> 1 OR c.cost = 0 OR c.looks;
        h := q.buckets[c.bucket];
        h.changed := true;
        t := h.terms;
        IF t.kind = 's' THEN
            IF c.said[3] < wait THEN
                c.said[3] := wait;
                c.said[4] := greatest(c.said[4], gateway.counted_at(t, now + wait) + t.length - now);
                q.charges[i] := c;
            END IF;
            h := gateway.take_at(h, gateway.counted_at(t, now + c.said[3]), c.cost);
        ELSIF t.kind = 'p' THEN
            h.moments := h.moments || now + t.length;
            h.amounts := h.amounts || c.place;
        END IF;
        q.buckets[c.bucket] := h;
    END LOOP;
    RETURN q;
END $$;

-- Decides a question once. `looking`: nothing is written, and no rejection counted.
CREATE FUNCTION gateway.decide(
    INOUT q gateway.question, mark_key text, looking boolean, now bigint, OUT reply bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c gateway.charge;
    h gateway.held;
    before gateway.held[] := q.buckets;
    made record;
    admitted bigint := 1;
BEGIN
    FOR i IN 1 .. cardinality(q.charges) LOOP
        c := q.charges[i];
        h := q.buckets[c.bucket];
        IF c.is_lost THEN
            c.said := ARRAY[CASE c.correction WHEN @renew@ THEN 0 ELSE 1 END, 0, 0, 0];
            h.changed := false;
        ELSIF c.correction > 0 AND looking THEN
            c.said := ARRAY[1, 0, 0, 0];
            h.changed := true;
        ELSIF c.correction > 0 THEN
            made := gateway.correct(c, h, mark_key, now);
            h := made.h;
            c.said := made.said;
        ELSE
            c.said := gateway.judge(c, h, looking, now);
            h.debt := CASE WHEN c.said[1] = 1 AND NOT c.looks THEN gateway.owed_after(c, h) ELSE h.debt END;
        END IF;
        admitted := CASE WHEN c.said[1] <> 1 AND c.enforced THEN 0 ELSE admitted END;
        q.charges[i] := c;
        q.buckets[c.bucket] := h;
    END LOOP;
    IF admitted = 0 THEN
        q.buckets := before;
    ELSIF c.correction = 0 THEN
        q := gateway.taken(q, now);
    END IF;
    reply := ARRAY[admitted];
    FOR i IN 1 .. cardinality(q.charges) LOOP
        c := q.charges[i];
        IF (admitted = 0 OR c.looks) AND c.said[1] = 1 THEN
            -- Nothing is taken: this limit's numbers are those of its untouched bucket.
            h := q.buckets[c.bucket];
            c.said := gateway.passed(h, h.debt, 0, now);
        END IF;
        reply := reply || c.said;
    END LOOP;
END $$;

-- True if the question only looks.
CREATE FUNCTION gateway.only_looks(q gateway.question) RETURNS boolean LANGUAGE sql IMMUTABLE AS
'SELECT (q.charges[1]).looks';

-- True if a decided question must write.
CREATE FUNCTION gateway.wants_writing(q gateway.question) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT (NOT gateway.only_looks(q) AND EXISTS (SELECT FROM unnest(q.buckets) h WHERE h.changed))
        OR EXISTS (SELECT FROM unnest(q.charges) c WHERE c.after > 0 AND c.said[1] = 0)
$$;

-- Returns the rows that a question may write, without receipts.
CREATE FUNCTION gateway.rows_of(q gateway.question) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY(SELECT h.key FROM unnest(q.buckets) h)
        || ARRAY(SELECT c.ban_key FROM unnest(q.charges) c WHERE c.ban_key IS NOT NULL)
$$;

-- Decides a question `times` times, and writes the changes.
CREATE FUNCTION gateway.answer(
    INOUT q gateway.question, times bigint, mark_key text, looking boolean, now bigint, OUT reply bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    decided record;
BEGIN
    FOR i IN 1 .. times LOOP
        decided := gateway.decide(q, mark_key, looking, now);
        q := decided.q;
        reply := reply || decided.reply;
    END LOOP;
    IF NOT (looking OR gateway.only_looks(q)) THEN
        PERFORM gateway.let_go(h, now) FROM unnest(q.buckets) h WHERE h.changed;
    END IF;
END $$;
