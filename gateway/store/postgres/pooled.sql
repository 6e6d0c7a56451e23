-- The same calls behind a pooler: the settings of a session are set for each call, which costs 65 us.
-- `most_wait`: longest wait for a lock, in milliseconds.
CREATE FUNCTION gateway.pooled_take_1(keys text[], numbers bigint[], most_wait int) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM set_config('lock_timeout', most_wait::text, true);
    RETURN gateway.take_1(keys, numbers);
END $$;

CREATE FUNCTION gateway.pooled_take_one_1(
    its_key text, times bigint, cost bigint, its_unit bigint, burst bigint, mark_key text, number bigint,
    most_wait int)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM set_config('lock_timeout', most_wait::text, true);
    RETURN (
        SELECT coalesce(l.refusal, gateway.take_one_1(
            its_key, times, cost, its_unit, burst, mark_key, number, l.is_there))
        FROM gateway.look_at_one_1(its_key, cost, its_unit, burst, mark_key, number) l);
END $$;

CREATE FUNCTION gateway.pooled_take_usual_1(
    keys text[], times bigint[], costs bigint[], units bigint[], bursts bigint[], mark_key text, number bigint,
    most_wait int)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM set_config('lock_timeout', most_wait::text, true);
    RETURN gateway.take_usual_1(keys, times, costs, units, bursts, mark_key, number);
END $$;
