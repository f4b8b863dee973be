-- What a script tells the world when it is done: events, wake-ups, activations to enqueue.
local lastEvent
local settledRun
local wakes = {}
local activations = {}
local alarms = {}

local function event(code, name, data)
  lastEvent = redis.call('XADD', key('events'), 'MAXLEN', '~', session.maxEvents, '*',
    'c', code, 'a', name, 'r', session.run or '', 'd', data)
end

-- A deadline that is too short to be left to the sweeper's tick: whoever ran this script fires it.
local function alarm(name, kind, ms)
  due(name, kind, now + ms)
  alarms[#alarms + 1] = { name, kind, ms }
end

-- Ends a script: what changed is written, then published; pub/sub is a hint, the mailbox is the truth. `keep` stores the
-- answer for a second execution.
local function answer(reply, keep)
  if #activations > 0 then reply.activate = activations end
  if #alarms > 0 then reply.alarms = alarms end
  local encoded = cjson.encode(reply)
  if keep then keep(encoded) end
  writeChanges()
  for name, kind in pairs(wakes) do redis.call('SPUBLISH', key('agent:notify'), kind .. name) end
  if lastEvent then redis.call('SPUBLISH', key('events:notify'), lastEvent) end
  if settledRun then redis.call('SPUBLISH', key('runs:notify'), settledRun) end
  return encoded
end
