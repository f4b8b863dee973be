#!lua flags=allow-oom
-- Repairs or fires what one due member stands for; harmless when the state has moved on.
-- KEYS[1] session hash  KEYS[2] due index
-- ARGV[1] agent  ARGV[2] kind: job · lease · wait · clarify · handoff
-- ARGV[3] for job: epoch that was looked up, or ''  ARGV[4] for job: 'waiting' | 'active' | 'missing', or ''
-- ARGV[5] ms until a waiting or active job is looked at again  ARGV[6] ms that an active job may stay unclaimed
-- Replies {code: 'ok', activate?}
-- @include session
-- @include outbox
-- @include activation
-- @include account
-- @include deliver
-- @include handoff
-- @include run
local name, kind = ARGV[1], ARGV[2]
local member = sid .. '|' .. name .. '|' .. kind
local score = redis.call('ZSCORE', KEYS[2], member)
if not score or tonumber(score) > now then return cjson.encode({ code = 'ok' }) end
local fields = agent(name)

local fire = {}

function fire.job()
  if fields.st ~= 'scheduled' then return notDue(name, 'job') end
  if fields.epoch ~= ARGV[3] then return end
  local isStuck = ARGV[4] == 'active' and now - num(fields.since) >= num(ARGV[6])
  if ARGV[4] == 'missing' or isStuck then return activate(name) end
  due(name, 'job', now + ARGV[5])
end

function fire.lease()
  if fields.st ~= 'loaded' then return notDue(name, 'lease') end
  handOver(name, 'lost', true)
end

function fire.wait()
  notDue(name, 'wait')
  if session.runStatus ~= 'waiting' then return end
  local at = num(session.progressAt) + num(session.waitBudgetMs)
  if at > now then return due(name, 'wait', at) end
  conclude('wait_budget')
end

function fire.clarify()
  notDue(name, 'clarify')
  for _, id in ipairs(pick(openQuestions(), function(q) return q.st == 'open' and q.from == name end)) do
    local at = questions[id] and questions[id].at + num(session.clarifyMs) or 0
    if at > now then return due(name, 'clarify', at) end
    engineReply(id, NO_ANSWER)
  end
end

-- One attempt took too long: whatever its instance does is stopped, and the call goes on without it.
function fire.handoff()
  notDue(name, 'handoff')
  local mine = tasksOf(name)
  silence(name, 'cancelled')
  for _, id in ipairs(mine) do
    local h = tasks[id].handoff and openHandoffs()[tasks[id].handoff]
    if h then
      engineResult(id, 'timeout', contentOf('The tool ' .. h.tool .. ' did not end within its limit of ' .. h.timeoutMs .. ' ms.'))
    else
      engineResult(id, 'cancelled', contentOf('Cancelled: a call of the same agent ran out of time.'))
    end
  end
end

if session.status == 'open' then
  fire[kind]()
  checkQuiescence()
else
  redis.call('ZREM', KEYS[2], member)
end
return answer({ code = 'ok' })
