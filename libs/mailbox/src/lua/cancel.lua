#!lua flags=allow-oom
-- Cancels the run of a session, or what one agent of it does. The accepting script closes everything that it covers.
-- A request that is sent again cancels nothing that was begun since, and gets the first one's answer.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent, or '' for the run  ARGV[2] reason  ARGV[3] id of the request
-- Replies {code: 'ok' | 'idle' | 'session_closed' | 'unknown_recipient', runId?, activate?}
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
if session.status ~= 'open' then return cjson.encode({ code = 'session_closed' }) end
if session.cancelId == ARGV[3] then return session.cancelAns end
local function keep(reply)
  setSession('cancelId', ARGV[3])
  setSession('cancelAns', reply)
end

if ARGV[1] ~= '' and ARGV[1] ~= 'lead' then
  if not isMember(ARGV[1]) then return cjson.encode({ code = 'unknown_recipient' }) end
  for _, id in ipairs(tasksOf(ARGV[1])) do engineResult(id, 'cancelled', contentOf('Cancelled: ' .. ARGV[2])) end
  silence(ARGV[1], 'cancelled')
  checkQuiescence()
  return answer({ code = 'ok', runId = session.run }, keep)
end
if not runIsOn() then return cjson.encode({ code = 'idle' }) end
local run = session.run
setSession('cancel', num(session.cancel) + 1)
cancelTeam('Cancelled: ' .. ARGV[2], true)
silence('lead', 'cancelled')
settleRun('cancelled', ARGV[2], '{"text":""}')
return answer({ code = 'ok', runId = run }, keep)
