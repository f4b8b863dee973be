#!lua flags=allow-oom
-- Moves the leases of the agents that a process runs, all of one slot; also tells what is new of each.
-- KEYS[1] due index
-- ARGV[1] prefix of agent keys  ARGV[2] lease in ms  ARGV[3…] fours of session, agent, token, cancel number last seen
-- Replies ['quiet' | 'work' | 'cancelled' | 'lost', …] in the order of the fours
local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[2]
local replies = {}
for i = 3, #ARGV, 4 do
  local session, name = ARGV[i], ARGV[i + 1]
  local fields = redis.call('HMGET', ARGV[1] .. session .. ':' .. name, 'st', 'token', 'cancel', 'wake', 'tail')
  local state = 'lost'
  if fields[1] == 'loaded' and fields[2] == ARGV[i + 2] then
    redis.call('ZADD', KEYS[1], at, session .. '|' .. name .. '|lease')
    local hasWork = (tonumber(fields[4]) or 0) > 0 or (fields[5] or 'idle') ~= 'idle'
    state = (fields[3] or '0') ~= ARGV[i + 3] and 'cancelled' or hasWork and 'work' or 'quiet'
  end
  replies[#replies + 1] = state
end
return replies
