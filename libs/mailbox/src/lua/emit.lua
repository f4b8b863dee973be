#!lua flags=allow-oom
-- Appends events of a running step. The emit number makes a second execution change nothing.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] session cancel number  ARGV[5] agent cancel number
-- ARGV[6] emit number, counted per activation  ARGV[7…] pairs of event code and data (JSON)
-- Replies {code: 'ok' | 'lost' | 'closed' | 'cancelled'}
-- @include session
-- @include outbox
-- @include activation
local fenced = fence(ARGV[1], ARGV[2], ARGV[3])
if fenced ~= 'ok' then return cjson.encode({ code = fenced }) end
if isCancelled(ARGV[1], ARGV[4], ARGV[5]) then return cjson.encode({ code = 'cancelled' }) end
if num(agent(ARGV[1]).emitted) >= num(ARGV[6]) then return cjson.encode({ code = 'ok' }) end
setAgent(ARGV[1], 'emitted', ARGV[6])
for i = 7, #ARGV, 2 do event(ARGV[i], ARGV[1], ARGV[i + 1]) end
return answer({ code = 'ok' })
