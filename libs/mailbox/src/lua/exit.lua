#!lua flags=allow-oom
-- Unloads an idle agent; refused while it has work, so that no wake-up is lost.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] reason
-- Replies {code: 'ok' | 'work' | 'lost' | 'closed', activate?}
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
local name, fields = ARGV[1], agent(ARGV[1])
if fields.token == ARGV[3] and fields.bye ~= '' then return fields.bye end
local fenced = fence(name, ARGV[2], ARGV[3])
if fenced ~= 'ok' then return cjson.encode({ code = fenced }) end
if hasWork(name) then return cjson.encode({ code = 'work' }) end
leave(name, ARGV[4])
checkQuiescence()
return answer({ code = 'ok' }, function(reply) setAgent(name, 'bye', reply) end)
