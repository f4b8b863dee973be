-- What a script tells the world when it is done: events, wake-ups, activations to enqueue.
local lastEvent
local settledRun
local wakes = {}
local activations = {}

local function event(code, name, data)
  lastEvent = redis.call('XADD', key('events'), 'MAXLEN', '~', session.maxEvents, '*',
    'c', code, 'a', name, 'r', session.run or '', 'd', data)
end

-- Publishes after all writes; pub/sub is a hint, the mailbox is the truth.
local function answer(reply)
  for name, kind in pairs(wakes) do redis.call('SPUBLISH', key('agent:notify'), kind .. name) end
  if lastEvent then redis.call('SPUBLISH', key('events:notify'), lastEvent) end
  if settledRun then redis.call('SPUBLISH', key('runs:notify'), settledRun) end
  if #activations > 0 then reply.activate = activations end
  return cjson.encode(reply)
end
