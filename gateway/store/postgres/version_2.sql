-- Version 2: windows of one token that are spread over a period, as limit::windows::spread() has them: `length`
-- is then the period, and `part` how many windows begin in it.

CREATE OR REPLACE FUNCTION gateway.window_at(t gateway.terms, at bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    last int := cardinality(t.begins);
    index int := 1;
    periods bigint;
BEGIN
    IF t.part IS NOT NULL THEN
        periods := gateway.floor_div(at, t.length);
        RETURN periods * t.part + (at - periods * t.length) * t.part / t.length;
    ELSIF last IS NULL THEN
        RETURN gateway.floor_div(at + t.shift, t.usual);
    ELSIF at < t.begins[1] THEN
        RETURN 1 + gateway.floor_div(at - t.begins[1], t.usual);
    ELSIF at >= t.begins[last] THEN
        RETURN last + gateway.floor_div(at - t.begins[last], t.usual);
    END IF;
    WHILE t.begins[index + 1] <= at LOOP
        index := index + 1;
    END LOOP;
    RETURN index;
END $$;

CREATE OR REPLACE FUNCTION gateway.window_begin(t gateway.terms, index bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    known bigint;
    periods bigint;
BEGIN
    IF t.part IS NOT NULL THEN
        periods := gateway.floor_div(index, t.part);
        RETURN periods * t.length + gateway.ceil_div((index - periods * t.part) * t.length, t.part);
    ELSIF t.begins IS NULL THEN
        RETURN index * t.usual - t.shift;
    END IF;
    known := greatest(1, least(index, cardinality(t.begins)));
    RETURN t.begins[known] + (index - known) * t.usual;
END $$;

CREATE OR REPLACE FUNCTION gateway.terms_in(numbers bigint[], at int, key text, now bigint)
RETURNS gateway.terms LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    t gateway.terms;
BEGIN
    t.unit := numbers[at];
    t.burst := numbers[at + 1];
    IF t.unit > @windows_code@ THEN
        t.kind := 't';
        RETURN t;
    ELSIF t.unit < @windows_code@ THEN
        t.kind := CASE t.unit WHEN @sliding_code@ THEN 's' ELSE 'p' END;
        t.length := numbers[at + 2];
        t.part := CASE t.unit WHEN @sliding_code@ THEN numbers[at + 3] END;
        t.unit := 1;
        RETURN t;
    END IF;
    t.kind := 'w';
    t.unit := 1;
    t.count := numbers[at + 2];
    t.usual := numbers[at + 3];
    t.shift := 0;
    t.id := numbers[at + 5];
    IF numbers[at + 4] = @spread_windows@ THEN
        t.part := t.count;
        t.length := t.usual;
        t.count := 1;
        t.usual := t.length / t.part;
    ELSIF t.usual = 0 THEN
        t.begins := ARRAY(
            SELECT 1000000 * b
            FROM unnest(numbers[at + 7 : at + 6 + numbers[at + 6]]) WITH ORDINALITY u(b, n) ORDER BY n);
        t.usual := greatest(
            (t.begins[cardinality(t.begins)] - t.begins[1]) / greatest(cardinality(t.begins) - 1, 1), 1);
    ELSIF numbers[at + 4] <> @aligned_windows@ THEN
        t.shift := ('x' || lpad(substr(right(key, 32), 1, 13), 16, '0'))::bit(64)::bigint % t.usual;
    END IF;
    t.present := gateway.window_at(t, now);
    t.most := least((3153600000000000 / t.usual)::numeric * t.count, 1099511627775)::bigint;
    RETURN t;
END $$;

UPDATE gateway.version SET version = 2;
