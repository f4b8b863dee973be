#!lua
-- Delivers one message. A message from `user` starts a run, or steers the one that is on.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] msgId  ARGV[2] from  ARGV[3] to  ARGV[4] type  ARGV[5] inReplyTo or ''  ARGV[6] body (JSON object text)
-- ARGV[7] id of the run that a user's message may start, or ''  ARGV[8] onBusy: 'steer' | 'reject'
-- Replies {code, seq?, runId?, detail?, activate?: [[agent, epoch]]}
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
local known = ledger(ARGV[1])
if known then
  -- The same id for another message is a mistake of the sender, not a repetition; where it was sent from may differ.
  local words = string.gsub(ARGV[6], '^{"traceparent":"[^"]*",', '{', 1)
  if string.sub(known.stored, 1 - #words) ~= string.sub(words, 2) then return cjson.encode({ code = 'id_taken' }) end
  -- An activation that was never claimed is named again: its enqueue may be what got lost.
  local recipient = agent(known.to)
  if recipient.st == 'scheduled' then activations[1] = { known.to, num(recipient.epoch) } end
  return answer({ code = 'ok', seq = known.seq, runId = known.run })
end
if session.status ~= 'open' then return cjson.encode({ code = 'session_closed' }) end

local fromUser = ARGV[2] == 'user'
if fromUser then
  if runIsOn() and ARGV[8] == 'reject' then return cjson.encode({ code = 'run_busy', detail = { session.run } }) end
  local spent = spentBudget('session')
  if spent then return cjson.encode({ code = 'budget_spent', detail = { spent } }) end
end
local function takeInput()
  if not runIsOn() then
    setSession('run', ARGV[7])
    setSession('runStatus', 'queued')
    redis.call('HSET', key('run', ARGV[7]), 'status', 'queued', 'startedAt', now, 'msgId', ARGV[1])
    openAccount()
    redis.call('RPUSH', key('runs'), ARGV[7])
    event('rs', 'lead', '{"status":"queued"}')
  end
  setSession('progressAt', now)
end
local code, detail = deliver({ id = ARGV[1], from = ARGV[2], to = ARGV[3], type = ARGV[4], inReplyTo = ARGV[5],
  body = ARGV[6], isNew = true, accepted = fromUser and takeInput or nil })
if code ~= 'ok' then return answer({ code = code, detail = detail }) end
return answer({ code = code, seq = num(agent(ARGV[3]).seq), runId = runIsOn() and session.run or nil })
