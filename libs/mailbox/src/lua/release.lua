#!lua flags=allow-oom
-- Hands a loaded agent over: scheduled again when it has work, else unloaded.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] reason: 'released' | 'evicted' | 'error'
-- ARGV[5] '1' when the call that the last look reserved was not begun
-- Replies {code: 'ok' | 'lost' | 'closed', activate?}
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
if ARGV[5] == '1' then setAgent(name, 'look', '') end
handOver(name, ARGV[4], ARGV[4] == 'error')
checkQuiescence()
return answer({ code = 'ok' }, function(reply) setAgent(name, 'bye', reply) end)
