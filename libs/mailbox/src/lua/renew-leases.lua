#!lua flags=allow-oom
-- Moves the leases of the agents that a process runs, all of one slot; also tells which of them have mail.
-- KEYS[1] due index
-- ARGV[1] prefix of agent keys  ARGV[2] lease in ms  ARGV[3…] triples of session, agent, token
-- Replies [0 nothing | 1 has mail or work | 2 lost, …] in the order of the triples
local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[2]
local replies = {}
for i = 3, #ARGV, 3 do
  local session, name = ARGV[i], ARGV[i + 1]
  local fields = redis.call('HMGET', ARGV[1] .. session .. ':' .. name, 'st', 'token', 'wake', 'tail')
  if fields[1] == 'loaded' and fields[2] == ARGV[i + 2] then
    redis.call('ZADD', KEYS[1], at, session .. '|' .. name .. '|lease')
    replies[#replies + 1] = ((tonumber(fields[3]) or 0) > 0 or (fields[4] or 'idle') ~= 'idle') and 1 or 0
  else
    replies[#replies + 1] = 2
  end
end
return replies
