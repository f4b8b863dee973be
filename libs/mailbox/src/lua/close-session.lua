#!lua flags=allow-oom
-- Ends a session: cancels its run, unloads its agents, and lets its keys expire.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] milliseconds that the keys stay readable  ARGV[2] id of the request  ARGV[3] the same of the account
-- Replies {code: 'ok' | 'session_closed' by another request}
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
if session.status ~= 'open' then return cjson.encode({ code = session.closedBy == ARGV[2] and 'ok' or 'session_closed' }) end
setSession('cancel', num(session.cancel) + 1)
cancelTeam('Cancelled: the session ended.', true)
silence('lead', 'shutdown')
if runIsOn() then settleRun('cancelled', 'session_ended', '{"text":""}') end
setSession('status', 'closed')
setSession('closedBy', ARGV[2])
local kinds = { 'events', 'ledger', 'messages', 'tasks', 'closed', 'questions', 'runs', 'dead', 'instances', 'handoffs' }
for _, name in ipairs(members()) do
  if agent(name).st == 'loaded' then
    leave(name, 'shutdown')
    wakes[name] = '!'
  end
  setAgent(name, 'st', 'unloaded')
end
-- A key that is written after it was told to expire would be made anew, and stay.
writeChanges()
local everybody = redis.call('HKEYS', key('instances'))
for _, name in ipairs(members()) do everybody[#everybody + 1] = name end
for _, name in ipairs(everybody) do
  for _, kind in ipairs({ 'job', 'lease', 'wait', 'clarify', 'handoff' }) do notDue(name, kind) end
  for _, kind in ipairs({ 'agent', 'mailbox', 'memory' }) do redis.call('PEXPIRE', key(kind, name), ARGV[1]) end
end
for _, run in ipairs(redis.call('LRANGE', key('runs'), 0, -1)) do redis.call('PEXPIRE', key('run', run), ARGV[1]) end
for _, kind in ipairs(kinds) do redis.call('PEXPIRE', key(kind), ARGV[1]) end
redis.call('PEXPIRE', key('usage'), ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return answer({ code = 'ok' })
