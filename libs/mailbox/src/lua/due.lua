#!lua flags=no-writes
-- The members of one slot's due index whose time has come, by the clock of Redis.
-- KEYS[1] due index
-- ARGV[1] members at most
-- Replies [member, …]
local clock = redis.call('TIME')
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', clock[1] * 1000 + math.floor(clock[2] / 1000), 'LIMIT', 0, ARGV[1])
