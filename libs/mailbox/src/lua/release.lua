#!lua flags=allow-oom
-- Hands a loaded agent over: scheduled again when it has work, else unloaded.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] reason: 'released' | 'evicted' | 'error'
-- Replies {code: 'ok' | 'lost' | 'closed', activate?}
-- @include session
-- @include outbox
-- @include activation
-- @include deliver
-- @include run
local name, fields = ARGV[1], agent(ARGV[1])
if fields.st ~= 'loaded' and fields.token == ARGV[3] then
  if fields.st == 'scheduled' then activations[1] = { name, num(fields.epoch) } end
  return answer({ code = 'ok' })
end
local fenced = fence(name, ARGV[2], ARGV[3])
if fenced ~= 'ok' then return cjson.encode({ code = fenced }) end
if hasWork(name) then
  if name ~= 'lead' then event('ax', name, cjson.encode({ host = fields.host, epoch = num(fields.epoch), reason = ARGV[4] })) end
  notDue(name, 'lease')
  if ARGV[4] ~= 'error' or not strike(name) then activate(name) end
else
  leave(name, ARGV[4])
end
checkQuiescence()
return answer({ code = 'ok' })
