#!lua flags=allow-oom
-- Moves mail into the journal, reserves the model call that it makes necessary, and returns the journal from an index
-- on. Running it twice moves and reserves once, and returns the same entries.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] epoch  ARGV[3] token  ARGV[4] journal entries that the host already holds
-- ARGV[5] bytes of mail to move at most  ARGV[6] id of the request: the same one again is the same try of a step
-- ARGV[7] commits of the agent that the host knows of
-- Replies [{code: 'ok' | 'lost' | 'closed' | 'out_of_step', n, tail, work, waitMs?, sessionCancel?, agentCancel?, leave?, run?,
--   final?, step, tries?, calls?, tasks?: {id: record}, questions?: {id: record}, states?: {agent: [state, tail]}, activate?}, [entry…], [message…]]
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
-- @include look
local fenced = fence(ARGV[1], ARGV[2], ARGV[3])
if fenced ~= 'ok' then return { cjson.encode({ code = fenced }), {}, {} } end
local more = unseen(ARGV[1], ARGV[4])
if more < 0 or num(agent(ARGV[1]).n) < num(ARGV[7]) then return { cjson.encode({ code = 'out_of_step' }), {}, {} } end
local head, entries, messages = look(ARGV[1], { known = ARGV[4], own = more == 0 and 0 or nil, bytes = num(ARGV[5]), id = ARGV[6] })
return { answer(head), entries, messages }
