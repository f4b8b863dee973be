#!lua flags=allow-oom
-- Moves the leases of the agents that a process runs, all of one slot; also tells what is new of each.
-- KEYS[1] due index
-- ARGV[1] prefix  ARGV[2] slot  ARGV[3] lease in ms  ARGV[4…] fours of session, agent, token, cancel number last seen
-- Replies ['quiet' | 'work' | 'cancelled' | 'lost', …] in the order of the fours
local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[3]
local function key(kind, session)
  return ARGV[1] .. ':' .. kind .. ':' .. ARGV[2] .. ':' .. session
end

-- Mail that a lead does not want yet is no work, as in `hasWork`: a lead that is called for nothing would never leave.
local function wantsMail(session, name, urgent)
  if name ~= 'lead' then return true end
  local run, wakeOn = unpack(redis.call('HMGET', key('session', session), 'run', 'wakeOn'))
  if not run or run == '' then return false end
  return wakeOn ~= 'all' or (tonumber(urgent) or 0) > 0 or redis.call('EXISTS', key('tasks', session)) == 0
end

local replies = {}
for i = 4, #ARGV, 4 do
  local session, name = ARGV[i], ARGV[i + 1]
  local fields = redis.call('HMGET', key('agent', session) .. ':' .. name, 'st', 'token', 'cancel', 'wake', 'tail', 'urgent')
  local state = 'lost'
  if fields[1] == 'loaded' and fields[2] == ARGV[i + 2] then
    redis.call('ZADD', KEYS[1], at, session .. '|' .. name .. '|lease')
    local hasMail = (tonumber(fields[4]) or 0) > 0
    local tail = fields[5] or 'idle'
    local hasWork = tail ~= 'handoff' and (tail ~= 'idle' or hasMail and wantsMail(session, name, fields[6]))
    state = (fields[3] or '0') ~= ARGV[i + 3] and 'cancelled' or hasWork and 'work' or 'quiet'
  end
  replies[#replies + 1] = state
end
return replies
