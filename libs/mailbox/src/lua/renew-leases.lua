#!lua flags=allow-oom
-- Moves the leases of the agents that a process runs, all of one slot; also tells what is new of each.
-- KEYS[1] due index
-- ARGV[1] prefix  ARGV[2] slot  ARGV[3] lease in ms  ARGV[4…] for each session its id, how many leases follow, and those:
--   threes of agent, token, cancel number last seen
-- Replies a letter for each lease: q (quiet) | w (work) | c (cancelled) | l (lost)
local clock = redis.call('TIME')
local ends = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[3]
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

local at = 3
local function argument()
  at = at + 1
  return ARGV[at]
end

local function renew(session)
  local name, token, seenCancel = argument(), argument(), argument()
  local fields = redis.call('HMGET', key('agent', session) .. ':' .. name, 'st', 'token', 'cancel', 'wake', 'tail', 'urgent')
  if fields[1] ~= 'loaded' or fields[2] ~= token then return 'l' end
  redis.call('ZADD', KEYS[1], ends, session .. '|' .. name .. '|lease')
  if (fields[3] or '0') ~= seenCancel then return 'c' end
  local hasMail = (tonumber(fields[4]) or 0) > 0
  local tail = fields[5] or 'idle'
  local hasWork = tail ~= 'handoff' and (tail ~= 'idle' or hasMail and wantsMail(session, name, fields[6]))
  return hasWork and 'w' or 'q'
end

local states = {}
while at < #ARGV do
  local session = argument()
  for _ = 1, argument() do states[#states + 1] = renew(session) end
end
return table.concat(states)
